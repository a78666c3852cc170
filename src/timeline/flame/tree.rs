//! Weighed blocks -> the tree of their paths, level by level.

use std::cmp::Reverse;

use indexmap::{IndexMap, IndexSet};

use super::frames::{NO_STACK, Path, PathKey};
use super::{
    FlameCut, FlameFrame, FlameGraph, FlameNode, FlamePaths, FlameRequest, FlameSpan, MOST_FLAME_FRAMES, Weighed,
};
use highwater_analysis::Comparison;
use highwater_model::workload::Recording;

/// The text of the root.
const ALL: &str = "all";

/// The blocks of a path.
#[derive(Clone, Copy, Debug, Default)]
struct PathSum {
    weight: u128,
    count: u64,
}

#[derive(Clone, Debug, Default)]
struct Draft {
    frame: u32,
    own: u128,
    total: u128,
    count: u64,
    children: Vec<u32>,
}

/// Node 0 is the root.
struct Tree {
    frames: IndexSet<FlameFrame>,
    nodes: Vec<Draft>,
    /// By parent and frame.
    index: IndexMap<(u32, u32), u32>,
    cut: FlameCut,
}

pub(super) fn graph(comparison: &Comparison, ask: FlameRequest, span: FlameSpan, weighed: &[Weighed]) -> FlameGraph {
    // Paths are few and long, blocks are many: each path is walked once.
    let mut sums: IndexMap<PathKey<'_>, PathSum> = IndexMap::new();
    for block in weighed {
        let sum = sums.entry(PathKey::of(comparison, block.tensor.key())).or_default();
        sum.weight += block.weight;
        sum.count += 1;
    }
    let recording = comparison
        .lanes
        .get(ask.lane)
        .and_then(|lane| comparison.recording(lane.id));
    let mut tree = Tree::new();
    let mut has_native = false;
    for (key, sum) in &sums {
        let path = path_of(recording, *key, ask.keeps_native);
        has_native |= path.is_mixed;
        tree.add(path, *sum, ask.is_inverse);
    }
    let cut = tree.cut;
    let (frames, nodes) = tree.finish();
    FlameGraph {
        ask,
        span,
        paths: recording.map_or(FlamePaths::Scopes, |_| FlamePaths::Stacks),
        frames,
        nodes,
        cut,
        has_native,
    }
}

fn path_of(recording: Option<&Recording>, key: PathKey<'_>, keeps_native: bool) -> Path {
    match (key, recording) {
        (PathKey::Stack(stack), Some(recording)) => Path::of_stack(recording, stack, keeps_native),
        (PathKey::Stack(_), None) | (PathKey::NoStack, _) => Path::only(NO_STACK),
        (PathKey::Scope(scope), _) => Path::of_scope(scope),
    }
}

impl Tree {
    fn new() -> Self {
        let root = FlameFrame {
            text: ALL.into(),
            file: Box::default(),
            line: 0,
        };
        Self {
            frames: IndexSet::from([root]),
            nodes: vec![Draft::default()],
            index: IndexMap::new(),
            cut: FlameCut::default(),
        }
    }

    fn add(&mut self, path: Path, sum: PathSum, is_inverse: bool) {
        let n_frames = path.frames.len();
        let class = path.class.into_iter();
        if is_inverse {
            self.add_frames(class.chain(path.frames.into_iter().rev().take(MOST_FLAME_FRAMES)), sum);
        } else {
            self.add_frames(class.chain(path.frames.into_iter().take(MOST_FLAME_FRAMES)), sum);
        }
        if let Some(n_cut) = n_frames.checked_sub(MOST_FLAME_FRAMES).filter(|n_cut| *n_cut > 0) {
            self.cut.count += sum.count;
            self.cut.weight += sum.weight;
            self.cut.n_frames = self.cut.n_frames.max(narrow(n_cut));
        }
    }

    fn add_frames(&mut self, frames: impl Iterator<Item = FlameFrame>, sum: PathSum) {
        let mut at = 0;
        self.nodes[at as usize].add(sum);
        for frame in frames {
            at = self.child(at, frame);
            self.nodes[at as usize].add(sum);
        }
        self.nodes[at as usize].own += sum.weight;
    }

    fn child(&mut self, parent: u32, frame: FlameFrame) -> u32 {
        let frame = narrow(self.frames.insert_full(frame).0);
        if let Some(known) = self.index.get(&(parent, frame)) {
            return *known;
        }
        let child = narrow(self.nodes.len());
        self.nodes.push(Draft {
            frame,
            ..Draft::default()
        });
        self.index.insert((parent, frame), child);
        self.nodes[parent as usize].children.push(child);
        child
    }

    /// Sorts children, and puts nodes level by level, so that those of a parent follow each other.
    fn finish(mut self) -> (Vec<FlameFrame>, Vec<FlameNode>) {
        // Drafts in their final order, each with the final position and the depth of its parent.
        let mut order = vec![(0_u32, 0_u32, 0_u32)];
        let mut nodes: Vec<FlameNode> = Vec::with_capacity(self.nodes.len());
        while let Some((draft, parent, depth)) = order.get(nodes.len()).copied() {
            let own = narrow(nodes.len());
            let mut children = std::mem::take(&mut self.nodes[draft as usize].children);
            children.sort_by_cached_key(|child| {
                let child = &self.nodes[*child as usize];
                (Reverse(child.total), self.frames[child.frame as usize].clone())
            });
            let first = narrow(order.len());
            order.extend(children.iter().map(|child| (*child, own, depth + 1)));
            let draft = &self.nodes[draft as usize];
            nodes.push(FlameNode {
                frame: draft.frame,
                parent,
                depth,
                own: draft.own,
                total: draft.total,
                count: draft.count,
                children: first..narrow(order.len()),
            });
        }
        (self.frames.into_iter().collect(), nodes)
    }
}

impl Draft {
    fn add(&mut self, sum: PathSum) {
        self.total += sum.weight;
        self.count += sum.count;
    }
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
