//! The choice of one graph, problem or recording of a file with several.
//!
//! In: the names in the file, and perhaps the name of `--graph`. Out: a position, and the names that are left out. Invariant: a command
//! that takes one of several reports that.

use anyhow::bail;

use highwater_model::diagnostics::Diagnostics;
use highwater_model::units::first_of;
use highwater_model::workload::{Part, PartOf};

/// Names of a list in a message.
pub(super) const MOST_NAMES: usize = 12;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) position: usize,
    pub(super) name: String,
    /// The other names, in the order of the file.
    pub(super) others: Vec<String>,
}

impl Choice {
    /// The names that are left out, and how to choose them; `None` where none is.
    pub(super) fn remark(&self) -> Option<String> {
        let listed = match self.others.as_slice() {
            [] => return None,
            [other] => format!("another: \"{other}\""),
            others => format!("{} others: {}", others.len(), first_of(others.iter(), MOST_NAMES, ", ")),
        };
        Some(format!(
            "uses \"{}\" of {listed} in the file; choose with --graph NAME",
            self.name
        ))
    }

    /// Reports what is left out.
    pub(super) fn report(&self, diagnostics: &mut Diagnostics) {
        if let Some(remark) = self.remark() {
            diagnostics.info(remark, &self.name);
        }
    }
}

/// The entry of the wanted name, else the first usable entry, else the first.
pub(super) fn choose(
    file: &str,
    names: &[String],
    wanted: Option<&str>,
    is_usable: impl Fn(usize) -> bool,
) -> anyhow::Result<Choice> {
    if names.is_empty() {
        bail!("{file}: no graph, problem or recording in the file");
    }
    let found = match wanted {
        None => Some((0..names.len()).find(|position| is_usable(*position)).unwrap_or(0)),
        Some(wanted) => names.iter().position(|name| name == wanted),
    };
    let Some(position) = found else {
        return Err(no_graph(file, wanted.unwrap_or(""), names));
    };
    let others = names.iter().enumerate().filter(|(other, _)| *other != position);
    Ok(Choice {
        position,
        name: names[position].clone(),
        others: others.map(|(_, name)| name.clone()).collect(),
    })
}

/// The wanted graph or body of an op among the parts of a workload, else the first.
pub(super) fn choose_graph<'p>(
    file: &str,
    parts: &'p [Part],
    wanted: Option<&str>,
) -> anyhow::Result<(Choice, &'p Part)> {
    let is_graph = |part: &&Part| matches!(part.of, PartOf::Graph(_) | PartOf::Body(..));
    let graphs: Vec<&Part> = parts.iter().filter(is_graph).collect();
    let names: Vec<String> = graphs.iter().map(|part| part.name.clone()).collect();
    let choice = choose(file, &names, wanted, |_| true)?;
    let part = graphs[choice.position];
    Ok((choice, part))
}

/// The error for an unknown name.
pub(super) fn no_graph(file: &str, name: &str, names: &[impl ToString]) -> anyhow::Error {
    let names = first_of(names.iter().map(ToString::to_string), MOST_NAMES, ", ");
    anyhow::anyhow!("{file}: no graph \"{name}\"; the file has {names}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_said() {
        let names = ["a", "b", "c"].map(str::to_owned);
        let first = choose("f", &names, None, |_| true).expect("there is one");
        let remark = first.remark().expect("two are left out");
        assert!(
            remark.contains("2 others: b, c") && remark.contains("--graph"),
            "{remark}"
        );
        let usable = choose("f", &names, None, |position| position == 1).expect("there is one");
        assert_eq!((usable.position, usable.name.as_str()), (1, "b"));
        let alone = choose("f", &names[..1], None, |_| false).expect("there is one");
        assert_eq!(alone.remark(), None);
    }

    #[test]
    fn a_name_that_is_not_there_is_an_error_with_those_that_are() {
        let names: Vec<String> = (0..20).map(|number| format!("g{number}")).collect();
        let error = choose("f", &names, Some("x"), |_| true)
            .expect_err("no such name")
            .to_string();
        assert!(error.contains("\"x\"") && error.contains("g11 and 8 more"), "{error}");
        assert!(choose("f", &[], None, |_| true).is_err());
    }
}
