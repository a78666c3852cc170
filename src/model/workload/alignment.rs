//! Alignment of a measured run with the axis of a graph, or of runs with one another.

/// How events of a recording map to steps of a graph, or of several runs to common steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Alignment {
    /// By the ops that ran, each at the step of the graph's op of that name.
    #[default]
    Ops,
    /// By marks of phases and iterations; without any, by the beginning, the peak and the end.
    Phases,
    /// By the elapsed share of the total time.
    Time,
    /// By the number of the event.
    Events,
    /// Runs by the begins of steps that annotations mark.
    Steps,
    /// Runs by the begins of a chosen annotation.
    Annotation,
    /// Runs by the first allocation at a call site that all have.
    CallSite,
}

impl Alignment {
    /// The default first.
    pub const ALL: [Self; 7] = [
        Self::Ops,
        Self::Phases,
        Self::Time,
        Self::Events,
        Self::Steps,
        Self::Annotation,
        Self::CallSite,
    ];

    /// Those of a run with a graph.
    pub const OF_GRAPH: [Self; 4] = [Self::Ops, Self::Phases, Self::Time, Self::Events];

    /// Those of several runs; the default one lets separate runs begin together.
    pub const OF_RUNS: [Self; 6] = [
        Self::Ops,
        Self::Time,
        Self::Events,
        Self::Steps,
        Self::Annotation,
        Self::CallSite,
    ];

    /// The name in options.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ops => "ops",
            Self::Phases => "phases",
            Self::Time => "time",
            Self::Events => "events",
            Self::Steps => "steps",
            Self::Annotation => "annotation",
            Self::CallSite => "call_site",
        }
    }

    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }
}
