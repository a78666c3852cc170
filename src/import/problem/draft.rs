//! A problem in the making: rows as read, then checked, ranked and made into a [`ProblemEntry`].
//!
//! Times beyond [`MOST_STEPS`] are replaced by their rank, so that walks over steps stay short; the file's
//! times are kept, too. O(n log n).

use super::faults::{Places, is_about_offsets, place, refusal};
use super::index::Index;
use crate::ImportError;
use crate::text_limits::{GAPS, STEPS};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::units::{Bytes, Step, counted};
use highwater_model::workload::{Buffer, Gap, Names, PlacementProblem, ProblemEntry, RecordedPlan};

/// Above this time, times are replaced by their rank.
pub(super) const MOST_STEPS: u64 = STEPS;

/// Most buffers: positions are 32-bit numbers.
const MOST_BUFFERS: usize = 100_000_000;

fn free_all(problem: &mut PlacementProblem) {
    problem.buffers.iter_mut().for_each(|buffer| buffer.offset = None);
}

/// `1 buffer has`, `3 buffers have`.
fn counted_have(count: u64, noun: &str) -> String {
    let verb = if count == 1 { "has" } else { "have" };
    format!("{} {verb}", counted(count, noun))
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'a> {
    pub(crate) id: &'a str,
    pub(crate) lower: u64,
    pub(crate) upper: u64,
    /// Whether the end, and those of gaps, are last times rather than the first ones behind.
    pub(crate) is_inclusive: bool,
    pub(crate) size: u64,
    pub(crate) alignment: u64,
    pub(crate) offset: Option<u64>,
}

#[derive(Debug, Default)]
pub(crate) struct Draft {
    ids: Names,
    /// Steps are filled in at the end.
    buffers: Vec<Buffer>,
    times: Vec<(u64, u64)>,
    gaps: Vec<(u32, u64, u64)>,
    same_address: Vec<(u32, Box<str>)>,
}

impl Draft {
    pub(crate) fn push(&mut self, row: &Row<'_>) -> Result<(), String> {
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
        if self.gaps.len() == GAPS {
            return Err(format!("the buffers have more than {GAPS} gaps, the limit"));
        }
        self.gaps.push((position, lower, end));
        Ok(())
    }

    /// The last buffer has the address of another.
    pub(super) fn same_address_as(&mut self, id: &str) {
        self.same_address.push((self.last(), id.into()));
    }

    fn last(&self) -> u32 {
        u32::try_from(self.buffers.len().saturating_sub(1)).unwrap_or(u32::MAX)
    }

    /// The finished problem. With a maker the offsets are its plan and fix nothing.
    ///
    /// # Errors
    /// [`ImportError`] with the ids and places of what contradicts itself.
    pub(crate) fn finish(
        mut self,
        name: String,
        maker: Option<String>,
        capacity: Option<u64>,
        places: Places<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Result<ProblemEntry, ImportError> {
        let groups = self.groups(places)?;
        let times = self.ranks(diagnostics);
        let offsets: Option<Vec<u64>> = self.buffers.iter().map(|buffer| buffer.offset).collect();
        let maker = maker.filter(|maker| !maker.is_empty());
        let n_open = self.buffers.iter().filter(|buffer| buffer.offset.is_none()).count();
        if maker.is_some() && n_open > 0 && n_open < self.buffers.len() {
            diagnostics.warning(
                format!(
                    "the file holds only a part of a plan: {} no offset; those that are stated are fixed",
                    counted_have(n_open as u64, "buffer")
                ),
                "planned_by",
            );
        }
        let fixes_nothing = maker.is_some() && offsets.is_some();
        let mut entry = ProblemEntry {
            name,
            problem: PlacementProblem {
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
                    maker: maker.unwrap_or_else(|| "the file".to_owned()),
                }),
            capacity: capacity.map(Bytes),
            order: None,
            ops: None,
        };
        match entry.problem.validate() {
            Ok(()) => {
                if fixes_nothing {
                    free_all(&mut entry.problem);
                }
                return Ok(entry);
            }
            Err(error) if entry.recorded.is_some() && is_about_offsets(&error) => {
                let message = format!(
                    "{}; the offsets are taken as a plan of the file (as_dumped shows it) and fix nothing",
                    entry.sentence(&error)
                );
                diagnostics.warning(message, &place(&error, &entry, places));
                free_all(&mut entry.problem);
            }
            Err(error) => return Err(refusal(&error, &entry, places)),
        }
        match entry.problem.validate() {
            Ok(()) => Ok(entry),
            Err(error) => Err(refusal(&error, &entry, places)),
        }
    }

    /// Buffers at one address, each group ascending. Duplicate ids are refused on the way.
    fn groups(&self, places: Places<'_>) -> Result<Vec<Vec<u32>>, ImportError> {
        let index = Index::new(&self.ids);
        if let Some((first, second)) = index.duplicate(&self.ids) {
            return Err(ImportError::at(
                format!(
                    "id \"{}\" occurs twice, first in {}",
                    self.ids.get(second),
                    places(first)
                ),
                places(second),
                "give every buffer a different id",
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
        let all = std::mem::take(&mut self.times);
        if latest <= MOST_STEPS {
            for (buffer, (lower, upper)) in self.buffers.iter_mut().zip(all) {
                buffer.lower = step(lower, &[]);
                buffer.upper = step(upper, &[]);
            }
            return Vec::new();
        }
        // Time, row, and whether it is an end; gaps have no row.
        let mut sorted: Vec<(u64, u32, bool)> = Vec::with_capacity(all.len() * 2 + self.gaps.len() * 2);
        for (row, (lower, upper)) in (0_u32..).zip(all) {
            sorted.extend([(lower, row, false), (upper, row, true)]);
        }
        let gaps = self.gaps.iter().flat_map(|(_, lower, upper)| [*lower, *upper]);
        sorted.extend(gaps.map(|time| (time, u32::MAX, false)));
        sorted.sort_unstable();
        let mut ranked: Vec<u64> = Vec::new();
        for (time, row, is_end) in sorted {
            if ranked.last() != Some(&time) {
                ranked.push(time);
            }
            let rank = Step(u32::try_from(ranked.len() - 1).unwrap_or(u32::MAX));
            match self.buffers.get_mut(row as usize) {
                Some(buffer) if is_end => buffer.upper = rank,
                Some(buffer) => buffer.lower = rank,
                None => {}
            }
        }
        diagnostics.info(
            format!(
                "times go up to {latest}: the {} different ones are counted as steps 0 to {}",
                ranked.len(),
                ranked.len() - 1
            ),
            "",
        );
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
