//! A flame graph as JSON: a list of nodes with the positions of their parents, because readers limit how deep objects
//! may be.

use super::{FlameAnswer, Listed};
use crate::record::{Record, Rows, Value};
use highwater_timeline::{FlamePaths, FlameSpan};

impl<'a> FlameAnswer<'a> {
    pub(crate) fn record(&self) -> Record<'a> {
        let graph = self.graph;
        let cut = (graph.cut.count > 0).then(|| {
            Record::new()
                .key("count", graph.cut.count)
                .key("weight", graph.cut.weight)
                .key("frames", graph.cut.n_frames)
        });
        let order = if graph.ask.is_inverse {
            "innermost_first"
        } else {
            "outermost_first"
        };
        Record::new()
            .key(
                "paths",
                match graph.paths {
                    FlamePaths::Stacks => "call_stacks",
                    FlamePaths::Scopes => "scopes",
                },
            )
            .key("order", order)
            .key("keeps_cpp_frames", graph.ask.keeps_native)
            .key(
                "unit",
                match graph.span {
                    FlameSpan::Step(_) => "bytes",
                    FlameSpan::Range(_) => "byte_steps",
                },
            )
            .key("total", Value::Wide(graph.total()))
            .key("cut", cut)
            .key("nodes", self.nodes())
    }

    /// Each parent in front of its children.
    fn nodes(&self) -> Rows<'a> {
        let graph = self.graph;
        let rows = self.listed(self.most.unwrap_or(usize::MAX), 0.0);
        let parents = parents(&rows);
        Rows::indexed(rows.len(), move |position| {
            let row = &rows[position];
            let (node, frame) = (graph.node(row.node), graph.frame(row.node));
            Record::new()
                .key("frame", &*frame.text)
                .key("file", (!frame.file.is_empty()).then_some(&*frame.file))
                .key("line", (frame.line > 0).then_some(frame.line))
                .key("parent", parents[position])
                .key("depth", row.depth)
                .key("weight", node.total)
                .key("own_weight", node.own)
                .key("share", graph.share(node.total) / 100.0)
                .key("count", node.count)
                .key("children_left_out", row.n_left_out)
        })
    }
}

/// By row the position of its parent.
fn parents(rows: &[Listed]) -> Vec<Option<usize>> {
    // By depth: the position of the last row.
    let mut above: Vec<usize> = Vec::new();
    let mut parents = Vec::with_capacity(rows.len());
    for (position, row) in rows.iter().enumerate() {
        above.truncate(row.depth as usize);
        parents.push(above.last().copied());
        above.push(position);
    }
    parents
}
