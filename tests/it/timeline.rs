//! The view-model: culling, merging, picking, zooming, exact curves, the map as text.

mod areas;
mod axis;
mod constant;
mod device_view;
mod flame;
mod lifetimes;
mod neighbourhood;
mod peak;
mod peak_changes;
mod raster;
mod recorded_ranges;
mod remat;
mod reuse;
mod search;
mod search_recordings;
mod tables;

use expect_test::expect;
use highwater::graph::TensorId;
use highwater::timeline::{
    Canvas, Curve, LaneView, Reach, Selected, Timeline, View, Viewport, byte_ticks, facts, step_facts, step_ticks,
};
use highwater::units::{Bytes, Step};
use highwater::workload::GraphIdx;
use proptest::prelude::*;

use crate::synthetic;

fn timeline(n_layers: u32) -> Timeline {
    Timeline::new(&synthetic::comparison(n_layers, 1))
}

/// One step is one pixel, and so is one unit of `bytes`.
fn pixel_view(lane: &LaneView, n_steps: u32, bytes: u64) -> (Viewport, Canvas) {
    let rows = lane.height.get().div_ceil(bytes);
    let viewport = Viewport {
        t0: 0.0,
        t1: f64::from(n_steps),
        a0: 0.0,
        a1: (rows * bytes) as f64,
    };
    let canvas = Canvas {
        width: f64::from(n_steps),
        height: rows as f64,
    };
    (viewport, canvas)
}

#[test]
fn at_one_pixel_per_step_every_block_is_drawn_exactly() {
    let timeline = timeline(12);
    for lane in &timeline.lanes {
        let (viewport, canvas) = pixel_view(lane, timeline.n_steps, 512);
        let items = lane.visible(viewport, canvas);
        assert_eq!(items.n_total, lane.blocks.len());
        assert_eq!((items.rects.len(), items.marks.len()), (lane.blocks.len(), 0));
        for rect in &items.rects {
            let block = rect.block as usize;
            assert_eq!(rect.x0, lane.blocks.start[block] as f32);
            assert_eq!(rect.x1, lane.blocks.end[block] as f32);
            let height = f64::from(rect.y1) - f64::from(rect.y0);
            assert!(
                (height - (lane.blocks.bytes.at(block) / 512) as f64).abs() < 0.51,
                "{rect:?}"
            );
        }
    }
}

#[test]
fn blocks_smaller_than_a_pixel_are_merged_and_not_dropped() {
    let timeline = timeline(400);
    let canvas = Canvas {
        width: 200.0,
        height: 60.0,
    };
    for lane in &timeline.lanes {
        let items = lane.visible(timeline.fit(), canvas);
        assert_eq!(items.n_total, lane.blocks.len());
        assert!(!items.marks.is_empty() && items.n_drawn() < items.n_total);
        for mark in &items.marks {
            assert!(
                mark.rect.x1 - mark.rect.x0 > 0.49 && mark.rect.y1 - mark.rect.y0 > 0.49,
                "{mark:?}"
            );
        }
        // Every block's pixel is covered.
        for block in 0..lane.blocks.len() {
            let [x0, y0, x1, y1] = lane.rect(block, timeline.fit(), canvas);
            let is_hit = items
                .rects
                .iter()
                .chain(items.marks.iter().map(|mark| &mark.rect))
                .any(|rect| {
                    f64::from(rect.x0) < x1.max(x0 + 1.0)
                        && f64::from(rect.x1) > x0 - 1.0
                        && f64::from(rect.y0) < y1.max(y0 + 1.0)
                        && f64::from(rect.y1) > y0 - 1.0
                });
            assert!(is_hit, "block {block} left no mark");
        }
    }
}

#[test]
fn culling_keeps_exactly_the_blocks_in_the_viewport() {
    let timeline = timeline(300);
    let lane = &timeline.lanes[0];
    let viewport = Viewport {
        t0: 100.5,
        t1: 140.25,
        a0: 1e8,
        a1: 2e9,
    };
    let items = lane.visible(
        viewport,
        Canvas {
            width: 500.0,
            height: 300.0,
        },
    );
    let blocks = &lane.blocks;
    let touched = (0..blocks.len()).filter(|idx| {
        f64::from(blocks.start[*idx]) < viewport.t1
            && f64::from(blocks.end[*idx]) > viewport.t0
            && (blocks.base.at(*idx) as f64) < viewport.a1
            && (blocks.base.at(*idx) + blocks.bytes.at(*idx)) as f64 > viewport.a0
    });
    assert_eq!(items.n_total, touched.count());
    assert!(items.n_total > 10);
}

#[test]
fn regions_held_at_once_never_share_display_addresses() {
    let timeline = Timeline::new(&synthetic::comparison(40, 3));
    for lane in &timeline.lanes {
        for (idx, a) in lane.regions.iter().enumerate() {
            for b in &lane.regions[..idx] {
                let together = a.start < b.end && b.start < a.end;
                let stacked = a.base + a.bytes.get() <= b.base || b.base + b.bytes.get() <= a.base;
                assert!(!together || stacked, "{a:?} and {b:?}");
            }
        }
        assert_eq!(lane.height, Bytes(lane.reserved.max()), "{:?}", lane.policy);
        for idx in 0..lane.blocks.len() {
            let region = &lane.regions[lane.blocks.span[idx] as usize];
            assert!(region.start.0 <= lane.blocks.start[idx] && lane.blocks.end[idx] <= region.end.0);
            assert!(lane.blocks.base.at(idx) + lane.blocks.bytes.at(idx) <= region.base + region.bytes.get());
        }
    }
}

#[test]
fn a_tensor_has_one_colour_in_every_lane_and_graph() {
    let timeline = Timeline::new(&synthetic::comparison(30, 2));
    let mut colors = std::collections::BTreeMap::new();
    for lane in &timeline.lanes {
        for block in 0..lane.blocks.len() {
            let tensor = lane.tensor(u32::try_from(block).expect("few")).expect("a tensor");
            let color = lane.blocks.color[block];
            assert_eq!(*colors.entry(tensor.key()).or_insert(color), color);
        }
    }
}

#[test]
fn facts_name_the_op_the_shape_and_exact_bytes() {
    let comparison = synthetic::comparison(6, 1);
    let lane = &Timeline::new(&comparison).lanes[0];
    let tensor = lane.tensor(0).expect("a tensor");
    let facts = facts(&comparison, tensor);
    assert_eq!(
        (facts.name.as_str(), facts.op_kind.as_str()),
        ("layer0.out", "convolution")
    );
    assert_eq!(
        (facts.shape.as_str(), facts.dtype.as_str()),
        ("32×64×112×112", "float32")
    );
    assert_eq!(facts.bytes, Some(Bytes(32 * 64 * 112 * 112 * 4)));
    assert_eq!(facts.life.map(|life| life.0), Some(Step(0)));
    assert_eq!(lane.blocks_of(tensor).collect::<Vec<_>>(), [0]);
    let step = step_facts(&comparison, Step(2)).expect("a step");
    assert_eq!((step.op_text(), step.graph.as_str()), ("relu", "train"));
    assert_eq!(step_facts(&comparison, Step(u32::MAX)), None);
}

#[test]
fn bands_name_runs_and_phases() {
    let timeline = Timeline::new(&synthetic::comparison(8, 2));
    let labels: Vec<&str> = timeline.bands.runs.iter().map(|run| run.label.as_str()).collect();
    assert_eq!(
        labels,
        [
            "train · iteration 0",
            "evaluate · iteration 0",
            "train · iteration 1",
            "evaluate · iteration 1"
        ]
    );
    let phases: Vec<&str> = timeline.bands.phases.iter().map(|band| band.phase.name()).collect();
    assert_eq!(phases[..5], ["forward", "backward", "optimizer", "forward", "forward"]);
}

#[test]
fn ticks_are_round_and_few() {
    let labels = |ticks: Vec<highwater::timeline::Tick>| -> Vec<String> {
        ticks
            .into_iter()
            .map(|tick| tick.label.replace('\u{a0}', " "))
            .collect()
    };
    assert_eq!(labels(byte_ticks(0.0, 2.8e9, 3)), ["0", "1 GiB", "2 GiB"]);
    assert_eq!(labels(byte_ticks(0.0, 1.7e9, 4)), ["0", "512 MiB", "1 GiB", "1.5 GiB"]);
    assert_eq!(labels(step_ticks(0.0, 480.0, 5)), ["0", "100", "200", "300", "400"]);
    assert_eq!(labels(step_ticks(3.2, 6.0, 9)), ["4", "5"]);
}

#[test]
fn the_map_reads_as_text() {
    let timeline = timeline(4);
    expect![[r"
        peak 714.0 MiB at step 0
        |............lll.........|
        |...........jjll.........|
        |.........hhjjjj.........|
        |...cccccccchhffff.......|
        |.bbbbbbbbbbbbiiii.nnnnn.|
        |aaaaaaaaaaaaaaakmmmmnnn.|
        |aaaaaaaaaaaaaaa.mmmmoooo|
        |........................|
        |........................|
        |........................|
        |........................|
        |........................|
    "]]
    .assert_eq(&timeline.lanes[1].ascii(24, 12));
}

proptest! {
    #[test]
    fn a_columns_maximum_is_the_true_maximum(
        values in prop::collection::vec(0_u64..1000, 1..700),
        from in 0.0..1.0_f64,
        part in 0.001..1.0_f64,
        width in 1_u32..300,
    ) {
        let bytes: Vec<Bytes> = values.iter().map(|value| Bytes(*value)).collect();
        let curve = Curve::new(&bytes);
        let n_steps = values.len() as f64;
        let t0 = from * n_steps * (1.0 - part);
        let viewport = Viewport { t0, t1: t0 + part * n_steps, a0: 0.0, a1: 1.0 };
        let viewport = View::from(viewport);
        let columns = curve.columns(viewport, width);
        for (column, (min, max)) in columns.iter().enumerate() {
            let low = viewport.step_from_x(column as f64, f64::from(width)).floor().max(0.0) as usize;
            let high = (viewport.step_from_x(column as f64 + 1.0, f64::from(width)).ceil() as usize).min(values.len());
            let steps = &values[low..high];
            prop_assert_eq!(steps.iter().max(), Some(max));
            prop_assert_eq!(steps.iter().min(), Some(min));
        }
        prop_assert_eq!(curve.max(), values.iter().copied().max().unwrap_or(0));
        if part > 0.9999 {
            prop_assert_eq!(columns.iter().map(|column| column.1).max(), values.iter().copied().max());
        }
    }

    #[test]
    fn zoom_keeps_the_step_under_the_pointer(x in 0.0..800.0_f64, factor in 0.2..20.0_f64, t0 in 0.0..500.0_f64) {
        let viewport = View::from(Viewport { t0, t1: t0 + 300.0, a0: 0.0, a1: 1e9 });
        let step = viewport.step_from_x(x, 800.0);
        let zoomed = View::from(viewport.zoom_steps(factor, step));
        prop_assert!((zoomed.x_from_step(step, 800.0) - x).abs() < 1e-6);
        prop_assert!((zoomed.steps() - 300.0 / factor).abs() < 1e-6);
        let whole = Viewport { t0: 0.0, t1: 1000.0, a0: 0.0, a1: 1e9 };
        let inside = zoomed.clamp(whole);
        prop_assert!(inside.t0 >= 0.0 && inside.t1 <= 1000.0 + 1e-9);
    }

    #[test]
    fn picking_equals_brute_force(step in -5.0..400.0_f64, share in -0.1..1.1_f64, lane in 0_usize..4) {
        let timeline = SHARED.with(std::sync::Arc::clone);
        let lane = &timeline.lanes[lane];
        let address = lane.height.get() as f64 * share;
        let blocks = &lane.blocks;
        let expected = (0..blocks.len()).rev().find(|idx| {
            (f64::from(blocks.start[*idx])..f64::from(blocks.end[*idx])).contains(&step)
                && (blocks.base.at(*idx) as f64..(blocks.base.at(*idx) + blocks.bytes.at(*idx)) as f64).contains(&address)
        });
        prop_assert_eq!(lane.pick(step, address), expected.map(|idx| idx as u32));
        if expected.is_some() {
            let reach = Reach { steps: (step - 3.0, step + 3.0), bytes: 1e6 };
            prop_assert_eq!(lane.pick_within(step, address, reach), expected.map(|idx| idx as u32));
        }
    }
}

thread_local! {
    static SHARED: std::sync::Arc<Timeline> = std::sync::Arc::new(timeline(150));
}

#[test]
fn a_selection_of_another_comparison_finds_nothing() {
    let timeline = timeline(5);
    let stranger = Selected {
        run: 77,
        graph: GraphIdx(9),
        tensor: TensorId(1000),
    };
    assert_eq!(timeline.lanes[0].blocks_of(stranger).len(), 0);
    assert_eq!(timeline.rows.find(stranger), None);
    assert_eq!(facts(&synthetic::comparison(5, 1), stranger).bytes, None);
}
