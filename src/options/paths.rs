//! The paths that rules need to have probed.

use super::effective::aoe_mode;
use super::environment::Environment;
use super::kind::{OptionKind, PathKind};
use super::rows::{find, keys};
use super::store::Options;

/// Paths to probe.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedPaths {
    /// Each once.
    pub paths: Vec<String>,
    /// Folders that relative paths may start from, each once.
    pub folders: Vec<String>,
}

impl NamedPaths {
    pub fn extend(&mut self, other: Self) {
        for path in other.paths {
            if !self.paths.contains(&path) {
                self.paths.push(path);
            }
        }
        for folder in other.folders {
            if !self.folders.contains(&folder) {
                self.folders.push(folder);
            }
        }
    }
}

/// Those that options name, the directory of AOE, the settings of the operator cache.
pub fn paths_of(options: &Options, environment: &Environment) -> NamedPaths {
    let mut paths: Vec<String> = Vec::new();
    let mut add = |path: &str| {
        if !path.is_empty() && !paths.iter().any(|known| known == path) {
            paths.push(path.to_owned());
        }
    };
    for (key, value) in options.overrides() {
        let is_path =
            find(key).is_some_and(|row| matches!(row.kind, OptionKind::Path(PathKind::File | PathKind::Directory)));
        if let Some(path) = value.as_text().filter(|_| is_path) {
            add(path);
        }
    }
    if aoe_mode(options, environment).is_some() && !options.is_set(keys::WORK_PATH) {
        add("./");
    }
    if let Some(path) = op_cache_path(options) {
        add(&path);
    }
    NamedPaths {
        paths,
        folders: options.folders().map(str::to_owned).collect(),
    }
}

/// The settings of the operator cache, where an option names its directory.
pub(super) fn op_cache_path(options: &Options) -> Option<String> {
    let directory = options.get(keys::OP_COMPILER_CACHE_DIR)?.as_text()?;
    let directory = directory.trim_end_matches('/');
    (!directory.is_empty()).then(|| format!("{directory}/op_cache.ini"))
}
