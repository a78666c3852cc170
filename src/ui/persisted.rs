//! State of the window that outlives the program, in eframe's storage (a file in the user's data folder).
//!
//! Every part is a separate text, so that an unreadable one is lost alone, and nothing in the storage can stop the
//! program from starting. eframe keeps theme and size.

use eframe::Storage;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::lanes::{LaneContent, LaneLayout, LanesState, SavedLaneLayout};
use super::panes::Layout;
use highwater_session::{PersistedDocument, Recents, Restore};
use highwater_timeline::AxisKind;

const LAYOUT: &str = "highwater.layout";
const DOCUMENT: &str = "highwater.document";
const RECENTS: &str = "highwater.recent";
const USED: &str = "highwater.used";
const VIEW: &str = "highwater.view";
const EDITOR: &str = "highwater.editor";
const LANE_LAYOUT: &str = "highwater.lanes";
const OUTSIDE: &str = "highwater.outside";

/// The view of the lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(default)]
pub struct PersistedView {
    /// Two lanes in a row.
    pub is_side_by_side: bool,
    pub content: LaneContent,
    pub axis: AxisKind,
    /// The wheel alone zooms.
    pub has_plain_wheel: bool,
    /// The panel also shows the options that do not act on what is open.
    pub has_all_options: bool,
}

impl PersistedView {
    pub const fn of(lanes: &LanesState, has_all_options: bool) -> Self {
        Self {
            is_side_by_side: matches!(lanes.layout, LaneLayout::SideBySide),
            content: lanes.content,
            axis: lanes.axis,
            has_plain_wheel: lanes.has_plain_wheel,
            has_all_options,
        }
    }

    pub const fn layout(self) -> LaneLayout {
        if self.is_side_by_side {
            LaneLayout::SideBySide
        } else {
            LaneLayout::Stacked
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Persisted {
    pub layout: Option<Layout>,
    pub document: Option<PersistedDocument>,
    /// Recent files.
    pub recents: Recents,
    /// Used entries of the palette, newest first.
    pub used: Vec<String>,
    pub view: PersistedView,
    /// The arrangement of lanes.
    pub lane_layout: SavedLaneLayout,
    /// The command that opens a frame of a call stack; empty for the usual one.
    pub editor: String,
    /// What documents may read outside their folders, as [`known`](highwater_session::AllowedOutside::known) gives it.
    pub outside: Vec<String>,
    /// Parts that could not be read.
    pub unreadable: Vec<&'static str>,
}

impl Persisted {
    /// Reads what a start takes over. Recent files are always read, so that they are not lost at the end.
    pub fn read(storage: Option<&dyn Storage>, restore: Restore) -> Self {
        let mut kept = Self::default();
        let Some(storage) = storage else { return kept };
        let unreadable = &mut kept.unreadable;
        kept.recents = part::<Recents>(storage, RECENTS, "the recent files", unreadable)
            .unwrap_or_default()
            .cleaned();
        kept.outside = part(storage, OUTSIDE, "the files outside of documents", unreadable).unwrap_or_default();
        if restore == Restore::Nothing {
            return kept;
        }
        kept.layout = part(storage, LAYOUT, "the layout of panes", unreadable);
        kept.used = part(storage, USED, "the used commands", unreadable).unwrap_or_default();
        kept.view = part(storage, VIEW, "the display of lanes", unreadable).unwrap_or_default();
        kept.lane_layout = part(storage, LANE_LAYOUT, "the order of lanes", unreadable).unwrap_or_default();
        kept.editor = part(storage, EDITOR, "the editor command", unreadable).unwrap_or_default();
        if restore == Restore::Everything {
            kept.document = part(storage, DOCUMENT, "the open files", unreadable);
        }
        kept
    }

    /// Writes all parts. Without a document, the last one stays.
    pub fn write(&self, storage: &mut dyn Storage) {
        put(storage, RECENTS, &self.recents);
        put(storage, OUTSIDE, &self.outside);
        put(storage, USED, &self.used);
        put(storage, VIEW, &self.view);
        put(storage, LANE_LAYOUT, &self.lane_layout);
        put(storage, EDITOR, &self.editor);
        if let Some(layout) = &self.layout {
            put(storage, LAYOUT, layout);
        }
        if let Some(document) = &self.document {
            put(storage, DOCUMENT, document);
        }
    }

    /// A message about unreadable parts.
    pub fn complaint(&self) -> Option<String> {
        let parts = self.unreadable.join(", ");
        (!parts.is_empty()).then(|| format!("some saved settings cannot be read and are ignored: {parts}"))
    }
}

fn part<T: DeserializeOwned>(
    storage: &dyn Storage,
    key: &str,
    words: &'static str,
    unreadable: &mut Vec<&'static str>,
) -> Option<T> {
    let text = storage.get_string(key)?;
    let read = serde_json::from_str(&text);
    if read.is_err() {
        unreadable.push(words);
    }
    read.ok()
}

fn put(storage: &mut dyn Storage, key: &str, value: &impl Serialize) {
    // Serialization fails only for keys that are no texts, and there are none.
    if let Ok(text) = serde_json::to_string(value) {
        storage.set_string(key, text);
    }
}
