//! Which releases of torch write a snapshot: by the fields that it has, those that it lacks, and the settings that it states.
//!
//! In: names of fields by their place. Out: [`WrittenBy`], the releases that agree with all of them. Only fields whose
//! releases were looked up are in the table.

use std::ops::RangeInclusive;

use crate::settings::Settings;
use crate::version::{Framework, Version};

/// Where a field of a snapshot is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The dict of the whole snapshot.
    Top,
    /// `allocator_settings`.
    Settings,
    /// A segment.
    Segment,
    /// A block.
    Block,
    /// An event of a trace.
    Event,
}

impl Place {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Top, Self::Settings, Self::Segment, Self::Block, Self::Event];

    /// Before the dot of a field's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Top => "top",
            Self::Settings => "settings",
            Self::Segment => "segment",
            Self::Block => "block",
            Self::Event => "event",
        }
    }

    /// `time_us of its events`.
    fn field(self, key: &str) -> String {
        match self {
            Self::Top => key.to_owned(),
            Self::Settings => format!("{key} in allocator_settings"),
            Self::Segment => format!("{key} of segments"),
            Self::Block => format!("{key} of blocks"),
            Self::Event => format!("{key} of events"),
        }
    }
}

/// A field, and the releases that write it.
#[derive(Clone, Debug)]
pub struct FieldRow {
    /// Where it is.
    pub place: Place,
    /// Its key.
    pub key: &'static str,
    /// The releases.
    pub releases: &'static [RangeInclusive<Version>],
    /// Whether they write it always, so that a snapshot without it is of another release.
    pub is_always: bool,
}

const fn row(
    place: Place,
    key: &'static str,
    releases: &'static [RangeInclusive<Version>],
    is_always: bool,
) -> FieldRow {
    FieldRow {
        place,
        key,
        releases,
        is_always,
    }
}

const NEWEST: Version = Version::NEWEST;

/// Fields that not every release writes. Source: the texts of `libtorch_python.so`, whose `_cuda_memorySnapshot` makes the
/// dicts, in the wheels of torch 2.0.1, 2.1.2, 2.2.2, 2.3.1, 2.4.1, 2.5.1, 2.6.0, 2.7.1, 2.8.0, 2.9.1, 2.10.0, 2.11.0,
/// 2.12.0, 2.13.0, 2.14.1 and 2.15.0. "Always": the code that writes the field has no condition
/// (`torch/csrc/cuda/memory_snapshot.cpp`), or a snapshot of torch 2.15 without work has it.
pub const SNAPSHOT_FIELDS: [FieldRow; 14] = [
    row(Place::Top, "allocator_settings", &[Version::Torch2_3..=NEWEST], true),
    row(Place::Top, "external_annotations", &[Version::Torch2_5..=NEWEST], true),
    row(Place::Top, "host_segments", &[Version::Torch2_14..=NEWEST], false),
    row(Place::Top, "host_traces", &[Version::Torch2_14..=NEWEST], false),
    row(
        Place::Settings,
        "graph_capture_record_stream_reuse",
        &[Version::Torch2_9..=NEWEST],
        true,
    ),
    row(
        Place::Settings,
        "max_round_threshold",
        &[Version::Torch2_13..=NEWEST],
        true,
    ),
    row(Place::Settings, "max_cached_size", &[Version::Torch2_13..=NEWEST], true),
    row(Place::Segment, "segment_pool_id", &[Version::Torch2_1..=NEWEST], true),
    row(Place::Segment, "is_expandable", &[Version::Torch2_1..=NEWEST], true),
    // With the bytes of its requests as `real_size`.
    row(Place::Block, "history", &[Version::FIRST..=Version::Torch2_0], false),
    row(Place::Event, "time_us", &[Version::Torch2_2..=NEWEST], true),
    row(
        Place::Event,
        "compile_context",
        &[Version::Torch2_5..=Version::Torch2_5, Version::Torch2_8..=NEWEST],
        true,
    ),
    row(Place::Event, "user_metadata", &[Version::Torch2_10..=NEWEST], true),
    row(Place::Event, "forward_frames", &[Version::Torch2_11..=NEWEST], false),
];

impl FieldRow {
    fn is_written_by(&self, version: Version) -> bool {
        self.releases.iter().any(|releases| releases.contains(&version))
    }
}

/// The releases that may have written a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenBy {
    /// The oldest first; every release where nothing bounds them.
    pub versions: Vec<Version>,
    /// What bounds them from below, for people; `None` where nothing does.
    pub since: Option<String>,
    /// What bounds them from above.
    pub until: Option<String>,
}

/// A condition on releases, for people.
struct Bound {
    words: String,
    is_met: Box<dyn Fn(Version) -> bool>,
}

impl WrittenBy {
    /// By fields such as `event.time_us`; a place that has rows at all is a name without a dot, such as `event`: what it lacks
    /// counts, too. `conf` is the stated text of the settings. What is there counts more than what is not: a tool that
    /// wrote the file once more may have dropped it.
    pub fn new<'f>(fields: impl IntoIterator<Item = &'f str>, conf: Option<&str>) -> Self {
        let fields: Vec<&str> = fields.into_iter().collect();
        let has = |row: &FieldRow| {
            let wanted = |field: &&str| field.split_once('.') == Some((row.place.name(), row.key));
            fields.iter().any(wanted)
        };
        let present = SNAPSHOT_FIELDS.iter().filter(|row| has(row)).map(|row| Bound {
            words: row.place.field(row.key),
            is_met: Box::new(move |version| row.is_written_by(version)),
        });
        let absent = SNAPSHOT_FIELDS
            .iter()
            .filter(|row| row.is_always && fields.contains(&row.place.name()) && !has(row));
        let mut absent = absent.map(|row| Bound {
            words: format!("no {}", row.place.field(row.key)),
            is_met: Box::new(move |version| !row.is_written_by(version)),
        });
        let conf = conf.map(str::to_owned).filter(|conf| !conf.trim().is_empty());
        let stated = conf.map(|conf| Bound {
            words: "its settings".to_owned(),
            is_met: Box::new(move |version| Settings::parse(&conf, version).is_ok()),
        });
        let all: Vec<Version> = Version::all()
            .filter(|version| version.rules().framework == Framework::Cuda)
            .collect();
        let mut found = Self {
            versions: all,
            since: None,
            until: None,
        };
        for bound in stated.into_iter().chain(present) {
            found.apply(&bound);
        }
        // One field that lacks although it was written means that fields were dropped.
        let mut bounded = found.clone();
        if absent.all(|bound| bounded.apply(&bound)) {
            return bounded;
        }
        found
    }

    /// Keeps the releases that meet a condition; false, and unchanged, where none does.
    fn apply(&mut self, bound: &Bound) -> bool {
        let met: Vec<Version> = self
            .versions
            .iter()
            .copied()
            .filter(|version| (bound.is_met)(*version))
            .collect();
        if met.is_empty() {
            return false;
        }
        let words = || Some(bound.words.clone());
        if met.first() != self.versions.first() {
            self.since = words();
        }
        if met.last() != self.versions.last() {
            self.until = words();
        }
        self.versions = met;
        true
    }

    /// What bounds them; empty where nothing does.
    pub fn bounds(&self) -> Vec<String> {
        let until = self.until.as_ref().filter(|until| Some(*until) != self.since.as_ref());
        self.since.iter().chain(until).cloned().collect()
    }
}

/// `torch 2.6 to 2.9`, of releases with the oldest first.
pub fn range_text(versions: &[Version]) -> Option<String> {
    match versions {
        [] => None,
        [only] => Some(only.to_string()),
        [first, .., last] => Some(format!("{first} to {}", last.name())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fields of a release: those that it writes always, and the places.
    fn fields_of(version: Version) -> Vec<String> {
        let written = SNAPSHOT_FIELDS.iter();
        let written = written.filter(|row| row.is_always && row.is_written_by(version));
        let mut fields: Vec<String> = written.map(|row| format!("{}.{}", row.place.name(), row.key)).collect();
        fields.extend(Place::ALL.iter().map(|place| place.name().to_owned()));
        if version < Version::Torch2_3 {
            fields.retain(|field| field != "settings");
        }
        fields
    }

    fn names(versions: &[Version]) -> String {
        range_text(versions).unwrap_or_default()
    }

    #[test]
    fn every_release_is_among_those_that_its_fields_tell() {
        for version in Version::all().filter(|version| *version != Version::Npu) {
            let fields = fields_of(version);
            let found = WrittenBy::new(fields.iter().map(String::as_str), None);
            assert!(found.versions.contains(&version), "{version}: {found:?}");
            assert!(found.versions.len() <= 3, "{version}: {found:?}");
        }
    }

    #[test]
    fn fields_and_settings_bound_the_release_from_both_sides() {
        let places = ["top", "settings", "segment", "event"];
        for (fields, conf, expected) in [
            (&[][..], None, "torch 2.0 to 2.15"),
            (&["event.time_us"], None, "torch 2.2 to 2.15"),
            (&["event", "event.time_us"], None, "torch 2.2 to 2.7"),
            (&[], Some("large_segment_size_mb:64"), "torch 2.11 to 2.15"),
            (&[], Some("max_split_size_mb:20"), "torch 2.10 to 2.15"),
            // What is stated counts more than what lacks.
            (&places, Some("pinned_free_catch_all:True"), "torch 2.12 to 2.15"),
            (&["block.history"], None, "torch 2.0"),
            (
                &[
                    "settings",
                    "settings.graph_capture_record_stream_reuse",
                    "event.user_metadata",
                ],
                None,
                "torch 2.10 to 2.12",
            ),
        ] {
            let found = WrittenBy::new(fields.iter().copied(), conf);
            assert_eq!(
                names(&found.versions),
                expected,
                "{fields:?} {conf:?}: {:?}",
                found.bounds()
            );
        }
    }
}
