//! The document's file (`.highwater`): sources and settings as JSON.
//!
//! In: a [`DocumentFile`], or bytes. Out: text, or a file's content with remarks. `docs/document.md` and
//! `docs/document.schema.json` describe the form; the program's own files have it with absolute paths. Invariants: unknown
//! fields survive reading and writing at every level; a file of a newer version is refused by its version alone; odd values
//! are remarks, never panics. Deliberately not here: where files are, and when they are written.

mod hashes;
mod opening;
mod outside;
mod pins;
mod places;
mod schema;
mod unknown;
mod wire;

use std::path::Path;

use serde_json::{Map, Value as Json};

pub use opening::{
    DOCUMENT_EXTENSION, OpenedDocument, SourceNote, SourceState, is_document, is_document_name, open_document,
    read_document, save_document,
};
pub(super) use opening::{refuse_special, save_over, states_of};
pub(super) use outside::outside;
pub use outside::{AllowedOutside, NotOpened, Outside};
pub(super) use places::relative as seen_from;
pub use schema::document_schema;

use super::bookmarks::{PersistedBookmark, lane_of, lane_text};
use super::config::{apply_config, config_from_document};
use super::document::{Document, SourceSpec};
use super::persisted::PersistedSource;
use highwater_analysis::{AllocatorSetting, LaneGoal, LaneId};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::workload::{CategoryRules, FrameRuleError, FrameRules, RecordingRules};
use highwater_script::{ConfigError, from_json, to_json};
use highwater_torch::Version as TorchVersion;
use unknown::Unknown;
use wire::{Probe, SettingsInPlace, Version, Wire, WireLanes, WireSetting, strategies, strategies_of};

/// The version of the format that is written, and the newest that is read.
pub const DOCUMENT_VERSION: u64 = 1;

pub const MOST_DOCUMENT_BYTES: u64 = 16 << 20;

const MOST_SOURCES: usize = 1_000;

const MOST_BOOKMARKS: usize = 10_000;

const MAX_PINS: usize = 1_000;

const MOST_SETTINGS: usize = 16;

const MOST_FRAME_RULES: usize = 1_000;

/// Fields of a configuration that follow from others, or that the document has outside of it.
const DERIVED: [&str; 3] = ["effective", "sources", "predicted"];

/// Fields of settings whose unknown entries the document itself keeps.
const KEPT_BY_SETTINGS: [&str; 2] = ["options", "environment"];

/// The content of a document's file.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentFile {
    pub document: Document,
    /// The last known hash of each source, by position.
    pub hashes: Vec<Option<String>>,
    /// The view of the window, with its own version.
    pub view: Option<Json>,
    /// Pins that could not be read; they stay in the file, behind the others.
    unread_pins: Vec<Json>,
    unknown: Unknown,
}

impl DocumentFile {
    pub fn new(document: Document) -> Self {
        Self {
            hashes: vec![None; document.sources.len()],
            document,
            view: None,
            unread_pins: Vec::new(),
            unknown: Unknown::default(),
        }
    }

    /// A copy with other content; unknown fields stay.
    #[must_use]
    pub fn with(&self, document: Document, hashes: Vec<Option<String>>, view: Option<Json>) -> Self {
        Self {
            document,
            hashes,
            view,
            unread_pins: self.unread_pins.clone(),
            unknown: self.unknown.clone(),
        }
    }

    /// The text for a file in a folder: indented, fields in a fixed order, a final line break. Without a folder paths stay
    /// absolute, which is for the program's own files.
    ///
    /// # Errors
    /// A sentence about a source that cannot be opened again: a pipe, content without a path.
    pub fn text(&self, folder: Option<&Path>) -> Result<String, String> {
        let mut json = self.json(folder)?;
        self.unknown.put_back(&mut json);
        pins::append(&self.unread_pins, &mut json);
        let mut text = serde_json::to_string_pretty(&json).map_err(|error| error.to_string())?;
        text.push('\n');
        Ok(text)
    }

    /// The fields of this version.
    fn json(&self, folder: Option<&Path>) -> Result<Json, String> {
        let document = &self.document;
        let mut sources = Vec::with_capacity(document.sources.len());
        for (position, source) in document.sources.iter().enumerate() {
            let kept = PersistedSource::of(source).ok_or_else(|| not_again(source))?;
            let hash = self.hashes.get(position).cloned().flatten();
            sources.push(PersistedSource {
                sha256: hash,
                ..places::placed(kept, folder)
            });
        }
        let wire = Wire {
            highwater_document: Version(DOCUMENT_VERSION),
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            sources,
            part: document.part.clone(),
            settings: settings_of(document),
            lanes: WireLanes::of(&document.lanes),
            strategies: strategies_of(&document.strategies),
            frame_rules: document.recording_rules.frames.own().to_vec(),
            allocator_settings: document.allocator_settings.iter().map(wire_setting).collect(),
            category_rules: document.recording_rules.categories.own().to_vec(),
            bookmarks: PersistedBookmark::of_all(&document.bookmarks),
            pins: pins::wire_of(&document.pins),
            baseline: document.baseline.map(lane_text),
            goal: (document.goal != LaneGoal::default()).then(|| document.goal.name().to_owned()),
            view: self.view.clone(),
        };
        serde_json::to_value(&wire).map_err(|error| error.to_string())
    }

    /// Reads a file of a folder. Remarks name unknown fields.
    ///
    /// # Errors
    /// [`ConfigError`] with line and column: not JSON, nested too deeply, a field of the wrong type, too many of something,
    /// or written by a newer highwater.
    pub fn read(bytes: &[u8], folder: Option<&Path>) -> Result<(Self, Diagnostics), ConfigError> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        if bytes.len() as u64 > MOST_DOCUMENT_BYTES {
            return Err(first_line(too_large()));
        }
        let Probe { _version } = serde_json::from_slice(bytes)?;
        // With unknown fields: text that is nested too deeply is refused here.
        let mut read: Json = serde_json::from_slice(bytes)?;
        let wire: Wire = serde_json::from_slice(bytes)?;
        for (count, most, what) in [
            (wire.sources.len(), MOST_SOURCES, "sources"),
            (wire.bookmarks.len(), MOST_BOOKMARKS, "bookmarks"),
            (wire.pins.len(), MAX_PINS, "pins"),
            (wire.allocator_settings.len(), MOST_SETTINGS, "allocator settings"),
            (wire.frame_rules.len(), MOST_FRAME_RULES, "frame rules"),
            (wire.category_rules.len(), MOST_FRAME_RULES, "category rules"),
        ] {
            if count > most {
                return Err(first_line(format!(
                    "a document has at most {most} {what}; this one has {count}"
                )));
            }
        }
        let mut remarks = Diagnostics::new();
        let mut document = Document::new(Vec::new());
        read_settings(bytes, &mut document, &mut remarks)?;
        let mut hashes = Vec::with_capacity(wire.sources.len());
        for source in &wire.sources {
            document.sources.push(source_of(source, folder, &mut remarks));
            hashes.push(source.sha256.clone());
        }
        document.part.clone_from(&wire.part);
        document.lanes = wire.lanes.lanes(&mut remarks);
        document.strategies = strategies(&wire.strategies, &mut remarks);
        document.allocator_settings = wire.allocator_settings.into_iter().map(setting_of).collect();
        document.recording_rules = RecordingRules {
            frames: rules_of("frame_rules", FrameRules::new(wire.frame_rules), &mut remarks),
            categories: rules_of("category_rules", CategoryRules::new(wire.category_rules), &mut remarks),
        };
        document.bookmarks = PersistedBookmark::bookmarks(&wire.bookmarks);
        if let Some(bookmarks) = read.get_mut("bookmarks").and_then(Json::as_array_mut) {
            // As the document orders them: unknown fields are matched by position.
            bookmarks.sort_by_key(|bookmark| bookmark.get("step").and_then(Json::as_u64).unwrap_or(0));
        }
        let mut unread_pins = Vec::new();
        if let Some(elements) = read.get_mut("pins").and_then(Json::as_array_mut) {
            (document.pins, unread_pins) = pins::read(elements, &mut remarks);
        }
        document.baseline = wire
            .baseline
            .as_deref()
            .and_then(|text| baseline_of(text, &mut remarks));
        document.goal = wire
            .goal
            .as_deref()
            .map_or_else(LaneGoal::default, |text| goal_of(text, &mut remarks));
        let mut file = Self {
            document,
            hashes,
            view: wire.view,
            unread_pins,
            unknown: Unknown::default(),
        };
        if let Ok(mut known) = file.json(folder) {
            for settings in [read.get_mut("settings"), known.get_mut("settings")]
                .into_iter()
                .flatten()
            {
                let fields = settings.as_object_mut().into_iter();
                fields.for_each(|fields| fields.retain(|key, _| !is_known_elsewhere(key)));
            }
            file.unknown = Unknown::between(&read, &known);
        }
        Ok((file, remarks))
    }
}

/// The baseline; an unknown lane is none, with a remark.
fn baseline_of(text: &str, remarks: &mut Diagnostics) -> Option<LaneId> {
    let lane = lane_of(text);
    if lane.is_none() {
        let message = format!("unknown baseline lane \"{text}\"; the default is used");
        remarks.warning(message, "baseline");
    }
    lane
}

/// The rules for call stacks; where a pattern cannot be read none is used, with a remark.
fn rules_of<R: Default>(key: &str, rules: Result<R, FrameRuleError>, remarks: &mut Diagnostics) -> R {
    rules.unwrap_or_else(|error| {
        remarks.error(format!("{error}; the built-in rules are used"), key);
        R::default()
    })
}

fn wire_setting(setting: &AllocatorSetting) -> WireSetting {
    WireSetting {
        settings: setting.conf.clone(),
        torch: setting.version.map(|version| version.name().to_owned()),
    }
}

fn setting_of(wire: WireSetting) -> AllocatorSetting {
    AllocatorSetting {
        version: wire.torch.as_deref().and_then(TorchVersion::named),
        conf: wire.settings,
    }
}

/// The goal; an unknown one is the default, with a remark.
fn goal_of(text: &str, remarks: &mut Diagnostics) -> LaneGoal {
    LaneGoal::parse(text).unwrap_or_else(|| {
        let usual = LaneGoal::default();
        let message = format!("unknown goal \"{text}\"; {} is used", usual.name());
        remarks.warning(message, "goal");
        usual
    })
}

fn is_known_elsewhere(key: &str) -> bool {
    DERIVED.contains(&key) || KEPT_BY_SETTINGS.contains(&key)
}

fn settings_of(document: &Document) -> Map<String, Json> {
    let text = to_json(&config_from_document(document, None));
    // The text was written from an object just now.
    let mut settings: Map<String, Json> = serde_json::from_str(&text).unwrap_or_default();
    settings.retain(|key, _| !DERIVED.contains(&key.as_str()));
    settings
}

fn read_settings(bytes: &[u8], document: &mut Document, remarks: &mut Diagnostics) -> Result<(), ConfigError> {
    let in_place: SettingsInPlace<'_> = serde_json::from_slice(bytes)?;
    let Some(settings) = in_place.settings else {
        return Ok(());
    };
    let begin = settings.get().as_ptr().addr() - bytes.as_ptr().addr();
    let (mut config, warnings) = from_json(settings.get().as_bytes()).map_err(|error| moved(error, &bytes[..begin]))?;
    if config.tool_version.is_empty() {
        // A document states all settings.
        env!("CARGO_PKG_VERSION").clone_into(&mut config.tool_version);
    }
    apply_config(&config, document);
    remarks.extend(&warnings);
    Ok(())
}

/// An error in a part of the text, with its place in the whole.
fn moved(error: ConfigError, before: &[u8]) -> ConfigError {
    let n_lines = before.split(|byte| *byte == b'\n').count() - 1;
    let last = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    ConfigError {
        line: error.line + n_lines,
        column: if error.line == 1 {
            error.column + before.len() - last
        } else {
            error.column
        },
        reason: error.reason,
    }
}

fn first_line(reason: String) -> ConfigError {
    ConfigError {
        line: 1,
        column: 1,
        reason,
    }
}

fn too_large() -> String {
    format!(
        "larger than {} MiB, the limit of documents, which reference graphs and recordings by path",
        MOST_DOCUMENT_BYTES >> 20
    )
}

fn source_of(wire: &PersistedSource, folder: Option<&Path>, remarks: &mut Diagnostics) -> SourceSpec {
    if wire.path.is_none() && wire.sample.is_none() {
        remarks.warning(
            "a source has neither a path nor the name of a sample".to_owned(),
            "sources",
        );
    }
    if let Some(format) = &wire.format
        && highwater_import::importer(format).is_none()
    {
        let message = format!("unknown format \"{format}\"; the format is detected");
        remarks.warning(message, "sources");
    }
    let found = places::found(wire, folder);
    // A source without any name is none.
    found.source().unwrap_or_else(|| SourceSpec::Path("".into()))
}

/// Why a document cannot name a source.
fn not_again(source: &SourceSpec) -> String {
    match source {
        SourceSpec::Path(path) if path.to_str().is_none() => format!(
            "{}: the file name is not UTF-8, so a document cannot store it; rename the file",
            path.display()
        ),
        other => format!(
            "{}: the source has no path and cannot be reopened; save it to a file and open that",
            other.title()
        ),
    }
}
