//! How a measured run is laid on the axis of a graph.

/// What puts an event of a recording on a step of a graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Alignment {
    /// The ops that ran, each at the step of the graph's op of its name.
    #[default]
    Ops,
    /// Marks of phases and iterations; where there are none, the beginning, the peak and the end.
    Phases,
    /// The share of the whole time that has passed.
    Time,
}

impl Alignment {
    /// All of them, the default first.
    pub const ALL: [Self; 3] = [Self::Ops, Self::Phases, Self::Time];

    /// Its name in options.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ops => "ops",
            Self::Phases => "phases",
            Self::Time => "time",
        }
    }

    /// That of a name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }
}
