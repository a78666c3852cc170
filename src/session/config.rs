//! Converts between the document and the configuration file that `export` defines.

use super::document::Document;
use highwater_analysis::{Comparison, Lane};
use highwater_options::{Environment, Options, Section, find, keys};
use highwater_script::{ConfigDevice, ConfigDocument, Predicted};

/// Predicted peaks are in it only where the answer belongs to the document.
pub fn config_from_document(document: &Document, comparison: Option<&Comparison>) -> ConfigDocument {
    let device = document.device();
    ConfigDocument {
        options: document.options.clone(),
        unknown_options: document.unknown_options.clone(),
        unknown_fields: document.unknown_fields.clone(),
        environment: document.environment.clone(),
        device: Some(ConfigDevice {
            memory_bytes: device.memory().get(),
            name: device.name,
        }),
        schedule: Some(document.plan.clone()),
        evaluation: document.with_evaluation,
        sources: document.sources.iter().map(super::SourceSpec::label).collect(),
        predicted: comparison.map(predicted).unwrap_or_default(),
        ..ConfigDocument::new()
    }
}

fn predicted(comparison: &Comparison) -> std::collections::BTreeMap<String, Predicted> {
    let row = |lane: &Lane| {
        let predicted = Predicted {
            peak_reserved_bytes: lane.summary.peak_reserved.get(),
            peak_live_bytes: lane.summary.peak_live.get(),
            out_of_memory: lane.summary.out_of_memory,
        };
        (lane.policy.number().to_string(), predicted)
    };
    comparison.own_lanes().map(row).collect()
}

/// Applies a configuration; sources stay. A configuration that highwater wrote replaces everything. A script or a plain list
/// of options does not state the device, and one that sets only variables does not state options: these stay, so that a
/// training script and the shell script that starts it can be read one after the other.
pub fn apply_config(config: &ConfigDocument, document: &mut Document) {
    let is_whole = !config.tool_version.is_empty();
    if is_whole || !config.options.is_empty() || !config.unknown_options.is_empty() {
        let mut options = options_of(config);
        for (key, value) in document.options.overrides() {
            let is_own = find(key).is_some_and(|row| row.section == Section::Simulation);
            if !is_whole && is_own && !options.is_set(key) {
                // The key is in the table, so setting it cannot fail.
                drop(options.set(key, value.clone()));
            }
        }
        document.options = options;
        document.unknown_options.clone_from(&config.unknown_options);
    }
    if is_whole {
        document.environment = Environment::default();
        document.unknown_fields.clone_from(&config.unknown_fields);
    }
    if is_whole || config.evaluation {
        document.with_evaluation = config.evaluation;
    }
    document.environment.extend(&config.environment);
    if let Some(schedule) = &config.schedule {
        document.plan = schedule.clone();
    }
}

/// The overrides of a configuration. Its `device` entry becomes an override, too.
pub fn options_of(config: &ConfigDocument) -> Options {
    let mut options = config.options.clone();
    if let Some(folder) = &config.script.folder {
        options.add_folder(folder);
    }
    let Some(device) = &config.device else {
        return options;
    };
    if !options.is_set(keys::DEVICE) && options.written(keys::DEVICE).to_string() != device.name {
        // The key is in the table, so setting it cannot fail.
        drop(options.set_text(keys::DEVICE, &device.name));
    }
    let resolved = highwater_options::resolve_device(&options);
    let is_other_size = resolved.is_ok_and(|resolved| resolved.memory().get() != device.memory_bytes);
    if is_other_size && !options.is_set(keys::DEVICE_MEMORY) {
        drop(options.set_text(keys::DEVICE_MEMORY, &device.memory_bytes.to_string()));
    }
    options
}
