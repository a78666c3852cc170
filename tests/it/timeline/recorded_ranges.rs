//! Ranges of expandable segments of a recording: only mapped pages are memory.

use highwater::analysis::{Configuration, Request, compare};
use highwater::progress::{Cancel, Progress};
use highwater::timeline::Timeline;
use highwater::units::Bytes;

use crate::snapshots::{block, event, pickle, segment, snapshot};
use crate::workloads::workload;

const MIB: u64 = 1 << 20;
const BASE: u64 = 0x7e00_0000_0000;
const PAGE: u64 = 20 * MIB;

/// A range of ten pages of which seven are mapped at most: four that stay, and three that are unmapped before three others are
/// mapped.
#[test]
fn a_range_holds_its_mapped_pages() {
    let map = |action: &str, page: u64, n: u64| event(action, BASE + page * PAGE, n * PAGE, 0);
    let mut trace = vec![map("segment_map", 0, 4), event("alloc", BASE, 70 * MIB, 0)];
    for page in [4, 7] {
        trace.push(map("segment_map", page, 3));
        for action in ["alloc", "free_requested", "free_completed"] {
            trace.push(event(action, BASE + page * PAGE, 50 * MIB, 0));
        }
        trace.push(map("segment_unmap", page, 3));
    }
    for (time, event) in trace.iter_mut().enumerate() {
        event["time_us"] = time.into();
    }
    let blocks = vec![
        block(BASE, 70 * MIB, 70 * MIB, "active_allocated"),
        block(BASE + 70 * MIB, 10 * MIB, 0, "inactive"),
    ];
    let mut final_segment = segment(BASE, 4 * PAGE, "large", blocks);
    final_segment["is_expandable"] = true.into();
    let bytes = pickle(&snapshot(vec![final_segment], trace));
    let cancel = Cancel::new();
    let request = Request::new(workload("run.pickle", &bytes), Configuration::default());
    let comparison = compare(&request, &Progress::silent(&cancel)).expect("an answer");
    let peak = comparison.lanes[0].summary.peak_reserved;
    assert_eq!(peak, Bytes(7 * PAGE));
    let timeline = Timeline::new(&comparison);
    let view = &timeline.lanes[0];
    let [(region, held)] = view.at_peak.regions[..] else {
        panic!("{:?}", view.at_peak.regions);
    };
    assert_eq!(held, peak);
    assert!(view.regions[region as usize].bytes > peak, "addresses are no memory");
    assert_eq!(view.virtual_space.max(), 0, "no file states reserved addresses");
}
