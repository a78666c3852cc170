//! The policy in force.
//!
//! The engine keeps two flags and sets each where the option's text *or* the variable's text is in the
//! flag's list; it knows no precedence and no invalid value.

use highwater_sim::{ExtendFlags, StaticMemoryPolicy};

use super::environment::{Environment, GE_USE_STATIC_MEMORY};
use super::rows::keys;
use super::store::Options;

/// The policy that option and environment put in force together. Unknown texts select nothing.
pub fn effective_policy(options: &Options, environment: &Environment) -> StaticMemoryPolicy {
    let option = flags(&policy_text(options));
    let variable = flags(environment.get(GE_USE_STATIC_MEMORY).unwrap_or(""));
    StaticMemoryPolicy::from_flags(ExtendFlags {
        static_extend: option.static_extend || variable.static_extend,
        dynamic_extend: option.dynamic_extend || variable.dynamic_extend,
    })
}

/// The text that the engine reads as the option. Its own key wins: the adapter fills it from `MemoryConfig`
/// where nobody set it.
fn policy_text(options: &Options) -> String {
    let key = winner(options, keys::ENGINE_STATIC_MEMORY_POLICY, keys::STATIC_MEMORY_POLICY);
    options.effective(key).to_string()
}

/// Whether each op clears its own outputs; the engine's own key wins here, too.
pub fn clears_separately(options: &Options) -> bool {
    let key = winner(options, keys::ENGINE_ATOMIC_CLEAN_POLICY, keys::ATOMIC_CLEAN_POLICY);
    options.effective(key).to_string() == "1"
}

fn winner(options: &Options, engine: &'static str, field: &'static str) -> &'static str {
    if options.is_set(engine) { engine } else { field }
}

/// The flags that one text sets.
pub(super) fn flags(text: &str) -> ExtendFlags {
    ExtendFlags {
        static_extend: matches!(text, "1" | "2" | "4"),
        dynamic_extend: matches!(text, "3" | "4"),
    }
}
