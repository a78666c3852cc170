//! A session under a budget in the view-model: rows with gaps, facts, the axis, the map as text.

use highwater::timeline::{
    Canvas, LaneRows, RematMarkKind, RowOrder, RowWindow, ScopeFolds, Timeline, facts, step_facts,
};
use highwater::units::Step;

use crate::synthetic_remat::{End, comparison};

const CANVAS: Canvas = Canvas {
    width: 600.0,
    height: 900.0,
};

#[test]
fn an_evicted_tensor_is_one_row_with_a_gap() {
    let comparison = comparison(12, End::Whole);
    let timeline = Timeline::new(&comparison);
    let remat = timeline.lanes[0].remat.as_ref().expect("a budget");
    let gap = remat.eviction_intervals[0];
    let row = timeline.rows.find(gap.tensor).expect("a row");
    assert_eq!(row.n_pieces, 2);
    let pieces = timeline.rows.pieces(gap.tensor);
    assert_eq!((pieces[0].0, pieces[1].1), (row.start, row.end));
    assert!(pieces[0].1 <= gap.from && pieces[1].0 == gap.to, "{pieces:?} {gap:?}");
    let rows = LaneRows::new(&comparison, &timeline, 0, RowOrder::Birth);
    let layout = rows.layout(timeline.fit(), &ScopeFolds::default(), CANVAS);
    let window = RowWindow {
        canvas: CANVAS,
        sight: (0.0, CANVAS.height),
    };
    let shown = rows.items(&layout, timeline.fit(), &window);
    let number = timeline.rows_of(0).number(gap.tensor).expect("a row");
    let idx = layout.position(&rows, number).expect("in view");
    let of_row = |block: u32| block as usize == idx;
    assert_eq!(shown.items.rects.iter().filter(|item| of_row(item.block)).count(), 2);
    assert_eq!(shown.gaps.iter().filter(|item| of_row(item.block)).count(), 1);
    assert_eq!(layout.n_rows(), timeline.rows_of(0).len());
    let facts = facts(&comparison, gap.tensor);
    assert_eq!((facts.life, facts.n_pieces), (Some((row.start, row.end)), 2));
    assert!(facts.n_held < row.end.0 - row.start.0);
    assert_eq!(timeline.lanes[0].blocks_of(gap.tensor).len(), 2);
}

#[test]
fn rows_go_from_one_to_the_next_past_gaps() {
    let comparison = comparison(12, End::Whole);
    let timeline = Timeline::new(&comparison);
    let mut row = timeline.rows.neighbour(None, true);
    let mut seen = Vec::new();
    while let Some(known) = row {
        seen.push(known.tensor);
        row = timeline.rows.neighbour(Some(known.tensor), true);
    }
    let first_run = timeline.rows.iter().filter(|row| row.tensor.run == 0);
    assert_eq!(seen.len(), first_run.count());
    let back = timeline
        .rows
        .neighbour(seen.last().copied(), false)
        .expect("one before");
    assert_eq!(Some(&back.tensor), seen.iter().rev().nth(1));
}

#[test]
fn the_axis_states_recomputed_steps() {
    let comparison = comparison(12, End::Whole);
    let timeline = Timeline::new(&comparison);
    let (start, end) = timeline.bands.recomputed[0];
    assert_eq!(end.0 - start.0, 2);
    let here = step_facts(&comparison, start).expect("a step");
    assert!(here.is_recomputed && !here.op_text().is_empty());
    assert!(!step_facts(&comparison, end).expect("a step").is_recomputed);
    let remat = timeline.lanes[2].remat.as_ref().expect("a budget");
    assert_eq!(remat.bands, timeline.bands.recomputed);
    let counters = remat.counters(end);
    assert_eq!((counters.evictions, counters.recomputed), (2, 2));
    assert_eq!(
        remat.counters(Step(timeline.n_steps - 1)).recomputed,
        0,
        "of the run that the step lies in"
    );
}

#[test]
fn the_map_as_text_has_a_line_for_the_budget() {
    let timeline = Timeline::new(&comparison(12, End::Whole));
    let text = timeline.lanes[0].ascii(48, 4);
    let last = text.lines().last().expect("lines");
    assert_eq!(last.len(), 50);
    assert!(last.contains('E') && last.contains('R'), "{text}");
    assert!(last.find('E') < last.find('R'));
    let thrashing = Timeline::new(&comparison(12, End::Thrash));
    assert!(thrashing.lanes[0].ascii(100, 20).contains('T'));
    let failed = Timeline::new(&comparison(12, End::OutOfMemory));
    let marks = &failed.lanes[0].remat.as_ref().expect("a budget").marks;
    assert_eq!(marks.last().map(|mark| mark.kind), Some(RematMarkKind::OutOfMemory));
    assert!(
        failed.lanes[0]
            .ascii(48, 4)
            .lines()
            .last()
            .is_some_and(|line| line.contains('X'))
    );
}
