//! Why a file could not be read: what, where, and what to do.

use serde_json::error::Category;

use highwater_model::graph::GraphError;
use highwater_model::progress::Cancelled;

/// An import that failed. Messages leave the file's name to the caller.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The content breaks the format's rules.
    #[error("{what} at {place}; {advice}")]
    Malformed {
        /// What is wrong.
        what: String,
        /// Where: `byte 1042`, `line 3 column 17`, `op "conv1"`.
        place: String,
        /// What to do.
        advice: &'static str,
    },
    /// The content ends too early.
    #[error("the file ends at byte {at}, in the middle of {what}; it was cut off, copy or export it again")]
    Truncated {
        /// Bytes there are.
        at: u64,
        /// What was being read.
        what: String,
    },
    /// No importer recognises the content.
    #[error("the content is of none of the formats that can be read: {advice}")]
    UnknownFormat {
        /// What it looks like, and what to do.
        advice: String,
    },
    /// The content is not of the format that it was opened as, but looks like another.
    #[error(
        "it cannot be read as {asked}: {reason}; the content looks like {found}, leave out --open-as to read it as that"
    )]
    OpenedAs {
        /// The format that was asked for.
        asked: &'static str,
        /// What is wrong, without advice.
        reason: String,
        /// What the content looks like.
        found: &'static str,
    },
    /// A compressed file grows beyond the limit.
    #[error("the compressed file unpacks to more than {limit} bytes, the limit; unpack it yourself if you trust it")]
    UnpacksTooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// The parts do not make a graph.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// The operating system could not read the file.
    #[error("cannot be read: {0}")]
    Io(#[from] std::io::Error),
    /// The user stopped it.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

impl ImportError {
    /// A rule of the format is broken at a byte.
    pub fn at_byte(what: impl Into<String>, byte: u64) -> Self {
        Self::Malformed {
            what: what.into(),
            place: format!("byte {byte}"),
            advice: "the file is damaged or of another format, export it again",
        }
    }

    /// A rule of the format is broken at a named place.
    pub fn at(what: impl Into<String>, place: impl Into<String>, advice: &'static str) -> Self {
        Self::Malformed {
            what: what.into(),
            place: place.into(),
            advice,
        }
    }

    /// The same of content that was opened as another format than it looks like: advice about the file would lead astray.
    pub(super) fn opened_as(self, asked: &'static str, found: &'static str) -> Self {
        let reason = match self {
            Self::Malformed { what, place, .. } => format!("{what} at {place}"),
            Self::Truncated { at, what } => format!("the file ends at byte {at}, in the middle of {what}"),
            Self::Graph(error) => error.to_string(),
            other => return other,
        };
        Self::OpenedAs { asked, reason, found }
    }

    /// The same of the content of a packed file: bytes are counted in what it unpacks to.
    pub(super) fn of_unpacked(self) -> Self {
        let is_byte = |place: &str| place.split(' ').any(|word| word == "byte");
        match self {
            Self::Malformed { what, place, advice } if is_byte(&place) => Self::Malformed {
                what,
                place: format!("{place} of the unpacked content"),
                advice,
            },
            Self::Truncated { at, what } => Self::Truncated {
                at,
                what: format!("{what} (counted in the unpacked content)"),
            },
            other => other,
        }
    }

    /// What the JSON reader says about a text of `len` bytes, with line and column.
    pub(super) fn of_json(error: &serde_json::Error, len: usize) -> Self {
        let place = format!("line {} column {}", error.line(), error.column());
        let text = error.to_string();
        let what = text.split(" at line ").next().unwrap_or(&text).to_owned();
        match error.classify() {
            Category::Eof => Self::Truncated {
                at: len as u64,
                what: format!("a JSON value ({place})"),
            },
            Category::Syntax | Category::Io => Self::at(
                format!("this is not JSON ({what})"),
                place,
                "the file is damaged, export it again",
            ),
            Category::Data => Self::at(what, place, "docs/format.md describes the format"),
        }
    }
}
