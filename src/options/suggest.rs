//! The known name nearest to a mistyped one.
//!
//! A key whose last part is the name comes first; else the smallest edit distance to the key or its last part, ignoring
//! case; ties go to the earlier row. A name that differs in more than a third of its letters (two are allowed, but
//! never more than half) has no nearest one.

use super::engine_names::{engine_name, engine_names};
use super::environment::ENVIRONMENT;
use super::rows::TABLE;
use super::section::Section;

/// The beginning of GE's own names.
const OF_ENGINE: &str = "ge.";

/// Longest name that is compared; the rest is cut.
const MAX_LETTERS: usize = 128;

/// The known key nearest to `name`.
pub fn nearest_key(name: &str) -> Option<&'static str> {
    if name.starts_with(OF_ENGINE) {
        let rows = TABLE.iter().filter(|row| row.section == Section::Engine);
        return nearest_of(
            name,
            rows.map(|row| row.key).chain(engine_names().map(|known| known.name)),
        );
    }
    nearest_of(name, TABLE.iter().map(|row| row.key))
}

/// The variable that a mistyped one is nearest to, among the known ones and `others`. Names are short and many programs have
/// similar ones, so that one wrong letter is allowed, two in longer names.
pub fn nearest_variable<'a>(name: &str, others: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = 1 + usize::from(name.len() >= LONG_VARIABLE);
    nearest_within(name, limit, ENVIRONMENT.iter().map(|row| row.name).chain(others))
}

/// The length from which on two letters may be wrong.
const LONG_VARIABLE: usize = 12;

/// The error of an unknown key, and what to do: a sentence without its full stop.
pub fn unknown_key(name: &str) -> String {
    if ENVIRONMENT.iter().any(|row| row.name == name) {
        return format!("\"{name}\" is an environment variable: set it with --env, or under \"environment\"");
    }
    if let Some(known) = engine_name(name) {
        return match known.option {
            Some(option) => format!("{}: set {option}", known.sentence()),
            None => known.sentence(),
        };
    }
    match nearest_key(name) {
        Some(nearest) => format!("no option \"{name}\"; did you mean \"{nearest}\"?"),
        None => format!("no option \"{name}\"; highwater options lists them"),
    }
}

/// The candidate nearest to `name`.
pub fn nearest_of<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = letters(name);
    let wanted_last = letters(last_part(name));
    // Files may have an error every two bytes.
    let may_be_near = |wanted: &[char], candidate: &str| {
        let length = candidate.chars().take(MAX_LETTERS).flat_map(char::to_lowercase).count();
        length.abs_diff(wanted.len()) <= limit(wanted)
    };
    let edits = |candidate: &str| {
        if !may_be_near(&wanted, candidate) && !may_be_near(&wanted_last, last_part(candidate)) {
            return None;
        }
        let whole = distance(&wanted, &letters(candidate));
        let last = distance(&wanted_last, &letters(last_part(candidate)));
        let is_near = whole <= limit(&wanted) || last <= limit(&wanted_last);
        is_near.then_some(whole.min(last))
    };
    candidates
        .filter_map(|candidate| Some((edits(candidate)?, candidate)))
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// The candidate with the smallest edit distance, at most `limit`.
fn nearest_within<'a>(name: &str, limit: usize, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = letters(name);
    // Files may set very many variables.
    candidates
        .filter(|candidate| candidate.len().abs_diff(name.len()) <= limit)
        .map(|candidate| (distance(&wanted, &letters(candidate)), candidate))
        .filter(|(edits, _)| *edits <= limit)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// The edits allowed between a name and its correction.
fn limit(wanted: &[char]) -> usize {
    (wanted.len() / 3).max(2).min(wanted.len() / 2)
}

fn last_part(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(_, last)| last)
}

fn letters(name: &str) -> Vec<char> {
    name.chars().take(MAX_LETTERS).flat_map(char::to_lowercase).collect()
}

/// Letters that are left out, added, replaced, or exchanged with their neighbours (optimal string alignment); O(a * b).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut row = before.clone();
    for (i, letter) in a.iter().enumerate() {
        row[0] = i + 1;
        for (j, other) in b.iter().enumerate() {
            let replaced = last[j] + usize::from(letter != other);
            row[j + 1] = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i - 1] == *other && b[j - 1] == *letter {
                row[j + 1] = row[j + 1].min(before[j - 1] + 1);
            }
        }
        std::mem::swap(&mut before, &mut last);
        std::mem::swap(&mut last, &mut row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_key_is_the_one_meant() {
        for (name, key) in [
            ("static_memory_policy", "memory_config.static_memory_policy"),
            (
                "memory_config.static_memroy_policy",
                "memory_config.static_memory_policy",
            ),
            ("graph_runmode", "graph_run_mode"),
            ("Precision_Mode_V2", "precision_mode_v2"),
            ("device_memory", "simulation.device_memory"),
        ] {
            assert_eq!(nearest_key(name), Some(key));
        }
        for name in ["foo", "nonsense", "", "x", "zzzzzzzzzzzzzzzzzzzz", "DUMP_GE_GRAPH"] {
            assert_eq!(nearest_key(name), None, "{name}");
        }
        assert_eq!(nearest_of("x", [].into_iter()), None);
        assert!(unknown_key("foo").contains("highwater options"));
        assert!(unknown_key("GE_USE_STATIC_MEMORY").contains("--env"));
        assert!(unknown_key("ge.socVersion").contains("soc_config"));
        assert!(unknown_key("ge.exec.isUseHcom").contains("not simulated"));
        assert_eq!(nearest_key("ge.exec.deviceID"), Some("ge.exec.deviceId"));
        assert_eq!(
            nearest_key("ge.exec.staticMemoryPolcy"),
            Some("ge.exec.staticMemoryPolicy")
        );
    }

    #[test]
    fn the_nearest_variable_is_one_slip_away() {
        let near = |name| nearest_variable(name, ["MS_ALLOC_CONF"].into_iter());
        for (name, meant) in [
            ("DEVICES_ID", "DEVICE_ID"),
            ("DEVIEC_ID", "DEVICE_ID"),
            ("ASCEND_DEVICES_ID", "ASCEND_DEVICE_ID"),
            ("GE_USE_STATIC_MEMROY", "GE_USE_STATIC_MEMORY"),
            ("GE_USE_STATIC_MEM0RYY", "GE_USE_STATIC_MEMORY"),
            ("MS_ALOC_CONF", "MS_ALLOC_CONF"),
        ] {
            assert_eq!(near(name), Some(meant), "{name}");
        }
        for name in [
            "POD_ID",
            "AMP_MODE",
            "GPU_ID",
            "RANK_ID",
            "WORLD_SIZE",
            "PATH",
            "DEVICE_NUM",
        ] {
            assert_eq!(near(name), None, "{name}");
        }
    }
}
