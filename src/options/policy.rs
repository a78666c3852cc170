//! Which policy is in force: the engine compares texts and combines the option with the environment variable.

use super::environment::{Environment, GE_USE_STATIC_MEMORY};
use super::store::Options;
use super::table::key;
use crate::sim::{ExtendFlags, StaticMemoryPolicy};

/// The policy that option and variable put in force together. What is no policy number sets nothing, so it acts as 0.
pub fn effective_policy(options: &Options, environment: &Environment) -> StaticMemoryPolicy {
    let option = flags(&options.effective(key::STATIC_MEMORY_POLICY).to_string());
    let variable = flags(environment.get(GE_USE_STATIC_MEMORY).unwrap_or(""));
    StaticMemoryPolicy::from_flags(ExtendFlags {
        static_extend: option.static_extend || variable.static_extend,
        dynamic_extend: option.dynamic_extend || variable.dynamic_extend,
    })
}

fn flags(text: &str) -> ExtendFlags {
    ExtendFlags {
        static_extend: matches!(text, "1" | "2" | "4"),
        dynamic_extend: matches!(text, "3" | "4"),
    }
}
