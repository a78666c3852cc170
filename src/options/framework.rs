//! Where defaults come from: the vendor's documents, the adapter's code, or a framework that sets options for every graph that it gives GE.
//!
//! A script's imports choose the framework. Its values are defaults here: a setting of the user acts before them. Where the framework
//! overwrites what a script sets, the reader of the script leaves the script's value out.

use std::fmt;

use super::row::OptionRow;
use super::rows::keys;
use super::section::Section;
use super::store::Condition;
use super::value::Value;

/// A framework that runs graphs by GE without the TensorFlow adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Framework {
    Torchair,
    MindSpore,
    MindSporeLite,
}

/// Who says what an unset option acts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DefaultOrigin {
    /// The vendor's documents and headers.
    Documents,
    /// The code of the TensorFlow adapter, where the documents are silent.
    Adapter,
    /// highwater's own options.
    Simulation,
    Framework(Framework),
}

/// The value of an unset option, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionDefault {
    pub value: Value,
    pub origin: DefaultOrigin,
    pub source: &'static str,
}

/// The framework of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenFramework {
    pub framework: Framework,
    /// What only the running script knows about it.
    pub condition: Option<Condition>,
}

#[derive(Clone, Copy, Debug)]
pub struct FrameworkRow {
    pub framework: Framework,
    /// In files and answers.
    pub name: &'static str,
    /// In sentences.
    pub title: &'static str,
    /// Option and value, as GE gets them.
    pub defaults: &'static [(&'static str, &'static str)],
    /// Whether the values replace those of the script.
    pub overwrites: bool,
    pub source: &'static str,
}

pub static FRAMEWORKS: &[FrameworkRow] = &[
    FrameworkRow {
        framework: Framework::Torchair,
        name: "torchair",
        title: "torchair",
        defaults: &[
            (keys::ENGINE_STATIC_MEMORY_POLICY, "2"),
            (keys::ENGINE_ATOMIC_CLEAN_POLICY, "1"),
        ],
        overwrites: true,
        source: "torchair of torch_npu 2.14, fx2ge_converter.py: written for every graph, after CompilerConfig",
    },
    FrameworkRow {
        framework: Framework::MindSpore,
        name: "mindspore",
        title: "MindSpore",
        defaults: &[
            (keys::ENGINE_STATIC_MEMORY_POLICY, "2"),
            (keys::ENGINE_ATOMIC_CLEAN_POLICY, "1"),
            (keys::ENGINE_MEMORY_OPTIMIZATION_POLICY, "MemoryPriority"),
        ],
        overwrites: false,
        source: "MindSpore 2.10, ascend_res_manager.cc and ge_graph_executor: set before ge_options of the script",
    },
    FrameworkRow {
        framework: Framework::MindSporeLite,
        name: "mindspore_lite",
        title: "MindSpore Lite",
        defaults: &[(keys::ENGINE_STATIC_MEMORY_POLICY, "2")],
        overwrites: false,
        source: "MindSpore Lite, ge_graph_executor: set before [ge_session_options] of its configuration file",
    },
];

impl Framework {
    pub fn row(self) -> &'static FrameworkRow {
        let row = FRAMEWORKS.iter().find(|row| row.framework == self);
        row.expect("every framework has a row")
    }

    /// By its name in files.
    pub fn of_name(name: &str) -> Option<Self> {
        let row = FRAMEWORKS.iter().find(|row| row.name == name);
        row.map(|row| row.framework)
    }
}

impl FrameworkRow {
    /// The text that it sets for an option.
    pub fn default(&self, key: &str) -> Option<&'static str> {
        let of_key = self.defaults.iter().find(|(name, _)| *name == key);
        of_key.map(|(_, text)| *text)
    }
}

impl DefaultOrigin {
    /// In answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Documents => "documents",
            Self::Adapter => "adapter",
            Self::Simulation => "highwater",
            Self::Framework(framework) => framework.row().name,
        }
    }
}

impl fmt::Display for DefaultOrigin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Framework(framework) => framework.row().title,
            other => other.name(),
        })
    }
}

impl OptionRow {
    /// What the option acts as where neither the user nor a framework sets it.
    pub(super) fn plain_default(&self) -> OptionDefault {
        OptionDefault {
            value: self.default_value(),
            origin: match self.section {
                Section::Adapter => DefaultOrigin::Adapter,
                Section::Simulation => DefaultOrigin::Simulation,
                _ => DefaultOrigin::Documents,
            },
            source: self.source,
        }
    }

    /// The same under a framework.
    pub(super) fn default_under(&self, framework: Option<Framework>) -> OptionDefault {
        let row = framework.map(Framework::row);
        match row.and_then(|row| Some((row, row.default(self.key)?))) {
            Some((row, text)) => OptionDefault {
                value: self.kind.read(text),
                origin: DefaultOrigin::Framework(row.framework),
                source: row.source,
            },
            None => self.plain_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::rows::find;
    use super::*;

    #[test]
    fn every_default_of_a_framework_is_a_valid_value() {
        for row in FRAMEWORKS {
            assert_eq!(Framework::of_name(row.name), Some(row.framework));
            for (key, text) in row.defaults {
                let option = find(key).expect("an option");
                let of_framework = option.default_under(Some(row.framework));
                assert_eq!(of_framework.origin, DefaultOrigin::Framework(row.framework));
                assert_eq!(option.problem(&of_framework.value), None, "{key} {text}");
                assert_eq!(of_framework.value.to_string(), *text);
                assert_ne!(option.default_under(None), of_framework);
            }
        }
    }
}
