//! The file of `modify_mixlist`: changes to the op types that mixed precision lists.
//!
//! ```json
//! {
//!   "black-list": { "to-add": ["Cast"], "to-remove": ["Xlog1py"] },
//!   "white-list": { "to-add": ["Bias"], "to-remove": ["Conv2D"] }
//! }
//! ```
//!
//! Types on the black list keep their precision, those on the white list lose it, others follow their producers.
//! Comments are allowed. Source: NPURunConfig option reference.

use super::json::{Item, members, read, texts};
use super::{FileError, decoded, unknown};

/// Op types in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MixList {
    pub black_add: Vec<String>,
    pub black_remove: Vec<String>,
    pub white_add: Vec<String>,
    pub white_remove: Vec<String>,
}

pub fn mix_list(bytes: &[u8]) -> (MixList, Vec<FileError>) {
    let mut problems = Vec::new();
    let mut list = MixList::default();
    if let Some(root) = read(&decoded(bytes), &mut problems) {
        for (line, name, item) in members(&root, "the file", &mut problems) {
            match name.as_str() {
                "black-list" => changes(item, name, [&mut list.black_add, &mut list.black_remove], &mut problems),
                "white-list" => changes(item, name, [&mut list.white_add, &mut list.white_remove], &mut problems),
                _ => problems.push(FileError::new(
                    *line,
                    unknown("list", name, &["black-list", "white-list"]),
                )),
            }
        }
        if let Some(both) = list.black_add.iter().find(|name| list.white_add.contains(name)) {
            let message = format!("{both} is added to both lists: keep it in one of them");
            problems.push(FileError::new(root.line, message));
        }
    }
    (list, problems)
}

fn changes(item: &Item, list: &str, [added, removed]: [&mut Vec<String>; 2], problems: &mut Vec<FileError>) {
    for (line, name, item) in members(item, list, problems) {
        let target = match name.as_str() {
            "to-add" => &mut *added,
            "to-remove" => &mut *removed,
            _ => {
                problems.push(FileError::new(*line, unknown("change", name, &["to-add", "to-remove"])));
                continue;
            }
        };
        target.extend(texts(item, name, problems).into_iter().map(|(_, text)| text));
    }
}
