//! Settings of the caching allocators: accepted or refused, and what they do to a few requests.

use serde_json::{Map, Value as Json, json};

use super::super::blocks::Table;
use highwater_model::units::Bytes;
use highwater_options::Finding;
use highwater_torch::{INTERVALS, Settings, SettingsError, TRIAL_REQUESTS, Version, trial};

/// The answer to a text of settings.
#[derive(Clone, Debug)]
pub struct SettingsAnswer<'a> {
    pub conf: &'a str,
    pub version: Version,
    pub parsed: Result<Settings, SettingsError>,
    pub findings: &'a [Finding],
}

/// `accepted`, `message` of a refusal, and what the requests of [`TRIAL_REQUESTS`] get on a fresh device of 80 GiB.
pub fn settings_json(answer: &SettingsAnswer<'_>) -> Json {
    let findings: Vec<Json> = answer
        .findings
        .iter()
        .map(|finding| {
            json!({
                "rule": finding.rule,
                "severity": finding.severity.name(),
                "options": finding.options,
                "message": finding.message,
                "source": finding.source,
            })
        })
        .collect();
    match &answer.parsed {
        Ok(settings) => {
            let trial = trial(settings.clone());
            json!({
                "torch": answer.version.name(),
                "accepted": true,
                "message": null,
                "blocks": trial.blocks,
                "reserved": trial.reserved,
                "settings": settings_object(settings),
                "findings": findings,
            })
        }
        Err(error) => json!({
            "torch": answer.version.name(),
            "accepted": false,
            "message": error.to_string(),
            "blocks": null,
            "reserved": null,
            "settings": null,
            "findings": findings,
        }),
    }
}

/// The effective settings by key; sizes in bytes.
fn settings_object(settings: &Settings) -> Json {
    let limit = |bytes: u64| match bytes {
        u64::MAX => Json::Null,
        bytes => Json::from(bytes),
    };
    let mut fields = Map::new();
    let mut put = |key: &str, value: Json| fields.insert(key.to_owned(), value);
    put("max_split_size_bytes", limit(settings.max_split));
    put("max_non_split_rounding_bytes", limit(settings.slack()));
    put("large_segment_size_bytes", settings.large_segment.into());
    put("garbage_collection_threshold", settings.collection_threshold.into());
    put("roundup_power2_divisions", settings.divisions.to_vec().into());
    put("expandable_segments", settings.expandable.into());
    put("throw_on_oom", settings.throws.into());
    put("per_process_memory_fraction", settings.fraction.into());
    if settings.version == Version::Npu {
        put("base_addr_aligned_bytes", settings.npu.base_alignment.into());
        put("huge_pages", settings.npu.huge_pages.into());
        put("segment_size_bytes", settings.npu.segment_page.into());
        put("multi_stream_lazy_reclaim", settings.npu.lazy_reclaim.into());
    }
    Json::Object(fields)
}

/// Settings, what requests get, and findings.
pub fn settings_text(answer: &SettingsAnswer<'_>) -> String {
    let version = answer.version;
    let mut out = match &answer.parsed {
        Err(error) => format!("refused by {version}: {error}\n"),
        Ok(settings) => {
            let mut out = format!("accepted by {version}\n\n");
            let trial = trial(settings.clone());
            let mut table = Table::new(&[">request", ">block"]);
            for (request, block) in TRIAL_REQUESTS.iter().zip(trial.blocks) {
                let block = block.map_or_else(|| "fails".to_owned(), |bytes| Bytes(bytes).to_string());
                table.row(&[&Bytes(*request), &block]);
            }
            out.push_str(&table.text());
            out.push_str(&format!("\nreserved by these requests: {}\n", Bytes(trial.reserved)));
            let divided = settings.divisions.iter().filter(|divisions| **divisions > 1).count();
            if divided > 0 && divided < INTERVALS {
                out.push_str(&format!(
                    "sizes are rounded to divisions in {divided} of {INTERVALS} intervals\n"
                ));
            }
            out
        }
    };
    for finding in answer.findings {
        out.push_str(&format!("\n{}: {}\n", finding.severity.name(), finding.message));
    }
    out
}
