//! Owned ranges within regions: blocks that the device pool granted, and pages of virtual ranges.
//!
//! ```text
//! pool block   |....gggg....|      g granted to a graph's pool; the device pool owns the rest
//! range        |..pppp..pp..|      p mapped pages; the rest is address space without memory
//! ```
//!
//! In: an event log and the display addresses of its regions. Out: columns sorted by start and address. A page may be
//! mapped at several places, because unmapping is deferred; it is drawn once: where it was mapped last, or where a
//! block touched it last. O((events + pages touched by blocks) log mappings).

use std::collections::BTreeMap;
use std::ops::Deref;

use super::block::LaneView;
use super::index::RectColumns;
use super::layout::{Span, SpansOfRegions};
use super::owner::Owner;
use super::viewport::{Canvas, View};
use super::visible::{Items, visible, visible_large};
use highwater_model::units::Step;
use highwater_model::workload::GraphIdx;
use highwater_sim::{Event, EventKind, Simulation, Subject, SubjectId};

/// The owned ranges of a lane, sorted by start and then display address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnedRanges {
    rects: RectColumns,
    /// Position in [`LaneView::regions`].
    pub span: Vec<u32>,
    pub owner: Vec<Owner>,
    /// Number of pages, all of one size; 0 for a granted block.
    pub n_pages: Vec<u32>,
}

/// If more than this many are in view, only large ones are drawn.
const MOST_SHOWN: usize = 12_000;
/// Minimum size of a large one, in pixels.
const LEAST_SHOWN: f64 = 3.0;

/// A region and an offset in it.
type Place = (u32, u64);

#[derive(Clone, Copy, Debug)]
struct Draft {
    place: Place,
    start: u32,
    end: u32,
    bytes: u64,
    owner: Owner,
    n_pages: u32,
}

/// In the order of the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    start: u32,
    base: u64,
    end: u32,
    bytes: u64,
    span: u32,
    owner: Owner,
    n_pages: u32,
}

#[derive(Clone, Debug, Default)]
struct Page {
    bytes: u64,
    /// Where it is mapped; it is drawn at the last place.
    places: Vec<Place>,
    /// Step since which it is drawn there.
    since: u32,
}

struct Reader<'a> {
    simulation: &'a Simulation,
    /// Graphs of the pools, by the number of their subjects.
    pool_graphs: Vec<GraphIdx>,
    granted: BTreeMap<Place, (u32, u64, Owner)>,
    /// The page mapped at each place.
    mapped: BTreeMap<Place, u32>,
    /// By subject.
    pages: BTreeMap<u32, Page>,
    drafts: Vec<Draft>,
}

impl OwnedRanges {
    pub(super) fn new(simulation: &Simulation, spans: &[Span], of_regions: &SpansOfRegions) -> Self {
        let mut reader = Reader::new(simulation);
        for event in &simulation.events {
            reader.read_event(&event);
        }
        let drafts = reader.finish();
        let mut rows: Vec<Row> = drafts
            .into_iter()
            .filter_map(|draft| {
                let span = of_regions.at(draft.place.0, Step(draft.start))?;
                Some(Row {
                    start: draft.start,
                    base: spans[span as usize].address(draft.place.1),
                    end: draft.end,
                    bytes: draft.bytes,
                    span,
                    owner: draft.owner,
                    n_pages: draft.n_pages,
                })
            })
            .collect();
        rows.sort_unstable();
        let rows = merge_pages(rows);
        Self {
            rects: RectColumns::of(&rows, |row| (row.start, row.end, row.base, row.bytes)),
            span: rows.iter().map(|row| row.span).collect(),
            owner: rows.iter().map(|row| row.owner).collect(),
            n_pages: rows.iter().map(|row| row.n_pages).collect(),
        }
    }
}

impl Deref for OwnedRanges {
    type Target = RectColumns;

    fn deref(&self) -> &RectColumns {
        &self.rects
    }
}

impl LaneView {
    /// The owned ranges within a viewport; where there are very many, only large ones.
    pub fn visible_owned_ranges<'v>(&self, view: impl Into<View<'v>>, canvas: Canvas) -> Items {
        let view = view.into();
        if self.owned_ranges.count(view.t0, view.t1) > MOST_SHOWN {
            return visible_large(&self.owned_ranges, |_| 0, view, canvas, LEAST_SHOWN);
        }
        visible(&self.owned_ranges, |_| 0, view, canvas)
    }

    pub fn pick_owned_range(&self, step: f64, address: f64) -> Option<usize> {
        self.owned_ranges.hits(step, address).min()
    }
}

/// Merges adjacent pages with equal times; granted blocks stay separate.
fn merge_pages(rows: Vec<Row>) -> Vec<Row> {
    let mut joined: Vec<Row> = Vec::with_capacity(rows.len());
    for row in rows {
        match joined.last_mut() {
            Some(known) if known.is_next_page(&row) => {
                known.bytes += row.bytes;
                known.n_pages += row.n_pages;
            }
            _ => joined.push(row),
        }
    }
    joined
}

impl Row {
    /// Whether `next` is the page after this one.
    fn is_next_page(&self, next: &Self) -> bool {
        let key = |row: &Self| (row.start, row.end, row.span, row.owner);
        self.n_pages > 0
            && next.n_pages > 0
            && key(self) == key(next)
            && self.base.saturating_add(self.bytes) == next.base
            && self.bytes / u64::from(self.n_pages) == next.bytes
    }
}

impl<'a> Reader<'a> {
    fn new(simulation: &'a Simulation) -> Self {
        Self {
            simulation,
            pool_graphs: simulation.pools.iter().filter_map(|pool| pool.graph).collect(),
            granted: BTreeMap::new(),
            mapped: BTreeMap::new(),
            pages: BTreeMap::new(),
            drafts: Vec::new(),
        }
    }

    fn read_event(&mut self, event: &Event) {
        let place = (event.region.0, event.offset);
        let (step, bytes) = (event.step.0, event.bytes.get());
        match event.kind {
            EventKind::Grant => {
                let owner = self.pool_owner(event.subject.0);
                self.granted.insert(place, (step, bytes, owner));
            }
            EventKind::Return => self.end_grant(place, step),
            EventKind::Map => {
                self.unmap(place, step);
                self.mapped.insert(place, event.subject.0);
                self.pages.entry(event.subject.0).or_default().bytes = bytes;
                self.move_page(event.subject.0, place, step);
            }
            EventKind::Unmap => self.unmap(place, step),
            EventKind::Alloc if !self.mapped.is_empty() => self.touch(place, bytes, step),
            // The driver's free ends all grants within the region, whether or not the log returns them.
            EventKind::DeviceFree => {
                let within = self.granted.range((event.region.0, 0)..=(event.region.0, u64::MAX));
                let places: Vec<Place> = within.map(|(place, _)| *place).collect();
                for place in places {
                    self.end_grant(place, step);
                }
            }
            EventKind::Alloc
            | EventKind::Free
            | EventKind::DeviceMalloc
            | EventKind::Reallocate
            | EventKind::Reuse
            | EventKind::Reserve
            | EventKind::Release
            | EventKind::PageAlloc
            | EventKind::PageFree
            | EventKind::Memset
            | EventKind::Sync
            | EventKind::Recycle
            | EventKind::Stitch
            | EventKind::Run
            | EventKind::MemoryInUse
            | EventKind::Clear
            | EventKind::Unload
            | EventKind::Reload
            | EventKind::OutOfMemory => {}
        }
    }

    fn pool_owner(&self, subject: u32) -> Owner {
        let row = self.simulation.subjects.get(SubjectId(subject));
        let graph = match row.map(|row| row.subject) {
            Some(Subject::Pool(position)) => self.pool_graphs.get(position as usize),
            _ => None,
        };
        graph.map_or(Owner::DevicePool, |graph| Owner::Pool(*graph))
    }

    fn end_grant(&mut self, place: Place, step: u32) {
        if let Some((start, bytes, owner)) = self.granted.remove(&place) {
            self.push(Draft {
                place,
                start,
                end: step,
                bytes,
                owner,
                n_pages: 0,
            });
        }
    }

    /// Draws the pages under a new block there from now on.
    fn touch(&mut self, place: Place, bytes: u64, step: u32) {
        let (region, offset) = place;
        if bytes == 0 {
            return;
        }
        let below = self.mapped.range((region, 0)..=(region, offset)).next_back();
        let first = below.map_or(offset, |((_, start), _)| *start);
        let end = offset.saturating_add(bytes);
        let touched = self.mapped.range((region, first)..(region, end));
        let touched: Vec<(Place, u32)> = touched.map(|(place, page)| (*place, *page)).collect();
        for (place, page) in touched {
            self.move_page(page, place, step);
        }
    }

    /// Draws a page at a place where it is mapped.
    fn move_page(&mut self, subject: u32, place: Place, step: u32) {
        let Some(page) = self.pages.get_mut(&subject) else {
            return;
        };
        if page.places.last() == Some(&place) || place.1.checked_add(page.bytes).is_none() {
            return;
        }
        let left = page.places.last().copied();
        page.places.retain(|known| *known != place);
        page.places.push(place);
        let (bytes, since) = (page.bytes, std::mem::replace(&mut page.since, step));
        if let Some(left) = left {
            self.push_page(left, bytes, since, step);
        }
    }

    fn unmap(&mut self, place: Place, step: u32) {
        let Some(subject) = self.mapped.remove(&place) else {
            return;
        };
        let Some(page) = self.pages.get_mut(&subject) else {
            return;
        };
        let is_here = page.places.last() == Some(&place);
        page.places.retain(|known| *known != place);
        if is_here {
            let (bytes, since) = (page.bytes, std::mem::replace(&mut page.since, step));
            self.push_page(place, bytes, since, step);
        }
    }

    fn push_page(&mut self, place: Place, bytes: u64, start: u32, end: u32) {
        let region = self.simulation.regions.get(place.0 as usize);
        self.push(Draft {
            place,
            start,
            end,
            bytes,
            owner: region.map_or(Owner::DevicePool, Owner::of),
            n_pages: 1,
        });
    }

    /// Skips ranges that start and end on one step: they are never visible.
    fn push(&mut self, draft: Draft) {
        if draft.start < draft.end && draft.bytes > 0 {
            self.drafts.push(draft);
        }
    }

    /// Ends open ranges at the last step.
    fn finish(mut self) -> Vec<Draft> {
        let end = self.simulation.n_steps;
        let granted: Vec<Place> = self.granted.keys().copied().collect();
        for place in granted {
            self.end_grant(place, end);
        }
        for page in std::mem::take(&mut self.pages).into_values() {
            if let Some(place) = page.places.last() {
                self.push_page(*place, page.bytes, page.since, end);
            }
        }
        self.drafts
    }
}
