//! The policy in force, and the values that act.
//!
//! The engine keeps two flags and sets each where the option's text *or* the variable's text is in the
//! flag's list; it knows no precedence and no invalid value.

use crate::sim::{ExtendFlags, StaticMemoryPolicy};

use super::environment::{Environment, GE_USE_STATIC_MEMORY};
use super::rows::{TABLE, keys};
use super::store::Options;
use super::value::Value;

/// The name under which [`effective_values`] gives the number of the policy in force.
pub const EFFECTIVE_POLICY: &str = "effective_policy";

/// The policy that option and environment put in force together. Unknown texts select nothing.
pub fn effective_policy(options: &Options, environment: &Environment) -> StaticMemoryPolicy {
    let option = flags(&options.effective(keys::STATIC_MEMORY_POLICY).to_string());
    let variable = flags(environment.get(GE_USE_STATIC_MEMORY).unwrap_or(""));
    StaticMemoryPolicy::from_flags(ExtendFlags {
        static_extend: option.static_extend || variable.static_extend,
        dynamic_extend: option.dynamic_extend || variable.dynamic_extend,
    })
}

/// The flags that one text sets.
pub(super) fn flags(text: &str) -> ExtendFlags {
    ExtendFlags {
        static_extend: matches!(text, "1" | "2" | "4"),
        dynamic_extend: matches!(text, "3" | "4"),
    }
}

/// The values that act, in the order of the table. `static_memory_policy` is the policy in force (environment
/// included), which stands once more behind the table as [`EFFECTIVE_POLICY`].
pub fn effective_values(options: &Options, environment: &Environment) -> Vec<(String, Value)> {
    let policy = Value::Int(i64::from(effective_policy(options, environment).number()));
    let mut values: Vec<(String, Value)> = TABLE
        .iter()
        .map(|row| {
            let value = if row.key == keys::STATIC_MEMORY_POLICY {
                policy.clone()
            } else {
                options.acting(row.key)
            };
            (row.key.to_owned(), value)
        })
        .collect();
    values.push((EFFECTIVE_POLICY.to_owned(), policy));
    values
}
