//! Effective values: options with the environment, files and the rules between options applied.
//!
//! One value per option, [`Value::Unset`] where none is in effect. Invalid values act as their defaults; the rules
//! report them.

use super::config_files::{OpDebugConfig, op_debug_config};
use super::environment::{
    AOE_MODE, ASCEND_CACHE_PATH, ASCEND_DEVICE_ID, ASCEND_WORK_PATH, DEVICE_ID, Environment, HCCL_EXEC_TIMEOUT,
    NPU_COLLECT_PATH,
};
use super::files::{FileState, Files};
use super::policy::{clears_separately, effective_policy};
use super::row::OptionRow;
use super::rows::{TABLE, find, keys};
use super::store::Options;
use super::value::Value;

/// The name under which [`effective_values`] lists the effective policy.
pub const EFFECTIVE_POLICY: &str = "effective_policy";

/// The default timeout of collective communication, in seconds.
pub(super) const DEFAULT_HCCL_TIMEOUT: i64 = 1836;

/// The granularity of that timeout, in seconds.
const HCCL_STEP: i64 = 68;

/// The effective values, in the order of the table. `static_memory_policy` is the effective policy (environment
/// included), which is repeated behind the table as [`EFFECTIVE_POLICY`].
pub fn effective_values(options: &Options, environment: &Environment, files: &dyn Files) -> Vec<(String, Value)> {
    let mut values: Vec<(String, Value)> = TABLE
        .iter()
        .map(|row| {
            (
                row.key.to_owned(),
                effective_value(row.key, options, environment, files),
            )
        })
        .collect();
    let policy = effective_policy(options, environment).number();
    values.push((EFFECTIVE_POLICY.to_owned(), Value::Int(i64::from(policy))));
    values
}

/// The device of the session: `session_device_id`, else `ASCEND_DEVICE_ID`, else `DEVICE_ID`, else 0. An option without
/// a usable id counts as unset; a variable without one acts as 0.
pub fn effective_device_id(options: &Options, environment: &Environment) -> u32 {
    let (_, id) = device(options, environment);
    id.or_else(|_| variable_device(environment).1).unwrap_or(0)
}

fn effective_value(key: &str, options: &Options, environment: &Environment, files: &dyn Files) -> Value {
    let acting = options.acting(key);
    let or = |default: Value| match acting {
        Value::Unset => default,
        ref value => value.clone(),
    };
    let policy = || i64::from(effective_policy(options, environment).number());
    match key {
        keys::STATIC_MEMORY_POLICY => Value::Int(policy()),
        keys::ENGINE_STATIC_MEMORY_POLICY => Value::Text(policy().to_string()),
        keys::ATOMIC_CLEAN_POLICY => Value::Int(i64::from(clears_separately(options))),
        keys::ENGINE_ATOMIC_CLEAN_POLICY => Value::Text(i64::from(clears_separately(options)).to_string()),
        keys::SESSION_DEVICE_ID => Value::Int(i64::from(effective_device_id(options, environment))),
        keys::HCCL_TIMEOUT => Value::Int(rounded_hccl_timeout(hccl_timeout(options, environment))),
        keys::AOE_MODE => aoe_mode(options, environment).map_or(Value::Unset, Value::Text),
        keys::WORK_PATH => or(Value::from("./")),
        keys::ENABLE_SMALL_CHANNEL if !is_training(options) => Value::Int(1),
        keys::ENABLE_EXCEPTION_DUMP if environment.is_set(NPU_COLLECT_PATH) => Value::Int(1),
        keys::OP_COMPILER_CACHE_MODE if is_cache_off(options, files) => Value::from("disable"),
        keys::DEBUG_DIR => or(Value::from(
            environment.get(ASCEND_WORK_PATH).filter(is_given).unwrap_or("./"),
        )),
        keys::OP_COMPILER_CACHE_DIR => or(Value::Text(default_cache_dir(environment))),
        keys::DYNAMIC_INPUTS_SHAPE_RANGE if !has_shape_range(options) => Value::Unset,
        keys::OP_SELECT_IMPLMODE | keys::OPTYPELIST_FOR_IMPLMODE if options.is_set(keys::OP_PRECISION_MODE) => {
            Value::Unset
        }
        keys::GRAPH_MEMORY_MAX_SIZE | keys::VARIABLE_MEMORY_MAX_SIZE => Value::Unset,
        keys::SAVE_CHECKPOINTS_STEPS if !options.is_set(keys::SAVE_CHECKPOINTS_SECS) => or(Value::Int(100)),
        _ => or(find(key).map_or(Value::Unset, unset_value)),
    }
}

/// The value that an unset option acts as, where the table states it in one word: `120`, `"0"`, `False`.
fn unset_value(row: &OptionRow) -> Value {
    let Some(meaning) = row.unset_means.filter(|meaning| !meaning.contains(' ')) else {
        return Value::Unset;
    };
    let value = row.kind.read(meaning);
    match row.problem(&value) {
        None => value,
        Some(_) => Value::Unset,
    }
}

fn is_given(text: &&str) -> bool {
    !text.is_empty()
}

pub(super) fn is_training(options: &Options) -> bool {
    options.acting(keys::GRAPH_RUN_MODE).as_int() == Some(1)
}

/// Whether the shape range is in effect: inputs are dynamic, and no dynamic dimensions take precedence.
pub(super) fn has_shape_range(options: &Options) -> bool {
    options.is_on(keys::DYNAMIC_INPUT) && !options.is_set(keys::DYNAMIC_DIMS)
}

/// The default directory of compiled operators.
pub(super) fn default_cache_dir(environment: &Environment) -> String {
    match environment.get(ASCEND_CACHE_PATH) {
        Some(path) if !path.is_empty() => format!("{path}/kernel_cache_HOST"),
        _ => "$HOME/atc_data".to_owned(),
    }
}

/// The mode of AOE, from the option or else the variable, where it is valid.
pub(super) fn aoe_mode(options: &Options, environment: &Environment) -> Option<String> {
    if options.is_set(keys::AOE_MODE) {
        return options.acting(keys::AOE_MODE).as_text().map(str::to_owned);
    }
    environment
        .get(AOE_MODE)
        .filter(|text| is_aoe_mode(text))
        .map(str::to_owned)
}

pub(super) fn is_aoe_mode(text: &str) -> bool {
    matches!(text, "1" | "2" | "4")
}

/// The timeout of collective communication in seconds: option, else variable, else default.
pub(super) fn hccl_timeout(options: &Options, environment: &Environment) -> i64 {
    options
        .acting(keys::HCCL_TIMEOUT)
        .as_int()
        .or_else(|| environment.get(HCCL_EXEC_TIMEOUT).and_then(hccl_seconds))
        .unwrap_or(DEFAULT_HCCL_TIMEOUT)
}

/// The source of that timeout, for sentences.
pub(super) fn hccl_timeout_source(options: &Options, environment: &Environment) -> &'static str {
    if options.acting(keys::HCCL_TIMEOUT).as_int().is_some() {
        keys::HCCL_TIMEOUT
    } else if environment.get(HCCL_EXEC_TIMEOUT).and_then(hccl_seconds).is_some() {
        HCCL_EXEC_TIMEOUT
    } else {
        "the default of hccl_timeout"
    }
}

/// The seconds of a variable's text; `None` where it is no number in the option's range.
pub(super) fn hccl_seconds(text: &str) -> Option<i64> {
    let seconds = Value::Int(text.trim().parse().ok()?);
    let row = find(keys::HCCL_TIMEOUT)?;
    (row.problem(&seconds).is_none()).then_some(seconds.as_int()?)
}

/// The timeout in whole steps, at least one.
pub(super) fn rounded_hccl_timeout(seconds: i64) -> i64 {
    (seconds / HCCL_STEP * HCCL_STEP).max(HCCL_STEP)
}

/// The content of the operator debugging file, where it was probed.
pub(super) fn op_debug(options: &Options, files: &dyn Files) -> Option<OpDebugConfig> {
    let path = options.get(keys::OP_DEBUG_CONFIG)?.as_text()?;
    match files.look(path) {
        FileState::File(bytes) => Some(op_debug_config(&bytes).0),
        _ => None,
    }
}

/// Whether operator debugging disables the cache of compiled operators.
pub(super) fn is_cache_off(options: &Options, files: &dyn Files) -> bool {
    has_debug_level(options) || op_debug(options, files).is_some_and(|config| config.operators.is_empty())
}

/// Whether the older option of operator debugging is on.
pub(super) fn has_debug_level(options: &Options) -> bool {
    options
        .acting(keys::OP_DEBUG_LEVEL)
        .as_int()
        .is_some_and(|level| level != 0)
}

/// The option or variable that selects the device (`None`: neither), and the device or the error.
pub(super) fn device(options: &Options, environment: &Environment) -> (Option<&'static str>, Result<u32, String>) {
    let key = keys::SESSION_DEVICE_ID;
    if let Some(value) = options.get(key) {
        let id = value
            .as_int()
            .and_then(|id| u32::try_from(id).ok())
            .ok_or_else(|| format!("session_device_id is {}", value.quoted()));
        return (Some(key), id);
    }
    variable_device(environment)
}

/// As [`device`], for the variables alone; a variable whose value is computed at run time selects nothing.
fn variable_device(environment: &Environment) -> (Option<&'static str>, Result<u32, String>) {
    for name in [ASCEND_DEVICE_ID, DEVICE_ID] {
        if environment.is_unread(name) {
            break;
        }
        if let Some(text) = environment.get(name).filter(is_given) {
            return (Some(name), device_number(name, text));
        }
    }
    (None, Ok(0))
}

/// An integer as the adapter reads it: surrounding blanks, a minus, digits.
fn device_number(name: &str, text: &str) -> Result<u32, String> {
    let trimmed = text.trim_ascii();
    let is_plain = trimmed
        .trim_start_matches('-')
        .bytes()
        .all(|byte| byte.is_ascii_digit());
    match trimmed.parse::<i64>() {
        Ok(id) if is_plain && id >= 0 => {
            u32::try_from(id).map_err(|_error| format!("{name}=\"{text}\" is too large for a device id"))
        }
        Ok(_) if is_plain => Err(format!("{name}=\"{text}\" is below 0")),
        _ => Err(format!("{name}=\"{text}\" is not an integer")),
    }
}
