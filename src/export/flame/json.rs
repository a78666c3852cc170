//! A flame graph as JSON: a list of nodes with the positions of their parents, because readers limit how deep objects
//! may be.

use serde::Serialize;

use super::FlameAnswer;
use highwater_timeline::{FlameGraph, FlamePaths, FlameSpan};

#[derive(Serialize, Debug)]
pub struct WireTree<'a> {
    paths: &'static str,
    order: &'static str,
    keeps_cpp_frames: bool,
    unit: &'static str,
    total: u128,
    cut: Option<WireCut>,
    nodes: Vec<WireNode<'a>>,
}

#[derive(Serialize, Debug)]
struct WireCut {
    count: u64,
    weight: u128,
    frames: u32,
}

#[derive(Serialize, Debug)]
struct WireNode<'a> {
    frame: &'a str,
    file: Option<&'a str>,
    line: Option<u32>,
    parent: Option<usize>,
    depth: u32,
    weight: u128,
    own_weight: u128,
    share: f64,
    count: u64,
    children_left_out: u32,
}

impl<'a> WireTree<'a> {
    pub fn new(answer: &FlameAnswer<'a>) -> Self {
        let graph = answer.graph;
        Self {
            paths: match graph.paths {
                FlamePaths::Stacks => "call_stacks",
                FlamePaths::Scopes => "scopes",
            },
            order: if graph.ask.is_inverse {
                "innermost_first"
            } else {
                "outermost_first"
            },
            keeps_cpp_frames: graph.ask.keeps_native,
            unit: match graph.span {
                FlameSpan::Step(_) => "bytes",
                FlameSpan::Range(_) => "byte_steps",
            },
            total: graph.total(),
            cut: (graph.cut.count > 0).then_some(WireCut {
                count: graph.cut.count,
                weight: graph.cut.weight,
                frames: graph.cut.n_frames,
            }),
            nodes: nodes(answer, graph),
        }
    }
}

/// Each parent in front of its children.
fn nodes<'a>(answer: &FlameAnswer<'_>, graph: &'a FlameGraph) -> Vec<WireNode<'a>> {
    let mut nodes: Vec<WireNode<'a>> = Vec::new();
    // By depth: the position of the last node.
    let mut above: Vec<usize> = Vec::new();
    for row in answer.listed(answer.most.unwrap_or(usize::MAX), 0.0) {
        above.truncate(row.depth as usize);
        let (node, frame) = (graph.node(row.node), graph.frame(row.node));
        let parent = above.last().copied();
        above.push(nodes.len());
        nodes.push(WireNode {
            frame: &frame.text,
            file: (!frame.file.is_empty()).then_some(&*frame.file),
            line: (frame.line > 0).then_some(frame.line),
            parent,
            depth: row.depth,
            weight: node.total,
            own_weight: node.own,
            share: graph.share(node.total) / 100.0,
            count: node.count,
            children_left_out: row.n_left_out,
        });
    }
    nodes
}
