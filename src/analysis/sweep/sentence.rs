//! Sentences with figures that lead somewhere.

use highwater_model::graph::TensorId;
use highwater_model::units::{Bytes, Nanos, Step, grouped};
use highwater_model::workload::GraphIdx;

/// Which of the configurations that a recommendation speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WhichChoice {
    /// The recommended one.
    Winner,
    /// The next best.
    RunnerUp,
    /// The one at hand.
    Base,
}

/// Where a figure leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Link {
    /// The whole lane of a configuration.
    Lane(WhichChoice),
    /// A step of it.
    Step {
        /// Whose.
        of: WhichChoice,
        /// The step.
        step: Step,
    },
    /// A tensor of it.
    Tensor {
        /// Whose.
        of: WhichChoice,
        /// The step at which it is spoken of.
        step: Step,
        /// Its graph.
        graph: GraphIdx,
        /// The tensor.
        tensor: TensorId,
    },
    /// An option, by its key.
    Option(String),
}

/// A piece of a sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// The words.
    pub text: String,
    /// The exact figure, where the words round one.
    pub exact: Option<String>,
    /// Where it leads.
    pub link: Option<Link>,
}

/// A sentence in pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sentence {
    /// The pieces in order; joined they are the sentence.
    pub parts: Vec<Part>,
}

impl Sentence {
    /// A sentence of words alone.
    pub fn of(text: impl Into<String>) -> Self {
        Self::default().say(text)
    }

    /// The words without links.
    pub fn text(&self) -> String {
        self.parts.iter().map(|part| part.text.as_str()).collect()
    }

    /// Goes on with words; no words leave no part, which would have to be drawn.
    #[must_use]
    pub(super) fn say(mut self, text: impl Into<String>) -> Self {
        let text = text.into();
        if !text.is_empty() {
            self.parts.push(Part {
                text,
                ..Part::default()
            });
        }
        self
    }

    /// Goes on with words that lead somewhere.
    #[must_use]
    pub(super) fn linked(mut self, text: impl Into<String>, link: Link) -> Self {
        self.parts.push(Part {
            text: text.into(),
            exact: None,
            link: Some(link),
        });
        self
    }

    /// Goes on with bytes.
    #[must_use]
    pub(super) fn bytes(mut self, bytes: Bytes, link: Link) -> Self {
        self.parts.push(Part {
            text: bytes.to_string(),
            exact: Some(bytes.exact()),
            link: Some(link),
        });
        self
    }

    /// Goes on with a time.
    #[must_use]
    pub(super) fn time(mut self, time: Nanos, link: Link) -> Self {
        self.parts.push(Part {
            text: time.to_string(),
            exact: Some(format!("{}\u{a0}ns", grouped(time.0))),
            link: Some(link),
        });
        self
    }
}
