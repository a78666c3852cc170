//! Scopes within scopes, from the paths in tensors' names, or from who asked for a recorded block.

use std::borrow::Cow;
use std::ops::Range;

use indexmap::IndexMap;

use crate::grouping::full_scope;
use crate::rows::Row;
use highwater_analysis::Comparison;
use highwater_model::workload::{RecordedFrame, Recording};

/// A scope with everything within it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The whole path: tells it from all others.
    pub path: Box<str>,
    /// The part of it that its parent does not have.
    pub label: Box<str>,
    /// How many scopes it lies in.
    pub depth: u16,
    /// The scope behind the last one within it.
    pub end: u32,
    /// The places of its rows, those of scopes within it among them.
    pub places: Range<u32>,
    /// How many of these, from the first on, are its own.
    pub n_own: u32,
}

/// What joins the names of a path, as users see it.
const JOIN: &str = "/";
/// Where rows stand that lie in no scope.
const OUTSIDE: &str = "in no scope";
/// What joins callers.
const CALLS: &str = " > ";

#[derive(Default)]
struct Node {
    name: Box<str>,
    children: IndexMap<Box<str>, u32>,
    /// Numbers of its own rows.
    rows: Vec<u32>,
}

/// The tree of a lane's scopes while it grows; node 0 is the root.
struct Tree<'a> {
    comparison: &'a Comparison,
    nodes: Vec<Node>,
    /// Nodes of paths that were met.
    paths: IndexMap<&'a str, u32>,
    /// Nodes of stacks that were met, by where the stack stands.
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

    /// The node of a row's scope.
    fn node(&mut self, row: &Row) -> u32 {
        let (graph, tensor) = (row.tensor.graph, row.tensor.tensor);
        let comparison = self.comparison;
        if let Some((recording, block)) = comparison.recorded_block(graph, tensor) {
            let stack = block.stack.and_then(|stack| recording.stacks.get(stack.idx()));
            if let Some(stack) = stack.filter(|stack| !stack.is_empty()) {
                return self.node_of_stack(recording, stack);
            }
        }
        let path = full_scope(comparison, (graph, tensor));
        if let Some(node) = self.paths.get(path) {
            return *node;
        }
        let names = path.split(['/', '.']).filter(|name| !name.is_empty());
        let node = names.fold(0, |node, name| self.child(node, name));
        self.paths.insert(path, node);
        node
    }

    /// Callers first: a stack stands with who asked on top.
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

    /// All scopes, and the rows in their order.
    fn finish(mut self) -> (Vec<Scope>, Vec<u32>) {
        // Beside scopes what lies in none can be folded too, and stands last.
        if !self.nodes[0].children.is_empty() && !self.nodes[0].rows.is_empty() {
            let rows = std::mem::take(&mut self.nodes[0].rows);
            let outside = self.child(0, OUTSIDE);
            self.nodes[outside as usize].rows.extend(rows);
        }
        let mut scopes: Vec<Scope> = Vec::new();
        let mut order: Vec<u32> = self.nodes[0].rows.clone();
        // Nodes to come, the next one last: node, path of the parent, depth. And the ends of open scopes.
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

    /// The first node, from one on, that has rows of its own or several scopes; and the names on the way.
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

/// The scopes of rows, and the rows' numbers in the order of the tree; `order` is that of rows within a scope.
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
    // Names at one node are compared as texts; a path stands before those that it begins.
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
