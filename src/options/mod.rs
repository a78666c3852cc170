//! Settings, declared once: a table of options, a table of environment variables, rules across both, and the one
//! place that turns them into engine parameters.
//!
//! In: texts and values by key. Out: overrides ([`Options`]), findings ([`check`]), parameters ([`lower`]).
//! Invariants: `Options` holds overrides only, so difference, reset and equality are trivial; a value of the wrong
//! type or range is kept and reported, never lost; the engine never sees a key. Deliberately not here: files and
//! widgets.

mod check;
mod environment;
mod lower;
mod policy;
mod row;
mod rules;
mod store;
mod table;
mod value;

pub use check::{Check, Facts, Finding, check};
pub use environment::{ENVIRONMENT, Environment, EnvironmentRow, GE_USE_STATIC_MEMORY};
pub use lower::{Lowered, lower};
pub use policy::effective_policy;
pub use row::{Choice, OptionKind, OptionRow, Section};
pub use rules::CHECKS;
pub use store::{OptionError, Options, nearest_key};
pub use table::{TABLE, find, key};
pub use value::Value;

/// What is in force: every option's override or default, in table order.
pub fn effective_values(options: &Options) -> Vec<(&'static str, Value)> {
    TABLE.iter().map(|row| (row.key, options.effective(row.key))).collect()
}
