//! The file of `modify_mixlist`: op types that mixed precision treats in another way than built in.
//!
//! ```json
//! {
//!   "black-list": { "to-add": ["Cast"], "to-remove": ["Xlog1py"] },
//!   "white-list": { "to-add": ["Bias"], "to-remove": ["Conv2D"] }
//! }
//! ```
//!
//! Types on the black list keep their precision, those on the white list lose it, others follow their
//! producers. Comments are understood. Source: NPURunConfig option reference.

use super::json::{Item, members, read, texts};
use super::{FileProblem, decoded, unknown};

/// Changes to the built-in lists, as op types in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MixList {
    /// Types that keep their precision from now on.
    pub black_add: Vec<String>,
    /// Types that leave the black list and follow their producers.
    pub black_remove: Vec<String>,
    /// Types that lose precision from now on.
    pub white_add: Vec<String>,
    /// Types that leave the white list and follow their producers.
    pub white_remove: Vec<String>,
}

/// Reads a file.
pub fn mix_list(bytes: &[u8]) -> (MixList, Vec<FileProblem>) {
    let mut problems = Vec::new();
    let mut list = MixList::default();
    if let Some(root) = read(&decoded(bytes), &mut problems) {
        for (line, name, item) in members(&root, "the file", &mut problems) {
            match name.as_str() {
                "black-list" => changes(item, name, [&mut list.black_add, &mut list.black_remove], &mut problems),
                "white-list" => changes(item, name, [&mut list.white_add, &mut list.white_remove], &mut problems),
                _ => problems.push(FileProblem::new(
                    *line,
                    unknown("list", name, &["black-list", "white-list"]),
                )),
            }
        }
        if let Some(both) = list.black_add.iter().find(|name| list.white_add.contains(name)) {
            let message = format!("{both} is added to both lists: keep it in one of them");
            problems.push(FileProblem::new(root.line, message));
        }
    }
    (list, problems)
}

fn changes(item: &Item, list: &str, [added, removed]: [&mut Vec<String>; 2], problems: &mut Vec<FileProblem>) {
    for (line, name, item) in members(item, list, problems) {
        let target = match name.as_str() {
            "to-add" => &mut *added,
            "to-remove" => &mut *removed,
            _ => {
                problems.push(FileProblem::new(
                    *line,
                    unknown("change", name, &["to-add", "to-remove"]),
                ));
                continue;
            }
        };
        target.extend(texts(item, name, problems).into_iter().map(|(_, text)| text));
    }
}
