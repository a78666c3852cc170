//! Ranks of one job side by side: the peak of every recording, and what differs between ranks.
//!
//! In: the recordings of a workload, and an attribute. Out: a row per recording, the highest peak first, and per group
//! the least, the median and the most bytes at the ranks' own peaks. Every recording counts, with or without a lane.
//! O(blocks + ranks x groups), in parallel over recordings.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use regex::Regex;

use super::Attribute;
use highwater_analysis::{Comparison, Lane, LaneKind};
use highwater_model::progress::Progress;
use highwater_model::threads::on_threads;
use highwater_model::units::{Bytes, Step, signed_bytes};
use highwater_model::workload::{Recording, Segments, TotalKind};

/// The peak of one recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankPeak {
    pub name: String,
    /// From the name of the file, folder or device; `None` where it has no number, or another recording has the same.
    pub rank: Option<u32>,
    /// Whether the number is called a rank; else it is that of a device.
    is_called_rank: bool,
    pub live: Bytes,
    /// `None` where nothing is live.
    pub step: Option<Step>,
    /// `None` where the file does not state it.
    pub reserved: Option<Bytes>,
    /// Live bytes in equal parts of its events, the maximum of each; see [`Recording::live_outline`].
    pub outline: Vec<Bytes>,
    /// Live bytes at the peak by group; empty where the file lists no blocks.
    pub groups: BTreeMap<Box<str>, Bytes>,
}

impl RankPeak {
    /// `rank 5`, else the name of the recording.
    pub fn label(&self) -> String {
        let rank = self.rank.filter(|_| self.is_called_rank);
        rank.map_or_else(|| self.name.clone(), |rank| format!("rank {rank}"))
    }
}

/// A group over all ranks that list blocks; a rank without it counts as 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupSpread {
    pub text: Box<str>,
    pub least: Bytes,
    pub median: Bytes,
    pub most: Bytes,
    /// Position of the first rank with the most bytes.
    pub of_most: usize,
}

/// The ranks of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankSpread {
    pub by: Attribute,
    /// The highest live peak first, then by rank and name.
    pub ranks: Vec<RankPeak>,
    /// The median of the live peaks; of an even number the mean of the two in the middle.
    pub median: Bytes,
    /// The largest difference between most and least first.
    pub groups: Vec<GroupSpread>,
}

impl RankSpread {
    /// `None` for fewer than two recordings with content.
    pub fn new(recordings: &[Arc<Recording>], by: Attribute, progress: &Progress<'_>) -> Option<Self> {
        let held = recordings.iter().map(|one| &**one);
        let held = held.filter(|one| one.has_content() && one.simulation.is_none() && !one.is_host);
        let held: Vec<&Recording> = held.collect();
        if held.len() < 2 {
            return None;
        }
        let mut ranks = on_threads(held, progress, |one| peak(one, by));
        // A text of a failure states no peak.
        ranks.retain(|rank| rank.step.is_some() || rank.reserved.is_some());
        if ranks.len() < 2 {
            return None;
        }
        if !are_distinct(ranks.iter().map(|rank| rank.rank)) {
            for rank in &mut ranks {
                rank.rank = None;
            }
        }
        ranks.sort_by(|one, other| {
            let key = |rank: &RankPeak| (Reverse(rank.live), rank.rank);
            key(one).cmp(&key(other)).then_with(|| one.name.cmp(&other.name))
        });
        Some(Self {
            by,
            median: median(ranks.iter().map(|rank| rank.live).collect()),
            groups: spread(&ranks),
            ranks,
        })
    }

    /// `rank 5 is the worst: +2.1 GiB over the median, largest differences: forward (model.py:138) +1.9 GiB`; `None` where all
    /// peaks are equal.
    pub fn sentence(&self) -> Option<String> {
        let worst = self.ranks.first()?;
        let (others, usual) = match &self.ranks[..] {
            [_, other] => ("the other", other.live),
            _ => ("the median", self.median),
        };
        if worst.live == usual {
            return None;
        }
        let over = |bytes: Bytes, usual: Bytes| i128::from(bytes.get()) - i128::from(usual.get());
        let mut text = format!(
            "{} is the worst: {} over {others}",
            worst.label(),
            signed_bytes(over(worst.live, usual))
        );
        let usual_of = |group: &GroupSpread| {
            if self.ranks.len() == 2 {
                group.least
            } else {
                group.median
            }
        };
        let own = |group: &GroupSpread| worst.groups.get(&group.text).copied().unwrap_or_default();
        let mut parts: Vec<(i128, &GroupSpread)> = self
            .groups
            .iter()
            .map(|group| (over(own(group), usual_of(group)), group))
            .filter(|(difference, _)| *difference > 0)
            .collect();
        parts.sort_by_key(|(difference, group)| (Reverse(*difference), group.text.clone()));
        let parts: Vec<String> = parts
            .iter()
            .take(MOST_PARTS)
            .map(|(difference, group)| format!("{} {}", group.text, signed_bytes(*difference)))
            .collect();
        if !parts.is_empty() {
            text.push_str(&format!("; largest differences: {}", parts.join(", ")));
        }
        Some(text)
    }
}

/// Groups that a sentence names.
const MOST_PARTS: usize = 3;

static RANK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)(?:^|[^a-z])(?:global_?|local_?)?(rank|npu|gpu|cuda|device)(?:_?id)?[\s:_\-=]*(\d{1,6})(?:[^\da-z]|$)",
    )
    .ok()
});

/// The number of a rank in a name: behind `rank`, else behind a word for a device; and whether it is behind `rank`.
fn rank_of(name: &str) -> Option<(u32, bool)> {
    let found = RANK.as_ref()?.captures_iter(name).map(|found| {
        let is_rank = found[1].eq_ignore_ascii_case("rank");
        (found[2].parse().ok(), is_rank)
    });
    let (number, is_rank) = found.min_by_key(|(_, is_rank)| !is_rank)?;
    Some((number?, is_rank))
}

/// Whether no two recordings have the same number, as two files of one device have: then the numbers tell them apart.
fn are_distinct(ranks: impl Iterator<Item = Option<u32>>) -> bool {
    let mut known = BTreeSet::new();
    ranks.flatten().all(|rank| known.insert(rank))
}

/// The lanes in the order in which they are read: ranks of a job by peak, the highest first (of equal ones the first), the host's memory last;
/// others as they are.
pub fn reading_order(comparison: &Comparison) -> Vec<usize> {
    let mut order: Vec<usize> = (0..comparison.lanes.len()).collect();
    let is_host = |lane: &Lane| comparison.recording(lane.id).is_some_and(|one| one.is_host);
    let lanes = comparison.lanes.iter().filter(|lane| !is_host(lane));
    let ranks = lanes.map(|lane| Some(rank_of(&comparison.recording(lane.id)?.name)?.0));
    let is_job = ranks.clone().all(|rank| rank.is_some()) && are_distinct(ranks);
    if comparison.lane_kind() == LaneKind::Recordings && is_job {
        order.sort_by_key(|lane| {
            let lane = &comparison.lanes[*lane];
            let summary = &lane.summary;
            (is_host(lane), Reverse((summary.peak_live, summary.peak_reserved)))
        });
    }
    order
}

fn peak(recording: &Recording, by: Attribute) -> RankPeak {
    let peaks = recording.peaks();
    let (live, step) = match recording.total(TotalKind::Allocated) {
        Some(stated) if recording.blocks.is_empty() => stated.peak(),
        _ => peaks.live,
    };
    let mut groups: BTreeMap<Box<str>, Bytes> = BTreeMap::new();
    let is_live = |birth: Step, end: Step| step.is_some_and(|step| birth <= step && step < end);
    let segments = if by == Attribute::Pool {
        Segments::new(recording)
    } else {
        Segments::default()
    };
    for block in recording.blocks.iter().filter(|block| is_live(block.birth, block.end)) {
        let text = match by {
            Attribute::Size => by.class_of(block.bytes.get()),
            Attribute::Lifetime => by.class_of(u64::from(block.end.0 - block.birth.0)),
            Attribute::Pool => segments.of(block).map_or("", |segment| recording.text(segment.kind)),
            _ => by.of_block(recording, block),
        };
        match groups.get_mut(text) {
            Some(bytes) => *bytes += block.bytes,
            None => drop(groups.insert(text.into(), block.bytes)),
        }
    }
    let rank = rank_of(&recording.name).or_else(|| rank_of(&recording.device));
    RankPeak {
        name: recording.name.clone(),
        rank: rank.map(|(rank, _)| rank),
        is_called_rank: rank.is_some_and(|(_, is_called_rank)| is_called_rank),
        live,
        step,
        reserved: recording.states_reserved().then_some(peaks.reserved.0),
        outline: recording.live_outline(),
        groups,
    }
}

/// Of an even number the mean of the two in the middle, rounded down.
fn median(mut bytes: Vec<Bytes>) -> Bytes {
    bytes.sort_unstable();
    let at = |position: usize| bytes.get(position).copied().unwrap_or_default();
    let (low, high) = (at(bytes.len().saturating_sub(1) / 2), at(bytes.len() / 2));
    Bytes(low.get() + (high.get() - low.get()) / 2)
}

fn spread(ranks: &[RankPeak]) -> Vec<GroupSpread> {
    let listing: Vec<usize> = (0..ranks.len())
        .filter(|rank| !ranks[*rank].groups.is_empty())
        .collect();
    let mut of_group: BTreeMap<&str, Vec<(usize, Bytes)>> = BTreeMap::new();
    for rank in &listing {
        for (text, bytes) in &ranks[*rank].groups {
            of_group.entry(text).or_default().push((*rank, *bytes));
        }
    }
    let mut groups: Vec<GroupSpread> = of_group
        .into_iter()
        .map(|(text, found)| {
            let mut all: Vec<Bytes> = found.iter().map(|(_, bytes)| *bytes).collect();
            all.resize(listing.len(), Bytes::ZERO);
            let most = all.iter().max().copied().unwrap_or_default();
            let of_most = found.iter().find(|(_, bytes)| *bytes == most);
            GroupSpread {
                text: text.into(),
                least: all.iter().min().copied().unwrap_or_default(),
                most,
                of_most: of_most.map_or(0, |(rank, _)| *rank),
                median: median(all),
            }
        })
        .collect();
    let differs = |group: &GroupSpread| group.most.saturating_sub(group.least);
    groups.sort_by(|one, other| (differs(other), &one.text).cmp(&(differs(one), &other.text)));
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use highwater_model::progress::Cancel;
    use highwater_model::workload::{RecordedBlock, RecordedNames};

    /// A recording of blocks `name birth end bytes`, separated by commas.
    fn recording(name: &str, blocks: &str) -> Arc<Recording> {
        let mut names = RecordedNames::default();
        let row = |row: &str| {
            let words: Vec<&str> = row.split_whitespace().collect();
            let number = |position: usize| words[position].parse::<u32>().expect("a number");
            let name = names.intern(words[0]);
            RecordedBlock::new(name, Step(number(1)), Step(number(2)), Bytes(number(3).into()))
        };
        let blocks = blocks.split(',').map(row).collect();
        let recording = Recording {
            name: name.to_owned(),
            n_steps: 10,
            blocks,
            names: names.finish(),
            ..Recording::default()
        };
        assert_eq!(recording.check(), Ok(()));
        Arc::new(recording)
    }

    #[test]
    fn ranks_are_recognised_in_names() {
        for (name, wanted) in [
            ("run/rank_5/snapshot.pickle: device0", Some(5)),
            ("rank12: device3", Some(12)),
            ("global_rank=7.pickle", Some(7)),
            ("device3", Some(3)),
            ("NPU:4", Some(4)),
            ("crank3", None),
            ("snapshot", None),
            ("rank99999999", None),
            ("gpu80GB/x", None),
        ] {
            assert_eq!(rank_of(name).map(|(rank, _)| rank), wanted, "{name}");
        }
    }

    fn spread_of(ranks: &[Arc<Recording>]) -> Option<RankSpread> {
        RankSpread::new(ranks, Attribute::CallSite, &Progress::silent(&Cancel::new()))
    }

    #[test]
    fn the_worst_rank_is_named_with_what_makes_it_so() {
        let ranks = [
            recording("rank0", "a 0 5 100, b 1 3 10"),
            recording("rank1", "a 0 5 100, b 1 3 10, c 6 7 1"),
            recording("rank2", "a 0 5 300, b 1 3 10, d 2 4 5"),
        ];
        let spread = spread_of(&ranks).expect("three ranks");
        assert_eq!(
            spread.ranks.iter().map(|rank| rank.live.get()).collect::<Vec<_>>(),
            [315, 110, 110]
        );
        assert_eq!(spread.median, Bytes(110));
        let first = &spread.groups[0];
        assert_eq!(
            (&*first.text, first.least, first.median, first.most),
            ("a", Bytes(100), Bytes(100), Bytes(300))
        );
        let sentence = spread.sentence().expect("peaks differ").replace('\u{a0}', " ");
        assert_eq!(
            sentence,
            "rank 2 is the worst: +205 B over the median; largest differences: a +200 B, d +5 B"
        );
        assert_eq!(spread_of(&ranks[..1]), None);
        // Of two the other one is told; of an even number the median is between the two in the middle.
        let two = spread_of(&ranks[1..]).expect("two ranks");
        let sentence = two.sentence().expect("peaks differ").replace('\u{a0}', " ");
        assert!(
            sentence.starts_with("rank 2 is the worst: +205 B over the other; largest differences: a +200 B"),
            "{sentence}"
        );
        assert_eq!(two.median, Bytes(212));
    }

    #[test]
    fn files_of_one_device_are_no_ranks() {
        let two = |one: &str, other: &str| {
            let two = [recording(one, "a 0 5 100"), recording(other, "a 0 5 300")];
            spread_of(&two)
                .and_then(|spread| spread.sentence())
                .expect("peaks differ")
        };
        for (one, other, worst) in [
            (
                "before.pickle: device0",
                "after.pickle: device0",
                "after.pickle: device0",
            ),
            ("device0", "device1", "device1"),
            ("rank0/a: device0", "rank1/a: device0", "rank 1"),
        ] {
            let sentence = two(one, other);
            assert!(sentence.starts_with(&format!("{worst} is the worst")), "{sentence}");
        }
    }
}
