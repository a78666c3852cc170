//! Environment variables that the rules and the policy read, as data: the process is never asked here.

use std::collections::BTreeMap;

use super::kind::Choice;

/// The variable that selects a memory policy.
pub const GE_USE_STATIC_MEMORY: &str = "GE_USE_STATIC_MEMORY";
/// The device where no option names one.
pub const ASCEND_DEVICE_ID: &str = "ASCEND_DEVICE_ID";
/// The physical device where nothing else names one.
pub const DEVICE_ID: &str = "DEVICE_ID";
/// Where files of a run go.
pub const ASCEND_WORK_PATH: &str = "ASCEND_WORK_PATH";
/// Where caches go.
pub const ASCEND_CACHE_PATH: &str = "ASCEND_CACHE_PATH";
/// Where data for fault analysis go.
pub const NPU_COLLECT_PATH: &str = "NPU_COLLECT_PATH";
/// How long collective communication may take.
pub const HCCL_EXEC_TIMEOUT: &str = "HCCL_EXEC_TIMEOUT";
/// What AOE tunes where no option says it.
pub const AOE_MODE: &str = "AOE_MODE";
/// How large the cache of compiled operators may grow.
pub const ASCEND_MAX_OP_CACHE_SIZE: &str = "ASCEND_MAX_OP_CACHE_SIZE";
/// How much of a full cache stays.
pub const ASCEND_REMAIN_CACHE_SIZE_RATIO: &str = "ASCEND_REMAIN_CACHE_SIZE_RATIO";
/// TensorFlow's cluster.
pub const TF_CONFIG: &str = "TF_CONFIG";
/// How many devices train together.
pub const RANK_SIZE: &str = "RANK_SIZE";
/// How many devices train together, with the cluster manager.
pub const CM_WORKER_SIZE: &str = "CM_WORKER_SIZE";

/// One variable as users meet it.
#[derive(Clone, Copy, Debug)]
pub struct EnvironmentRow {
    /// Its name.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// A few sentences: what it does, what to mind.
    pub details: &'static str,
    /// Which wins where an option says something else.
    pub precedence: &'static str,
    /// Its values with their meanings; empty where any text is allowed.
    pub choices: &'static [Choice<&'static str>],
    /// Where the facts come from.
    pub source: &'static str,
}

/// Every variable that has an effect here.
pub static ENVIRONMENT: &[EnvironmentRow] = &[
    EnvironmentRow {
        name: GE_USE_STATIC_MEMORY,
        summary: "selects the memory policy of a session from outside the script",
        details: "The older way to choose what `static_memory_policy` chooses, with the same numbers. It is announced to \
              be deprecated, and its documentation forbids it beside the option. The engine compares texts exactly: \
              a value that it does not know, such as `5` or ` 2`, selects nothing and stays silent about it. \
              Releases of 2020 to 2022 took any value as a request for one shared arena.",
        precedence: "none: the engine joins it with memory_config.static_memory_policy, so 2 here and 3 there give policy 4",
        choices: &[
            Choice {
                value: "0",
                summary: "dynamic allocation",
            },
            Choice {
                value: "1",
                summary: "the same as 2, for old scripts",
            },
            Choice {
                value: "2",
                summary: "static graphs share one arena",
            },
            Choice {
                value: "3",
                summary: "dynamic graphs use expandable pools",
            },
            Choice {
                value: "4",
                summary: "both",
            },
        ],
        source: "GE_USE_STATIC_MEMORY reference; GE graph_var_manager.h",
    },
    EnvironmentRow {
        name: ASCEND_DEVICE_ID,
        summary: "the device where no option names one",
        details: "The device where no option names one.",
        precedence: "an option wins",
        choices: &[],
        source: "NPURunConfig option reference",
    },
    EnvironmentRow {
        name: DEVICE_ID,
        summary: "the physical device where nothing else names one",
        details: "The physical device where nothing else names one.",
        precedence: "an option wins",
        choices: &[],
        source: "NPURunConfig option reference",
    },
    EnvironmentRow {
        name: ASCEND_WORK_PATH,
        summary: "where files of a run go",
        details: "Where files of a run go.",
        precedence: "an option wins",
        choices: &[],
        source: "NPURunConfig option reference",
    },
    EnvironmentRow {
        name: ASCEND_CACHE_PATH,
        summary: "where caches go",
        details: "Where caches go.",
        precedence: "an option wins",
        choices: &[],
        source: "NPURunConfig option reference",
    },
    EnvironmentRow {
        name: NPU_COLLECT_PATH,
        summary: "where data for fault analysis go",
        details: "Where data for fault analysis go.",
        precedence: "an option wins",
        choices: &[],
        source: "NPURunConfig option reference",
    },
    EnvironmentRow {
        name: HCCL_EXEC_TIMEOUT,
        summary: "how long collective communication may take",
        details: "How long collective communication may take.",
        precedence: "an option wins",
        choices: &[],
        source: "NPURunConfig option reference",
    },
    EnvironmentRow {
        name: AOE_MODE,
        summary: "what AOE tunes where no option says it",
        details: "What AOE tunes where no option says it.",
        precedence: "an option wins",
        choices: &[],
        source: "NPURunConfig option reference",
    },
    EnvironmentRow {
        name: ASCEND_MAX_OP_CACHE_SIZE,
        summary: "how large the cache of compiled operators may grow",
        details: "How large the cache of compiled operators may grow.",
        precedence: "an option wins",
        choices: &[],
        source: "NPURunConfig option reference",
    },
    EnvironmentRow {
        name: ASCEND_REMAIN_CACHE_SIZE_RATIO,
        summary: "how much of a full cache stays",
        details: "How much of a full cache stays.",
        precedence: "an option wins",
        choices: &[],
        source: "NPURunConfig option reference",
    },
    EnvironmentRow {
        name: TF_CONFIG,
        summary: "tensorFlow's cluster",
        details: "TensorFlow's cluster.",
        precedence: "an option wins",
        choices: &[],
        source: "NPURunConfig option reference",
    },
    EnvironmentRow {
        name: RANK_SIZE,
        summary: "how many devices train together",
        details: "How many devices train together.",
        precedence: "an option wins",
        choices: &[],
        source: "NPURunConfig option reference",
    },
    EnvironmentRow {
        name: CM_WORKER_SIZE,
        summary: "how many devices train together, with the cluster manager",
        details: "How many devices train together, with the cluster manager.",
        precedence: "an option wins",
        choices: &[],
        source: "NPURunConfig option reference",
    },
];

/// Variables and their texts, as the simulated session sees them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    variables: BTreeMap<String, String>,
}

impl Environment {
    /// No variables.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a variable.
    pub fn set(&mut self, name: &str, text: &str) {
        self.variables.insert(name.to_owned(), text.to_owned());
    }

    /// Removes a variable.
    pub fn remove(&mut self, name: &str) {
        self.variables.remove(name);
    }

    /// The text of a variable.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// Whether the variable has a text that is not empty: to the engine an empty one is no variable.
    pub fn is_set(&self, name: &str) -> bool {
        self.get(name).is_some_and(|text| !text.is_empty())
    }

    /// The variables by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// Whether there are no variables.
    pub fn is_empty(&self) -> bool {
        self.variables.is_empty()
    }

    /// Takes over every variable of `other`, which wins.
    pub fn extend(&mut self, other: &Self) {
        for (name, text) in &other.variables {
            self.variables.insert(name.clone(), text.clone());
        }
    }
}
