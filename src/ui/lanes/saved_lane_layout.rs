//! The arrangement of lanes as documents and the window save it.

use serde::{Deserialize, Serialize};

use super::arrange::{Arrangement, LaneEntry, SHARES};
use highwater_session::{lane_of, lane_text};

/// One lane, by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct SavedLane {
    lane: String,
    share: f32,
    is_folded: bool,
    is_hidden: bool,
}

impl Default for SavedLane {
    fn default() -> Self {
        Self {
            lane: String::new(),
            share: 1.0,
            is_folded: false,
            is_hidden: false,
        }
    }
}

/// From top to bottom.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedLaneLayout {
    #[serde(rename = "stands")]
    entries: Vec<SavedLane>,
    has_own_scales: bool,
}

impl Arrangement {
    pub fn kept(&self) -> SavedLaneLayout {
        let entries = self.entries().map(|entry| SavedLane {
            lane: lane_text(entry.id),
            share: entry.share,
            is_folded: entry.is_folded,
            is_hidden: entry.is_hidden,
        });
        SavedLaneLayout {
            entries: entries.collect(),
            has_own_scales: self.has_own_scales,
        }
    }

    /// Restores a saved arrangement; unknown lanes come after it. Unreadable entries are left out.
    pub fn restore(&mut self, kept: &SavedLaneLayout) {
        let known = kept.entries.iter().filter_map(|entry| {
            Some(LaneEntry {
                id: lane_of(&entry.lane)?,
                share: if entry.share.is_finite() { entry.share } else { 1.0 }.clamp(SHARES.0, SHARES.1),
                is_folded: entry.is_folded,
                is_hidden: entry.is_hidden,
            })
        });
        let mut entries: Vec<LaneEntry> = Vec::new();
        for entry in known.chain(self.entries().copied()) {
            if !entries.iter().any(|other| other.id == entry.id) {
                entries.push(entry);
            }
        }
        self.set_entries(entries);
        self.has_own_scales = kept.has_own_scales;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_is_restored_without_unreadable_entries() {
        let text = r#"{"stands": [
            {"lane": "policy 3", "is_hidden": true},
            {"lane": "policy 0", "share": 2.5, "is_folded": true},
            {"lane": "policy 3", "share": 1.5},
            {"lane": "no lane", "share": 1e30},
            {"lane": "policy 2", "share": 1e30}
        ], "has_own_scales": true}"#;
        let kept: SavedLaneLayout = serde_json::from_str(text).expect("JSON");
        let mut arrangement = Arrangement::default();
        arrangement.restore(&kept);
        let entries: Vec<(String, f32, bool, bool)> = arrangement
            .entries()
            .map(|entry| (lane_text(entry.id), entry.share, entry.is_folded, entry.is_hidden))
            .collect();
        let expected = [
            ("policy 3".to_owned(), 1.0, false, true),
            ("policy 0".to_owned(), 2.5, true, false),
            ("policy 2".to_owned(), SHARES.1, false, false),
        ];
        assert_eq!(entries, expected);
        assert!(arrangement.has_own_scales);
        let mut again = Arrangement::default();
        again.restore(&arrangement.kept());
        assert_eq!(again, arrangement);
    }
}
