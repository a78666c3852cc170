//! A flame graph as a text tree, as JSON, and as folded stacks.
//!
//! Folded stacks are the form of Brendan Gregg's flame graph tools: a line per path, `a;b;c WEIGHT`, sorted. The weight
//! is in bytes at a step, in bytes times steps over a range. As in those tools, a semicolon within a frame becomes a
//! colon.

mod json;

use std::collections::BTreeMap;

use super::blocks::{Block, Table, bytes, paragraph, plain_text, text};
use highwater_analysis::Comparison;
use highwater_model::units::{counted, grouped, percent_text};
use highwater_timeline::{FlameGraph, FlamePaths, MOST_FLAME_FRAMES};

/// Children of a node that a text lists where no number is chosen, and the least share of those, in percent.
const FEW: usize = 10;
const LEAST_SHARE: f64 = 1.0;

/// A flame graph of one lane of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct FlameAnswer<'a> {
    pub comparison: &'a Comparison,
    pub graph: &'a FlameGraph,
    /// Most children of a node; `None` lists the largest in a text and all in JSON.
    pub most: Option<usize>,
}

/// A node in the order of a list: each parent is directly in front of its children.
#[derive(Clone, Copy, Debug)]
struct Listed {
    node: u32,
    depth: u32,
    /// Children that are not listed.
    n_left_out: u32,
    left_out: u128,
}

impl FlameAnswer<'_> {
    pub(crate) fn title(&self) -> String {
        let lane = self.comparison.lanes.get(self.graph.ask.lane).map(|lane| lane.id);
        let lane = lane.map_or_else(String::new, |id| self.comparison.lane_title(id));
        let name = &self.comparison.workload.name;
        format!("{name}, {lane}: {}", self.graph.title(self.comparison))
    }

    /// Depth first; of a node at most `most` children with at least `least` percent of all.
    fn listed(&self, most: usize, least: f64) -> Vec<Listed> {
        let graph = self.graph;
        let mut rows = Vec::new();
        let mut open = vec![(FlameGraph::ROOT, 0)];
        while let Some((node, depth)) = open.pop() {
            let children = graph.children(node);
            let is_listed = |child: &u32| graph.share(graph.node(*child).total) >= least;
            let n_listed = children.clone().take(most).take_while(is_listed).count();
            let left_out = children.clone().skip(n_listed);
            rows.push(Listed {
                node,
                depth,
                n_left_out: u32::try_from(left_out.len()).unwrap_or(u32::MAX),
                left_out: left_out.map(|child| graph.node(child).total).sum(),
            });
            open.extend(children.take(n_listed).rev().map(|child| (child, depth + 1)));
        }
        rows
    }

    fn table(&self) -> Table {
        let graph = self.graph;
        let rows = match self.most {
            Some(most) => self.listed(most, 0.0),
            None => self.listed(FEW, LEAST_SHARE),
        };
        let nouns = format!(">{}s", graph.noun());
        let path = match graph.paths {
            FlamePaths::Stacks => "call stack",
            FlamePaths::Scopes => "scope",
        };
        let mut table = Table::new(&[">live", ">exact", ">own", ">share", &nouns, path]);
        // Remarks follow the subtree of their node.
        let mut remarks: Vec<Listed> = Vec::new();
        for row in rows {
            while let Some(remark) = remarks.pop_if(|remark| remark.depth >= row.depth) {
                self.left_out_row(&mut table, remark);
            }
            let node = graph.node(row.node);
            table.cells(vec![
                bytes(graph.bytes(node.total)),
                text(graph.exact(node.total)),
                bytes(graph.bytes(node.own)),
                text(percent_text(graph.share(node.total))),
                text(grouped(node.count)),
                text(format!("{}{}", indent(row.depth), graph.frame(row.node).text)),
            ]);
            if row.n_left_out > 0 {
                remarks.push(row);
            }
        }
        while let Some(remark) = remarks.pop() {
            self.left_out_row(&mut table, remark);
        }
        table
    }

    fn left_out_row(&self, table: &mut Table, of: Listed) {
        let graph = self.graph;
        table.cells(vec![
            bytes(graph.bytes(of.left_out)),
            text(graph.exact(of.left_out)),
            text(""),
            text(percent_text(graph.share(of.left_out))),
            text(""),
            text(format!(
                "{}{} more",
                indent(of.depth + 1),
                grouped(of.n_left_out.into())
            )),
        ]);
    }

    /// What the cap on the depth leaves out.
    fn cut_note(&self) -> Option<Block> {
        let cut = self.graph.cut;
        let blocks = counted(cut.count, self.graph.noun());
        let frames = counted(cut.n_frames.into(), "frame");
        let note = || format!("{blocks} with more than {MOST_FLAME_FRAMES} frames; up to {frames} are left out.");
        (cut.count > 0).then(|| Block::Note(text(note())))
    }
}

fn indent(depth: u32) -> String {
    "  ".repeat(depth as usize)
}

/// The tree for people, with exact weights.
pub fn flame_text(answer: &FlameAnswer<'_>) -> String {
    let mut blocks = vec![paragraph(answer.title()), answer.table().into()];
    blocks.extend(answer.cut_note());
    plain_text(&blocks)
}

/// Folded stacks. Paths with equal texts are one line.
pub fn folded_stacks(graph: &FlameGraph) -> String {
    let mut lines: BTreeMap<String, u128> = BTreeMap::new();
    // By node, in the order of nodes: the parent of a node is before it.
    let mut paths: Vec<String> = Vec::with_capacity(graph.nodes().len());
    for (position, node) in (0_u32..).zip(graph.nodes()) {
        let frame = folded(&graph.frame(position).text);
        let path = match (position, node.parent) {
            (FlameGraph::ROOT, _) => String::new(),
            (_, FlameGraph::ROOT) => frame,
            (_, parent) => format!("{};{frame}", paths[parent as usize]),
        };
        if node.own > 0 {
            *lines.entry(path.clone()).or_default() += node.own;
        }
        paths.push(path);
    }
    let mut text = String::new();
    for (path, weight) in lines {
        text.push_str(&format!("{path} {weight}\n"));
    }
    text
}

/// A frame in a folded stack: a semicolon would end it, a line break the line.
fn folded(frame: &str) -> String {
    let letter = |letter: char| match letter {
        ';' => ':',
        letter if letter.is_control() => ' ',
        letter => letter,
    };
    frame.chars().map(letter).collect()
}

/// The extensions of [`flame_file`], for a message.
pub const FLAME_FORMS: &str = "name a file that ends in .svg, .folded or .txt";

/// The content of a file with a flame graph, by the file's extension; `None` for an unknown extension.
pub fn flame_file(name: &str, answer: &FlameAnswer<'_>) -> Option<String> {
    let (_, extension) = name.rsplit_once('.')?;
    match extension.to_ascii_lowercase().as_str() {
        "svg" => Some(super::svg::flame_svg(answer, &super::SvgColors::print())),
        "folded" => Some(folded_stacks(answer.graph)),
        "txt" => Some(flame_text(answer)),
        _ => None,
    }
}
