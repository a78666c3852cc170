//! Categories of recorded blocks: what a block is for, inferred from who asked for it and how long it lives.
//!
//! ```text
//! who asked        how long                                          category
//! setup            through a step or to the end                      parameter
//! optimizer        through a step or to the end                      optimizer state
//! backward pass    until the optimizer runs or the step ends         gradient
//! forward pass     until the backward pass, or to the end            activation
//! data                                                               input
//! any of these     shorter                                           temporary
//! ```
//!
//! In: the blocks of a recording with their stacks, phases and step marks, and rules. Out: for each block a category and
//! what it rests on. Who asked is told by the innermost line of the stack that a rule names, else by the block's name,
//! else by the innermost phase (`requesters`). A request that fails ends the step (`passes`). Sizes of gradients and the
//! way in which blocks end tell of those that are older than the recording (`older`). Rules of a document name categories
//! outright. A recording does not state any of this: it is an inference, and shown as one; where two categories are
//! possible the block is unknown and its basis says which. O((lines of all stacks + blocks) log blocks).

mod basis;
mod inference;
mod older;
mod passes;
mod requesters;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use super::Recording;
use super::frame_rules::FrameRuleError;
use super::line_patterns::LinePatterns;
use crate::units::Bytes;

pub use basis::CategoryBasis;
pub use requesters::{REQUESTER_RULES, Requester, RequesterRule};

/// What a recorded block is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// Of a module: its buffers, too.
    Parameter,
    Gradient,
    OptimizerState,
    Activation,
    Input,
    Temporary,
    /// Nothing tells, or not which of two.
    #[default]
    Unknown,
}

impl Category {
    pub const ALL: [Self; 7] = [
        Self::Parameter,
        Self::Gradient,
        Self::OptimizerState,
        Self::Activation,
        Self::Input,
        Self::Temporary,
        Self::Unknown,
    ];

    /// The name shown to users.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Parameter => "parameter",
            Self::Gradient => "gradient",
            Self::OptimizerState => "optimizer state",
            Self::Activation => "activation",
            Self::Input => "input",
            Self::Temporary => "temporary",
            Self::Unknown => "unknown",
        }
    }
}

/// A category and what it rests on.
pub(super) type Judgement = (Category, CategoryBasis);

/// A rule of a document: blocks of stacks with such a line are of a category. A pattern that is absent matches all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CategoryRule {
    pub category: Category,
    /// A regular expression, searched in the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// A regular expression, searched in the function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
}

/// Rules of a document; the built-in ones follow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CategoryRules {
    own: Vec<CategoryRule>,
}

impl CategoryRules {
    /// # Errors
    /// The first rule whose pattern is no regular expression.
    pub fn new(own: Vec<CategoryRule>) -> Result<Self, FrameRuleError> {
        let rules = Self { own };
        rules.patterns()?;
        Ok(rules)
    }

    fn patterns(&self) -> Result<LinePatterns, FrameRuleError> {
        let rules = self.own.iter();
        LinePatterns::new(rules.map(|rule| (rule.file.as_deref(), rule.function.as_deref())))
    }

    /// The rules of the document.
    pub fn own(&self) -> &[CategoryRule] {
        &self.own
    }
}

/// Sets the category of each block.
pub(super) fn infer(recording: &mut Recording, rules: &CategoryRules) {
    let (judgements, undecided) = match inference::Inference::new(recording, rules) {
        Some(inference) => inference.judge(),
        None => (Vec::new(), Bytes::ZERO),
    };
    recording.undecided_parameters = undecided;
    let judgements = judgements.into_iter().chain(std::iter::repeat(Judgement::default()));
    for (block, judgement) in recording.blocks.iter_mut().zip(judgements) {
        (block.category, block.basis) = judgement;
    }
}
