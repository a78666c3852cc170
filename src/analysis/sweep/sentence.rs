//! Sentences whose figures link to a lane, a step, a tensor or an option.

use highwater_model::graph::TensorId;
use highwater_model::units::{Bytes, Nanos, Step, grouped};
use highwater_model::workload::GraphIdx;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WhichChoice {
    /// The recommended one.
    Winner,
    RunnerUp,
    /// The active configuration.
    Base,
}

/// The target of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Link {
    /// The whole lane of a configuration.
    Lane(WhichChoice),
    /// A step of it.
    Step { of: WhichChoice, step: Step },
    /// A tensor of it.
    Tensor {
        of: WhichChoice,
        /// The step that the sentence is about.
        step: Step,
        graph: GraphIdx,
        tensor: TensorId,
    },
    /// By key.
    Option(String),
}

/// A part of a sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    pub text: String,
    /// The exact figure, where the words round one.
    pub exact: Option<String>,
    pub link: Option<Link>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sentence {
    /// In order; joined they are the sentence.
    pub parts: Vec<Part>,
}

impl Sentence {
    pub fn of(text: impl Into<String>) -> Self {
        Self::default().say(text)
    }

    /// The text without links.
    pub fn text(&self) -> String {
        self.parts.iter().map(|part| part.text.as_str()).collect()
    }

    /// Appends text; empty text adds no part.
    #[must_use]
    pub(super) fn say(mut self, text: impl Into<String>) -> Self {
        let text = text.into();
        if !text.is_empty() {
            self.parts.push(Part {
                text,
                exact: None,
                link: None,
            });
        }
        self
    }

    #[must_use]
    pub(super) fn linked(self, text: impl Into<String>, link: Link) -> Self {
        self.part(text.into(), None, link)
    }

    #[must_use]
    pub(super) fn bytes(self, bytes: Bytes, link: Link) -> Self {
        self.part(bytes.to_string(), Some(bytes.exact()), link)
    }

    #[must_use]
    pub(super) fn time(self, time: Nanos, link: Link) -> Self {
        let exact = format!("{}\u{a0}ns", grouped(time.0));
        self.part(time.to_string(), Some(exact), link)
    }

    fn part(mut self, text: String, exact: Option<String>, link: Link) -> Self {
        let link = Some(link);
        self.parts.push(Part { text, exact, link });
        self
    }
}
