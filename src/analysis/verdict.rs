//! Whether a setting could have served a request that failed, and why.

/// The answer to "could a setting have served it".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    Yes,
    No,
    /// The text does not state what the answer needs.
    Unknown,
}

impl Served {
    /// The name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Unknown => "unknown",
        }
    }

    /// As the begin of a sentence.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Yes => "A setting could have served it",
            Self::No => "No setting could have served it",
            Self::Unknown => "Whether a setting could have served it is unknown",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub served: Served,
    /// The arithmetic, a clause.
    pub why: String,
}

impl Verdict {
    pub(super) fn new(served: Served, why: impl Into<String>) -> Self {
        Self {
            served,
            why: why.into(),
        }
    }

    pub(super) fn yes(why: impl Into<String>) -> Self {
        Self::new(Served::Yes, why)
    }

    pub(super) fn no(why: impl Into<String>) -> Self {
        Self::new(Served::No, why)
    }

    pub(super) fn unknown(why: impl Into<String>) -> Self {
        Self::new(Served::Unknown, why)
    }

    /// The answer with its reason.
    pub fn sentence(&self) -> String {
        format!("{}: {}.", self.served.words(), self.why)
    }
}
