//! Between the document and the configuration file that `export` defines.

use super::document::Document;
use crate::analysis::Comparison;
use crate::export::ConfigDocument;
use crate::export::config::{ConfigDevice, predicted};
use crate::workload::{DeviceError, DeviceProfiles};

/// The configuration of a document; predicted peaks only where the answer belongs to it.
pub fn config_from_document(document: &Document, comparison: Option<&Comparison>) -> ConfigDocument {
    ConfigDocument {
        options: document.options.clone(),
        unknown_options: document.unknown_options.clone(),
        environment: document.environment.clone(),
        device: Some(ConfigDevice {
            name: document.device.name.clone(),
            memory_bytes: document.device.memory_bytes,
        }),
        schedule: Some(document.plan.clone()),
        evaluation: document.with_evaluation,
        sources: document.sources.iter().map(super::SourceSpec::label).collect(),
        predicted: comparison.map(predicted).unwrap_or_default(),
    }
}

/// Takes over what a configuration says; sources stay.
///
/// # Errors
/// [`DeviceError`] for a device profile that this version does not have; the rest is taken over nevertheless.
pub fn apply_config(
    config: &ConfigDocument,
    document: &mut Document,
    profiles: &DeviceProfiles,
) -> Result<(), DeviceError> {
    document.options = config.options.clone();
    document.unknown_options.clone_from(&config.unknown_options);
    document.environment = config.environment.clone();
    document.with_evaluation = config.evaluation;
    if let Some(schedule) = &config.schedule {
        document.plan = schedule.clone();
    }
    match &config.device {
        None => Ok(()),
        Some(device) => {
            document.device = device.resolve(profiles)?;
            Ok(())
        }
    }
}
