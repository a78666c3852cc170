//! The frameworks that a configuration speaks to, a script each.

use std::path::{Path, PathBuf};

use highwater_options::{Options, Section, Value, find, has_policy, keys};

use super::config_document::ConfigDocument;
use super::python::{EAGER_HEURISTIC, EAGER_KEYS};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PythonPart {
    /// The adapter of TensorFlow, with everything that is no other part: variables, options of the engine and of highwater.
    Adapter,
    MegEngine,
    Paddle,
}

impl PythonPart {
    pub const ALL: [Self; 3] = [Self::Adapter, Self::MegEngine, Self::Paddle];

    /// The part that the named file is: the adapter's, unless all options are of the other frameworks. It also carries everything that is
    /// no framework's own: options of highwater, unknown options, the session.
    pub(super) fn main(document: &ConfigDocument) -> Self {
        let has_part = |part: &Self| {
            document
                .options
                .overrides()
                .any(|(key, _)| Self::of_option(key, &document.options) == Some(*part))
        };
        if has_policy(&document.options, &document.environment) {
            return Self::Adapter;
        }
        Self::ALL.into_iter().find(has_part).unwrap_or(Self::Adapter)
    }

    /// The file of this part for a named file: that file for the main part, else `run_megengine.py` or `run_paddle.py`.
    pub fn path(self, named: &Path, document: &ConfigDocument) -> PathBuf {
        let suffix = match self {
            part if part == Self::main(document) => return named.to_owned(),
            Self::Adapter => "_adapter",
            Self::MegEngine => "_megengine",
            Self::Paddle => "_paddle",
        };
        let mut name = named.file_stem().unwrap_or_default().to_owned();
        name.push(suffix);
        if let Some(ending) = named.extension() {
            name.push(".");
            name.push(ending);
        }
        named.with_file_name(name)
    }

    /// The part of a document; `None` where it would be empty and is not the main one.
    pub(super) fn of(self, document: &ConfigDocument) -> Option<ConfigDocument> {
        let main = Self::main(document);
        let keys = document.options.overrides().map(|(key, _)| key);
        let others: Vec<&str> = keys
            .filter(|key| Self::of_option(key, &document.options).unwrap_or(main) != self)
            .collect();
        let mut part = if self == main {
            document.clone()
        } else {
            ConfigDocument {
                options: document.options.clone(),
                ..ConfigDocument::default()
            }
        };
        for key in others {
            part.options.reset(key);
        }
        // Its defaults are no settings of the other parts.
        if self != main {
            part.options.set_framework(None);
        }
        (self == main || !part.options.is_empty()).then_some(part)
    }

    /// `None` for options of highwater, which no framework takes.
    fn of_option(key: &str, options: &Options) -> Option<Self> {
        match find(key).map(|row| row.section) {
            // The settings of the eager interpreter imply its heuristic.
            Some(Section::Simulation) if key == keys::REMAT_HEURISTIC && is_eager(options) => Some(Self::MegEngine),
            Some(Section::Dtr) => Some(Self::MegEngine),
            Some(Section::MemoryOptimize) => Some(Self::Paddle),
            Some(Section::Simulation) => None,
            Some(_) | None => Some(Self::Adapter),
        }
    }

    /// Comments on how the script is used; may be empty.
    pub(super) fn usage(self, options: &Options) -> &'static str {
        match self {
            Self::Adapter => "",
            Self::MegEngine if is_eager(options) => "# MegEngine's part: run it before the training loop.\n",
            Self::MegEngine => {
                "# MegEngine's part: pass dtr_config to the decorator, @trace(symbolic=True, dtr_config=dtr_config).\n"
            }
            Self::Paddle => "# Paddle's part: run it once the program is built, before its executor runs.\n",
        }
    }
}

/// Whether settings are those of MegEngine's eager interpreter, which are attributes of `megengine.dtr`.
pub(super) fn is_eager(options: &Options) -> bool {
    let heuristic = options.get(keys::REMAT_HEURISTIC).and_then(Value::as_text);
    heuristic == Some(EAGER_HEURISTIC) && EAGER_KEYS.iter().any(|key| options.is_set(key))
}
