//! Why a file could not be read: what, where, and what to do.

use serde_json::error::Category;

use highwater_model::diagnostics::without_type_names;
use highwater_model::graph::GraphError;
use highwater_model::progress::Cancelled;

/// An import that failed. Messages leave the file's name to the caller.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("{what} at {place}; {advice}")]
    Malformed {
        what: String,
        /// Such as `byte 1042`, `line 3 column 17`, `op "conv1"`.
        place: String,
        advice: &'static str,
    },
    #[error("the file ends at byte {at}, in the middle of {what}; it was cut off, copy or export it again")]
    Truncated { at: u64, what: String },
    #[error("the content is of none of the formats that can be read: {advice}")]
    UnknownFormat {
        /// A guess at the format, and advice.
        advice: String,
    },
    /// The content is of a known kind that no importer reads.
    #[error("{advice}")]
    Unread {
        /// What it is, and how to get what opens.
        advice: &'static str,
    },
    /// The content is not of the format that it was opened as, but looks like another.
    #[error(
        "it cannot be read as {asked}: {reason}; the content looks like {found}, leave out --open-as to read it as that"
    )]
    OpenedAs {
        asked: &'static str,
        reason: String,
        found: &'static str,
    },
    /// The content is not of the format that it was opened as, but of a known one that is not read.
    #[error("it cannot be read as {asked}: {reason}; {advice}")]
    OpenedAsUnread {
        asked: &'static str,
        reason: String,
        advice: &'static str,
    },
    /// The events that were asked for are not in the file.
    #[error("{what}; {advice}")]
    NoSuchEvents { what: String, advice: &'static str },
    #[error("the compressed file unpacks to more than {limit} bytes, the limit; unpack it yourself if you trust it")]
    UnpacksTooLarge { limit: u64 },
    #[error(transparent)]
    Graph(#[from] GraphError),
    #[error("cannot be read: {0}")]
    Io(#[from] std::io::Error),
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

    /// For content that was opened as another format than it looks like: advice about the file would mislead.
    pub(super) fn opened_as(self, asked: &'static str, found: &'static str) -> Self {
        match self.without_advice() {
            Ok(reason) => Self::OpenedAs { asked, reason, found },
            Err(other) => other,
        }
    }

    /// [`Self::opened_as`] for content of a known format that is not read.
    pub(super) fn opened_as_unread(self, asked: &'static str, advice: &'static str) -> Self {
        match self.without_advice() {
            Ok(reason) => Self::OpenedAsUnread { asked, reason, advice },
            Err(other) => other,
        }
    }

    /// What is wrong and where; the error itself where it is not about the content.
    fn without_advice(self) -> Result<String, Self> {
        match self {
            Self::Malformed { what, place, .. } => Ok(format!("{what} at {place}")),
            Self::Truncated { at, what } => Ok(format!("the file ends at byte {at}, in the middle of {what}")),
            Self::Graph(error) => Ok(error.to_string()),
            other => Err(other),
        }
    }

    /// For the content of a packed file: positions count unpacked bytes.
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

    /// The error of the JSON reader in a text of `len` bytes, with line and column.
    pub(super) fn of_json(error: &serde_json::Error, len: usize) -> Self {
        let place = format!("line {} column {}", error.line(), error.column());
        let text = error.to_string();
        let what = without_type_names(text.split(" at line ").next().unwrap_or(&text));
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
            Category::Data => Self::at(what, place, "docs/text-formats.md describes the format"),
        }
    }
}
