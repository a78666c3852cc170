//! One case per rule. Sizes are in units of 512 bytes unless stated otherwise.

use highwater::plan::{
    Assigner, Buffer, Gap, PlacementProblem, Plan, PlanRequest, SEGMENT_LIMIT, Segment, SegmentRule, engine_plan, find,
    plan, verify,
};
use highwater::progress::{Cancel, Progress};
use highwater::units::{Bytes, Step};
use highwater::workload::{AllocationOrder, IoBlock, ProblemEntry};

use super::{listed, offset, planned};

/// One buffer per word: `first-last:units`, both inclusive, as in lists of the engine.
fn buffers(text: &str) -> ProblemEntry {
    let mut problem = PlacementProblem::default();
    for word in text.split_whitespace() {
        let (range, units) = word.split_once(':').unwrap();
        let (first, last) = range.split_once('-').unwrap();
        problem.buffers.push(Buffer {
            lower: Step(first.parse().unwrap()),
            upper: Step(last.parse::<u32>().unwrap() + 1),
            size: Bytes(units.parse::<u64>().unwrap() * 512),
            alignment: 512,
            offset: None,
        });
    }
    ProblemEntry {
        problem,
        ..ProblemEntry::default()
    }
}

/// Compares offsets in units.
#[track_caller]
fn check(text: &str, assigner: Assigner, expected: &[u64]) {
    let plan = planned(&buffers(text), assigner);
    let units: Vec<u64> = plan.offsets.iter().map(|offset| offset / 512).collect();
    assert_eq!(units, expected, "{text}");
}

#[test]
fn a_block_is_reused_from_the_step_after_its_end() {
    // The second starts where the first ends: no reuse in place. The third starts one step later.
    check("1-3:2 3-4:2 4-5:2", Assigner::Max, &[0, 2, 0]);
}

#[test]
fn whoever_was_given_back_last_is_taken_first() {
    // Both end on step 2; they are freed in file order, so the second block is reused.
    check("1-2:2 1-2:2 3-4:2 3-4:2", Assigner::Max, &[0, 2, 2, 0]);
    // The buffer that ends later is on top, in any order of the file.
    check("1-3:2 1-2:2 4-5:2", Assigner::Max, &[0, 2, 0]);
    // Binary-block lists blocks of fewer members first, and nests buffers with disjoint lives in them.
    check("1-3:2 1-2:2 4-5:2", Assigner::Binary, &[2, 0, 0]);
}

#[test]
fn the_order_of_frees_can_be_stated() {
    let mut entry = buffers("1-2:2 1-2:2 3-4:2");
    entry.order = Some(AllocationOrder {
        deaths: vec![1, 0],
        ..AllocationOrder::default()
    });
    assert_eq!(planned(&entry, Assigner::Max).offsets, [0, 1024, 0]);
}

#[test]
fn inputs_go_back_first_then_unread_outputs_then_workspaces() {
    // After op b: a (read), the unread output b:0, the workspace. The last one is reused first.
    let entry = listed(
        "op a A out=1000
         op b B in=a:0 out=1000 ws=1000
         op c C out=1000,1000,1000
         op d D in=c:0,c:1,c:2",
    );
    let plan = planned(&entry, Assigner::Binary);
    let at = |id: &str| offset(&entry, &plan, id);
    assert_eq!(at("c:0"), at("b:ws0"));
    assert_eq!(at("c:1"), at("b:0"));
    assert_eq!(at("c:2"), at("a:0"));
}

#[test]
fn binary_blocks_have_classes_and_max_blocks_have_one() {
    // Without possible nesting (all members overlap in time), only max-block gives 3 units to 2.
    check("1-2:3 3-4:2 1-4:9", Assigner::Max, &[0, 0, 3]);
    // Binary-block: two classes, and the smaller block is nested in the larger one.
    check("1-2:3 3-4:2 1-4:9", Assigner::Binary, &[9, 9, 0]);
}

#[test]
fn children_may_need_a_unit_more_than_their_parent() {
    // 5 units are live on steps 1-2; after it 3 and 3 fit next to each other, 3 and 3 and 1 do not.
    check("1-2:5 3-4:3 3-4:3", Assigner::Binary, &[0, 0, 3]);
    let plan = planned(&buffers("1-2:5 3-4:3 3-4:3"), Assigner::Binary);
    assert_eq!(plan.arena, Bytes(6 * 512));
    // Blocks of one unit do not get the extra unit.
    check("1-2:5 3-4:5 3-4:1", Assigner::Binary, &[0, 0, 5]);
    check("1-2:5 3-4:4 3-4:1 3-4:1", Assigner::Binary, &[0, 0, 4, 5]);
}

#[test]
fn members_that_cross_are_split_off_into_a_clone() {
    // The block of 2 units has members on 1-2 and 4-5. The large block lives on 4-6, so the first member is nested in
    // it, and the second one becomes a separate block.
    check("1-2:2 4-5:2 4-6:8", Assigner::Binary, &[0, 8, 0]);
    let plan = planned(&buffers("1-2:2 4-5:2 4-6:8"), Assigner::Binary);
    let blocks: Vec<(u64, u64, bool)> = plan
        .blocks
        .iter()
        .map(|block| (block.offset / 512, block.size / 512, block.is_child))
        .collect();
    assert_eq!(blocks, [(0, 8, false), (0, 2, true), (8, 2, false)]);
}

#[test]
fn grandchildren_are_placed_within_children() {
    // 4 units after 8, and 2 units after both: within the child, not next to it.
    check("1-2:8 3-4:4 5-6:2", Assigner::Binary, &[0, 0, 0]);
}

#[test]
fn the_smaller_plan_wins_and_binary_block_on_a_tie() {
    let tie = planned(&buffers("1-2:2 3-4:2"), Assigner::Default);
    assert_eq!(tie.winner, Assigner::Binary);
    // 3 units in a block of 5 next to 3 more: max-block needs no extra unit.
    let max = planned(&buffers("1-2:6 2-3:5 3-4:6 4-5:5 5-6:6"), Assigner::Default);
    let binary = planned(&buffers("1-2:6 2-3:5 3-4:6 4-5:5 5-6:6"), Assigner::Binary);
    assert!(max.total() <= binary.total());
}

#[test]
fn without_reuse_buffers_are_placed_one_after_another() {
    let plan = planned(&buffers("1-2:2 3-4:3 5-6:1"), Assigner::NoReuse);
    assert_eq!(plan.offsets, [0, 2 * 512, 5 * 512]);
    assert_eq!(
        (plan.arena, plan.no_reuse, plan.theory_min),
        (plan.sum, plan.sum, plan.sum)
    );
    assert_eq!(plan.winner, Assigner::Binary);
}

#[test]
fn inputs_and_outputs_follow_the_arena_and_are_never_reused() {
    let entry = listed(
        "op big Data out=2000
         op small Data out=100
         op a A in=big:0,small:0 out=600
         op b B in=a:0 out=600
         op end NetOutput in=b:0",
    );
    let plan = planned(&entry, Assigner::Default);
    assert_eq!(plan.arena, Bytes(1024));
    // The graph's output first, then its inputs, the small one first.
    assert_eq!(plan.io_offsets, [1024 + 1024 + 512, 1024 + 1024, 1024]);
    assert_eq!(plan.io, Bytes(1024 + 512 + 2048));
    assert_eq!(plan.total(), Bytes(4 * 512 + 512 + 2048));
}

#[test]
fn an_output_that_is_gathered_twice_is_held_to_the_end_in_the_arena() {
    let entry = listed(
        "op x Data out=10
         op a A in=x:0 out=600
         op b B in=a:0 out=600
         op c C in=b:0 out=600
         op end NetOutput in=a:0,a:0,c:0",
    );
    assert_eq!(entry.problem.buffers.len(), 2);
    assert_eq!(entry.problem.buffers[0].upper, Step(5));
    assert_eq!(entry.order.as_ref().unwrap().io.len(), 2);
}

#[test]
fn a_segment_ends_where_it_has_reached_the_limit() {
    let entry = buffers("1-9:3 1-9:2 1-9:1");
    let plan = planned(&entry, Assigner::NoReuse);
    let sizes = |limit: u64| -> Vec<u64> { plan.segments(Bytes(limit)).iter().map(|part| part.size / 512).collect() };
    assert_eq!(sizes(512), [3, 2, 1, 0]);
    assert_eq!(sizes(4 * 512), [5, 1, 0]);
    // Up to the limit there is one arena, and an empty segment for inputs and outputs.
    assert_eq!(sizes(6 * 512), [6, 0]);
}

#[test]
fn excluded_buffers_get_regions_at_the_end_and_separate_segments() {
    let mut entry = buffers("1-9:3 0-9:2 0-9:1 2-3:4");
    entry.order = Some(AllocationOrder {
        separate: vec![1, 2],
        io: vec![IoBlock {
            before: 0,
            bytes: Bytes(100),
            is_input: true,
        }],
        ..AllocationOrder::default()
    });
    let plan = planned(&entry, Assigner::Default);
    assert_eq!(plan.offsets[1..3], [7 * 512, 9 * 512]);
    assert_eq!(plan.arena, Bytes(10 * 512));
    // Only reusable buffers count as such.
    assert_eq!((plan.no_reuse, plan.theory_min), (Bytes(4 * 512), Bytes(11 * 512)));
    let sizes: Vec<u64> = plan
        .segments(Bytes(1 << 12))
        .iter()
        .map(|part| part.size / 512)
        .collect();
    assert_eq!(sizes, [7, 2, 1, 1]);
}

#[test]
fn streams_share_no_memory() {
    let text = "op a A out=600 stream=0
                op b B in=a:0 out=90 stream=0
                op c C in=b:0 out=600 stream=1
                op d D in=c:0 out=600 stream=0
                op e E in=d:0";
    let entry = listed(text);
    for assigner in [Assigner::Binary, Assigner::Max] {
        let plan = planned(&entry, assigner);
        if assigner == Assigner::Binary {
            assert_eq!(offset(&entry, &plan, "a:0"), offset(&entry, &plan, "d:0"));
        }
        assert_ne!(offset(&entry, &plan, "a:0"), offset(&entry, &plan, "c:0"));
    }
}

#[test]
fn other_plans_are_cut_where_no_buffer_crosses() {
    let entry = buffers("0-1:2 1-2:3 0-2:1 0-2:2");
    let units = |offsets: [u64; 4]| {
        let plan = Plan::new(&entry.problem, offsets.map(|offset| offset * 512).to_vec());
        let rule = SegmentRule {
            limit: SEGMENT_LIMIT,
            io: Bytes(700),
        };
        let segments = highwater::plan::segments(&entry.problem, &plan, &[], rule);
        let in_units = |segment: &Segment| (segment.base / 512, segment.size);
        segments.iter().map(in_units).collect::<Vec<_>>()
    };
    // A gap of one unit below the third buffer belongs to the part before.
    assert_eq!(
        units([0, 2, 6, 7]),
        [(0, 1024), (2, 2048), (6, 512), (7, 1024), (9, 700)]
    );
    assert_eq!(units([1, 0, 3, 4]), [(0, 1536), (3, 512), (4, 1024), (6, 700)]);
}

#[test]
fn problems_of_other_kinds_get_valid_plans() {
    let cancel = Cancel::new();
    let progress = Progress::silent(&cancel);
    let buffer = |lower, upper, size, alignment, offset| Buffer {
        lower: Step(lower),
        upper: Step(upper),
        size: Bytes(size),
        alignment,
        offset,
    };
    let problem = PlacementProblem {
        buffers: vec![
            buffer(0, 4, 7, 1, Some(3)),
            buffer(0, 9, 5, 4, None),
            buffer(2, 6, 9, 6, None),
            buffer(6, 8, 9, 1, None),
            buffer(1, 3, 0, 1, None),
        ],
        gaps: vec![Gap {
            buffer: 1,
            lower: Step(3),
            upper: Step(5),
        }],
        groups: vec![vec![2, 3]],
    };
    for name in ["ge_default", "ge_binary", "ge_max", "ge_no_reuse"] {
        let planned = plan(find(name).unwrap(), &PlanRequest::new(&problem), &progress).unwrap();
        assert_eq!(verify(&problem, &planned.plan), Ok(()), "{name}");
        // Units of 12 bytes, above the fixed end.
        assert_eq!(planned.plan.offsets[1] % 12, 0);
    }
    // Without alignment sizes count to the byte.
    let plain = PlacementProblem::of([buffer(0, 2, 7, 1, None), buffer(1, 3, 5, 1, None)]);
    let planned = plan(find("ge_no_reuse").unwrap(), &PlanRequest::new(&plain), &progress).unwrap();
    assert_eq!(planned.plan.footprint, Bytes(12));
}

#[test]
fn sizes_beyond_every_device_are_refused_in_words() {
    let cancel = Cancel::new();
    let progress = Progress::silent(&cancel);
    let mut entry = buffers("0-1:1 0-1:1");
    entry.problem.buffers[0].alignment = 1 << 40;
    entry.problem.buffers[1].alignment = (1 << 40) - 1;
    let error = engine_plan(&entry.problem, None, Assigner::Default, &progress).unwrap_err();
    assert!(error.to_string().contains("2^62"), "{error}");
}
