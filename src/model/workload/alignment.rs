//! Alignment of a measured run with the axis of a graph.

/// How events of a recording map to steps of a graph.
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
}

impl Alignment {
    /// The default first.
    pub const ALL: [Self; 4] = [Self::Ops, Self::Phases, Self::Time, Self::Events];

    /// The name in options.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ops => "ops",
            Self::Phases => "phases",
            Self::Time => "time",
            Self::Events => "events",
        }
    }

    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }
}
