//! The bytes of a lane as a tree of call stacks, which a flame graph draws.
//!
//! ```text
//! all                                   2 GiB        a node's total is its own weight and the totals of its children;
//!   train.py:8 step                     2 GiB        its own weight is of blocks whose stack ends here
//!     model.py:20 forward               1.5 GiB
//!     model.py:31 loss                  0.5 GiB
//! ```
//!
//! In: a comparison and a [`FlameRequest`]. Out: a [`FlameGraph`]. The weight of a block at a step is its live bytes;
//! over a range its bytes times the steps of the range on which it is live, so that the sum divided by the steps of
//! the range is the mean. A block that begins and ends on one step counts for that step. Tensors of graphs have the
//! components of their path instead of a stack. Children are sorted by total, most first, then by text and file.
//! O(events + blocks * depth).

mod boxes;
mod frames;
mod tree;

use std::ops::Range;

use super::peak::{LiveSet, PeakAt, StepRange, peak_step};
use super::{Selected, color_of_name};
use highwater_analysis::Comparison;
use highwater_model::graph::TensorId;
use highwater_model::units::{Bytes, Step, counted, grouped, percent_text};
use highwater_sim::Subject;
use highwater_sim::fold::blocks;

pub use boxes::FlameBox;

/// Most frames of a path; deeper stacks are cut at their innermost end, in the inverse tree at their outermost.
pub const MOST_FLAME_FRAMES: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlameRequest {
    /// By position.
    pub lane: usize,
    /// A range is weighed as a whole, not at its highest step.
    pub at: PeakAt,
    /// Innermost frame first instead of outermost first.
    pub is_inverse: bool,
    /// Whether C++ frames are kept; otherwise those of stacks with a Python frame are left out.
    pub keeps_native: bool,
}

/// The weighed steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlameSpan {
    Step(Step),
    Range(StepRange),
}

/// The origin of the paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlamePaths {
    /// Call stacks of a recording.
    Stacks,
    /// Paths in the names of tensors.
    Scopes,
}

/// A frame, or a component of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlameFrame {
    /// `model.py:20 forward`; of a C++ frame its function.
    pub text: Box<str>,
    /// The whole path of a Python file; empty for C++ frames and components.
    pub file: Box<str>,
    /// 0 where there is none.
    pub line: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlameNode {
    /// Position in the frames.
    frame: u32,
    /// The root is its own parent.
    pub parent: u32,
    /// 0 for the root.
    pub depth: u32,
    /// Of blocks whose path ends here.
    pub own: u128,
    /// Of all blocks whose path goes through here.
    pub total: u128,
    /// Number of blocks of the total; over a range, one that is allocated twice counts twice.
    pub count: u64,
    children: Range<u32>,
}

/// What the cap on the depth leaves out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlameCut {
    /// Number of blocks with a deeper path.
    pub count: u64,
    pub weight: u128,
    /// The largest number of frames that a path lacks.
    pub n_frames: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlameGraph {
    pub ask: FlameRequest,
    pub span: FlameSpan,
    pub paths: FlamePaths,
    frames: Vec<FlameFrame>,
    /// The root first, then level by level.
    nodes: Vec<FlameNode>,
    pub cut: FlameCut,
    /// Whether some stack has C++ frames beside Python ones.
    pub has_native: bool,
}

/// A block while it is weighed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Weighed {
    tensor: Selected,
    weight: u128,
}

impl FlameGraph {
    /// `None` where lane or step do not exist.
    pub fn new(comparison: &Comparison, ask: FlameRequest) -> Option<Self> {
        comparison.lanes.get(ask.lane)?;
        let span = span(comparison, ask)?;
        let weighed = match span {
            FlameSpan::Step(step) => at_step(comparison, ask.lane, step),
            FlameSpan::Range(range) => over_range(comparison, ask.lane, range),
        };
        Some(tree::graph(comparison, ask, span, &weighed))
    }

    pub const ROOT: u32 = 0;

    /// Level by level, the root first.
    pub fn nodes(&self) -> &[FlameNode] {
        &self.nodes
    }

    /// The root for an unknown position.
    pub fn node(&self, node: u32) -> &FlameNode {
        let found = self.nodes.get(node as usize);
        found.unwrap_or_else(|| &self.nodes[Self::ROOT as usize])
    }

    pub fn frame(&self, node: u32) -> &FlameFrame {
        &self.frames[self.node(node).frame as usize]
    }

    /// Most bytes first.
    pub fn children(&self, node: u32) -> Range<u32> {
        self.node(node).children.clone()
    }

    /// The frames from the one below the root to the node. O(depth).
    pub fn path(&self, node: u32) -> Vec<u32> {
        let mut path = Vec::new();
        let mut at = node;
        while at != Self::ROOT && (at as usize) < self.nodes.len() {
            path.push(at);
            at = self.node(at).parent;
        }
        path.reverse();
        path
    }

    /// The deepest node whose path begins as given. O(children of its path).
    pub fn find(&self, path: &[FlameFrame]) -> u32 {
        let mut at = Self::ROOT;
        for frame in path {
            let next = self.children(at).find(|child| self.frame(*child) == frame);
            let Some(next) = next else { break };
            at = next;
        }
        at
    }

    /// The whole weight.
    pub fn total(&self) -> u128 {
        self.node(Self::ROOT).total
    }

    /// The number of weighed steps.
    pub const fn n_steps(&self) -> u32 {
        match self.span {
            FlameSpan::Step(_) => 1,
            FlameSpan::Range(range) => range.n_steps(),
        }
    }

    /// Live bytes at the step, or the mean over the range, rounded down.
    pub fn bytes(&self, weight: u128) -> Bytes {
        let mean = weight / u128::from(self.n_steps().max(1));
        Bytes(u64::try_from(mean).unwrap_or(u64::MAX))
    }

    /// Percentage of the whole weight; 0 where that is 0.
    #[expect(clippy::cast_precision_loss, reason = "a percentage")]
    pub fn share(&self, weight: u128) -> f64 {
        match self.total() {
            0 => 0.0,
            total => weight as f64 / total as f64 * 100.0,
        }
    }

    /// The exact weight with its unit.
    pub fn exact(&self, weight: u128) -> String {
        let digits = u64::try_from(weight).map_or_else(|_| weight.to_string(), grouped);
        match self.span {
            FlameSpan::Step(_) => format!("{digits}\u{a0}B"),
            FlameSpan::Range(_) => format!("{digits}\u{a0}B × steps"),
        }
    }

    /// The noun of a weighed block.
    pub fn noun(&self) -> &'static str {
        match self.paths {
            FlamePaths::Stacks => "block",
            FlamePaths::Scopes => "tensor",
        }
    }

    /// Below [`PALETTE_LEN`](super::PALETTE_LEN): equal for frames of one file, else for equal texts.
    pub fn color(&self, node: u32) -> u8 {
        let frame = self.frame(node);
        let name = if frame.file.is_empty() {
            &frame.text
        } else {
            &frame.file
        };
        color_of_name(name, TensorId(0))
    }

    /// Frame, exact weight, share and number of blocks, for a tooltip.
    pub fn hint(&self, node: u32) -> String {
        let (frame, known) = (self.frame(node), self.node(node));
        let blocks = counted(known.count, self.noun());
        let share = percent_text(self.share(known.total));
        let own = match known.own {
            0 => String::new(),
            own => format!("\nown: {}", self.exact(own)),
        };
        let bytes = match self.span {
            FlameSpan::Step(_) => self.exact(known.total),
            FlameSpan::Range(_) => format!("mean {} ({})", self.bytes(known.total), self.exact(known.total)),
        };
        format!("{}\n{bytes}, {share}, {blocks}{own}", frame.text)
    }

    /// What is drawn, in words: `live bytes by call stack, event 4711`.
    pub fn title(&self, comparison: &Comparison) -> String {
        let at = |step: Step| comparison.step_text(self.ask.lane, step);
        let paths = match (self.paths, self.ask.is_inverse) {
            (FlamePaths::Stacks, false) => "call stack",
            (FlamePaths::Stacks, true) => "call stack, innermost frame first",
            (FlamePaths::Scopes, false) => "scope",
            (FlamePaths::Scopes, true) => "scope, innermost first",
        };
        match (self.span, self.ask.at) {
            (FlameSpan::Step(step), PeakAt::Peak) => format!("live bytes by {paths}, peak at {}", at(step)),
            (FlameSpan::Step(step), _) => format!("live bytes by {paths}, {}", at(step)),
            (FlameSpan::Range(range), _) => {
                let steps = comparison.steps_text(self.ask.lane, range.start, range.end);
                format!("mean live bytes by {paths}, {steps}")
            }
        }
    }
}

/// The steps of a request; `None` for a step behind the last, or a lane without steps.
fn span(comparison: &Comparison, ask: FlameRequest) -> Option<FlameSpan> {
    let n_steps = comparison.axis.n_steps;
    match ask.at {
        PeakAt::Peak => peak_step(comparison, ask.lane).map(FlameSpan::Step),
        PeakAt::Step(step) => (step.0 < n_steps).then_some(FlameSpan::Step(step)),
        PeakAt::Range(range) => StepRange::between(range.start, range.last(), n_steps).map(FlameSpan::Range),
    }
}

fn at_step(comparison: &Comparison, lane: usize, step: Step) -> Vec<Weighed> {
    let members = LiveSet::new(comparison, lane, step).members.into_iter();
    members
        .map(|member| Weighed {
            tensor: member.tensor,
            weight: u128::from(member.bytes.get()),
        })
        .collect()
}

/// In the order of allocation. O(events).
fn over_range(comparison: &Comparison, lane: usize, range: StepRange) -> Vec<Weighed> {
    let simulation = &comparison.lanes[lane].simulation;
    let session = comparison.session_of(lane);
    let mut weighed = Vec::new();
    for block in blocks(simulation) {
        let end = block.end.0.max(block.start.0 + 1).min(range.end.0);
        let n_steps = end.saturating_sub(block.start.0.max(range.start.0));
        let row = simulation.subject(block.subject);
        let Subject::Tensor { run, tensor, .. } = row.subject else {
            continue;
        };
        if let Some(tensor) = Selected::in_session(session, run, tensor).filter(|_| n_steps > 0) {
            weighed.push(Weighed {
                tensor,
                weight: u128::from(row.requested.get()) * u128::from(n_steps),
            });
        }
    }
    weighed
}
