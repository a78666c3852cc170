//! Names of GE's session options that are no rows of the table: GE's name of another row, or known and not simulated.

use super::kind::OptionKind;
use super::row::OptionRow;
use super::rows::{find, keys};
use super::value::Value;

/// Lines `name option source`.
const LIST: &str = include_str!("rows/engine_names.txt");

/// A session option of GE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineName {
    pub name: &'static str,
    /// The row that is the same option.
    pub option: Option<&'static str>,
    pub source: &'static str,
}

/// In alphabetical order.
pub fn engine_names() -> impl Iterator<Item = EngineName> {
    LIST.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let mut words = line.split(' ');
        Some(EngineName {
            name: words.next()?,
            option: words.next().filter(|option| *option != "-"),
            source: match words.next()? {
                "header" => "ge_api_types.h",
                "documents" => "GE's API reference",
                _ => "MindSpore's sources",
            },
        })
    })
}

pub fn engine_name(name: &str) -> Option<EngineName> {
    engine_names().find(|known| known.name == name)
}

/// Options that others depend on although they change no bytes by themselves.
const OF_OTHERS: [&str; 4] = [
    keys::GRAPH_RUN_MODE,
    keys::SESSION_DEVICE_ID,
    // Rules want them together with the dimensions.
    keys::INPUT_SHAPE,
    keys::DYNAMIC_NODE_TYPE,
];

impl EngineName {
    /// The row as which the name acts: one that matters to the simulation.
    pub fn acting(self) -> Option<&'static OptionRow> {
        let row = find(self.option?)?;
        (row.affects_memory() || OF_OTHERS.contains(&row.key)).then_some(row)
    }

    /// A text of GE as a value of the row: GE takes numbers and truth values as texts.
    pub fn value(row: &OptionRow, value: &Value) -> Value {
        let Value::Text(text) = value else {
            return value.clone();
        };
        match (&row.kind, text.as_str()) {
            (OptionKind::Bool, "1" | "true" | "True") => Value::Bool(true),
            (OptionKind::Bool, "0" | "false" | "False") => Value::Bool(false),
            (kind, text) => kind.read(text),
        }
    }

    /// What it is, as a sentence without its full stop.
    pub fn sentence(self) -> String {
        let Self { name, option, source } = self;
        match option {
            Some(option) => format!("{name} is GE's name of {option} ({source})"),
            None => format!("{name} is a session option of GE ({source}) that is known and not simulated"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_there_once_and_names_a_row() {
        let names: Vec<EngineName> = engine_names().collect();
        assert!(names.len() > 150, "{}", names.len());
        for (position, name) in names.iter().enumerate() {
            assert!(name.name.starts_with("ge.") && find(name.name).is_none(), "{name:?}");
            assert!(
                names[..position].iter().all(|other| other.name != name.name),
                "{name:?}"
            );
            assert!(name.option.is_none_or(|option| find(option).is_some()), "{name:?}");
        }
        let mode = engine_name("ge.graphRunMode")
            .and_then(EngineName::acting)
            .expect("a row");
        assert_eq!(mode.key, keys::GRAPH_RUN_MODE);
        assert_eq!(EngineName::value(mode, &Value::from("0")), Value::Int(0));
        assert!(engine_name("ge.socVersion").is_some_and(|name| name.acting().is_none()));
        assert_eq!(engine_name("ge.exec.nothing"), None);
    }
}
