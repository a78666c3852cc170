//! The policy that option and environment variable combine to.
//!
//! The engine knows neither precedence nor an invalid value: each text selects a policy or nothing, and both are joined.

use highwater_sim::{POLICIES, StaticMemoryPolicy};

use super::environment::{Environment, GE_USE_STATIC_MEMORY};
use super::framework::OptionDefault;
use super::rows::{find, keys};
use super::section::Section;
use super::store::{Condition, Options};
use super::value::Value;

/// The effective policy.
pub fn effective_policy(options: &Options, environment: &Environment) -> StaticMemoryPolicy {
    let selected = |text: &str| policy_of_text(text).unwrap_or(StaticMemoryPolicy::Dynamic);
    let variable = environment.get(GE_USE_STATIC_MEMORY).unwrap_or("");
    selected(&policy_text(options)).joined(selected(variable))
}

/// Whether GE runs under these settings: false where all options are of frameworks that have no policies, MegEngine and Paddle.
pub fn has_policy(options: &Options, environment: &Environment) -> bool {
    let is_of_others = |section| matches!(section, Some(Section::Dtr | Section::MemoryOptimize));
    let is_of_ge = |section| !is_of_others(section) && section != Some(Section::Simulation);
    let sections = || options.overrides().map(|(key, _)| find(key).map(|row| row.section));
    options.framework().is_some()
        || environment.iter().next().is_some()
        || sections().any(is_of_ge)
        || !sections().any(is_of_others)
}

/// The conditions of a script under which the effective policy was set, without repetition; empty where it holds in any run.
pub fn policy_conditions(options: &Options, environment: &Environment) -> Vec<Condition> {
    let key = winner(options, keys::ENGINE_STATIC_MEMORY_POLICY, keys::STATIC_MEMORY_POLICY);
    let of_options = [key, keys::MEMORY_CONFIG].map(|key| options.origin(key));
    let origins = of_options.into_iter().chain([environment.origin(GE_USE_STATIC_MEMORY)]);
    let of_framework = options.framework().filter(|_| options.is_of_framework(key));
    let mut conditions: Vec<Condition> = origins
        .flatten()
        .filter_map(|origin| origin.condition.clone())
        .chain(of_framework.and_then(|chosen| chosen.condition.clone()))
        .collect();
    conditions.sort();
    conditions.dedup();
    conditions
}

/// The words behind a policy that was set under conditions; empty without any.
pub fn policy_depends_on(conditions: &[Condition]) -> String {
    let conditions: Vec<String> = conditions.iter().map(Condition::to_string).collect();
    match &conditions[..] {
        [] => String::new(),
        [only] => format!(", depends on the condition {only}"),
        all => format!(", depends on the conditions {}", all.join(" and ")),
    }
}

/// The origin of the policy where neither an option nor the variable selects it.
pub fn policy_default(options: &Options, environment: &Environment) -> Option<OptionDefault> {
    let key = winner(options, keys::ENGINE_STATIC_MEMORY_POLICY, keys::STATIC_MEMORY_POLICY);
    let is_set = options.is_set(key) || environment.is_set(GE_USE_STATIC_MEMORY) || is_policy_unknown(options);
    options.default_of(key).filter(|_| !is_set)
}

/// Whether a script computes the policy: then it is unknown here, and [`effective_policy`] is that of an unset option.
pub fn is_policy_unknown(options: &Options) -> bool {
    let key = winner(options, keys::ENGINE_STATIC_MEMORY_POLICY, keys::STATIC_MEMORY_POLICY);
    let is_computed = |key: &str| matches!(options.get(key), Some(Value::Python(_)));
    is_computed(key) || (!options.is_set(key) && is_computed(keys::MEMORY_CONFIG))
}

/// The text that the engine reads as the option: that of the engine key, which the adapter fills from `MemoryConfig` where it is
/// unset.
fn policy_text(options: &Options) -> String {
    let key = winner(options, keys::ENGINE_STATIC_MEMORY_POLICY, keys::STATIC_MEMORY_POLICY);
    options.written(key).to_string()
}

/// Whether each op clears its own outputs; the engine's own key has precedence.
pub fn clears_separately(options: &Options) -> bool {
    let key = winner(options, keys::ENGINE_ATOMIC_CLEAN_POLICY, keys::ATOMIC_CLEAN_POLICY);
    options.written(key).to_string() == "1"
}

/// The user's settings act before a framework's defaults, which are of the engine.
fn winner(options: &Options, engine: &'static str, field: &'static str) -> &'static str {
    let is_default = options.is_of_framework(engine) && !options.is_set(field);
    if options.is_set(engine) || is_default {
        engine
    } else {
        field
    }
}

/// The policy that a text selects.
pub(super) fn policy_of_text(text: &str) -> Option<StaticMemoryPolicy> {
    let row = POLICIES.iter().find(|row| {
        let aliases = row.aliases.iter().map(|(alias, _)| alias);
        let mut numbers = aliases.chain([&row.number]);
        numbers.any(|number| number.to_string() == text)
    });
    row.map(|row| row.policy)
}
