//! Between the document and the configuration file that `export` defines.

use super::document::Document;
use crate::analysis::{Comparison, Lane};
use crate::export::{ConfigDevice, ConfigDocument, Predicted};
use crate::options::{Options, keys};

/// The configuration of a document; predicted peaks only where the answer belongs to it.
pub fn config_from_document(document: &Document, comparison: Option<&Comparison>) -> ConfigDocument {
    let device = document.device();
    ConfigDocument {
        options: document.options.clone(),
        unknown_options: document.unknown_options.clone(),
        unknown_fields: document.unknown_fields.clone(),
        environment: document.environment.clone(),
        device: Some(ConfigDevice {
            memory_bytes: device.memory_bytes,
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
    comparison.lanes.iter().map(row).collect()
}

/// Takes over what a configuration says; sources stay.
pub fn apply_config(config: &ConfigDocument, document: &mut Document) {
    document.options = options_of(config);
    document.unknown_options.clone_from(&config.unknown_options);
    document.unknown_fields.clone_from(&config.unknown_fields);
    document.environment = config.environment.clone();
    document.with_evaluation = config.evaluation;
    if let Some(schedule) = &config.schedule {
        document.plan = schedule.clone();
    }
}

/// The overrides of a configuration. A device that only its `device` entry names becomes an override too.
pub fn options_of(config: &ConfigDocument) -> Options {
    let mut options = config.options.clone();
    let Some(device) = &config.device else {
        return options;
    };
    if !options.is_set(keys::DEVICE) && options.effective(keys::DEVICE).to_string() != device.name {
        // The key is in the table, so setting it cannot fail.
        drop(options.set_text(keys::DEVICE, &device.name));
    }
    let resolved = crate::options::resolve_device(&options);
    let is_other_size = resolved.is_ok_and(|resolved| resolved.memory_bytes != device.memory_bytes);
    if is_other_size && !options.is_set(keys::DEVICE_MEMORY) {
        drop(options.set_text(keys::DEVICE_MEMORY, &device.memory_bytes.to_string()));
    }
    options
}
