//! The view-model of gaps, reuse edges and support: as tables, and against the blocks themselves.

use std::fmt::Write as _;

use expect_test::expect;
use highwater::sim::RegionKind;
use highwater::timeline::{Canvas, LaneView, ReuseSide, Selected, Timeline, Viewport, tensor_name};
use highwater::units::{Bytes, Step};

use crate::synthetic;

fn timeline(n_layers: u32, n_iterations: u32) -> Timeline {
    Timeline::new(&synthetic::comparison(n_layers, n_iterations))
}

/// Sizes of the synthetic session are multiples of its alignment.
fn top(lane: &LaneView, block: usize) -> u64 {
    lane.blocks.base.at(block) + lane.blocks.bytes.at(block)
}

/// Formats bytes with plain spaces.
fn plain(bytes: u64) -> String {
    Bytes(bytes).to_string().replace('\u{a0}', " ")
}

/// The tensor with the most edges on both sides; the first of equals.
fn busiest(lane: &LaneView) -> Selected {
    let tensors = (0..lane.blocks.len() as u32).filter_map(|block| lane.tensor(block));
    let rank = |tensor: &Selected| {
        let [earlier, later] =
            [ReuseSide::Earlier, ReuseSide::Later].map(|side| lane.reused_bytes(*tensor, side).len());
        earlier.min(later)
    };
    tensors.rev().max_by_key(rank).expect("a tensor")
}

#[test]
fn holes_read_as_a_table() {
    let timeline = timeline(4, 1);
    let lane = &timeline.lanes[1];
    let holes = &lane.gaps;
    let mut text = String::new();
    for idx in 0..holes.len() {
        let region = &lane.regions[lane.gap_region(idx).unwrap()];
        let (start, end) = (holes.start[idx], holes.end[idx]);
        let (offset, bytes) = (holes.base.at(idx) - region.base, holes.bytes.at(idx));
        writeln!(
            text,
            "{start}..{end} {} at {} in {}",
            plain(bytes),
            plain(offset),
            region.label
        )
        .unwrap();
    }
    let sum = holes.at(7);
    writeln!(
        text,
        "step 7: {} of {}, largest {}",
        sum.count,
        plain(sum.total),
        plain(sum.largest)
    )
    .unwrap();
    expect![[r"
        5..6 8.734 MiB at 193.4 MiB in shared arena
        6..9 29.75 MiB at 160.1 MiB in shared arena
        6..9 20.98 MiB at 193.4 MiB in shared arena
        7..9 61.11 MiB at 98.14 MiB in shared arena
        7..8 30.62 MiB at 223.4 MiB in shared arena
        8..9 98.00 MiB at 0 B in shared arena
        11..12 67.38 MiB at 30.62 MiB in shared arena
        step 7: 4 of 142.5 MiB, largest 61.11 MiB
    "]]
    .assert_eq(&text);
}

#[test]
fn edges_of_a_tensor_read_as_a_table() {
    let comparison = synthetic::comparison(14, 1);
    let timeline = Timeline::new(&comparison);
    let tensor = busiest(&timeline.lanes[0]);
    let mut text = String::new();
    for lane in &timeline.lanes {
        writeln!(text, "policy {}", lane.policy.number()).unwrap();
        for arrow in lane.arrows(tensor).list {
            let name = |block: u32| tensor_name(&comparison, lane.tensor(block).unwrap()).to_owned();
            writeln!(
                text,
                "  {:?} {} -> {}: {} at {}, steps {} to {}",
                arrow.side,
                name(arrow.earlier),
                name(arrow.later),
                plain(arrow.bytes),
                plain(arrow.address),
                arrow.start,
                arrow.end
            )
            .unwrap();
        }
    }
    expect![[r"
        policy 0
          Later layer8.grad -> layer6.grad: 30.62 MiB at 1.176 GiB, steps 21 to 21
          Earlier layer10.grad -> layer8.grad: 27.56 MiB at 1.176 GiB, steps 19 to 19
        policy 2
          Later layer8.grad -> layer6.grad: 30.62 MiB at 1.176 GiB, steps 21 to 21
          Earlier layer10.grad -> layer8.grad: 27.56 MiB at 1.176 GiB, steps 19 to 19
        policy 3
          Later layer8.grad -> layer6.grad: 30.62 MiB at 1.176 GiB, steps 21 to 21
          Earlier layer10.grad -> layer8.grad: 27.56 MiB at 1.176 GiB, steps 19 to 19
        policy 4
          Later layer8.grad -> layer6.grad: 30.62 MiB at 1.176 GiB, steps 21 to 21
          Earlier layer10.grad -> layer8.grad: 27.56 MiB at 1.176 GiB, steps 19 to 19
    "]]
    .assert_eq(&text);
}

#[test]
fn between_the_ends_of_an_edge_its_bytes_are_free() {
    let timeline = timeline(40, 2);
    for lane in &timeline.lanes {
        let blocks = &lane.blocks;
        let mut n_arrows = 0;
        for block in 0..blocks.len() as u32 {
            let arrows = lane.arrows(lane.tensor(block).unwrap());
            assert_eq!(arrows.n_total, arrows.list.len());
            for arrow in arrows.list.iter().filter(|arrow| arrow.side == ReuseSide::Earlier) {
                n_arrows += 1;
                let (earlier, later) = (arrow.earlier as usize, arrow.later as usize);
                assert_eq!((arrow.start, arrow.end), (blocks.end[earlier], blocks.start[later]));
                assert!(arrow.start <= arrow.end && blocks.span[earlier] == blocks.span[later]);
                let range = arrow.address..arrow.address + arrow.bytes;
                for end in [earlier, later] {
                    assert!(blocks.base.at(end) <= range.start && range.end <= top(lane, end));
                }
                let between = (0..blocks.len()).find(|other| {
                    blocks.span[*other] == blocks.span[later]
                        && blocks.end[*other] > arrow.start
                        && blocks.start[*other] < arrow.end
                        && blocks.base.at(*other) < range.end
                        && top(lane, *other) > range.start
                });
                assert_eq!(between, None, "{arrow:?}");
            }
        }
        assert_eq!(n_arrows, lane.reuse.n_edges());
    }
}

#[test]
fn reuse_edges_agree_from_both_sides() {
    let timeline = timeline(30, 1);
    let lane = &timeline.lanes[0];
    for block in 0..lane.blocks.len() as u32 {
        let tensor = lane.tensor(block).unwrap();
        for later in lane.reused_bytes(tensor, ReuseSide::Later) {
            let back = lane.reused_bytes(lane.tensor(later.block).unwrap(), ReuseSide::Earlier);
            assert!(
                back.iter()
                    .any(|passed| (passed.block, passed.bytes) == (block, later.bytes))
            );
        }
        let of_earlier: u64 = lane
            .reused_bytes(tensor, ReuseSide::Earlier)
            .iter()
            .map(|passed| passed.bytes)
            .sum();
        assert!(of_earlier <= lane.blocks.bytes.at(block as usize));
    }
}

#[test]
fn a_view_shows_the_largest_edges_and_says_how_many_there_are() {
    let timeline = timeline(60, 1);
    let lane = &timeline.lanes[0];
    let all = lane.arrows_at_peak();
    assert!(all.n_total > 20 && all.list.is_sorted_by_key(|arrow| std::cmp::Reverse(arrow.bytes)));
    let peak = lane.reuse.peak().unwrap();
    let live = lane.live_at(peak);
    let of_live: usize = live
        .iter()
        .map(|block| lane.arrows(lane.tensor(*block).unwrap()).n_total)
        .sum();
    assert_eq!(all.n_total, of_live);
    let few = lane.within(all, &timeline.fit(), 5);
    assert_eq!((few.list.len(), few.n_total), (5, all.n_total));
    assert_eq!(few.list, all.list[..5]);
    let beside = Viewport {
        t0: -20.0,
        t1: -10.0,
        ..timeline.fit()
    };
    assert_eq!(lane.within(all, &beside, 5).list, []);
}

#[test]
fn gaps_and_blocks_fill_an_arena_below_its_top() {
    let timeline = timeline(25, 2);
    for lane in &timeline.lanes {
        let (blocks, holes) = (&lane.blocks, &lane.gaps);
        assert!(!holes.is_empty());
        for step in 0..timeline.n_steps {
            let mut sum = 0;
            for (span, region) in lane.regions.iter().enumerate() {
                let live = |idx: &usize| {
                    blocks.span[*idx] as usize == span && (blocks.start[*idx]..blocks.end[*idx]).contains(&step)
                };
                let live: Vec<usize> = (0..blocks.len()).filter(live).collect();
                let high = live.iter().map(|idx| top(lane, *idx)).max().unwrap_or(region.base);
                let is_pool = region.kind == RegionKind::PagedRange;
                let low = live.iter().map(|idx| blocks.base.at(*idx)).min().unwrap_or(high);
                let low = if is_pool { low } else { region.base };
                let held: u64 = live.iter().map(|idx| blocks.bytes.at(*idx)).sum();
                let free = (0..holes.len())
                    .filter(|idx| lane.gap_region(*idx) == Some(span))
                    .filter(|idx| (holes.start[*idx]..holes.end[*idx]).contains(&step))
                    .map(|idx| holes.bytes.at(idx))
                    .sum::<u64>();
                assert_eq!(held + free, high.saturating_sub(low), "step {step} of {}", region.label);
                sum += free;
            }
            assert_eq!(holes.at(step).total, sum);
        }
    }
}

#[test]
fn every_gap_leaves_a_mark_and_can_be_picked() {
    let timeline = timeline(200, 1);
    let lane = &timeline.lanes[0];
    let canvas = Canvas {
        width: 300.0,
        height: 90.0,
    };
    let items = lane.visible_gaps(timeline.fit(), canvas);
    assert_eq!(items.n_total, lane.gaps.len());
    assert!(items.n_drawn() < items.n_total && items.n_drawn() > 0);
    let holes = &lane.gaps;
    for idx in 0..holes.len() {
        let (step, address) = (f64::from(holes.start[idx]), holes.base.at(idx) as f64);
        assert_eq!(lane.pick_gap(step, address), Some(idx as u32));
        assert_eq!(lane.pick(step, address), None);
    }
    assert_eq!(lane.pick_gap(1.0, lane.height.get() as f64 * 2.0), None);
}

#[test]
fn support_equals_its_plain_definition() {
    let timeline = timeline(40, 1);
    for lane in &timeline.lanes {
        let blocks = &lane.blocks;
        for block in 0..blocks.len() {
            let region = &lane.regions[blocks.span[block] as usize];
            let together: Vec<usize> = (0..blocks.len())
                .filter(|other| *other != block && blocks.span[*other] == blocks.span[block])
                .filter(|other| blocks.start[*other] < blocks.end[block] && blocks.start[block] < blocks.end[*other])
                .collect();
            let below = together
                .iter()
                .filter(|other| blocks.base.at(**other) < blocks.base.at(block));
            let floor = below.map(|other| top(lane, *other)).max().unwrap_or(region.base);
            let support = lane.support(block as u32);
            assert_eq!(support.floor, floor);
            let mut resting: Vec<u32> = support.below.clone();
            resting.sort_unstable();
            let reach = |other: &&usize| top(lane, **other) == floor && blocks.base.at(**other) < blocks.base.at(block);
            let mut expected: Vec<u32> = together.iter().filter(reach).map(|other| *other as u32).collect();
            expected.sort_unstable();
            assert_eq!(resting, expected);
            // Room starts at the bottom or at the top of a block.
            let fits = |at: &u64| {
                let end = at + blocks.bytes.at(block);
                together
                    .iter()
                    .all(|other| top(lane, *other) <= *at || blocks.base.at(*other) >= end)
            };
            let tops = together.iter().map(|other| top(lane, *other)).chain([region.base]);
            let lowest = tops.filter(fits).filter(|at| *at < blocks.base.at(block)).min();
            assert_eq!(support.room, lowest, "block {block}");
        }
    }
    assert_eq!(
        timeline.lanes[0].support(u32::MAX),
        highwater::timeline::Support::default()
    );
    assert_eq!(timeline.lanes[0].live_at(Step(u32::MAX)), Vec::<u32>::new());
}
