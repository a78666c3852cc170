//! Mapped pages of expandable segments on the way back, and the reserved ranges that hold those of the start.

use std::collections::BTreeMap;

use super::start::SMALL_LIMIT;
use super::{Stop, Stopped};
use crate::allocator::{StartRange, round};
use crate::event::{Action, Event};
use crate::settings::Settings;

/// Address ranges of a device of unknown size are this long at most.
const UNKNOWN_DEVICE: u64 = 1 << 40;

/// Memory of a segment, or mapped pages.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Memory {
    pub(super) size: u64,
    pub(super) stream: u64,
    pub(super) pool: Option<u64>,
    /// None: not known of unmapped pages.
    pub(super) is_small: Option<bool>,
}

/// Runs of mapped pages by address.
#[derive(Default)]
pub(super) struct Pages {
    pub(super) runs: BTreeMap<u64, Memory>,
}

impl Pages {
    /// Takes pages away. False: they are not mapped.
    pub(super) fn remove(&mut self, addr: u64, size: u64) -> bool {
        let Some((start, run)) = self.runs.range(..=addr).next_back().map(|(start, run)| (*start, *run)) else {
            return false;
        };
        let (end, run_end) = (addr.saturating_add(size), start.saturating_add(run.size));
        if end > run_end {
            return false;
        }
        self.runs.remove(&start);
        if start < addr {
            let size = addr - start;
            self.runs.insert(start, Memory { size, ..run });
        }
        if end < run_end {
            let size = run_end - end;
            self.runs.insert(end, Memory { size, ..run });
        }
        true
    }

    /// Adds pages, which join the runs that they touch. False: they are mapped already.
    pub(super) fn insert(&mut self, addr: u64, mut pages: Memory) -> bool {
        let mut start = addr;
        let end = addr.saturating_add(pages.size);
        if let Some((left, run)) = self.runs.range(..end).next_back().map(|(left, run)| (*left, *run)) {
            let left_end = left.saturating_add(run.size);
            if left_end > addr {
                return false;
            }
            if left_end == addr && pages.joins(&run) {
                self.runs.remove(&left);
                start = left;
                pages.size += run.size;
                pages.is_small = pages.is_small.or(run.is_small);
            }
        }
        if let Some(run) = self.runs.get(&end).copied().filter(|run| pages.joins(run)) {
            self.runs.remove(&end);
            pages.size += run.size;
            pages.is_small = pages.is_small.or(run.is_small);
        }
        self.runs.insert(start, pages);
        true
    }

    /// Says of every run whether it belongs to a small pool: requests tell, those of blocks that live in it at the
    /// start (addresses and requested bytes) or later, until its pages are unmapped.
    pub(super) fn find_pools(
        &mut self,
        live: impl Iterator<Item = (u64, u64)>,
        events: &[Event],
        settings: &Settings,
        stop: Stop<'_>,
    ) -> Result<(), Stopped> {
        let mut unknown: BTreeMap<u64, u64> = BTreeMap::new();
        for (addr, run) in self.runs.iter().filter(|(_, run)| run.is_small.is_none()) {
            unknown.insert(*addr, addr.saturating_add(run.size));
        }
        let run_at = |unknown: &BTreeMap<u64, u64>, addr: u64| {
            let found = unknown.range(..=addr).next_back();
            found.filter(|(_, end)| addr < **end).map(|(start, _)| *start)
        };
        let tells = |runs: &mut BTreeMap<u64, Memory>, start: u64, requested: u64| {
            if let Some(run) = runs.get_mut(&start) {
                run.is_small = Some(round(settings, requested) <= SMALL_LIMIT);
            }
        };
        for (addr, requested) in live {
            if let Some(start) = run_at(&unknown, addr) {
                unknown.remove(&start);
                tells(&mut self.runs, start, requested);
            }
        }
        for (index, event) in events.iter().enumerate() {
            stop.look(index)?;
            let Some(start) = run_at(&unknown, event.addr) else {
                continue;
            };
            match event.action {
                Action::Alloc => {
                    unknown.remove(&start);
                    tells(&mut self.runs, start, event.size);
                }
                // Nothing lived in it, so that all of it goes at once.
                Action::SegmentUnmap => {
                    unknown.remove(&start);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Reserved ranges that hold the runs: as long as the device makes them, from the lowest address on that is mapped
    /// while they exist. A run that nothing was ever allocated in is of the range that reaches to it; else, and where that
    /// length is not known, of the pool whose pages it can be.
    pub(super) fn ranges(
        &mut self,
        events: &[Event],
        settings: &Settings,
        total: Option<u64>,
        stop: Stop<'_>,
    ) -> Result<Vec<StartRange>, Stopped> {
        let is_known = total.is_some();
        let total = total.unwrap_or(UNKNOWN_DEVICE);
        let length = |is_small| {
            let page = settings.page(is_small);
            total.saturating_add(total / 8).div_ceil(page).saturating_mul(page)
        };
        let mut ranges: Vec<Reserved> = Vec::new();
        for (addr, run) in &mut self.runs {
            let end = addr.saturating_add(run.size);
            let by_size = run.size % settings.page(false) != 0;
            if !is_known {
                run.is_small.get_or_insert(by_size);
            }
            if let Some(range) = ranges.last_mut().filter(|range| range.takes(*addr, run, settings)) {
                run.is_small = Some(range.range.is_small);
                range.end = end;
                range.mapped += run.size;
                continue;
            }
            let is_small = run.is_small.unwrap_or(by_size);
            run.is_small = Some(is_small);
            ranges.push(Reserved {
                range: StartRange {
                    addr: *addr,
                    size: length(is_small),
                    stream: run.stream,
                    is_small,
                    pool: run.pool,
                },
                end,
                mapped: run.size,
            });
        }
        extend_down(&mut ranges, events, settings, stop)?;
        let mut ranges: Vec<StartRange> = ranges.into_iter().map(|reserved| reserved.range).collect();
        for at in 1..ranges.len() {
            let next = ranges[at].addr;
            let range = &mut ranges[at - 1];
            let page = settings.page(range.is_small);
            let room = next - range.addr;
            range.size = range.size.min(room - room % page);
        }
        Ok(ranges)
    }
}

impl Memory {
    fn joins(&self, other: &Self) -> bool {
        (self.stream, self.pool) == (other.stream, other.pool)
    }
}

/// A range on the way through the recording.
struct Reserved {
    range: StartRange,
    /// Where its highest pages end that were mapped so far.
    end: u64,
    /// Bytes that are mapped now. A range without any is given back.
    mapped: u64,
}

impl Reserved {
    /// Whether pages above all that it has can be of this range.
    fn takes(&self, addr: u64, pages: &Memory, settings: &Settings) -> bool {
        let range = &self.range;
        let same = (range.stream, range.pool) == (pages.stream, pages.pool);
        let page = settings.page(range.is_small);
        let is_small = match pages.is_small {
            Some(is_small) => is_small == range.is_small,
            None => pages.size.is_multiple_of(page),
        };
        let is_inside = addr.saturating_add(pages.size) <= range.addr.saturating_add(range.size);
        same && is_small && is_inside && (addr - range.addr).is_multiple_of(page)
    }
}

/// Lets ranges begin at the lowest pages that are mapped into them while they exist.
fn extend_down(ranges: &mut [Reserved], events: &[Event], settings: &Settings, stop: Stop<'_>) -> Result<(), Stopped> {
    let is_small = pools_of_maps(events, settings, stop)?;
    for (index, (event, is_small)) in events.iter().zip(is_small).enumerate() {
        stop.look(index)?;
        let above = ranges.partition_point(|reserved| reserved.range.addr <= event.addr);
        let end = event.addr.saturating_add(event.size);
        let around = ranges[..above].last_mut().filter(|reserved| reserved.mapped > 0);
        match event.action {
            Action::SegmentMap => {
                let pages = Memory {
                    size: event.size,
                    stream: event.stream,
                    pool: event.pool,
                    is_small: Some(is_small),
                };
                if let Some(reserved) = around.filter(|reserved| reserved.takes(event.addr, &pages, settings)) {
                    reserved.end = reserved.end.max(end);
                    reserved.mapped = reserved.mapped.saturating_add(event.size);
                } else if let Some(reserved) = ranges.get_mut(above).filter(|reserved| reserved.mapped > 0) {
                    let range = reserved.range;
                    let longer = Reserved {
                        range: StartRange {
                            addr: event.addr,
                            ..range
                        },
                        ..*reserved
                    };
                    let holds = reserved.end - event.addr <= range.size;
                    let is_whole = (range.addr - event.addr).is_multiple_of(settings.page(range.is_small));
                    if holds && is_whole && longer.takes(event.addr, &pages, settings) {
                        *reserved = longer;
                        reserved.mapped = reserved.mapped.saturating_add(event.size);
                    }
                }
            }
            Action::SegmentUnmap => {
                if let Some(reserved) = around.filter(|reserved| event.addr < reserved.end) {
                    reserved.mapped = reserved.mapped.saturating_sub(event.size);
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// By event: whether the request that it belongs to, the next one in the history, is of a small pool.
fn pools_of_maps(events: &[Event], settings: &Settings, stop: Stop<'_>) -> Result<Vec<bool>, Stopped> {
    let mut is_small = false;
    let mut all: Vec<bool> = Vec::with_capacity(events.len());
    for (index, event) in events.iter().enumerate().rev() {
        stop.look(index)?;
        match event.action {
            Action::Alloc => is_small = round(settings, event.size) <= SMALL_LIMIT,
            Action::OutOfMemory => is_small = event.size <= SMALL_LIMIT,
            _ => {}
        }
        all.push(is_small);
    }
    all.reverse();
    Ok(all)
}
