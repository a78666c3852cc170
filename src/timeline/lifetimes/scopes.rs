//! Nested scopes from the paths in tensors' names, or from the call stacks of recorded blocks.

use std::borrow::Cow;
use std::ops::Range;

use indexmap::IndexMap;

use crate::grouping::full_scope;
use crate::rows::Row;
use highwater_analysis::Comparison;
use highwater_model::workload::{RecordedFrame, Recording};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The full path, unique.
    pub path: Box<str>,
    /// The part of the path after the parent's.
    pub label: Box<str>,
    /// Number of enclosing scopes.
    pub depth: u16,
    /// Position after the last scope within it.
    pub end: u32,
    /// The places of its rows, including those of inner scopes.
    pub places: Range<u32>,
    /// How many of these belong to no inner scope; they come first.
    pub n_own: u32,
}

/// Separator of a path's components.
const JOIN: &str = "/";
const OUTSIDE: &str = "in no scope";
/// Separator of callers.
const CALLS: &str = " > ";

#[derive(Default)]
struct Node {
    name: Box<str>,
    children: IndexMap<Box<str>, u32>,
    rows: Vec<u32>,
}

/// The tree of scopes under construction; node 0 is the root.
struct Tree<'a> {
    comparison: &'a Comparison,
    nodes: Vec<Node>,
    paths: IndexMap<&'a str, u32>,
    /// Nodes by address of the stack.
    stacks: IndexMap<*const u32, u32>,
    join: &'static str,
}

impl<'a> Tree<'a> {
    fn new(comparison: &'a Comparison) -> Self {
        Self {
            comparison,
            nodes: vec![Node::default()],
            paths: IndexMap::new(),
            stacks: IndexMap::new(),
            join: JOIN,
        }
    }

    fn child(&mut self, node: u32, name: &str) -> u32 {
        if let Some(child) = self.nodes[node as usize].children.get(name) {
            return *child;
        }
        let child = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        self.nodes.push(Node {
            name: name.into(),
            ..Node::default()
        });
        self.nodes[node as usize].children.insert(name.into(), child);
        child
    }

    fn node(&mut self, row: &Row) -> u32 {
        let (graph, tensor) = (row.tensor.graph, row.tensor.tensor);
        let comparison = self.comparison;
        if let Some((recording, block)) = comparison.recorded_block(graph, tensor) {
            let stack = block.stack.and_then(|stack| recording.stacks.get(stack.idx()));
            if let Some(stack) = stack.filter(|stack| !stack.is_empty()) {
                return self.node_of_stack(recording, stack);
            }
        }
        let path = full_scope(comparison, row.tensor.key());
        if let Some(node) = self.paths.get(path) {
            return *node;
        }
        let names = path.split(['/', '.']).filter(|name| !name.is_empty());
        let node = names.fold(0, |node, name| self.child(node, name));
        self.paths.insert(path, node);
        node
    }

    /// Outermost caller first; stacks are stored innermost first.
    fn node_of_stack(&mut self, recording: &Recording, stack: &[u32]) -> u32 {
        if let Some(node) = self.stacks.get(&stack.as_ptr()) {
            return *node;
        }
        self.join = CALLS;
        let node = stack.iter().rev().fold(0, |node, frame| {
            let name = recording
                .frames
                .get(*frame as usize)
                .map_or(Cow::Borrowed("?"), |frame| frame_text(recording, frame));
            self.child(node, &name)
        });
        self.stacks.insert(stack.as_ptr(), node);
        node
    }

    /// The scopes, and the rows in their order.
    fn finish(mut self) -> (Vec<Scope>, Vec<u32>) {
        // If there are scopes, rows without one form a foldable scope at the end.
        if !self.nodes[0].children.is_empty() && !self.nodes[0].rows.is_empty() {
            let rows = std::mem::take(&mut self.nodes[0].rows);
            let outside = self.child(0, OUTSIDE);
            self.nodes[outside as usize].rows.extend(rows);
        }
        let mut scopes: Vec<Scope> = Vec::new();
        let mut order: Vec<u32> = self.nodes[0].rows.clone();
        // A stack of nodes to enter and scopes to close.
        let mut next: Vec<Step> = Vec::new();
        push_children(&self.nodes[0], "", 0, &mut next);
        while let Some(step) = next.pop() {
            match step {
                Step::Leave(scope) => {
                    let n_scopes = u32::try_from(scopes.len()).unwrap_or(u32::MAX);
                    let scope = &mut scopes[scope];
                    scope.end = n_scopes;
                    scope.places.end = u32::try_from(order.len()).unwrap_or(u32::MAX);
                }
                Step::Enter { node, before, depth } => {
                    let (node, label) = self.through(node);
                    let path = if before.is_empty() {
                        label.clone()
                    } else {
                        format!("{before}{}{label}", self.join)
                    };
                    let first = u32::try_from(order.len()).unwrap_or(u32::MAX);
                    let node = &self.nodes[node as usize];
                    order.extend_from_slice(&node.rows);
                    next.push(Step::Leave(scopes.len()));
                    push_children(node, &path, depth + 1, &mut next);
                    scopes.push(Scope {
                        path: path.into(),
                        label: label.into(),
                        depth,
                        end: 0,
                        places: first..first,
                        n_own: u32::try_from(node.rows.len()).unwrap_or(u32::MAX),
                    });
                }
            }
        }
        (scopes, order)
    }

    /// Skips nodes without rows and with one child; returns the joined names.
    fn through(&self, node: u32) -> (u32, String) {
        let mut at = node;
        let mut label = String::from(&*self.nodes[at as usize].name);
        loop {
            let node = &self.nodes[at as usize];
            let only = node.children.values().next().filter(|_| node.children.len() == 1);
            let Some(only) = only.filter(|_| node.rows.is_empty()) else {
                return (at, label);
            };
            at = *only;
            label.push_str(self.join);
            label.push_str(&self.nodes[at as usize].name);
        }
    }
}

enum Step {
    Enter { node: u32, before: String, depth: u16 },
    Leave(usize),
}

fn push_children(node: &Node, path: &str, depth: u16, next: &mut Vec<Step>) {
    next.extend(node.children.values().rev().map(|child| Step::Enter {
        node: *child,
        before: path.to_owned(),
        depth,
    }));
}

/// `function (file)`.
fn frame_text<'a>(recording: &'a Recording, frame: &RecordedFrame) -> Cow<'a, str> {
    let (function, file) = (recording.text(frame.function), recording.text(frame.file));
    let short = file.rsplit(['/', '\\']).next().unwrap_or(file);
    if short.is_empty() {
        Cow::Borrowed(function)
    } else {
        Cow::Owned(format!("{function} ({short})"))
    }
}

/// The scopes of rows, and the row numbers in tree order; `order` is the order within a scope.
pub(super) fn tree(comparison: &Comparison, rows: &[Row], order: &[u32]) -> (Vec<Scope>, Vec<u32>) {
    let mut tree = Tree::new(comparison);
    for number in order {
        let node = tree.node(&rows[*number as usize]);
        tree.nodes[node as usize].rows.push(*number);
    }
    tree.finish()
}

/// By row: the rank of its scope's path among all paths.
pub(super) fn ranks(comparison: &Comparison, rows: &[Row]) -> Vec<u32> {
    let mut tree = Tree::new(comparison);
    let nodes: Vec<u32> = rows.iter().map(|row| tree.node(row)).collect();
    let mut ranks = vec![0; tree.nodes.len()];
    // Siblings sort as texts; a path comes before its extensions.
    let mut next = vec![0_u32];
    let mut rank = 0;
    while let Some(node) = next.pop() {
        ranks[node as usize] = rank;
        rank += 1;
        let mut children: Vec<(&str, u32)> = tree.nodes[node as usize]
            .children
            .iter()
            .map(|(name, child)| (&**name, *child))
            .collect();
        children.sort_unstable();
        next.extend(children.into_iter().rev().map(|(_, child)| child));
    }
    nodes.into_iter().map(|node| ranks[node as usize]).collect()
}
