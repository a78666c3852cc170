//! The frameworks that a configuration speaks to, a script each.

use std::path::{Path, PathBuf};

use highwater_options::{Section, find};

use super::super::config_document::ConfigDocument;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PythonPart {
    /// The adapter of TensorFlow, with everything that is no other part: variables, options of the engine and of highwater.
    Adapter,
    MegEngine,
    Paddle,
}

impl PythonPart {
    pub const ALL: [Self; 3] = [Self::Adapter, Self::MegEngine, Self::Paddle];

    /// The file of this part for a named file: `run.py`, `run_megengine.py`, `run_paddle.py`.
    pub fn path(self, named: &Path) -> PathBuf {
        let suffix = match self {
            Self::Adapter => return named.to_owned(),
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

    /// The part of a document; `None` where nothing of another framework than the adapter is set.
    pub(super) fn of(self, document: &ConfigDocument) -> Option<ConfigDocument> {
        let keys = document.options.overrides().map(|(key, _)| key);
        let others: Vec<&str> = keys.filter(|key| Self::of_option(key) != self).collect();
        let mut part = match self {
            Self::Adapter => document.clone(),
            Self::MegEngine | Self::Paddle => ConfigDocument {
                options: document.options.clone(),
                ..ConfigDocument::default()
            },
        };
        for key in others {
            part.options.reset(key);
        }
        (self == Self::Adapter || !part.options.is_empty()).then_some(part)
    }

    fn of_option(key: &str) -> Self {
        match find(key).map(|row| row.section) {
            Some(Section::Dtr) => Self::MegEngine,
            Some(Section::MemoryOptimize) => Self::Paddle,
            Some(_) | None => Self::Adapter,
        }
    }

    /// Comments on how the script is used; may be empty.
    pub(super) const fn usage(self) -> &'static str {
        match self {
            Self::Adapter => "",
            Self::MegEngine => {
                "# MegEngine's part: pass dtr_config to the decorator, @trace(symbolic=True, dtr_config=dtr_config).\n"
            }
            Self::Paddle => "# Paddle's part: run it once the program is built, before its executor runs.\n",
        }
    }
}
