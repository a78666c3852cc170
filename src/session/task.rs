//! Tasks of the worker's thread: kinds, outcomes, and rules of replacement.

use std::fmt::Display;

/// The outcome of a task.
pub(super) enum Outcome<A> {
    Done(A),
    /// The sentence for the user, which the session shows already.
    Failed(String),
    Cancelled,
}

/// Why a task failed, as a sentence for the user. Every error with a text turns into one.
#[derive(Debug)]
pub(super) struct Failure(pub(super) String);

impl<E: Display> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

/// The kind of a task, by which the worker replaces and cancels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TaskKind {
    Load,
    Compare,
    Plans,
    BudgetSweep,
    Sweep,
    NameReuse,
    SettingsSearch,
    BatchSearch,
    Device,
    Peak,
    Flame,
    Table,
    Search,
    Difference,
    LaneChanges,
    Colors,
    Content,
    Paint,
    ProbeFiles,
    FindMissing,
    CheckSources,
    ReadConfig,
    /// A document.
    Save,
    WriteConfig,
    /// A file that is neither a document nor a configuration.
    Export,
}

/// The effect of a new task of a kind on pending tasks.
pub(super) struct Rule {
    /// Whether all tasks of the kind run, in order. Otherwise the newest replaces the earlier ones: they are cancelled and
    /// their answers dropped.
    pub(super) is_queued: bool,
    /// Kinds that a new task cancels; the session may restart them after it.
    pub(super) interrupts: &'static [TaskKind],
    /// Whether the user's Cancel stops it; short tasks run to their end.
    pub(super) is_cancellable: bool,
}

/// Long tasks on the answer or the sources.
const INTERRUPTED: [TaskKind; 6] = [
    TaskKind::Plans,
    TaskKind::BudgetSweep,
    TaskKind::Sweep,
    TaskKind::NameReuse,
    TaskKind::SettingsSearch,
    TaskKind::BatchSearch,
];

/// The kinds of sweeps.
pub(super) const SWEEPS: [TaskKind; 4] = [
    TaskKind::Plans,
    TaskKind::BudgetSweep,
    TaskKind::Sweep,
    TaskKind::SettingsSearch,
];

impl TaskKind {
    /// Every kind, in order.
    #[cfg(test)]
    pub(super) const ALL: [Self; Self::Export as usize + 1] = [
        Self::Load,
        Self::Compare,
        Self::Plans,
        Self::BudgetSweep,
        Self::Sweep,
        Self::NameReuse,
        Self::SettingsSearch,
        Self::BatchSearch,
        Self::Device,
        Self::Peak,
        Self::Flame,
        Self::Table,
        Self::Search,
        Self::Difference,
        Self::LaneChanges,
        Self::Colors,
        Self::Content,
        Self::Paint,
        Self::ProbeFiles,
        Self::FindMissing,
        Self::CheckSources,
        Self::ReadConfig,
        Self::Save,
        Self::WriteConfig,
        Self::Export,
    ];

    pub(super) const fn rule(self) -> Rule {
        let (is_queued, interrupts, is_cancellable): (_, &'static [Self], _) = match self {
            Self::Load | Self::Compare => (false, &INTERRUPTED, true),
            Self::Plans
            | Self::BudgetSweep
            | Self::Sweep
            | Self::NameReuse
            | Self::SettingsSearch
            | Self::BatchSearch => (false, &[], true),
            Self::Device
            | Self::Peak
            | Self::Flame
            | Self::Table
            | Self::Search
            | Self::Difference
            | Self::LaneChanges
            | Self::Colors
            | Self::Content
            | Self::Paint
            | Self::ProbeFiles
            | Self::FindMissing
            | Self::CheckSources => (false, &[], false),
            Self::WriteConfig => (true, &[], false),
            // A configuration may be a pipe without a writer; saving reads large sources.
            Self::ReadConfig | Self::Save | Self::Export => (true, &[], true),
        };
        Rule {
            is_queued,
            interrupts,
            is_cancellable,
        }
    }
}
