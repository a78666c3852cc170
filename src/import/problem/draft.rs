//! A problem in the making: rows as read, then checked, ranked and made into a [`ProblemEntry`].
//!
//! Times beyond [`MOST_STEPS`] are replaced by their rank, so that whoever walks over steps walks over few; the file's
//! times are kept beside. O(n log n).

use std::fmt::Write as _;

use crate::diagnostics::Diagnostics;
use crate::import::ImportError;
use crate::units::{Bytes, Step};
use crate::workload::{Buffer, Gap, Names, Problem, ProblemEntry, ProblemError, RecordedPlan};

/// Above this time, times are replaced by their rank.
pub(super) const MOST_STEPS: u64 = 4_000_000;

/// Most buffers: positions are 32-bit numbers.
const MOST_BUFFERS: usize = 100_000_000;

/// One buffer as read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'a> {
    pub(super) id: &'a str,
    /// First time.
    pub(super) lower: u64,
    /// End as written.
    pub(super) upper: u64,
    /// Whether the end, and those of gaps, are last times rather than the first ones behind.
    pub(super) is_inclusive: bool,
    pub(super) size: u64,
    pub(super) alignment: u64,
    pub(super) offset: Option<u64>,
}

/// Rows so far.
#[derive(Debug, Default)]
pub(super) struct Draft {
    /// The name shown to users.
    pub(super) name: String,
    /// The capacity that the file asks for.
    pub(super) capacity: Option<u64>,
    /// Who made the offsets, where they are a plan and fix nothing.
    pub(super) maker: Option<&'static str>,
    ids: Names,
    /// Steps are filled in at the end.
    buffers: Vec<Buffer>,
    times: Vec<(u64, u64)>,
    gaps: Vec<(u32, u64, u64)>,
    same_address: Vec<(u32, Box<str>)>,
}

/// Says where a row stands in the file.
pub(super) type Places<'a> = &'a dyn Fn(usize) -> String;

impl Draft {
    pub(super) fn new(name: String) -> Self {
        Self {
            name,
            ..Self::default()
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.buffers.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.buffers.len()
    }

    /// Adds a buffer.
    ///
    /// # Errors
    /// A sentence.
    pub(super) fn push(&mut self, row: &Row<'_>) -> Result<(), String> {
        if self.buffers.len() == MOST_BUFFERS {
            return Err(format!("there are more than {MOST_BUFFERS} buffers"));
        }
        let upper = end_of(row.upper, row.is_inclusive)?;
        if upper <= row.lower {
            let end = if row.is_inclusive { "last time" } else { "end" };
            return Err(format!(
                "buffer \"{}\" lives on no step: its {end} {} is not {} its start {}",
                row.id,
                row.upper,
                if row.is_inclusive { "at or after" } else { "after" },
                row.lower
            ));
        }
        if row.alignment == 0 {
            return Err(format!("buffer \"{}\" has an alignment of 0; 1 is the least", row.id));
        }
        self.ids.push(row.id);
        self.times.push((row.lower, upper));
        self.buffers.push(Buffer {
            lower: Step(0),
            upper: Step(0),
            size: Bytes(row.size),
            alignment: row.alignment,
            offset: row.offset,
        });
        Ok(())
    }

    /// Adds a gap to the last buffer.
    ///
    /// # Errors
    /// A sentence.
    pub(super) fn gap(&mut self, lower: u64, upper: u64, is_inclusive: bool) -> Result<(), String> {
        let position = self.last();
        let end = end_of(upper, is_inclusive)?;
        let (first, last) = self.times[position as usize];
        if lower >= end || lower < first || end > last {
            return Err(format!(
                "gap {lower}-{upper} of buffer \"{}\" is empty or outside its range",
                self.ids.get(position as usize)
            ));
        }
        self.gaps.push((position, lower, end));
        Ok(())
    }

    /// The last buffer stands at the address of another.
    pub(super) fn same_address_as(&mut self, id: &str) {
        self.same_address.push((self.last(), id.into()));
    }

    fn last(&self) -> u32 {
        u32::try_from(self.buffers.len().saturating_sub(1)).unwrap_or(u32::MAX)
    }

    /// The finished problem.
    ///
    /// # Errors
    /// [`ImportError`] with the ids and places of what contradicts itself.
    pub(super) fn finish(
        mut self,
        places: Places<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Result<ProblemEntry, ImportError> {
        let groups = self.groups(places)?;
        let times = self.ranks(diagnostics);
        let offsets: Option<Vec<u64>> = self.buffers.iter().map(|buffer| buffer.offset).collect();
        if self.maker.is_some() {
            self.buffers.iter_mut().for_each(|buffer| buffer.offset = None);
        }
        let mut entry = ProblemEntry {
            name: self.name,
            problem: Problem {
                gaps: gaps(self.gaps, &times),
                buffers: self.buffers,
                groups,
            },
            ids: self.ids,
            times,
            recorded: offsets
                .filter(|offsets| !offsets.is_empty())
                .map(|offsets| RecordedPlan {
                    offsets,
                    maker: self.maker.unwrap_or("the file").to_owned(),
                }),
            capacity: self.capacity.map(Bytes),
        };
        match entry.problem.validate() {
            Ok(()) => return Ok(entry),
            Err(error) if entry.recorded.is_some() && is_about_offsets(&error) => {
                let message = format!(
                    "{}; the offsets are taken as a plan of the file (as_dumped shows it) and fix nothing",
                    sentence(&error, &entry)
                );
                diagnostics.warning(message, &place(&error, &entry, places));
                for buffer in &mut entry.problem.buffers {
                    buffer.offset = None;
                }
            }
            Err(error) => return Err(refusal(&error, &entry, places)),
        }
        match entry.problem.validate() {
            Ok(()) => Ok(entry),
            Err(error) => Err(refusal(&error, &entry, places)),
        }
    }

    /// Buffers at one address, each group ascending. Ids that stand twice are refused on the way.
    fn groups(&self, places: Places<'_>) -> Result<Vec<Vec<u32>>, ImportError> {
        let index = Index::new(&self.ids);
        if let Some((first, second)) = index.duplicate(&self.ids) {
            return Err(ImportError::at(
                format!(
                    "id \"{}\" stands twice, first in {}",
                    self.ids.get(second),
                    places(first)
                ),
                places(second),
                "give every buffer an id of its own",
            ));
        }
        if self.same_address.is_empty() {
            return Ok(Vec::new());
        }
        let mut parents: Vec<u32> = (0..=self.last()).collect();
        for (member, id) in &self.same_address {
            let Some(other) = index.find(&self.ids, id).filter(|other| other != member) else {
                return Err(ImportError::at(
                    format!(
                        "buffer \"{}\" shares the address of \"{id}\", which is no other buffer",
                        self.ids.get(*member as usize)
                    ),
                    places(*member as usize),
                    "name the id of another buffer of this file",
                ));
            };
            let (a, b) = (root(&mut parents, *member), root(&mut parents, other));
            // The smaller position leads, so the order of the rows changes nothing.
            parents[a.max(b) as usize] = a.min(b);
        }
        let mut members: Vec<(u32, u32)> = (0..=self.last())
            .map(|position| (root(&mut parents, position), position))
            .collect();
        members.sort_unstable();
        let groups = members.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1);
        Ok(groups
            .map(|group| group.iter().map(|(_, position)| *position).collect())
            .collect())
    }

    /// Fills in the steps; returns the time of each step where steps are ranks.
    fn ranks(&mut self, diagnostics: &mut Diagnostics) -> Vec<u64> {
        let latest = self.times.iter().map(|(_, upper)| *upper).max().unwrap_or(0);
        let mut ranked: Vec<u64> = Vec::new();
        if latest > MOST_STEPS {
            ranked.extend(self.times.iter().flat_map(|(lower, upper)| [*lower, *upper]));
            ranked.extend(self.gaps.iter().flat_map(|(_, lower, upper)| [*lower, *upper]));
            ranked.sort_unstable();
            ranked.dedup();
            let mut message = format!("times go up to {latest}: the {} different ones ", ranked.len());
            // Writing to a String cannot fail.
            let _infallible = write!(message, "are counted as steps 0 to {}", ranked.len() - 1);
            diagnostics.info(message, "");
        }
        for (buffer, (lower, upper)) in self.buffers.iter_mut().zip(std::mem::take(&mut self.times)) {
            buffer.lower = step(lower, &ranked);
            buffer.upper = step(upper, &ranked);
        }
        ranked
    }
}

/// The first time behind.
fn end_of(upper: u64, is_inclusive: bool) -> Result<u64, String> {
    upper
        .checked_add(u64::from(is_inclusive))
        .ok_or_else(|| format!("the inclusive end {upper} is the last number there is"))
}

/// The step of a time; the time itself where nothing is ranked.
fn step(time: u64, ranked: &[u64]) -> Step {
    let rank = if ranked.is_empty() {
        u32::try_from(time)
    } else {
        u32::try_from(ranked.partition_point(|other| *other < time))
    };
    Step(rank.unwrap_or(u32::MAX))
}

fn gaps(rows: Vec<(u32, u64, u64)>, ranked: &[u64]) -> Vec<Gap> {
    let mut gaps: Vec<Gap> = rows
        .into_iter()
        .map(|(buffer, lower, upper)| Gap {
            buffer,
            lower: step(lower, ranked),
            upper: step(upper, ranked),
        })
        .collect();
    gaps.sort_unstable();
    gaps
}

fn root(parents: &mut [u32], position: u32) -> u32 {
    let mut at = position;
    while parents[at as usize] != at {
        parents[at as usize] = parents[parents[at as usize] as usize];
        at = parents[at as usize];
    }
    at
}

/// Positions sorted by id, shorter ids first; nothing is stored where the rows stand in that order.
struct Index(Option<Vec<u32>>);

impl Index {
    fn new(ids: &Names) -> Self {
        let key = |position: usize| (ids.get(position).len(), ids.get(position));
        if (1..ids.len()).all(|position| key(position - 1) < key(position)) {
            return Self(None);
        }
        let mut order: Vec<u32> = (0..u32::try_from(ids.len()).unwrap_or(u32::MAX)).collect();
        order.sort_unstable_by_key(|position| (key(*position as usize), *position));
        Self(Some(order))
    }

    /// Two positions of one id, the smallest second one.
    fn duplicate(&self, ids: &Names) -> Option<(usize, usize)> {
        let pairs = self.0.as_ref()?.windows(2);
        let same = pairs.filter(|pair| ids.get(pair[0] as usize) == ids.get(pair[1] as usize));
        let first = same.min_by_key(|pair| pair[1])?;
        Some((first[0] as usize, first[1] as usize))
    }

    fn find(&self, ids: &Names, id: &str) -> Option<u32> {
        let at = |rank: u32| self.0.as_ref().map_or(rank, |order| order[rank as usize]);
        let (mut low, mut high) = (0, u32::try_from(ids.len()).unwrap_or(u32::MAX));
        while low < high {
            let middle = low + (high - low) / 2;
            let other = ids.get(at(middle) as usize);
            if (other.len(), other) < (id.len(), id) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let is_there = (low as usize) < ids.len() && ids.get(at(low) as usize) == id;
        is_there.then(|| at(low))
    }
}

/// Faults that offsets alone cause: without them the problem is fine.
fn is_about_offsets(error: &ProblemError) -> bool {
    matches!(
        error,
        ProblemError::FixedCollide { .. } | ProblemError::MisalignedOffset { .. } | ProblemError::SplitGroup { .. }
    )
}

fn refusal(error: &ProblemError, entry: &ProblemEntry, places: Places<'_>) -> ImportError {
    let advice = match error {
        ProblemError::TooLarge => "such sizes are beyond every device; correct them",
        ProblemError::FixedCollide { .. } => "fix one of the two elsewhere, or leave its offset empty",
        _ => "correct the file",
    };
    ImportError::at(sentence(error, entry), place(error, entry, places), advice)
}

/// The error with ids and times in place of positions and steps.
fn sentence(error: &ProblemError, entry: &ProblemEntry) -> String {
    let id = |position: usize| format!("\"{}\"", entry.ids.get(position));
    match error {
        ProblemError::MisalignedOffset {
            buffer,
            offset,
            alignment,
        } => format!(
            "buffer {} is fixed at {offset}, which is no multiple of its alignment {alignment}",
            id(*buffer)
        ),
        ProblemError::BadGap { buffer, lower, upper } => format!(
            "gap {}-{} of buffer {} is empty, outside its range, or overlaps another of its gaps",
            entry.time(*lower),
            entry.time(*upper),
            id(*buffer as usize)
        ),
        ProblemError::SplitGroup {
            first,
            second,
            first_offset,
            second_offset,
        } => format!(
            "buffers {} and {} share an address but are fixed at {first_offset} and {second_offset}",
            id(*first as usize),
            id(*second as usize)
        ),
        ProblemError::FixedCollide {
            first,
            second,
            offset,
            step,
        } => format!(
            "buffers {} and {} are both fixed so that they hold byte {offset} at time {}",
            id(*first),
            id(*second),
            entry.time(*step)
        ),
        other => other.to_string(),
    }
}

/// Where an error stands: the second of two buffers, the largest where it is about all of them.
fn place(error: &ProblemError, entry: &ProblemEntry, places: Places<'_>) -> String {
    let buffers = &entry.problem.buffers;
    match error {
        ProblemError::EmptyRange { buffer, .. }
        | ProblemError::ZeroAlignment { buffer }
        | ProblemError::MisalignedOffset { buffer, .. } => places(*buffer),
        ProblemError::BadGap { buffer, .. } => places(*buffer as usize),
        ProblemError::BadGroup { group } => {
            let first = entry.problem.groups.get(*group).and_then(|group| group.first());
            places(first.map_or(0, |first| *first as usize))
        }
        ProblemError::SplitGroup { second, .. } => places(*second as usize),
        ProblemError::FixedCollide { second, .. } => places(*second),
        ProblemError::TooLarge => {
            let weight = |position: &usize| {
                let buffer = &buffers[*position];
                let rest = buffer.alignment.saturating_add(buffer.offset.unwrap_or(0));
                (buffer.size.get().saturating_add(rest), std::cmp::Reverse(*position))
            };
            let largest = (0..buffers.len()).max_by_key(weight);
            largest.map_or_else(String::new, |position| format!("{} (the largest)", places(position)))
        }
    }
}
