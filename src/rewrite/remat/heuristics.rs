//! The table of heuristics and their engines.

use super::runtime::RuntimeRule;

/// The engine that runs a tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// The runtime of the DTR paper's simulator, with one of its cost functions.
    Runtime(RuntimeRule),
    /// MegEngine's planner for a known op sequence.
    StaticPlanner,
    Eager,
}

/// Which tensors the minimum size admits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MinimumRule {
    /// The code compares with >=, although the documentation of `DTRConfig` says "exceeds".
    AtLeast,
    Above,
    /// The engine has no minimum.
    Ignored,
}

impl MinimumRule {
    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AtLeast => "at_least",
            Self::Above => "above",
            Self::Ignored => "ignored",
        }
    }
}

impl Engine {
    pub const fn minimum_rule(self) -> MinimumRule {
        match self {
            Self::StaticPlanner => MinimumRule::AtLeast,
            Self::Eager => MinimumRule::Above,
            Self::Runtime(_) => MinimumRule::Ignored,
        }
    }

    /// Whether the exponents of memory and time count.
    pub const fn reads_factors(self) -> bool {
        matches!(self, Self::StaticPlanner)
    }

    /// Whether adjacent free bytes count.
    pub const fn reads_free_neighbors(self) -> bool {
        matches!(self, Self::Eager)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Heuristic {
    /// Name on the command line and in files.
    pub name: &'static str,
    /// Name shown to users.
    pub label: &'static str,
    /// One sentence for users.
    pub summary: &'static str,
    pub engine: Engine,
}

impl PartialEq for Heuristic {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Heuristic {}

/// The heuristic that `DTRConfig` drives.
pub const DEFAULT_HEURISTIC: &str = "megengine";

pub static HEURISTICS: &[Heuristic] = &[
    Heuristic {
        name: "megengine",
        label: "MegEngine static",
        summary: "MegEngine's static planner, which DTRConfig drives: knows the op sequence, weighs time and memory of \
                  recomputation against size and the steps until the next use",
        engine: Engine::StaticPlanner,
    },
    Heuristic {
        name: "megengine_eager",
        label: "MegEngine eager",
        summary: "MegEngine's eager interpreter: neighbours' cost over bytes (with free neighbours) and staleness",
        engine: Engine::Eager,
    },
    Heuristic {
        name: "dtr",
        label: "DTR",
        summary: "cost of the whole evicted neighbourhood over bytes and staleness",
        engine: Engine::Runtime(RuntimeRule::Dtr),
    },
    Heuristic {
        name: "dtr_eq",
        label: "DTR-EqClass",
        summary: "as dtr, with neighbourhoods as union-find classes",
        engine: Engine::Runtime(RuntimeRule::DtrEqClass),
    },
    Heuristic {
        name: "dtr_local",
        label: "DTR-Local",
        summary: "own cost over bytes and staleness",
        engine: Engine::Runtime(RuntimeRule::DtrLocal),
    },
    Heuristic {
        name: "msps",
        label: "MSPS",
        summary: "cost of the tensor and of its evicted ancestors over bytes",
        engine: Engine::Runtime(RuntimeRule::Msps),
    },
    Heuristic {
        name: "lru",
        label: "LRU",
        summary: "what was used longest ago",
        engine: Engine::Runtime(RuntimeRule::Lru),
    },
    Heuristic {
        name: "largest",
        label: "Largest",
        summary: "what holds most bytes",
        engine: Engine::Runtime(RuntimeRule::Largest),
    },
    Heuristic {
        name: "random",
        label: "Random",
        summary: "anything, drawn with a seed",
        engine: Engine::Runtime(RuntimeRule::Random),
    },
];

/// # Errors
/// A sentence that lists the known names.
pub fn find_heuristic(name: &str) -> Result<&'static Heuristic, String> {
    HEURISTICS.iter().find(|row| row.name == name).ok_or_else(|| {
        let known: Vec<&str> = HEURISTICS.iter().map(|row| row.name).collect();
        format!("there is no heuristic \"{name}\"; known: {}", known.join(", "))
    })
}
