//! Comments of a written script: what is open about its values, and the session around them, which is read back.

use highwater_options::resolve_device;

use super::config::schedule_json;
use super::config_document::ConfigDocument;
use super::python::{DEVICE_MARK, EVALUATION_MARK, FRAMEWORK_MARK, SCHEDULE_MARK};
use highwater_model::workload::SchedulePlan;

/// Values that hold under an assumption or a condition. `None` where everything is certain.
pub(super) fn open_remarks(document: &ConfigDocument) -> Option<String> {
    let mut lines = String::new();
    for note in open_notes(document) {
        lines.push_str(&format!("# {note}\n"));
    }
    (!lines.is_empty()).then_some(lines)
}

/// What a script left open about options and variables that are written as certain; sentences in one line each.
pub(crate) fn open_notes(document: &ConfigDocument) -> Vec<String> {
    let options = document
        .options
        .overrides()
        .map(|(key, _)| (key, document.options.origin(key)));
    let variables = document.environment.iter();
    let variables = variables.map(|(name, _)| (name, document.environment.origin(name)));
    let mut notes = Vec::new();
    for (name, origin) in options.chain(variables) {
        let Some(origin) = origin else { continue };
        if let Some(condition) = &origin.condition {
            notes.push(format!(
                "{name} was set only where a condition holds ({}, line {})",
                condition.text, condition.line
            ));
        }
        if let Some(assumption) = &origin.assumption {
            notes.push(format!("{name} {assumption}"));
        }
    }
    for (key, default) in document.options.framework_defaults() {
        notes.push(format!(
            "{key} is {} by default of {} ({})",
            default.value, default.origin, default.source
        ));
    }
    notes.iter().map(|note| note.replace(char::is_control, " ")).collect()
}

/// Schedule, device and evaluation where they are not the defaults; no script states them.
pub(super) fn session_remarks(document: &ConfigDocument) -> Option<String> {
    let mut lines = String::new();
    let schedule = document.schedule.as_ref();
    if let Some(plan) = schedule.filter(|plan| **plan != SchedulePlan::default()) {
        lines.push_str(&format!("{SCHEDULE_MARK}{}\n", schedule_json(plan)));
    }
    let resolved = resolve_device(&document.options).ok();
    let is_resolved = |name: &str, bytes: u64| {
        let device = resolved.as_ref();
        device.is_some_and(|device| device.name == name && device.memory().get() == bytes)
    };
    if let Some(device) = document
        .device
        .as_ref()
        .filter(|device| !is_resolved(&device.name, device.memory_bytes))
    {
        let json = serde_json::json!({ "name": device.name, "memory_bytes": device.memory_bytes });
        lines.push_str(&format!("{DEVICE_MARK}{json}\n"));
    }
    if let Some(chosen) = document.options.framework() {
        lines.push_str(&format!("{FRAMEWORK_MARK}{}\n", chosen.framework.row().name));
    }
    if document.evaluation {
        lines.push_str(&format!("{EVALUATION_MARK}true\n"));
    }
    (!lines.is_empty()).then(|| format!("# What no script states; highwater reads these lines back.\n{lines}"))
}
