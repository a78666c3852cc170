//! Rows in every order: each alive row is shown once, in its place, with any scopes folded; pictures show the same as
//! single rows.

use std::collections::BTreeSet;
use std::sync::Arc;

use highwater::analysis::Comparison;
use highwater::session::SourceSpec;
use highwater::timeline::{
    AxisKind, Canvas, LaneRows, RasterStyle, Row, RowLayout, RowOrder, RowPlace, RowWindow, RowsFrame, ScopeFolds,
    Timeline, View, Viewport,
};
use proptest::prelude::*;

use crate::sessions::session;
use crate::synthetic;

const CANVAS: Canvas = Canvas {
    width: 300.0,
    height: 400.0,
};

fn rows(comparison: &Comparison, timeline: &Timeline, by: RowOrder) -> LaneRows {
    LaneRows::new(comparison, timeline, 0, by)
}

fn shown(rows: &LaneRows, layout: &RowLayout) -> Vec<Row> {
    let numbers = (0..layout.n_rows()).map(|position| layout.number(rows, position));
    numbers
        .map(|number| number.and_then(|number| rows.row(number)).expect("a row"))
        .collect()
}

fn is_alive(row: &Row, view: &Viewport) -> bool {
    f64::from(row.start.0) < view.t1 && f64::from(row.end.0) > view.t0
}

#[test]
fn every_order_sorts_by_its_column() {
    let comparison = synthetic::comparison(50, 2);
    let timeline = Timeline::new(&comparison);
    for by in RowOrder::ALL {
        let rows = rows(&comparison, &timeline, by);
        let layout = rows.layout(timeline.fit(), &ScopeFolds::all(false), CANVAS);
        let shown = shown(&rows, &layout);
        assert_eq!(shown.len(), timeline.rows.len(), "{by:?}");
        let life = |row: &Row| row.end.0 - row.start.0;
        let is_sorted = match by {
            RowOrder::Birth => shown.is_sorted_by_key(|row| row.start),
            RowOrder::Size => shown.is_sorted_by_key(|row| std::cmp::Reverse(row.bytes)),
            RowOrder::Lifetime => shown.is_sorted_by_key(|row| std::cmp::Reverse(life(row))),
            RowOrder::Scope | RowOrder::Tree => true,
        };
        assert!(is_sorted, "{by:?}");
        assert_eq!(
            layout.height <= CANVAS.height + 1e-6,
            rows.scopes().is_empty(),
            "{by:?}"
        );
    }
}

#[test]
fn fewer_rows_are_higher_and_each_is_found_at_its_height() {
    let comparison = synthetic::comparison(50, 2);
    let timeline = Timeline::new(&comparison);
    let rows = rows(&comparison, &timeline, RowOrder::Birth);
    let whole = rows.layout(timeline.fit(), &ScopeFolds::default(), CANVAS);
    assert_eq!(whole.at(whole.row_height * 7.5), Some(RowPlace::Row(7)));
    assert_eq!(whole.at(-1.0), None);
    assert_eq!(whole.at(whole.height + 1.0), None);
    let view = Viewport {
        t0: 10.0,
        t1: 12.0,
        ..timeline.fit()
    };
    let few = rows.layout(view, &ScopeFolds::default(), CANVAS);
    assert!(few.n_rows() < whole.n_rows() && few.row_height > whole.row_height);
    let first = shown(&rows, &few);
    assert_eq!(rows.neighbour(None, true), shown(&rows, &whole).first().copied());
    let second = rows.neighbour(Some(shown(&rows, &whole)[0].tensor), true);
    assert_eq!(second, shown(&rows, &whole).get(1).copied());
    assert!(first.iter().all(|row| is_alive(row, &view)));
}

/// A graph whose tensors have paths.
fn scoped() -> (Arc<Comparison>, Arc<Timeline>) {
    let sample = highwater::session::sample("bert").expect("a sample");
    let session = session(vec![SourceSpec::Sample(sample)]);
    let (comparison, timeline) = session.answer().expect("an answer");
    (Arc::clone(comparison), Arc::clone(timeline))
}

#[test]
fn scopes_nest_and_every_row_is_in_its_scope() {
    let (comparison, timeline) = scoped();
    let rows = rows(&comparison, &timeline, RowOrder::Tree);
    let scopes = rows.scopes();
    assert!(scopes.len() > 10, "{} scopes", scopes.len());
    let paths: BTreeSet<&str> = scopes.iter().map(|scope| &*scope.path).collect();
    assert_eq!(paths.len(), scopes.len(), "paths tell scopes apart");
    for (at, scope) in (0_u32..).zip(scopes) {
        assert!(scope.end > at && scope.path.ends_with(&*scope.label), "{scope:?}");
        let within = &scopes[at as usize + 1..scope.end as usize];
        assert!(within.iter().all(|inner| inner.depth > scope.depth
            && inner.places.start >= scope.places.start + scope.n_own
            && inner.places.end <= scope.places.end
            && inner.path.starts_with(&*scope.path)));
        let n_inner: usize = within
            .iter()
            .filter(|inner| inner.depth == scope.depth + 1)
            .map(|inner| inner.places.len())
            .sum();
        assert_eq!(n_inner + scope.n_own as usize, scope.places.len(), "{}", scope.path);
    }
}

#[test]
fn rows_without_a_scope_can_be_folded() {
    let (comparison, timeline) = scoped();
    let rows = rows(&comparison, &timeline, RowOrder::Tree);
    let layout = rows.layout(timeline.fit(), &ScopeFolds::all(true), CANVAS);
    assert_eq!(layout.n_rows(), 0);
    let n_folded: usize = layout.bands.iter().map(|band| band.n_alive).sum();
    assert_eq!(n_folded, layout.n_alive);
}

#[test]
fn folded_scopes_are_summed_exactly() {
    let (comparison, timeline) = scoped();
    let rows = rows(&comparison, &timeline, RowOrder::Tree);
    // As wide as there are steps: a column is a step.
    let canvas = Canvas {
        width: f64::from(timeline.n_steps),
        height: 400.0,
    };
    let layout = rows.layout(timeline.fit(), &ScopeFolds::all(true), canvas);
    assert!(layout.bands.iter().all(|band| band.is_folded));
    let all = rows.layout(timeline.fit(), &ScopeFolds::all(false), canvas);
    let open = shown(&rows, &all);
    let mut n_rows = layout.n_rows();
    for band in &layout.bands {
        let scope = &rows.scopes()[band.scope as usize];
        n_rows += band.n_alive;
        let own: Vec<&Row> = open
            .iter()
            .filter(|row| {
                let number = timeline.rows.number(row.tensor).expect("a row");
                layout.folded_in(&rows, number) == layout.bands.iter().position(|other| other == band)
            })
            .collect();
        assert_eq!(own.len(), band.n_alive, "{}", scope.path);
        for (step, bytes) in (0_u32..).zip(&band.columns) {
            let held = own.iter().filter(|row| (row.start.0..row.end.0).contains(&step));
            let wanted: u64 = held.map(|row| row.bytes.get()).sum();
            assert_eq!(*bytes, wanted, "{} at step {step}", scope.path);
        }
    }
    assert_eq!(n_rows, layout.n_alive);
}

#[test]
fn a_fold_changes_that_scope_alone() {
    let (comparison, timeline) = scoped();
    let rows = rows(&comparison, &timeline, RowOrder::Tree);
    let mut folds = ScopeFolds::all(true);
    let before = rows.layout(timeline.fit(), &folds, CANVAS);
    let first = &rows.scopes()[before.bands[0].scope as usize];
    folds.toggle(first);
    let after = rows.layout(timeline.fit(), &folds, CANVAS);
    assert!(!after.bands[0].is_folded && after.bands.len() + after.n_rows() > before.bands.len() + before.n_rows());
    assert!(after.bands.iter().skip(1).all(|band| band.is_folded));
    folds.toggle(first);
    assert_eq!(rows.layout(timeline.fit(), &folds, CANVAS), before);
}

fn style() -> RasterStyle {
    RasterStyle {
        colors: (0..=u8::MAX).map(|number| [number, 255 - number, 7, 255]).collect(),
        gap: None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn every_alive_row_is_shown_once_in_every_order(
        (from, share) in (0.0..0.95_f64, 0.02..1.2_f64),
        by in prop::sample::select(RowOrder::ALL.to_vec()),
        height in 40.0..900.0_f64,
    ) {
        let comparison = synthetic::comparison(24, 2);
        let timeline = Timeline::new(&comparison);
        let whole = timeline.fit();
        let view = Viewport { t0: whole.t1 * from, t1: whole.t1 * (from + share), ..whole };
        let rows = rows(&comparison, &timeline, by);
        let layout = rows.layout(view, &ScopeFolds::all(false), Canvas { width: 200.0, height });
        let mut tensors: Vec<_> = shown(&rows, &layout).iter().map(|row| row.tensor).collect();
        tensors.sort_unstable();
        let mut wanted: Vec<_> =
            timeline.rows.iter().filter(|row| is_alive(row, &view)).map(|row| row.tensor).collect();
        wanted.sort_unstable();
        prop_assert_eq!((layout.n_alive, rows.n_alive(&view)), (wanted.len(), wanted.len()));
        prop_assert_eq!(&tensors, &wanted);
        for position in 0..layout.n_rows() {
            let middle = layout.top(position) + layout.row_height / 2.0;
            prop_assert_eq!(layout.at(middle), Some(RowPlace::Row(position)));
        }
    }

    #[test]
    fn a_picture_shows_every_row_and_nothing_else(
        (from, share) in (0.0..0.9_f64, 0.05..1.1_f64),
        (width, height) in (8.0..120.0_f64, 8.0..160.0_f64),
    ) {
        let comparison = synthetic::comparison(24, 2);
        let timeline = Timeline::new(&comparison);
        let whole = timeline.fit();
        let view = Viewport { t0: whole.t1 * from, t1: whole.t1 * (from + share), ..whole };
        let rows = rows(&comparison, &timeline, RowOrder::Size);
        let canvas = Canvas { width: width.ceil(), height: height.ceil() };
        let colors = &timeline.lanes[0].blocks.color;
        let frame = RowsFrame { view, axis: AxisKind::Order, folds: ScopeFolds::default(), canvas, scale: 1.0 };
        let picture = rows.raster(&frame, &timeline.axes, colors, &style(), 2);
        let (frame, layout) = (&picture.raster.frame, &picture.layout);
        let alpha = |column: usize, row: usize| picture.raster.rgba[(row * frame.width as usize + column) * 4 + 3];
        let mut wanted = vec![false; (frame.width * frame.height) as usize];
        let per_point = f64::from(frame.height) / layout.height.max(1.0);
        for (position, row) in shown(&rows, layout).iter().enumerate() {
            let x = |step: u32| View::from(view).x_from_step(f64::from(step), f64::from(frame.width));
            let (x0, x1) = (x(row.start.0), x(row.end.0));
            // Summed after scaling, as the picture does: the sum of unscaled heights may round to another pixel.
            let y0 = layout.top(position) * per_point;
            let y1 = y0 + layout.row_height * per_point;
            let span = |low: f64, high: f64| if high - low < 1.0 {
                (low.floor(), low.floor() + 1.0)
            } else {
                (low.round(), high.round().max(low.round() + 1.0))
            };
            let (mut columns, mut lines) = (span(x0, x1), span(y0, y1));
            if x1 - x0 >= 1.0 && y1 - y0 >= 1.0 {
                columns.1 -= f64::from(u8::from(columns.1 - columns.0 >= 4.0));
                lines.0 += f64::from(u8::from(lines.1 - lines.0 >= 4.0));
            }
            let cut = |value: f64, most: u32| value.clamp(0.0, f64::from(most)) as usize;
            for line in cut(lines.0, frame.height)..cut(lines.1, frame.height) {
                for column in cut(columns.0, frame.width)..cut(columns.1, frame.width) {
                    wanted[line * frame.width as usize + column] = true;
                    prop_assert!(alpha(column, line) > 100, "row {} at {}, {}", position, column, line);
                }
            }
        }
        for (at, is_wanted) in wanted.into_iter().enumerate() {
            let (column, line) = (at % frame.width as usize, at / frame.width as usize);
            prop_assert!(is_wanted || alpha(column, line) == 0, "nothing is at {}, {}", column, line);
        }
    }

    #[test]
    fn rows_in_sight_are_drawn(top in 0.0..300.0_f64, height in 20.0..200.0_f64) {
        let comparison = synthetic::comparison(30, 1);
        let timeline = Timeline::new(&comparison);
        let rows = rows(&comparison, &timeline, RowOrder::Birth);
        let layout = rows.layout(timeline.fit(), &ScopeFolds::default(), CANVAS);
        let window = RowWindow { canvas: CANVAS, sight: (top, top + height) };
        let items = rows.items(&layout, timeline.fit(), &window);
        for position in 0..layout.n_rows() {
            let (y0, y1) = (layout.top(position) - top, layout.top(position) - top + layout.row_height);
            let is_in_sight = y1 > 1.0 && y0 < height - 1.0;
            let rects = items.items.rects.iter().filter(|item| item.block as usize == position);
            let marks = items.items.marks.iter().filter(|mark| {
                f64::from(mark.rect.y0) < y1 + 1.0 && f64::from(mark.rect.y1) > y0 - 1.0
            });
            prop_assert!(!is_in_sight || rects.count() + marks.count() > 0, "row {}", position);
        }
    }
}
