//! Rules of AOE, the tuner: R21, R22, R23.

use super::super::config_files::aoe_config;
use super::super::effective::{aoe_mode, is_aoe_mode};
use super::super::environment::AOE_MODE;
use super::super::files::FileState;
use super::{Check, Facts, Report, error, info, keys};

const MODE: &str = keys::AOE_MODE;
const CONFIG: &str = keys::AOE_CONFIG_FILE;

pub(super) const ROWS: &[Check] = &[
    Check {
        id: "R21",
        outcomes: &[
            error("aoe_mode (or AOE_MODE, if unset) is not 1, 2 or 4"),
            info("aoe_mode overrides AOE_MODE"),
        ],
        options: &[MODE, AOE_MODE],
        source: "TensorFlow adapter, npu_attrs.cc",
        run: known_mode,
    },
    Check {
        id: "R22",
        outcomes: &[error(
            "AOE is on and work_path is not a readable and writable directory",
        )],
        options: &[MODE, AOE_MODE, keys::WORK_PATH],
        source: "TensorFlow adapter, npu_attrs.cc",
        run: work_path,
    },
    Check {
        id: "R23",
        outcomes: &[error("aoe_config_file turns on a feature that needs another aoe_mode")],
        options: &[CONFIG, MODE, AOE_MODE],
        source: "NPURunConfig option reference",
        run: features,
    },
];

fn known_mode(facts: &Facts<'_>, report: &mut Report<'_>) {
    report.own_kind(facts, MODE);
    if facts.is_set(MODE) {
        report.overrides(facts, MODE, AOE_MODE);
        return;
    }
    if let Some(text) = facts.environment.get(AOE_MODE).filter(|text| !text.is_empty())
        && !is_aoe_mode(text)
    {
        report
            .error(
                &[AOE_MODE],
                format!("AOE_MODE is \"{text}\": use 1 (subgraphs), 2 (operators) or 4 (gradient splitting)"),
            )
            .unset_variable(AOE_MODE);
    }
}

fn work_path(facts: &Facts<'_>, report: &mut Report<'_>) {
    if aoe_mode(facts.options, facts.environment).is_none() || facts.is_computed(keys::WORK_PATH) {
        return;
    }
    let path = match facts.options.get(keys::WORK_PATH) {
        None => "./".to_owned(),
        Some(value) => value.to_string(),
    };
    if let Some(problem) = directory_problem(facts, &path) {
        let names = facts.set_of(&[keys::WORK_PATH, MODE, AOE_MODE]);
        report.error(
            &names,
            format!("work_path is \"{path}\", which {problem}: AOE needs a readable and writable directory"),
        );
    }
}

/// Why a directory is not writable, as the end of a sentence; `None` also where it was not probed.
pub(super) fn directory_problem(facts: &Facts<'_>, path: &str) -> Option<String> {
    if path.is_empty() {
        return Some("is not a path".to_owned());
    }
    match facts.files.look(path) {
        FileState::Unknown | FileState::Directory { is_writable: true } => None,
        FileState::Missing => Some("does not exist".to_owned()),
        FileState::Directory { is_writable: false } => Some("is not readable and writable".to_owned()),
        FileState::File(_) => Some("is a file".to_owned()),
        FileState::Unreadable(why) => Some(format!("cannot be read ({why})")),
    }
}

fn features(facts: &Facts<'_>, report: &mut Report<'_>) {
    let Some(path) = facts.options.get(CONFIG).and_then(|value| value.as_text()) else {
        return;
    };
    let FileState::File(bytes) = facts.files.look(path) else {
        return;
    };
    if facts.is_computed(MODE) || (!facts.is_set(MODE) && facts.environment.is_unread(AOE_MODE)) {
        return;
    }
    let mode = aoe_mode(facts.options, facts.environment);
    let config = aoe_config(&bytes).0;
    let mut wanted = [("deeper_opat", "2"), ("nonhomo_split", "1")].to_vec();
    wanted.retain(|(feature, _)| config.features.iter().any(|name| name == feature));
    for &(feature, needed) in &wanted {
        if mode.as_deref() == Some(needed) {
            continue;
        }
        let is = match &mode {
            Some(mode) => format!("is {mode}"),
            None => "is not set".to_owned(),
        };
        let mut names = vec![CONFIG];
        names.extend(facts.set_of(&[MODE, AOE_MODE]));
        let finding = report.error(
            &names,
            format!("aoe_config_file turns on {feature}, but aoe_mode {is}: set aoe_mode to \"{needed}\""),
        );
        // Neither start the tuner where it is off, nor take its mode from another feature.
        if mode.is_some() && wanted.len() == 1 {
            finding.set(MODE, needed);
        }
    }
}
