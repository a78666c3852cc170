//! Settings of the caching allocators: accepted or refused, and what they do to a few requests.

use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use super::super::answer::{Answer, Page};
use super::super::blocks::{Block, Table, paragraph};
use super::super::check_report::finding_record;
use super::super::record::{Record, Rows};
use highwater_model::units::Bytes;
use highwater_options::Finding;
use highwater_torch::{INTERVALS, Settings, SettingsError, TRIAL_REQUESTS, Version, trial};

/// The answer to a text of settings, with what the requests of [`TRIAL_REQUESTS`] get on a fresh device of 80 GiB.
#[derive(Clone, Debug)]
pub struct SettingsAnswer<'a> {
    pub conf: &'a str,
    pub version: Version,
    pub parsed: Result<Settings, SettingsError>,
    pub findings: &'a [Finding],
}

impl Answer for SettingsAnswer<'_> {
    fn page(&self) -> Page {
        let mut blocks = match &self.parsed {
            Err(error) => vec![paragraph(format!("refused by {}: {error}", self.version))],
            Ok(settings) => accepted(settings, self.version),
        };
        let findings = self.findings.iter();
        blocks.extend(findings.map(|finding| paragraph(format!("{}: {}", finding.severity.name(), finding.message))));
        Page(blocks)
    }

    fn json(&self) -> impl Serialize {
        let settings = self.parsed.as_ref().ok();
        let trial = settings.map(|settings| trial(settings.clone()));
        let findings = Rows::new(self.findings, |found| finding_record(found).key("source", found.source));
        Record::new()
            .key("torch", self.version.name())
            .key("accepted", settings.is_some())
            .key("message", self.parsed.as_ref().err().map(ToString::to_string))
            .key("blocks", trial.as_ref().map(|trial| json!(trial.blocks)))
            .key("reserved", trial.as_ref().map(|trial| trial.reserved))
            .key("settings", settings.map(settings_object))
            .key("findings", findings)
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

/// What requests get.
fn accepted(settings: &Settings, version: Version) -> Vec<Block> {
    let trial = trial(settings.clone());
    let mut table = Table::new(&[">request", ">block"]);
    for (request, block) in TRIAL_REQUESTS.iter().zip(trial.blocks) {
        let block = block.map_or_else(|| "fails".to_owned(), |bytes| Bytes(bytes).to_string());
        table.row(&[&Bytes(*request), &block]);
    }
    let divided = settings.divisions.iter().filter(|divisions| **divisions > 1).count();
    let divided = (divided > 0 && divided < INTERVALS).then(|| {
        paragraph(format!(
            "sizes are rounded to divisions in {divided} of {INTERVALS} intervals"
        ))
    });
    let mut blocks = vec![
        paragraph(format!("accepted by {version}")),
        table.into(),
        paragraph(format!("reserved by these requests: {}", Bytes(trial.reserved))),
    ];
    blocks.extend(divided);
    blocks.extend(version.caveat().map(paragraph));
    blocks
}
