//! Blocks whose live bytes grow from step to step: leaks.
//!
//! ```text
//! steps        |  step 1  |  step 2  |  step 3  |  step 4  |
//! live at end             4          6          8         10   cache.append (train.py:9)   2 bytes per step
//!                         5          1          5          1   loss (train.py:4)           not listed
//! ```
//!
//! In: a recorded lane, and its steps: those that annotations mark, else equal parts. Out: [`Growth`]: rows by block name with the live
//! bytes after the last event of each step. A row is listed where it grows in every step but at most one (in every step
//! where there are fewer than three), and that step does not undo the growth of the one before.

use highwater_analysis::{Comparison, Fit};
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{RecordedBlock, RecordedName, Recording};

/// The least number of steps of which growth is told.
const LEAST_STEPS: usize = 3;

/// A step of the recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrowthStep {
    /// Empty for an equal part.
    pub name: String,
    /// The last event.
    pub last: Step,
}

/// Live bytes of the blocks of one name.
#[derive(Clone, Debug, PartialEq)]
pub struct GrowthRow {
    pub name: String,
    /// After each step.
    pub live: Vec<Bytes>,
    /// Steps at whose end more is live than at the end of the step before.
    pub n_grown: usize,
    /// Bytes per step, by least squares.
    pub slope: f64,
}

impl GrowthRow {
    fn new(name: &str, live: Vec<Bytes>) -> Self {
        Self {
            name: name.to_owned(),
            n_grown: live.windows(2).filter(|pair| pair[0] < pair[1]).count(),
            slope: slope(&live),
            live,
        }
    }

    /// From the end of the first step to the end of the last; 0 where it shrinks.
    pub fn total(&self) -> Bytes {
        let ends = self.live.first().zip(self.live.last());
        ends.map_or(Bytes::ZERO, |(first, last)| last.saturating_sub(*first))
    }

    fn grows(&self) -> bool {
        let n_changes = self.live.len().saturating_sub(1);
        let misses = n_changes - self.n_grown;
        let most = usize::from(n_changes >= LEAST_STEPS);
        let undoes = |run: &[Bytes]| run[2] <= run[1] && run[2] <= run[0];
        let is_undone = self.live.windows(3).any(undoes);
        n_changes > 0 && misses <= most && !is_undone && self.total() > Bytes::ZERO && self.slope > 0.0
    }
}

/// The growth of a recorded lane.
#[derive(Clone, Debug, PartialEq)]
pub struct Growth {
    pub steps: Vec<GrowthStep>,
    /// Whether annotations mark the steps; else they are equal parts.
    pub is_marked: bool,
    /// The steepest first, then by name.
    pub rows: Vec<GrowthRow>,
    /// All blocks, listed or not.
    pub all: GrowthRow,
    /// Bytes between the peak and the capacity; `None` without a capacity.
    pub headroom: Option<Bytes>,
}

impl Growth {
    /// By the step marks of the lane's recording, else by `n_parts` equal parts. O(blocks log blocks + names * steps).
    ///
    /// # Errors
    /// Why there is no answer, in a sentence.
    pub fn new(comparison: &Comparison, lane: usize, n_parts: Option<u32>) -> Result<Self, String> {
        let id = comparison.lanes.get(lane).map(|lane| lane.id);
        let recording = id.and_then(|id| comparison.recording(id));
        let recording = recording.ok_or("the lane shows no recording, so no block grows from step to step")?;
        if recording.blocks.is_empty() {
            return Err("the recording lists no blocks".to_owned());
        }
        let mut growth = Self::of_recording(recording, n_parts)?;
        growth.headroom = match comparison.fit(lane) {
            Fit::Yes { left, .. } => Some(left),
            Fit::Above { .. } | Fit::OutOfMemory(_) => Some(Bytes::ZERO),
            Fit::Unknown | Fit::StopsUnderBudget | Fit::Refuses(_) | Fit::Forbidden(_) | Fit::Raises => None,
        };
        Ok(growth)
    }

    fn of_recording(recording: &Recording, n_parts: Option<u32>) -> Result<Self, String> {
        let marks = recording.step_marks();
        let is_marked = n_parts.is_none();
        let steps: Vec<GrowthStep> = match n_parts {
            None => {
                let steps = marks.iter().map(|mark| GrowthStep {
                    name: recording.text(mark.name).to_owned(),
                    last: Step(mark.end.0 - 1),
                });
                steps.collect()
            }
            Some(n_parts) => equal_parts(recording.n_steps, n_parts),
        };
        if steps.len() < LEAST_STEPS {
            let n_steps = steps.len();
            return Err(match n_parts {
                None => format!(
                    "the annotations of the recording mark {n_steps} steps, fewer than {LEAST_STEPS}: divide it into \
                     equal parts, e.g. --growth=10"
                ),
                Some(_) => {
                    format!("{n_steps} parts are too few: at least {LEAST_STEPS} are needed, each with an event")
                }
            });
        }
        let mut rows = Vec::new();
        let mut sums = vec![0_i128; steps.len()];
        for (name, live) in live_by_name(recording, &steps) {
            for (sum, live) in sums.iter_mut().zip(&live) {
                *sum += live;
            }
            let row = GrowthRow::new(name.text(recording), bytes(&live));
            rows.extend(Some(row).filter(GrowthRow::grows));
        }
        rows.sort_by(|one, other| {
            other
                .slope
                .total_cmp(&one.slope)
                .then_with(|| one.name.cmp(&other.name))
        });
        Ok(Self {
            steps,
            is_marked,
            rows,
            all: GrowthRow::new("", bytes(&sums)),
            headroom: None,
        })
    }

    /// Bytes per step of all listed rows.
    pub fn slope(&self) -> f64 {
        self.rows.iter().map(|row| row.slope).sum()
    }

    /// Further steps until the headroom is used up; `None` where nothing grows or there is no capacity.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative; casts of floats saturate"
    )]
    pub fn full_after(&self) -> Option<u64> {
        let slope = self.slope();
        let headroom = self.headroom.filter(|_| slope > 0.0)?;
        Some((headroom.get() as f64 / slope).floor() as u64)
    }
}

/// The last event of each of some equal parts; parts without an event are left out.
fn equal_parts(n_events: u32, n_parts: u32) -> Vec<GrowthStep> {
    let n_parts = n_parts.min(n_events);
    let ends = (1..=u64::from(n_parts)).map(|part| part * u64::from(n_events) / u64::from(n_parts));
    let steps = ends.map(|end| GrowthStep {
        name: String::new(),
        last: Step(u32::try_from(end.saturating_sub(1)).unwrap_or(u32::MAX)),
    });
    steps.collect()
}

/// What blocks are called: their call site, else the text that the file states.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum BlockName {
    Site(u32),
    Stated(RecordedName),
}

impl BlockName {
    fn of(recording: &Recording, block: &RecordedBlock) -> Self {
        let site = recording.site_of(block);
        site.map_or(Self::Stated(block.name), Self::Site)
    }

    fn text(self, recording: &Recording) -> &str {
        match self {
            Self::Site(site) => recording.call_sites.text(site),
            Self::Stated(name) => recording.text(name),
        }
    }
}

/// By name: live bytes after each step.
fn live_by_name(recording: &Recording, steps: &[GrowthStep]) -> Vec<(BlockName, Vec<i128>)> {
    let mut changes: Vec<(BlockName, usize, i128)> = Vec::new();
    for block in &recording.blocks {
        let first = steps.partition_point(|step| step.last < block.birth);
        let end = steps.partition_point(|step| step.last < block.end);
        if first < end {
            let bytes = i128::from(block.bytes.get());
            let name = BlockName::of(recording, block);
            changes.push((name, first, bytes));
            changes.push((name, end, -bytes));
        }
    }
    changes.sort_unstable();
    let by_name = changes.chunk_by(|one, other| one.0 == other.0);
    let rows = by_name.filter_map(|changes| {
        let name = changes.first()?.0;
        let mut live = vec![0_i128; steps.len()];
        for (_, step, change) in changes {
            if let Some(place) = live.get_mut(*step) {
                *place += change;
            }
        }
        let mut sum = 0;
        for place in &mut live {
            sum += *place;
            *place = sum;
        }
        Some((name, live))
    });
    rows.collect()
}

fn bytes(live: &[i128]) -> Vec<Bytes> {
    let live = live
        .iter()
        .map(|bytes| Bytes(u64::try_from(*bytes).unwrap_or(u64::MAX)));
    live.collect()
}

/// Bytes per step of the straight line with the least squares.
#[expect(clippy::cast_precision_loss, reason = "a rate for display")]
fn slope(live: &[Bytes]) -> f64 {
    if live.len() < 2 {
        return 0.0;
    }
    let middle = (live.len() - 1) as f64 / 2.0;
    let mean = live.iter().map(|bytes| bytes.get() as f64).sum::<f64>() / live.len() as f64;
    let (mut up, mut down) = (0.0, 0.0);
    for (step, bytes) in live.iter().enumerate() {
        let x = step as f64 - middle;
        up += x * (bytes.get() as f64 - mean);
        down += x * x;
    }
    up / down
}

#[cfg(test)]
mod tests {
    use super::*;
    use highwater_model::workload::{PhasePairs, RecordedNames};

    /// Live bytes at the end of each step, by name: each value is one block that lives until the next step ends.
    fn recording(rows: &[(&str, &[u64])], is_marked: bool) -> Recording {
        let mut names = RecordedNames::default();
        let n_steps = u32::try_from(rows[0].1.len()).expect("few steps");
        // A step has two events; blocks change on its second.
        let mut blocks = Vec::new();
        for step in 0..n_steps {
            for (name, live) in rows {
                let (birth, end) = (2 * step + 1, (2 * step + 3).min(2 * n_steps));
                let bytes = Bytes(live[step as usize]);
                blocks.push(RecordedBlock::new(names.intern(name), Step(birth), Step(end), bytes));
            }
        }
        let mut pairs = PhasePairs::default();
        for step in (0..n_steps).filter(|_| is_marked) {
            pairs.add(names.intern(&format!("ProfilerStep#{step}")), 2 * step, 2 * step + 2);
        }
        let recording = Recording {
            n_steps: 2 * n_steps,
            phases: pairs.finish(2 * n_steps),
            blocks,
            names: names.finish(),
            ..Recording::default()
        };
        assert_eq!(recording.check(), Ok(()));
        recording
    }

    #[test]
    fn only_rows_that_grow_from_step_to_step_are_listed() {
        let rows: &[(&str, &[u64])] = &[
            ("leak", &[10, 20, 30, 40, 50]),
            ("leak with one pause", &[1, 2, 2, 4, 5]),
            ("leak with one fall", &[4, 8, 7, 9, 12]),
            ("constant", &[7, 7, 7, 7, 7]),
            ("state of the optimizer", &[0, 9, 9, 9, 9]),
            ("oscillates", &[1, 5, 1, 5, 1]),
            ("falls", &[9, 8, 7, 6, 5]),
            ("returns", &[1, 2, 3, 4, 0]),
        ];
        for is_marked in [true, false] {
            let recording = recording(rows, is_marked);
            let growth = Growth::of_recording(&recording, (!is_marked).then_some(5)).expect("five steps");
            assert_eq!(growth.is_marked, is_marked);
            let listed: Vec<(&str, f64)> = growth.rows.iter().map(|row| (&*row.name, row.slope)).collect();
            let expected = [
                ("leak", 10.0),
                ("leak with one fall", 1.7),
                ("leak with one pause", 1.0),
            ];
            assert_eq!(listed.len(), expected.len(), "{listed:?}");
            for ((name, slope), (wanted, about)) in listed.into_iter().zip(expected) {
                assert_eq!(name, wanted);
                assert!((slope - about).abs() < 1e-9, "{name}: {slope}");
            }
            assert_eq!(growth.rows[0].total(), Bytes(40));
            let all: Vec<u64> = growth.all.live.iter().map(|bytes| bytes.get()).collect();
            let sum = |step: usize| rows.iter().map(|(_, live)| live[step]).sum::<u64>();
            assert_eq!(all, (0..5).map(sum).collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_oscillation_of_four_steps_is_no_leak() {
        for live in [[1, 5, 1, 5], [5, 1, 5, 1], [1, 1, 1, 1]] {
            let growth = Growth::of_recording(&recording(&[("x", &live)], true), None).expect("four steps");
            assert!(growth.rows.is_empty(), "{live:?}: {:?}", growth.rows);
            assert_eq!(growth.full_after(), None);
        }
    }

    #[test]
    fn the_device_is_full_when_the_headroom_is_used_up() {
        let recording = recording(&[("leak", &[10, 20, 30])], true);
        let mut growth = Growth::of_recording(&recording, None).expect("three steps");
        assert_eq!(growth.full_after(), None, "no capacity is known");
        growth.headroom = Some(Bytes(39));
        assert_eq!(growth.full_after(), Some(3));
        growth.headroom = Some(Bytes::ZERO);
        assert_eq!(growth.full_after(), Some(0));
    }

    #[test]
    fn few_steps_are_no_growth() {
        let recording = recording(&[("leak", &[10, 20])], true);
        let why = Growth::of_recording(&recording, None).expect_err("two steps");
        assert!(why.contains("mark 2 steps") && why.contains("--growth=10"), "{why}");
        assert!(Growth::of_recording(&recording, Some(2)).is_err());
        let parts = Growth::of_recording(&recording, Some(99)).expect("parts with an event each");
        assert_eq!(parts.steps.len(), 4);
    }
}
