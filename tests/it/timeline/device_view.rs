//! The device in the view-model: bands of pools and pages, sparse ranges, ticks, from hand-written logs.

use expect_test::expect;
use highwater::analysis::Comparison;
use highwater::graph::TensorId;
use highwater::sim::alloc::{Address, PoolFigures};
use highwater::sim::{
    Event, EventKind, OutOfMemory, PoolRow, Region, RegionId, RegionKind, Simulation, SpanCounts, StaticMemoryPolicy,
    Subject, SubjectId, SubjectRow, fold,
};
use highwater::timeline::{LaneView, Owner, TickClass, TickColumn, Timeline, Viewport};
use highwater::units::{Bytes, Step};
use highwater::workload::GraphIdx;

use crate::synthetic;

/// Small numbers for readability: a page has 8 bytes.
const PAGE: u64 = 8;
const RANGE: u64 = 1 << 36;
const TOP: u64 = RANGE - PAGE;

const SESSION: u32 = 0;
const POOL_OF_TRAIN: u32 = 1;
const POOL_OF_EVALUATE: u32 = 2;
const PAGES: [u32; 3] = [3, 4, 5];
const TENSOR: u32 = 6;
const OTHER: u32 = 7;

fn region(kind: RegionKind, graph: Option<u32>, bytes: u64, at: Address) -> Region {
    Region {
        kind,
        graph: graph.map(GraphIdx),
        bytes: Bytes(bytes),
        io: Bytes::ZERO,
        at: at.into(),
    }
}

fn event(step: u32, kind: EventKind, region: u32, subject: u32, extent: (u64, u64)) -> Event {
    Event {
        step: Step(step),
        kind,
        region: RegionId(region),
        subject: SubjectId(subject),
        offset: extent.0,
        bytes: Bytes(extent.1),
    }
}

/// A pool block with grants, two ranges that share a page, a stitched range, and out of memory at step 9.
pub(crate) fn simulation(n_steps: u32) -> Simulation {
    use EventKind as Kind;
    let [first, second, third] = PAGES;
    let tensor = |tensor: u32| Subject::Tensor {
        run: 0,
        tensor: TensorId(tensor),
        copy: 0,
    };
    let subjects = [
        (Subject::Session, 0),
        (Subject::Pool(0), 0),
        (Subject::Pool(1), 0),
        (Subject::Page(1), PAGE),
        (Subject::Page(2), PAGE),
        (Subject::Page(3), PAGE),
        (tensor(1), 10),
        (tensor(2), 6),
    ];
    let events = [
        event(0, Kind::DeviceMalloc, 0, SESSION, (0, 16)),
        event(0, Kind::Reserve, 2, SESSION, (0, RANGE)),
        event(0, Kind::Reserve, 3, SESSION, (0, RANGE)),
        event(1, Kind::DeviceMalloc, 1, TENSOR, (0, 64)),
        event(1, Kind::Grant, 1, POOL_OF_TRAIN, (32, 32)),
        event(1, Kind::Alloc, 1, TENSOR, (48, 12)),
        event(1, Kind::PageAlloc, 2, first, (0, PAGE)),
        event(1, Kind::Map, 2, first, (TOP, PAGE)),
        event(1, Kind::PageAlloc, 2, second, (0, PAGE)),
        event(1, Kind::Map, 2, second, (TOP - PAGE, PAGE)),
        event(2, Kind::Grant, 1, POOL_OF_EVALUATE, (0, 16)),
        event(3, Kind::PageAlloc, 2, third, (0, PAGE)),
        event(3, Kind::Map, 2, third, (PAGE, PAGE)),
        event(4, Kind::Map, 3, first, (TOP, PAGE)),
        event(5, Kind::Unmap, 2, third, (PAGE, PAGE)),
        event(5, Kind::PageFree, 2, third, (0, PAGE)),
        event(6, Kind::Free, 1, TENSOR, (48, 12)),
        event(6, Kind::Sync, 0, POOL_OF_TRAIN, (0, 0)),
        event(6, Kind::Recycle, 0, POOL_OF_TRAIN, (0, 0)),
        event(6, Kind::Return, 1, POOL_OF_TRAIN, (32, 32)),
        event(7, Kind::Alloc, 2, OTHER, (TOP, 6)),
        event(8, Kind::Reserve, 4, OTHER, (0, PAGE)),
        event(8, Kind::Map, 4, second, (0, PAGE)),
        event(8, Kind::Stitch, 4, POOL_OF_TRAIN, (0, PAGE)),
        event(9, Kind::OutOfMemory, 0, OTHER, (0, 100)),
    ];
    let pool = |graph: Option<u32>| PoolRow {
        graph: graph.map(GraphIdx),
        figures: PoolFigures::default(),
    };
    Simulation {
        policy: StaticMemoryPolicy::DynamicExtend,
        n_steps,
        device_bytes: Bytes(128),
        events: events.into_iter().collect(),
        regions: vec![
            region(RegionKind::Variables, None, 16, Address::device(0)),
            region(RegionKind::PoolBlock, None, 64, Address::device(1024)),
            region(RegionKind::PagedRange, Some(0), RANGE, Address::virtual_space(0)),
            region(RegionKind::PagedRange, Some(1), RANGE, Address::virtual_space(RANGE)),
            region(RegionKind::Stitched, Some(0), PAGE, Address::virtual_space(2 * RANGE)),
        ],
        subjects: subjects
            .into_iter()
            .map(|(subject, requested)| SubjectRow {
                subject,
                requested: Bytes(requested),
            })
            .collect(),
        pools: vec![pool(None), pool(Some(0)), pool(Some(1))],
        spans: SpanCounts::default(),
        out_of_memory: Some(OutOfMemory {
            step: Step(9),
            requested: Bytes(100),
            in_use: Bytes(96),
            subject: tensor(2),
        }),
    }
}

/// The synthetic session with this log in the lane of policy 3.
pub(crate) fn comparison() -> Comparison {
    let mut comparison = synthetic::comparison(4, 1);
    let lane = &mut comparison.lanes[2];
    lane.simulation = simulation(comparison.axis.n_steps);
    lane.curves = fold::curves(&lane.simulation);
    let params = highwater::sim::Params::for_device(&comparison.device);
    lane.summary = fold::summary(&lane.simulation, &lane.curves, &params);
    comparison
}

fn view() -> (Comparison, LaneView) {
    let comparison = comparison();
    let lane = Timeline::new(&comparison).lanes.swap_remove(2);
    (comparison, lane)
}

#[test]
fn sparse_ranges_take_the_room_of_touched_pages() {
    let (_, lane) = view();
    let spans: Vec<String> = lane
        .regions
        .iter()
        .map(|span| {
            let paged = if span.is_paged { " paged" } else { "" };
            let range = format!("{}+{}", span.base, span.bytes.get());
            format!("{} at {range}, jumps {:?}{paged}", span.label, span.breaks)
        })
        .collect();
    expect![[r"
        variables at 0+16, jumps []
        pool block at 16+64, jumps []
        paged range of train at 80+24, jumps [88] paged
        paged range of evaluate at 104+8, jumps [] paged
        stitched range of train at 112+8, jumps [] paged"]]
    .assert_eq(&spans.join("\n"));
    assert_eq!(lane.height, Bytes(120));
    // The block of 6 bytes lies on the highest page.
    let block = (0..lane.blocks.len()).find(|block| lane.blocks.bytes.at(*block) == 6);
    assert_eq!(lane.blocks.base.at(block.expect("a block")), 80 + 16);
}

#[test]
fn every_page_is_drawn_once_and_grants_belong_to_their_pool() {
    let (comparison, lane) = view();
    let n_steps = comparison.axis.n_steps;
    let owned_ranges = &lane.owned_ranges;
    let list: Vec<String> = (0..owned_ranges.len())
        .map(|idx| {
            let end = owned_ranges.end[idx];
            let end = if end == n_steps {
                "end".to_owned()
            } else {
                end.to_string()
            };
            format!(
                "steps {}..{end}: {}+{} {}, {} pages",
                owned_ranges.start[idx],
                owned_ranges.base.at(idx),
                owned_ranges.bytes.at(idx),
                owned_ranges.owner[idx].words(&comparison.session),
                owned_ranges.n_pages[idx]
            )
        })
        .collect();
    expect![[r"
        steps 1..6: 48+32 pool of train, 0 pages
        steps 1..8: 88+8 pool of train, 1 pages
        steps 1..4: 96+8 pool of train, 1 pages
        steps 2..end: 16+16 pool of evaluate, 0 pages
        steps 3..5: 80+8 pool of train, 1 pages
        steps 4..7: 104+8 pool of evaluate, 1 pages
        steps 7..end: 96+8 pool of train, 1 pages
        steps 8..end: 112+8 stitched pages of train, 1 pages"]]
    .assert_eq(&list.join("\n"));
    for step in 0..n_steps {
        let pages = owned_ranges
            .alive(f64::from(step))
            .into_iter()
            .filter(|idx| owned_ranges.n_pages[*idx] > 0)
            .map(|idx| owned_ranges.bytes.at(idx))
            .sum::<u64>();
        assert_eq!(pages, lane.physical.at(step).min(24), "step {step}");
    }
    assert_eq!(lane.pick_owned_range(5.0, 60.0), Some(0));
    assert_eq!(lane.pick_owned_range(7.0, 60.0), None);
}

#[test]
fn pages_that_come_and_go_together_are_one_holding() {
    let timeline = Timeline::new(&synthetic::comparison(12, 2));
    let lane = &timeline.lanes[3];
    assert!(!lane.owned_ranges.is_empty());
    assert_eq!(
        lane.owned_ranges.len(),
        lane.regions.iter().filter(|span| span.is_paged).count()
    );
    for idx in 0..lane.owned_ranges.len() {
        let span = &lane.regions[lane.owned_ranges.span[idx] as usize];
        assert_eq!(lane.owned_ranges.bytes.at(idx), span.bytes.get());
        assert_eq!(
            lane.owned_ranges.bytes.at(idx),
            u64::from(lane.owned_ranges.n_pages[idx]) << 23
        );
    }
}

#[test]
fn columns_of_ticks_count_exactly() {
    let (comparison, lane) = view();
    let whole = Viewport {
        t0: 0.0,
        t1: 10.0,
        a0: 0.0,
        a1: 1.0,
    };
    let columns = lane.ticks.columns(whole, 5);
    let texts: Vec<String> = columns
        .iter()
        .map(|column| {
            let classes: Vec<String> = column
                .classes()
                .map(|class| format!("{class:?} {}", column.counts[class as usize]))
                .collect();
            let (from, to) = column.steps;
            format!("{}: steps {from}-{to}: {}", column.column, classes.join(", "))
        })
        .collect();
    expect![[r"
        0: steps 0-1: Driver 2, Pages 6, Grants 1
        1: steps 2-3: Pages 2, Grants 1
        2: steps 4-5: Pages 3
        3: steps 6-6: Pools 2, Grants 1
        4: steps 8-9: Trouble 1, Pools 1, Pages 2"]]
    .assert_eq(&texts.join("\n"));
    // At every width and in every part of the axis the columns hold each event once.
    let n_events = |columns: &[TickColumn]| -> u32 { columns.iter().map(TickColumn::total).sum() };
    for width in [1, 3, 10, 77, 1000] {
        assert_eq!(n_events(&lane.ticks.columns(whole, width)), 22, "{width}");
        let part = Viewport {
            t0: 2.0,
            t1: 6.5,
            ..whole
        };
        assert_eq!(n_events(&lane.ticks.columns(part, width)), 9, "{width}");
    }
    assert_eq!(lane.ticks.totals()[TickClass::Driver as usize], 2);
    assert_eq!(lane.ticks.neighbour(6, true), Some(8));
    assert_eq!(lane.ticks.neighbour(6, false), Some(5));
    assert_eq!(lane.ticks.neighbour(0, false), None);
    assert_eq!(lane.ticks.neighbour(9, true), None);
    let rows = lane.ticks.rows(&comparison, 2, columns[0].steps);
    let rows: Vec<String> = rows
        .iter()
        .map(|row| {
            format!(
                "{:?} {}x {} B: {}",
                row.kind,
                row.count,
                row.bytes.get(),
                row.subjects.join(" | ")
            )
        })
        .collect();
    expect![[r"
        DeviceMalloc 2x 80 B: variables | pool block, for layer0.out
        Reserve 2x 137438953472 B: paged range of train | paged range of evaluate
        PageAlloc 2x 16 B: paged range of train
        Map 2x 16 B: paged range of train
        Grant 1x 32 B: pool of train"]]
    .assert_eq(&rows.join("\n"));
}

#[test]
fn the_text_map_distinguishes_grants_pages_and_address_space() {
    let (_, lane) = view();
    expect![[r"
        peak 104 B at step 3
        |                ==========|
        |        ======            |
        |  ======      bbbbbbbbbbbb|
        |  ==============          |
        |      ====                |
        |  aaaaaaaaaa..............|
        |  aaaaaaaaaa..............|
        |  ::::::::::..............|
        |  ::::::::::..............|
        |  ........................|
        |  ........................|
        |  ..::::::::::::::::::::::|
        |  ..::::::::::::::::::::::|
        |..........................|
        |..........................|
    "]]
    .assert_eq(&lane.ascii(26, 15));
}

#[test]
fn owners_of_regions_are_distinct() {
    let owner = |kind, graph| Owner::of(&region(kind, graph, 1, Address::device(0)));
    assert_eq!(owner(RegionKind::Arena, None), Owner::SharedArena);
    assert_eq!(owner(RegionKind::Arena, Some(1)), Owner::Arena);
    assert_eq!(owner(RegionKind::PoolBlock, None), Owner::DevicePool);
    assert_eq!(owner(RegionKind::Stitched, Some(1)), Owner::Stitched(GraphIdx(1)));
}
