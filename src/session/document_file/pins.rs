//! Pinned configurations in a document's file: each a name and a configuration.
//!
//! In: pins, or the elements of the field. Out: elements, or pins with remarks. An element that cannot be read is kept
//! unchanged, with a remark that names its place; unknown fields of a configuration stay with it.

use serde_json::{Map, Value as Json, json};

use super::DERIVED;
use crate::config::options_of;
use highwater_analysis::{Configuration, Pin};
use highwater_model::diagnostics::Diagnostics;
use highwater_script::{ConfigDocument, from_json, to_json};

/// Fields of a configuration that a pin does not write: they follow from others, or belong to the document.
const NOT_WRITTEN: [&str; 2] = ["tool_version", "device"];

/// The field that marks a configuration of this form.
const VERSION: &str = "highwater_config";

pub(super) fn wire_of(pins: &[Pin]) -> Vec<Json> {
    let element = |pin: &Pin| json!({"name": pin.name, "configuration": wire_configuration(pin)});
    pins.iter().map(element).collect()
}

fn wire_configuration(pin: &Pin) -> Map<String, Json> {
    let configuration = &pin.configuration;
    let text = to_json(&ConfigDocument {
        options: configuration.options.clone(),
        environment: configuration.environment.clone(),
        schedule: (!pin.follows_schedule).then(|| configuration.plan.clone()),
        ..ConfigDocument::new()
    });
    // The text was written from an object just now.
    let mut fields: Map<String, Json> = serde_json::from_str(&text).unwrap_or_default();
    fields.retain(|key, _| !DERIVED.contains(&key.as_str()) && !NOT_WRITTEN.contains(&key.as_str()));
    fields
}

/// Appends pins that could not be read.
pub(super) fn append(unread: &[Json], document: &mut Json) {
    let Some(fields) = document.as_object_mut().filter(|_| !unread.is_empty()) else {
        return;
    };
    if let Json::Array(pins) = fields.entry("pins").or_insert_with(|| json!([])) {
        pins.extend_from_slice(unread);
    }
}

/// The pins, and the elements that are none. The elements that were read remain, with unknown options under the names by
/// which they are kept.
pub(super) fn read(elements: &mut Vec<Json>, remarks: &mut Diagnostics) -> (Vec<Pin>, Vec<Json>) {
    let mut unread = Vec::new();
    let mut pins: Vec<Pin> = Vec::new();
    let mut position = 0;
    elements.retain_mut(|element| {
        let place = format!("pins[{position}]");
        position += 1;
        match pin_of(element, &place, &pins, remarks) {
            Ok(pin) => {
                pins.push(pin);
                true
            }
            Err(why) => {
                let message = format!("{why}; this pin is not shown but kept in the file");
                remarks.warning(message, &place);
                unread.push(std::mem::take(element));
                false
            }
        }
    });
    (pins, unread)
}

fn pin_of(element: &mut Json, place: &str, pins: &[Pin], remarks: &mut Diagnostics) -> Result<Pin, String> {
    let Some(fields) = element.as_object_mut() else {
        return Err(format!("{place} is not an object with a name and a configuration"));
    };
    let Some(name) = fields.get("name").and_then(Json::as_str) else {
        return Err(format!("{place}.name is not a text"));
    };
    let name = Pin::checked_name(name, pins.iter().map(|pin| pin.name.as_str()))
        .map_err(|why| format!("{place}.name: {why}"))?;
    let name = name.to_owned();
    let Some(Json::Object(configuration)) = fields.get_mut("configuration") else {
        return Err(format!("{place}.configuration is not an object"));
    };
    let mut whole = configuration.clone();
    whole.entry(VERSION).or_insert_with(|| json!(1));
    let text = Json::Object(whole).to_string();
    let (config, warnings) =
        from_json(text.as_bytes()).map_err(|error| format!("{place}.configuration: {}", error.reason))?;
    for warning in warnings.entries() {
        remarks.warning(warning.message.clone(), &format!("{place}.configuration"));
    }
    // Known options are written in one form, whatever form they were read in.
    if configuration.contains_key("options") {
        configuration.insert("options".to_owned(), Json::Object(config.unknown_options.clone()));
    }
    Ok(Pin {
        name,
        follows_schedule: config.schedule.is_none(),
        configuration: Configuration {
            options: options_of(&config),
            environment: config.environment,
            plan: config.schedule.unwrap_or_default(),
        },
    })
}
