//! How lanes stand, as it is written down: with documents, and from one start to the next.

use serde::{Deserialize, Serialize};

use super::arrange::{Arrangement, LaneStand, SHARES};
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

/// All lanes, from top to bottom.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedLaneLayout {
    stands: Vec<SavedLane>,
    has_own_scales: bool,
}

impl Arrangement {
    /// How lanes stand, to be written down.
    pub fn kept(&self) -> SavedLaneLayout {
        let stands = self.stands().map(|stand| SavedLane {
            lane: lane_text(stand.id),
            share: stand.share,
            is_folded: stand.is_folded,
            is_hidden: stand.is_hidden,
        });
        SavedLaneLayout {
            stands: stands.collect(),
            has_own_scales: self.has_own_scales,
        }
    }

    /// Lets lanes stand as was written down; others come after them. What cannot be read is left out.
    pub fn restore(&mut self, kept: &SavedLaneLayout) {
        let known = kept.stands.iter().filter_map(|stand| {
            Some(LaneStand {
                id: lane_of(&stand.lane)?,
                share: if stand.share.is_finite() { stand.share } else { 1.0 }.clamp(SHARES.0, SHARES.1),
                is_folded: stand.is_folded,
                is_hidden: stand.is_hidden,
            })
        });
        let mut stands: Vec<LaneStand> = Vec::new();
        for stand in known.chain(self.stands().copied()) {
            if !stands.iter().any(|other| other.id == stand.id) {
                stands.push(stand);
            }
        }
        self.set_stands(stands);
        self.has_own_scales = kept.has_own_scales;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stands_come_back_as_they_were_and_bad_ones_do_no_harm() {
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
        let stands: Vec<(String, f32, bool, bool)> = arrangement
            .stands()
            .map(|stand| (lane_text(stand.id), stand.share, stand.is_folded, stand.is_hidden))
            .collect();
        let expected = [
            ("policy 3".to_owned(), 1.0, false, true),
            ("policy 0".to_owned(), 2.5, true, false),
            ("policy 2".to_owned(), SHARES.1, false, false),
        ];
        assert_eq!(stands, expected);
        assert!(arrangement.has_own_scales);
        let mut again = Arrangement::default();
        again.restore(&arrangement.kept());
        assert_eq!(again, arrangement);
    }
}
