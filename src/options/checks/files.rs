//! highwater's own rule K6: files that options name.

use super::super::config_files::{FileError, problems_of};
use super::super::files::FileState;
use super::super::kind::{OptionKind, PathKind};
use super::super::rows::{Selection, TABLE, count_of, keys, keys_of};
use super::{Check, Facts, Report, warning};

/// Most reported errors of one file.
const MAX_PROBLEMS: usize = 8;

const KEYS: [&str; count_of(Selection::Paths)] = keys_of(Selection::Paths);

pub(super) const ROWS: &[Check] = &[Check {
    id: "K6",
    outcomes: &[warning(
        "the file of an option does not exist, cannot be read, or is malformed",
    )],
    options: &KEYS,
    source: "highwater's own",
    run: named_files,
}];

fn named_files(facts: &Facts<'_>, report: &mut Report<'_>) {
    for row in TABLE {
        let OptionKind::Path(kind) = row.kind else {
            continue;
        };
        let Some(path) = facts.options.get(row.key).and_then(|value| value.as_text()) else {
            continue;
        };
        let names = row.short_key();
        let problem = match (kind, facts.files.look(path)) {
            (PathKind::File, FileState::Missing) => "does not exist: check the path".to_owned(),
            (PathKind::File, FileState::Directory { .. }) => "is a directory: name a file in it".to_owned(),
            (_, FileState::Unreadable(why)) if !has_own_rule(row.key) => format!("cannot be read ({why})"),
            (PathKind::Directory, FileState::File(_)) if !has_own_rule(row.key) => {
                "is a file: name a directory".to_owned()
            }
            (PathKind::File, FileState::File(bytes)) => {
                report_problems(report, &[row.key], names, &problems_of(row.key, &bytes));
                continue;
            }
            _ => continue,
        };
        report.warning(&[row.key], format!("{names} is \"{path}\", which {problem}"));
    }
}

/// Whether another rule checks the path.
fn has_own_rule(key: &str) -> bool {
    matches!(key, keys::WORK_PATH | keys::DUMP_PATH)
}

/// Reports the errors inside a file, up to a limit.
pub(super) fn report_problems(report: &mut Report<'_>, options: &[&str], name: &str, problems: &[FileError]) {
    for problem in problems.iter().take(MAX_PROBLEMS) {
        report.warning(options, format!("{name}, {problem}"));
    }
    if let Some(more) = problems.len().checked_sub(MAX_PROBLEMS).filter(|more| *more > 0) {
        report.warning(
            options,
            format!("{name} has {more} more such errors: fix the first ones and check again"),
        );
    }
}
