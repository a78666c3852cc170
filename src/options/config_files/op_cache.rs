//! `op_cache.ini` in the cache directory: the size limit of the cache of compiled operators.
//!
//! ```text
//! [op_compiler_cache]
//! max_op_cache_size=500
//! remain_cache_size_ratio=80
//! ```
//!
//! Megabytes (-1: no limit) and percent. Source: NPURunConfig option reference.

use super::lines::{Line, lines, no_assignment};
use super::{FileError, decoded, quoted, unknown};

/// Invalid entries are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpCache {
    /// Megabytes, or -1 for no ageing.
    pub max_size: Option<i64>,
    /// The percentage that is kept when the cache is full.
    pub remain_ratio: Option<i64>,
    /// Whether the section that the format requires is there.
    pub has_section: bool,
}

impl OpCache {
    /// Whether the file takes effect: the reference demands that both values are valid.
    pub fn is_effective(&self) -> bool {
        self.has_section && self.max_size.is_some() && self.remain_ratio.is_some()
    }
}

/// A limit in megabytes, or -1.
pub(in super::super) fn cache_size(text: &str) -> Option<i64> {
    text.trim().parse().ok().filter(|size| *size == -1 || *size > 0)
}

/// Percent from 1 to 100.
pub(in super::super) fn remain_ratio(text: &str) -> Option<i64> {
    text.trim().parse().ok().filter(|ratio| (1..=100).contains(ratio))
}

pub fn op_cache(bytes: &[u8]) -> (OpCache, Vec<FileError>) {
    let mut cache = OpCache::default();
    let mut problems = Vec::new();
    let text = decoded(bytes);
    for (number, line) in lines(&text) {
        let problem = match line {
            Line::Section("op_compiler_cache") => {
                cache.has_section = true;
                None
            }
            Line::Section(name) => Some(FileError::new(number, unknown("section", name, &["op_compiler_cache"]))),
            Line::Assignment("max_op_cache_size", value) => {
                cache.max_size = cache_size(value);
                wrong(number, value, cache.max_size, "megabytes > 0, or -1 (unlimited)")
            }
            Line::Assignment("remain_cache_size_ratio", value) => {
                cache.remain_ratio = remain_ratio(value);
                wrong(number, value, cache.remain_ratio, "1 to 100 percent")
            }
            Line::Assignment(name, _) => Some(FileError::new(
                number,
                unknown("key", name, &["max_op_cache_size", "remain_cache_size_ratio"]),
            )),
            Line::Other(text) => Some(no_assignment(number, text)),
        };
        problems.extend(problem);
    }
    if !cache.has_section {
        problems.push(FileError::new(1, "the section [op_compiler_cache] is missing: add it"));
    }
    (cache, problems)
}

fn wrong(line: usize, text: &str, value: Option<i64>, right: &str) -> Option<FileError> {
    match value {
        Some(_) => None,
        None => Some(FileError::new(
            line,
            format!("{} is invalid: use {right}", quoted(text)),
        )),
    }
}
