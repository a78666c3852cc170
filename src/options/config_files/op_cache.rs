//! `op_cache.ini` in the cache directory: how large the cache of compiled operators may grow.
//!
//! ```text
//! [op_compiler_cache]
//! max_op_cache_size=500
//! remain_cache_size_ratio=80
//! ```
//!
//! Megabytes (-1: nothing is thrown out) and percent. Source: NPURunConfig option reference.

use super::lines::{Line, lines, no_assignment};
use super::{FileProblem, decoded, quoted, unknown};

/// What the file says; what it says wrongly is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpCache {
    /// Megabytes, or -1 for no ageing.
    pub max_size: Option<i64>,
    /// How many percent stay when the cache is full.
    pub remain_ratio: Option<i64>,
}

/// Megabytes that are a limit, or -1.
pub(in super::super) fn cache_size(text: &str) -> Option<i64> {
    text.trim().parse().ok().filter(|size| *size == -1 || *size > 0)
}

/// Percent from 1 to 100.
pub(in super::super) fn remain_ratio(text: &str) -> Option<i64> {
    text.trim().parse().ok().filter(|ratio| (1..=100).contains(ratio))
}

/// Reads a file.
pub fn op_cache(bytes: &[u8]) -> (OpCache, Vec<FileProblem>) {
    let mut cache = OpCache::default();
    let mut problems = Vec::new();
    let mut has_section = false;
    let text = decoded(bytes);
    for (number, line) in lines(&text) {
        let problem = match line {
            Line::Section("op_compiler_cache") => {
                has_section = true;
                None
            }
            Line::Section(name) => Some(FileProblem::new(
                number,
                unknown("section", name, &["op_compiler_cache"]),
            )),
            Line::Assignment("max_op_cache_size", value) => {
                cache.max_size = cache_size(value);
                wrong(
                    number,
                    value,
                    cache.max_size,
                    "megabytes above 0, or -1 to keep everything",
                )
            }
            Line::Assignment("remain_cache_size_ratio", value) => {
                cache.remain_ratio = remain_ratio(value);
                wrong(number, value, cache.remain_ratio, "1 to 100 percent")
            }
            Line::Assignment(name, _) => Some(FileProblem::new(
                number,
                unknown("key", name, &["max_op_cache_size", "remain_cache_size_ratio"]),
            )),
            Line::Other(text) => Some(no_assignment(number, text)),
        };
        problems.extend(problem);
    }
    if !has_section {
        problems.push(FileProblem::new(
            1,
            "the section [op_compiler_cache] is missing: add it",
        ));
    }
    (cache, problems)
}

fn wrong(line: usize, text: &str, value: Option<i64>, right: &str) -> Option<FileProblem> {
    match value {
        Some(_) => None,
        None => Some(FileProblem::new(
            line,
            format!("{} is wrong: use {right}", quoted(text)),
        )),
    }
}
