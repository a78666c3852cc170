//! The time axis: the source of its times, and that everything drawn along it agrees.

use expect_test::expect;
use highwater::graph::{Role, TensorId};
use highwater::session::{SourceSpec, sample};
use highwater::timeline::{
    AxisKind, Canvas, Curve, RasterFrame, TickColumn, TimeAxis, Timeline, View, Viewport, raster, time_ticks,
};
use highwater::units::{Bytes, Nanos, Step};
use proptest::prelude::*;

use crate::sessions::session;
use crate::synthetic;

fn durations() -> impl Strategy<Value = Vec<u64>> {
    let duration = prop_oneof![3 => Just(0_u64), 3 => 1_u64..40, 1 => 10_000_u64..90_000_000];
    prop::collection::vec(duration, 2..260)
}

proptest! {
    #[test]
    fn a_columns_maximum_is_the_true_maximum_along_any_axis(
        durations in durations(),
        values in prop::collection::vec(0_u64..1000, 260),
        (from, part) in (0.0..1.0_f64, 0.0005..1.0_f64),
        width in 1_u32..300,
    ) {
        let Some(axis) = TimeAxis::of_durations(durations.iter().copied(), 0) else { return Ok(()) };
        let values = &values[..durations.len()];
        let bytes: Vec<Bytes> = values.iter().map(|value| Bytes(*value)).collect();
        let curve = Curve::new(&bytes);
        let n_steps = values.len() as f64;
        let t0 = from * n_steps * (1.0 - part);
        let view = View::new(Viewport { t0, t1: t0 + part * n_steps, a0: 0.0, a1: 1.0 }, Some(&axis));
        let columns = curve.columns(view, width);
        for (column, drawn) in columns.iter().enumerate() {
            // By brute force: the steps that meet the column.
            let (left, right) = (column as f64, column as f64 + 1.0);
            let meets = |step: &usize| {
                let x = |step: usize| view.x_from_step(step as f64, f64::from(width));
                x(*step) < right - 1e-6 && x(*step + 1) > left + 1e-6
            };
            for step in (0..values.len()).filter(meets) {
                prop_assert!(drawn.0 <= values[step] && values[step] <= drawn.1, "step {step} in column {column}");
            }
            prop_assert!(values.contains(&drawn.1) && values.contains(&drawn.0));
        }
        let (low, high) = (t0.floor() as usize, ((t0 + part * n_steps).ceil() as usize).min(values.len()));
        let highest = columns.iter().map(|column| column.1).max();
        prop_assert!(highest >= values[low + usize::from(t0.fract() > 0.999_999)..high - 1].iter().copied().max());
    }

    #[test]
    fn zoom_keeps_the_step_under_the_pointer(
        durations in durations(),
        x in 0.0..800.0_f64,
        factor in 0.2..20.0_f64,
        (from, part) in (0.0..1.0_f64, 0.05..0.9_f64),
        shares in -0.9..0.9_f64,
    ) {
        let Some(axis) = TimeAxis::of_durations(durations.iter().copied(), 0) else { return Ok(()) };
        let n_steps = durations.len() as f64;
        let whole = Viewport { t0: 0.0, t1: n_steps, a0: 0.0, a1: 1e9 };
        let t0 = from * n_steps * (1.0 - part);
        let view = View::new(Viewport { t0, t1: t0 + part * n_steps, ..whole }, Some(&axis));
        let step = view.step_from_x(x, 800.0);
        prop_assert!((view.x_from_step(step, 800.0) - x).abs() < 1e-3);
        let zoomed = view.with(view.zoom_steps(factor, step));
        prop_assert!((zoomed.x_from_step(step, 800.0) - x).abs() < 1e-2, "zoom");
        let length = |view: &View<'_>| view.length(view.t0, view.t1);
        let panned = view.with(view.pan(shares, 0.0));
        prop_assert!((panned.x_from_step(step, 800.0) - (x - shares * 800.0)).abs() < 1e-2, "pan");
        prop_assert!((length(&panned) / length(&view) - 1.0).abs() < 1e-6);
        // At an end a view keeps its width, and a view inside stays equal to the last bit.
        let inside = panned.with(panned.clamp(whole));
        prop_assert!(inside.t0 >= -1e-9 && inside.t1 <= n_steps + 1e-9);
        prop_assert!((length(&inside) / length(&view) - 1.0).abs() < 1e-6);
        prop_assert_eq!(inside.clamp(whole), inside.with(inside.clamp(whole)).clamp(whole));
        prop_assert_eq!(view.clamp(whole), view.viewport());
        prop_assert_eq!(view.with(whole).zoom_steps(1.0, step), whole);
    }
}

#[test]
fn ranges_and_lives_fill_the_view_in_time() {
    let durations = [5_000_000, 3, 0, 2, 9_000_000, 0, 0, 40];
    let axis = TimeAxis::of_durations(durations, 0).expect("time passes");
    let whole = Viewport {
        t0: 0.0,
        t1: 8.0,
        a0: 0.0,
        a1: 1e9,
    };
    let view = View::new(whole, Some(&axis));
    for (start, end) in [(0.0, 1.0), (1.0, 4.0), (2.0, 3.0), (4.0, 5.0), (5.0, 8.0)] {
        let over = view.with(view.over(start, end));
        let share = |view: &View<'_>| view.x_from_step(end, 1.0) - view.x_from_step(start, 1.0);
        assert!(
            share(&over) > 0.49 && over.t0 <= start && end <= over.t1,
            "{start} to {end}: {over:?}"
        );
        let focus = view.with(view.focus((start, end), (0.0, 1e9), whole));
        assert!(share(&focus) > 0.12, "{start} to {end}: {focus:?}");
        assert!(focus.t0 >= 0.0 && focus.t1 <= 8.0);
    }
}

#[test]
fn blocks_along_time_are_where_their_steps_are() {
    let timeline = Timeline::new(&synthetic::comparison(40, 1));
    let axis = timeline.axes.get(AxisKind::Estimated).expect("ops have sizes");
    let canvas = Canvas {
        width: 700.0,
        height: 300.0,
    };
    for (zoom, at) in [(1.0, 0.3), (6.0, 0.3), (80.0, 0.8)] {
        let whole = View::new(timeline.fit(), Some(axis));
        let view = whole.with(whole.zoom_steps(zoom, whole.t1 * at));
        for lane in &timeline.lanes {
            let items = lane.visible(view, canvas);
            let drawn: u64 = items.marks.iter().map(|mark| u64::from(mark.n_blocks)).sum();
            assert_eq!(drawn + items.rects.len() as u64, items.n_total as u64);
            let large: Vec<u32> = lane
                .visible_large(view, canvas, 6.0)
                .rects
                .iter()
                .map(|rect| rect.block)
                .collect();
            for rect in &items.rects {
                let block = rect.block as usize;
                let x = view.x_from_step(f64::from(lane.blocks.start[block]), canvas.width);
                assert!((f64::from(rect.x0) - x.max(-2.0)).abs() < 0.01, "block {block}");
                // The middle of a block is hit where it is drawn.
                let middle = f64::midpoint(f64::from(rect.x0.max(0.0)), f64::from(rect.x1.min(700.0)));
                let address = lane.blocks.base.at(block) as f64 + lane.blocks.bytes.at(block) as f64 / 2.0;
                assert!(lane.pick(view.step_from_x(middle, canvas.width), address).is_some());
            }
            let is_large = |rect: &&highwater::timeline::ItemRect| {
                let [x0, y0, x1, y1] = lane.rect(rect.block as usize, view, canvas);
                x1 - x0 >= 6.0 && y1 - y0 >= 6.0
            };
            for rect in items.rects.iter().filter(is_large) {
                assert!(large.contains(&rect.block), "block {} is large", rect.block);
            }
            // Every event is counted once on any axis.
            let counted = |view: View<'_>| -> u32 { lane.ticks.columns(view, 233).iter().map(TickColumn::total).sum() };
            if zoom == 1.0 {
                assert_eq!(counted(view), counted(View::from(timeline.fit())));
            }
        }
    }
}

#[test]
fn pictures_differ_by_axis_and_fall_back() {
    let timeline = Timeline::new(&synthetic::comparison(12, 1));
    let lane = &timeline.lanes[0];
    let picture = |axis: AxisKind| {
        let frame = RasterFrame {
            view: timeline.fit(),
            axis,
            width: 300,
            height: 120,
        };
        let colors = (0..=u8::MAX).map(|number| [number, 1, 2, 255]).collect();
        let style = highwater::timeline::RasterStyle { colors, gap: None };
        raster(lane, &timeline.axes, &lane.blocks.color, &frame, &style).rgba
    };
    assert_ne!(picture(AxisKind::Order), picture(AxisKind::Estimated));
    assert_eq!(
        picture(AxisKind::Order),
        picture(AxisKind::Wall),
        "nothing was recorded"
    );
    assert_eq!(timeline.axes.effective(AxisKind::Wall), AxisKind::Order);
    assert_eq!(timeline.axes.next(AxisKind::Order), AxisKind::Estimated);
    assert_eq!(timeline.axes.next(AxisKind::Estimated), AxisKind::Order);
    assert!(
        timeline
            .axes
            .why_not(AxisKind::Wall)
            .is_some_and(|why| why.contains("recording"))
    );
}

#[test]
fn estimated_time_is_that_of_the_ops() {
    let comparison = synthetic::comparison(3, 2);
    let timeline = Timeline::new(&comparison);
    let axis = timeline.axes.get(AxisKind::Estimated).expect("ops have sizes");
    let mut time = 0;
    for step in 0..timeline.n_steps {
        assert_eq!(axis.time_at(step), time, "step {step}");
        let (run, op) = comparison.axis.locate(Step(step)).expect("within the axis");
        let run = &comparison.axis.runs[run].run;
        let graph = &comparison.workload.graphs()[run.graph.0 as usize].graph;
        let sizes = graph.sizes(&run.bindings);
        let tensors = graph.operands(op).iter().chain(graph.results(op));
        let tensors = tensors.filter(|id| graph.tensors()[**id].role != Role::Workspace);
        let bytes: u64 = tensors.map(|id: &TensorId| sizes.tensor(*id).unwrap_or(0)).sum();
        let over =
            |amount: u64, rate: u64| u64::try_from(u128::from(amount) * 1_000_000_000 / u128::from(rate)).unwrap();
        let row = &graph.ops()[op];
        let estimate =
            over(row.flops, comparison.rates.flops_per_second).max(over(bytes, comparison.rates.bytes_per_second));
        let launch = if row.flops == 0 && bytes == 0 {
            0
        } else {
            comparison.rates.launch.0
        };
        time += row.time.map_or(launch + estimate, |stated| stated.0);
    }
    assert_eq!(axis.total(), time);
}

#[test]
fn times_have_round_marks() {
    let labels = |low: f64, high: f64, most: u32| {
        let ticks = time_ticks(low, high, most);
        let labels: Vec<String> = ticks
            .into_iter()
            .map(|tick| tick.label.replace('\u{a0}', " "))
            .collect();
        labels.join(" | ")
    };
    let table = [
        (0.0, 1000.0, 5),
        (0.0, 12_345.0, 6),
        (1_000_000.0, 2_500_000.0, 8),
        (0.0, 3.2e9, 4),
        (59.9e9, 61.1e9, 5),
        (5_000_000_000.0, 5_000_000_900.0, 4),
        (0.0, 0.4, 4),
        (12.2, 12.7, 4),
    ];
    let lines: Vec<String> = table
        .iter()
        .map(|(low, high, most)| labels(*low, *high, *most))
        .collect();
    expect![[r"
        0 | 200 ns | 400 ns | 600 ns | 800 ns | 1 µs
        0 | 5 µs | 10 µs
        1 ms | 1.2 ms | 1.4 ms | 1.6 ms | 1.8 ms | 2 ms | 2.2 ms | 2.4 ms
        0 | 1 s | 2 s | 3 s
        60 s | 60.5 s | 61 s
        5 s | +500 ns
        0
    "]]
    .assert_eq(&lines.join("\n"));
}

/// The axes of common sources: totals, steps without time, steps with a stated time; or why there is none.
#[test]
fn samples_have_the_axes_that_their_data_has() {
    let mut lines = Vec::new();
    for name in ["mixed", "lenet", "measured", "lstm"] {
        let session = session(vec![SourceSpec::Sample(sample(name).unwrap())]);
        let (_, timeline) = session.answer().expect("an answer");
        let told = [AxisKind::Estimated, AxisKind::Wall].map(|kind| told(timeline, kind));
        lines.push(format!("{name}\n  {}", told.join("\n  ")));
    }
    expect![[r"
        mixed
          estimated time: 179.6 ms in 13024 steps, 5732 without time, 0 stated
          No open recording has clock times.
        lenet
          estimated time: 201.6 ms in 169 steps, 49 without time, 113 stated
          wall time: 202.3 ms in 169 steps, 12 without time, 113 stated
        measured
          The axis is one of recorded events: their times are not estimated.
          wall time: 819.2 ms in 750 steps, 1 without time, 750 stated
        lstm
          estimated time: 4 ns in 4 steps, 2 without time, 0 stated
          No open recording has clock times."]]
    .assert_eq(&lines.join("\n"));
}

fn told(timeline: &Timeline, kind: AxisKind) -> String {
    match timeline.axes.get(kind) {
        None => timeline.axes.why_not(kind).unwrap_or("steps").to_owned(),
        Some(axis) => format!(
            "{}: {} in {} steps, {} without time, {} stated",
            kind.name(),
            Nanos(axis.total()),
            axis.n_steps(),
            axis.n_timeless(),
            axis.n_stated()
        ),
    }
}

#[test]
fn iterations_are_bands_unless_equal_to_runs() {
    let bands = |n_iterations: u32| {
        let comparison = synthetic::comparison(2, n_iterations);
        let timeline = Timeline::new(&comparison);
        let bands = timeline.bands.iterations.iter();
        let bands: Vec<(u32, u32, u32)> = bands.map(|band| (band.iteration, band.start.0, band.end.0)).collect();
        (bands, timeline.n_steps)
    };
    assert_eq!(bands(1).0, []);
    let (three, n_steps) = bands(3);
    let part = n_steps / 3;
    assert_eq!(three, [(0, 0, part), (1, part, 2 * part), (2, 2 * part, n_steps)]);
}
