//! The differences of two configurations: a row per setting that acts differently, in the order of the option table,
//! then variables, then the schedule; and a short name from the differences to the defaults.

use std::collections::BTreeSet;

use super::Configuration;
use highwater_model::units::{Bytes, first_of};
use highwater_model::workload::{EntryKind, SchedulePlan};
use highwater_options::{ENVIRONMENT, GE_USE_STATIC_MEMORY, OptionKind, Options, TABLE, find, keys};

/// Most values that are listed.
const MOST_VALUES: usize = 4;

/// Most settings in a name.
const MAX_IN_NAME: usize = 3;

/// Most characters of a name; longer ones are cut between settings.
const LONGEST_NAME: usize = 48;

/// The settings that select a policy, which a name shows as the policy.
const SAYS_POLICY: [&str; 3] = [
    keys::STATIC_MEMORY_POLICY,
    keys::ENGINE_STATIC_MEMORY_POLICY,
    GE_USE_STATIC_MEMORY,
];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The key of an option, the name of a variable, a dimension, or `iterations`.
    pub name: String,
    pub here: String,
    pub other: String,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (here, other) = self.texts();
        write!(f, "{}: {here}, not {other}", self.name)
    }
}

impl Difference {
    /// Both values for people: sizes with a unit, unless they would look equal.
    pub fn texts(&self) -> (String, String) {
        let is_size = find(&self.name).is_some_and(|row| matches!(row.kind, OptionKind::Bytes { .. }));
        let size = |text: &String| {
            text.parse()
                .map_or_else(|_| text.clone(), |bytes| Bytes(bytes).to_string())
        };
        let short = (size(&self.here), size(&self.other));
        if !is_size || short.0 == short.1 {
            return (self.here.clone(), self.other.clone());
        }
        short
    }
}

impl Configuration {
    pub fn differences(&self, other: &Self) -> Vec<Difference> {
        let mut rows = self.setting_differences(other);
        rows.extend(schedule(&self.plan, &other.plan));
        rows
    }

    /// Options and variables alone.
    pub fn setting_differences(&self, other: &Self) -> Vec<Difference> {
        let mut rows = Vec::new();
        for row in TABLE {
            let (here, there) = (value(&self.options, row.key), value(&other.options, row.key));
            if here != there {
                rows.push(difference(row.key, here, there));
            }
        }
        for row in ENVIRONMENT {
            let (here, there) = (self.environment.get(row.name), other.environment.get(row.name));
            if here != there {
                let text = |text: Option<&str>| text.map_or_else(|| "unset".to_owned(), quoted);
                rows.push(difference(row.name, text(here), text(there)));
            }
        }
        rows
    }

    /// A name from the differences to the usual configuration: `policy 4, atomic clean 1, N=16`.
    pub fn short_name(&self, usual: &Self) -> String {
        let mut parts = vec![format!("policy {}", self.policy().number())];
        let rows = self.differences(usual).into_iter();
        parts.extend(
            rows.filter(|row| !SAYS_POLICY.contains(&&*row.name))
                .map(|row| short(&row)),
        );
        let n_parts = parts.len();
        let mut name = String::new();
        for (position, part) in parts.into_iter().enumerate() {
            let is_long = position > 0 && name.chars().count() + part.chars().count() + 2 > LONGEST_NAME;
            if is_long || position > MAX_IN_NAME {
                let left = n_parts - position;
                name.push_str(&format!(" and {left} more"));
                break;
            }
            if position > 0 {
                name.push_str(", ");
            }
            name.push_str(&part);
        }
        name
    }
}

/// A setting in as few characters as possible.
fn short(row: &Difference) -> String {
    let Some(option) = find(&row.name) else {
        return match row.name.as_str() {
            ITERATIONS => format!("{} iterations", row.here),
            SCHEDULE => row.here.clone(),
            name => format!("{name}={}", row.here),
        };
    };
    let key = option.short_key();
    let (here, _) = row.texts();
    let words = match row.name.as_str() {
        keys::ATOMIC_CLEAN_POLICY => "atomic clean",
        keys::DEVICE => return here,
        keys::DEVICE_MEMORY => "memory",
        keys::PLACEMENT_STRATEGY => "placed by",
        keys::DTR_EVICTION_THRESHOLD => "DTR",
        _ => key,
    };
    format!("{words} {here}")
}

fn difference(name: &str, here: String, other: String) -> Difference {
    Difference {
        name: name.to_owned(),
        here,
        other,
    }
}

/// The effective value, for users.
fn value(options: &Options, key: &str) -> String {
    options.written(key).to_string()
}

fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

const ITERATIONS: &str = "iterations";

/// Differences of schedules.
fn schedule(here: &SchedulePlan, other: &SchedulePlan) -> Vec<Difference> {
    let mut rows = Vec::new();
    if here.iterations != other.iterations {
        let count = |plan: &SchedulePlan| plan.iterations.to_string();
        rows.push(difference(ITERATIONS, count(here), count(other)));
    }
    if here.entries != other.entries {
        rows.push(difference(SCHEDULE, entries(here), entries(other)));
    }
    let names: BTreeSet<&String> = here.dims.keys().chain(other.dims.keys()).collect();
    for name in names {
        let (one, two) = (here.dims.get(name), other.dims.get(name));
        if one != two && takes(here, name) && takes(other, name) {
            rows.push(difference(name, values(one), values(two)));
        }
    }
    // Other differences of a schedule have no short form, unless nothing runs with it.
    let is_left = (&here.linked_dims, &here.names) != (&other.linked_dims, &other.names);
    if rows.is_empty() && is_left {
        rows.push(difference(SCHEDULE, "its own".to_owned(), "another".to_owned()));
    }
    rows
}

const SCHEDULE: &str = "schedule";

/// The entries of an iteration, as typed.
fn entries(plan: &SchedulePlan) -> String {
    match &plan.entries[..] {
        [] => "every graph once".to_owned(),
        entries => first_of(entries.iter(), MOST_VALUES, ", "),
    }
}

/// Whether some run may take the plan's values of a dimension: one without its own.
fn takes(plan: &SchedulePlan, name: &str) -> bool {
    let mut runs = plan.entries.iter().filter(|entry| entry.kind == EntryKind::Run);
    plan.entries.is_empty() || runs.any(|entry| !entry.dims.contains_key(name))
}

/// Values of a dimension; as the options say where there are none.
fn values(values: Option<&Vec<u64>>) -> String {
    let values = values.filter(|values| !values.is_empty());
    values.map_or_else(
        || "as the options say".to_owned(),
        |values| first_of(values.iter(), MOST_VALUES, ","),
    )
}

#[cfg(test)]
mod tests {
    use super::Configuration;

    fn configuration(settings: &[(&str, &str)], dims: &[(&str, &[u64])], iterations: u32) -> Configuration {
        let mut configuration = Configuration::default();
        for (key, text) in settings {
            if configuration.options.set_text(key, text).is_err() {
                configuration.environment.set(key, text);
            }
        }
        configuration.plan.iterations = iterations;
        for (name, values) in dims {
            configuration.plan.dims.insert((*name).to_owned(), values.to_vec());
        }
        configuration
    }

    #[test]
    fn names_say_what_is_special() {
        for (settings, dims, iterations, name) in [
            (&[][..], &[][..], 1, "policy 0"),
            (&[("memory_config.static_memory_policy", "2")], &[], 1, "policy 2"),
            (
                &[
                    ("memory_config.static_memory_policy", "4"),
                    ("memory_config.atomic_clean_policy", "1"),
                ],
                &[("N", &[16][..])],
                1,
                "policy 4, atomic clean 1, N=16",
            ),
            (
                &[],
                &[("N", &[1, 2, 3, 4, 5, 6])],
                3,
                "policy 0, 3 iterations, N=1,2,3,4 and 2 more",
            ),
            (
                &[("simulation.device", "generic-16GB")],
                &[],
                1,
                "policy 0, generic-16GB",
            ),
            (&[("GE_USE_STATIC_MEMORY", "2")], &[], 1, "policy 2"),
        ] {
            assert_eq!(
                configuration(settings, dims, iterations).short_name(&Configuration::default()),
                name
            );
        }
    }

    #[test]
    fn differences_are_told_setting_by_setting() {
        let here = configuration(&[("memory_config.static_memory_policy", "4")], &[("N", &[16])], 2);
        let other = configuration(&[("GE_USE_STATIC_MEMORY", "2")], &[], 1);
        let texts: Vec<String> = here.differences(&other).iter().map(ToString::to_string).collect();
        let expected = [
            "memory_config.static_memory_policy: 4, not 0",
            "GE_USE_STATIC_MEMORY: unset, not \"2\"",
            "iterations: 2, not 1",
            "N: 16, not as the options say",
        ];
        assert_eq!(texts, expected);
        assert!(here.differences(&here).is_empty());
    }

    #[test]
    fn schedules_are_told_and_what_no_run_takes_is_not() {
        let mut here = configuration(
            &[("simulation.device_memory", "2GiB")],
            &[("batch", &[32]), ("seq", &[7])],
            1,
        );
        here.plan.entries = vec!["mob[batch=8]*2".parse().expect("an entry")];
        let other = configuration(&[], &[], 1);
        let texts: Vec<String> = here.differences(&other).iter().map(ToString::to_string).collect();
        let expected = [
            "simulation.device_memory: 2.000\u{a0}GiB, not None",
            "schedule: mob[batch=8]*2, not every graph once",
            "seq: 7, not as the options say",
        ];
        assert_eq!(texts, expected);
        let names = ["mob[batch=8]", "a", "b", "c", "load d"];
        here.plan.entries = names.map(|text| text.parse().expect("an entry")).into();
        let told = other.differences(&here);
        assert_eq!(told[1].other, "mob[batch=8], a, b, c and 1 more");
        assert_eq!(told[2].other, "32", "a run without its own value takes it");
    }
}
