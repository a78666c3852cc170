//! Which tables there are, and which columns they have.

use super::{events, live, ops, problems, tensors};

/// A table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TableKind {
    /// A row per tensor of a run.
    #[default]
    Tensors,
    /// A row per step.
    Ops,
    /// A row per block that is held on a step.
    Live,
    /// A row per event of the device and the pools, evictions and rematerializations.
    Events,
    /// A row per finding and oddity.
    Problems,
}

impl TableKind {
    /// All of them, in the order of the chooser.
    pub const ALL: [Self; 5] = [Self::Tensors, Self::Ops, Self::Live, Self::Events, Self::Problems];

    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Tensors => "Tensors",
            Self::Ops => "Ops",
            Self::Live => "Live at step",
            Self::Events => "Events",
            Self::Problems => "Problems",
        }
    }

    /// What one row is.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Tensors => "tensor",
            Self::Ops => "step",
            Self::Live => "block",
            Self::Events => "event",
            Self::Problems => "problem",
        }
    }

    /// Its columns.
    pub const fn columns(self) -> &'static [Column] {
        match self {
            Self::Tensors => &tensors::COLUMNS,
            Self::Ops => &ops::COLUMNS,
            Self::Live => &live::COLUMNS,
            Self::Events => &events::COLUMNS,
            Self::Problems => &problems::COLUMNS,
        }
    }

    /// Whether its filter is a query; elsewhere it is a part of a text.
    pub const fn has_queries(self) -> bool {
        matches!(self, Self::Tensors | Self::Live)
    }
}

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// What stands above it.
    pub title: &'static str,
    /// What it is called in files: with the unit of what stands there.
    pub raw: &'static str,
    /// What it says.
    pub help: &'static str,
    /// Whether it holds numbers, which stand on the right.
    pub is_number: bool,
    /// How wide it is at first, in letters.
    pub letters: u8,
}

/// A column of numbers.
pub(super) const fn number(title: &'static str, raw: &'static str, help: &'static str) -> Column {
    Column {
        title,
        raw,
        help,
        is_number: true,
        letters: 8,
    }
}

/// A column of numbers with units.
pub(super) const fn amount(title: &'static str, raw: &'static str, help: &'static str) -> Column {
    Column {
        letters: 12,
        ..number(title, raw, help)
    }
}

/// A column of texts.
pub(super) const fn text(title: &'static str, help: &'static str, letters: u8) -> Column {
    Column {
        title,
        raw: title,
        help,
        is_number: false,
        letters,
    }
}
