//! The tables and their columns.

use super::{events, evictions, live, ops, problems, tensors};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TableKind {
    /// A row per tensor of a run.
    #[default]
    Tensors,
    Ops,
    /// A row per block that is live on a step.
    Live,
    /// A row per event of the device and the pools, eviction and recomputation.
    Events,
    /// A row per eviction of a lane under a budget.
    Evictions,
    Problems,
}

impl TableKind {
    /// In the order of the chooser.
    pub const ALL: [Self; 6] = [
        Self::Tensors,
        Self::Ops,
        Self::Live,
        Self::Events,
        Self::Evictions,
        Self::Problems,
    ];

    pub const fn words(self) -> &'static str {
        match self {
            Self::Tensors => "Tensors",
            Self::Ops => "Ops",
            Self::Live => "Live at step",
            Self::Events => "Events",
            Self::Evictions => "Evictions",
            Self::Problems => "Problems",
        }
    }

    pub const fn noun(self) -> &'static str {
        match self {
            Self::Tensors => "tensor",
            Self::Ops => "step",
            Self::Live => "block",
            Self::Events => "event",
            Self::Evictions => "eviction",
            Self::Problems => "problem",
        }
    }

    pub const fn columns(self) -> &'static [Column] {
        match self {
            Self::Tensors => &tensors::COLUMNS,
            Self::Ops => &ops::COLUMNS,
            Self::Live => &live::COLUMNS,
            Self::Events => &events::COLUMNS,
            Self::Evictions => &evictions::COLUMNS,
            Self::Problems => &problems::COLUMNS,
        }
    }

    /// Whether its filter is a query; others filter by a part of a text.
    pub const fn has_queries(self) -> bool {
        matches!(self, Self::Tensors | Self::Live)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    pub title: &'static str,
    /// Name in files, with the unit.
    pub raw: &'static str,
    pub help: &'static str,
    /// Numbers are aligned right.
    pub is_number: bool,
    /// Initial width.
    pub letters: u8,
}

pub(super) const fn number(title: &'static str, raw: &'static str, help: &'static str) -> Column {
    Column {
        title,
        raw,
        help,
        is_number: true,
        letters: 8,
    }
}

pub(super) const fn amount(title: &'static str, raw: &'static str, help: &'static str) -> Column {
    Column {
        letters: 12,
        ..number(title, raw, help)
    }
}

pub(super) const fn text(title: &'static str, help: &'static str, letters: u8) -> Column {
    Column {
        title,
        raw: title,
        help,
        is_number: false,
        letters,
    }
}
