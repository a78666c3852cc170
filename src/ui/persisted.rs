//! What the window keeps from one start to the next, through eframe's storage (a file in the user's data folder).
//!
//! Every part is a text of its own, so that one that cannot be read costs that part alone, and nothing that stands there
//! can stop the program from starting. Theme, size and the like are kept by eframe itself.

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
const STANDS: &str = "highwater.lanes";

/// How lanes were shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(default)]
pub struct PersistedView {
    /// Two lanes in a row.
    pub is_side_by_side: bool,
    /// What lanes show.
    pub content: LaneContent,
    /// What the time axis counts.
    pub axis: AxisKind,
    /// The wheel alone zooms.
    pub has_plain_wheel: bool,
}

impl PersistedView {
    /// How lanes are shown.
    pub const fn of(lanes: &LanesState) -> Self {
        Self {
            is_side_by_side: matches!(lanes.layout, LaneLayout::SideBySide),
            content: lanes.content,
            axis: lanes.axis,
            has_plain_wheel: lanes.has_plain_wheel,
        }
    }

    /// How lanes are laid out.
    pub const fn layout(self) -> LaneLayout {
        if self.is_side_by_side {
            LaneLayout::SideBySide
        } else {
            LaneLayout::Stacked
        }
    }
}

/// What was kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Persisted {
    /// Where the panes stood.
    pub layout: Option<Layout>,
    /// What was open.
    pub document: Option<PersistedDocument>,
    /// What was opened before.
    pub recents: Recents,
    /// Which entries of the palette were used, the last first.
    pub used: Vec<String>,
    /// How lanes were shown.
    pub view: PersistedView,
    /// In which order and how high lanes stood.
    pub stands: SavedLaneLayout,
    /// Parts that could not be read.
    pub unreadable: Vec<&'static str>,
}

impl Persisted {
    /// Reads what a start takes over. The list of files that were opened is read even where nothing else is, so that it
    /// is not lost when the program ends.
    pub fn read(storage: Option<&dyn Storage>, restore: Restore) -> Self {
        let mut kept = Self::default();
        let Some(storage) = storage else { return kept };
        let unreadable = &mut kept.unreadable;
        kept.recents = part::<Recents>(storage, RECENTS, "the files that were opened", unreadable)
            .unwrap_or_default()
            .cleaned();
        if restore == Restore::Nothing {
            return kept;
        }
        kept.layout = part(storage, LAYOUT, "where the panes stood", unreadable);
        kept.used = part(storage, USED, "which commands were used", unreadable).unwrap_or_default();
        kept.view = part(storage, VIEW, "how lanes were shown", unreadable).unwrap_or_default();
        kept.stands = part(storage, STANDS, "how lanes stood", unreadable).unwrap_or_default();
        if restore == Restore::Everything {
            kept.document = part(storage, DOCUMENT, "what was open", unreadable);
        }
        kept
    }

    /// Writes all of it. A document that is not there leaves the one before where it is.
    pub fn write(&self, storage: &mut dyn Storage) {
        put(storage, RECENTS, &self.recents);
        put(storage, USED, &self.used);
        put(storage, VIEW, &self.view);
        put(storage, STANDS, &self.stands);
        if let Some(layout) = &self.layout {
            put(storage, LAYOUT, layout);
        }
        if let Some(document) = &self.document {
            put(storage, DOCUMENT, document);
        }
    }

    /// A sentence about what could not be read.
    pub fn complaint(&self) -> Option<String> {
        let parts = self.unreadable.join(", ");
        (!parts.is_empty()).then(|| format!("what was kept of the last time cannot be read and is left out: {parts}"))
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
    // None of these holds a key that is no text, the one thing that could fail.
    if let Ok(text) = serde_json::to_string(value) {
        storage.set_string(key, text);
    }
}
