//! Steps with a note, kept in the document.

use serde::{Deserialize, Serialize};

use highwater_analysis::{Comparison, LaneId};
use highwater_model::units::Step;
use highwater_sim::StaticMemoryPolicy;
use highwater_timeline::OpOccurrence;

/// A step with a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bookmark {
    /// On the common axis of the answer in which the bookmark was made.
    pub step: Step,
    /// The op of the step, to find it on another axis of the same graphs; `None` means the number alone.
    pub turn: Option<OpOccurrence>,
    pub note: String,
    /// `None` for all lanes.
    pub lane: Option<LaneId>,
}

/// A bookmark in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PersistedBookmark {
    pub step: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<OpOccurrence>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// `policy 2`, `problem 0`, `pass 1` or `measured 0`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lane: Option<String>,
}

impl Bookmark {
    /// Its step in a comparison; `None` where its op does not occur there. O(runs + steps of the run).
    pub fn step_in(&self, comparison: &Comparison) -> Option<Step> {
        match &self.turn {
            Some(turn) => turn.step(comparison),
            None => (self.step.0 < comparison.axis.n_steps).then_some(self.step),
        }
    }
}

impl PersistedBookmark {
    pub fn of_all(bookmarks: &[Bookmark]) -> Vec<Self> {
        bookmarks.iter().map(Self::of).collect()
    }

    fn of(bookmark: &Bookmark) -> Self {
        Self {
            step: bookmark.step.0,
            turn: bookmark.turn.clone(),
            note: bookmark.note.clone(),
            lane: bookmark.lane.map(lane_text),
        }
    }

    /// The bookmark; an unknown lane means all lanes.
    pub fn bookmark(&self) -> Bookmark {
        let lane = self.lane.as_deref().and_then(lane_of);
        Bookmark {
            step: Step(self.step),
            turn: self.turn.clone(),
            note: self.note.clone(),
            lane,
        }
    }

    pub fn bookmarks(kept: &[Self]) -> Vec<Bookmark> {
        let mut bookmarks = Vec::new();
        for one in kept {
            insert(&mut bookmarks, one.bookmark());
        }
        bookmarks
    }
}

/// A lane as files name it: `policy 2`, `problem 0`, `pass 1`, `pin 0` or `measured 0`.
pub fn lane_text(lane: LaneId) -> String {
    match lane {
        LaneId::Policy(policy) => format!("policy {}", policy.number()),
        LaneId::Problem(position) => format!("problem {position}"),
        LaneId::Pass(position) => format!("pass {position}"),
        LaneId::Pinned(position) => format!("pin {position}"),
        LaneId::Measured(position) => format!("measured {position}"),
    }
}

/// The lane that a file names; `None` for an unknown one.
pub fn lane_of(text: &str) -> Option<LaneId> {
    let (kind, number) = text.split_once(' ')?;
    if kind == "measured" {
        return number.parse().ok().map(LaneId::Measured);
    }
    let number = number.parse().ok()?;
    match kind {
        "policy" => StaticMemoryPolicy::from_number(number).map(LaneId::Policy),
        "problem" => Some(LaneId::Problem(number)),
        "pass" => Some(LaneId::Pass(number)),
        "pin" => Some(LaneId::Pinned(number)),
        _ => None,
    }
}

/// Inserts in order of steps, behind bookmarks of the same step.
pub(super) fn insert(bookmarks: &mut Vec<Bookmark>, bookmark: Bookmark) {
    let place = bookmarks.partition_point(|known| known.step <= bookmark.step);
    bookmarks.insert(place, bookmark);
}

#[cfg(test)]
mod tests {
    use highwater_sim::POLICIES;

    use super::*;

    #[test]
    fn bookmarks_are_kept_with_their_lanes() {
        let lanes = POLICIES.iter().map(|row| LaneId::Policy(row.policy));
        let lanes = lanes.chain([
            LaneId::Problem(1),
            LaneId::Pass(2),
            LaneId::Pinned(1),
            LaneId::Measured(0),
        ]);
        let bookmarks: Vec<Bookmark> = std::iter::once(None)
            .chain(lanes.map(Some))
            .map(|lane| Bookmark {
                step: Step(7),
                turn: lane.map(|_| OpOccurrence {
                    graph: "net".to_owned(),
                    op: 4,
                    ..OpOccurrence::default()
                }),
                note: "why".to_owned(),
                lane,
            })
            .collect();
        let text = serde_json::to_string(&PersistedBookmark::of_all(&bookmarks)).expect("it is plain");
        let kept: Vec<PersistedBookmark> = serde_json::from_str(&text).expect("it was written here");
        assert_eq!(PersistedBookmark::bookmarks(&kept), bookmarks);
        let odd = PersistedBookmark {
            lane: Some("of another version 3".to_owned()),
            ..PersistedBookmark::default()
        };
        assert_eq!(odd.bookmark().lane, None);
    }
}
