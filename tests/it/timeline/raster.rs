//! Pictures of lanes: every block is visible, and pixels equal those of a naive second implementation.

use highwater::analysis::Comparison;
use highwater::timeline::{
    Attribute, Axes, AxisKind, ColorBy, Coloring, ColoringRequest, DIMMED, Grouping, HeldTensor, LaneView, RasterFrame,
    RasterStyle, Timeline, View, Viewport, raster,
};
use highwater::units::Bytes;
use proptest::prelude::*;

use crate::synthetic;

/// Distinct opaque colours.
fn style(gap: Option<[[u8; 4]; 2]>) -> RasterStyle {
    RasterStyle {
        colors: (0..=u8::MAX).map(|number| [number, 255 - number, 7, 255]).collect(),
        gap,
    }
}

/// The pixels of a block: the nearest ones, or the pixel that contains it.
fn pixels((lane, axes): (&LaneView, &Axes), block: usize, frame: &RasterFrame) -> Vec<(usize, usize)> {
    let view = &frame.view;
    let (width, height) = (f64::from(frame.width), f64::from(frame.height));
    let view_on_axis = View::new(*view, axes.get(frame.axis).map(|axis| &**axis));
    let x = |step: u32| match axes.get(frame.axis) {
        None => (f64::from(step) - view.t0) * (width / (view.t1 - view.t0)),
        Some(_) => view_on_axis.x_from_step(f64::from(step), width),
    };
    let y = |address: u64| height - (address as f64 - view.a0) * (height / (view.a1 - view.a0));
    let blocks = &lane.blocks;
    let (x0, x1) = (x(blocks.start[block]), x(blocks.end[block]));
    let (y0, y1) = (
        y(blocks.base.at(block) + blocks.bytes.at(block)),
        y(blocks.base.at(block)),
    );
    let span = |low: f64, high: f64| -> (i64, i64) {
        if high - low < 1.0 {
            (low.floor() as i64, low.floor() as i64 + 1)
        } else {
            (low.round() as i64, (high.round() as i64).max(low.round() as i64 + 1))
        }
    };
    let (mut columns, mut rows) = (span(x0, x1), span(y0, y1));
    if x1 - x0 >= 1.0 && y1 - y0 >= 1.0 {
        // The line to the neighbours.
        columns.1 -= i64::from(columns.1 - columns.0 >= 4);
        rows.0 += i64::from(rows.1 - rows.0 >= 4);
    }
    let within = |(low, high): (i64, i64), most: u32| low.max(0)..high.min(i64::from(most));
    within(rows, frame.height)
        .flat_map(|row| within(columns, frame.width).map(move |column| (column as usize, row as usize)))
        .collect()
}

fn pixel(raster: &highwater::timeline::Raster, (column, row): (usize, usize)) -> &[u8] {
    let at = (row * raster.frame.width as usize + column) * 4;
    &raster.rgba[at..at + 4]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn every_block_in_view_is_drawn_and_nothing_else(
        (from, share) in (0.0..0.95_f64, 0.02..1.2_f64),
        (low, high) in (0.0..0.9_f64, 0.05..1.3_f64),
        (width, height) in (1_u32..90, 1_u32..70),
        lane in 0_usize..4,
        axis in prop_oneof![Just(AxisKind::Order), Just(AxisKind::Estimated)],
    ) {
        let comparison = synthetic::comparison(24, 2);
        let timeline = Timeline::new(&comparison);
        let lane = &timeline.lanes[lane];
        let whole = timeline.fit();
        let view = Viewport {
            t0: whole.t1 * from - 3.0,
            t1: whole.t1 * (from + share),
            a0: whole.a1 * low - 10.0,
            a1: whole.a1 * (low + high),
        };
        let frame = RasterFrame { view, axis, width, height };
        let picture = raster(lane, &timeline.axes, &lane.blocks.color, &frame, &style(None));
        prop_assert_eq!(picture.rgba.len(), (width * height * 4) as usize);
        let mut wanted = vec![false; (width * height) as usize];
        for block in 0..lane.blocks.len() {
            for (column, row) in pixels((lane, &timeline.axes), block, &frame) {
                wanted[row * width as usize + column] = true;
                prop_assert!(pixel(&picture, (column, row))[3] > 100, "block {} at {}, {}", block, column, row);
            }
        }
        for (at, is_wanted) in wanted.into_iter().enumerate() {
            if !is_wanted {
                prop_assert_eq!(&picture.rgba[at * 4..at * 4 + 4], &[0_u8; 4]);
            }
        }
    }
}

#[test]
fn large_blocks_have_their_own_colour() {
    let comparison = synthetic::comparison(3, 1);
    let timeline = Timeline::new(&comparison);
    for lane in &timeline.lanes {
        let frame = RasterFrame {
            view: timeline.fit(),
            axis: AxisKind::Order,
            width: 1_200,
            height: 2_000,
        };
        let hole = [[1, 1, 1, 255], [2, 2, 2, 255]];
        let picture = raster(lane, &timeline.axes, &lane.blocks.color, &frame, &style(Some(hole)));
        let step = frame.view.steps() / f64::from(frame.width);
        let byte = frame.view.bytes() / f64::from(frame.height);
        let is_large = |block: &usize| {
            let n_steps = lane.blocks.end[*block] - lane.blocks.start[*block];
            f64::from(n_steps) >= step && lane.blocks.bytes.at(*block) as f64 >= byte
        };
        let large: Vec<usize> = (0..lane.blocks.len()).filter(is_large).collect();
        assert!(large.len() > 3, "{} are large", large.len());
        for block in large {
            let color = lane.blocks.color[block];
            let places = pixels((lane, &timeline.axes), block, &frame);
            let (column, row) = places[places.len() / 2];
            assert_eq!(
                pixel(&picture, (column, row)),
                [color, 255 - color, 7, 255],
                "block {block}"
            );
        }
        let n_holes = picture
            .rgba
            .as_chunks::<4>()
            .0
            .iter()
            .filter(|pixel| hole.contains(pixel))
            .count();
        assert_eq!(n_holes > 0, !lane.gaps.is_empty());
    }
}

fn look(comparison: &Comparison, timeline: &Timeline, by: ColorBy, hidden: &[&str]) -> Coloring {
    let hidden = hidden.iter().map(|text| (*text).to_owned()).collect();
    Coloring::new(comparison, timeline, &ColoringRequest { by, hidden }, None)
}

#[test]
fn the_legend_counts_drawn_blocks() {
    let comparison = synthetic::comparison(12, 2);
    let timeline = Timeline::new(&comparison);
    let main = comparison.main_lane().unwrap();
    let lane = &timeline.lanes[main];
    let peak = comparison.lanes[main].summary.peak_live_step.unwrap().0;
    for attribute in Attribute::ALL {
        let grouping = Grouping::new(&comparison, attribute);
        let look_of = look(&comparison, &timeline, ColorBy::By(attribute), &[]);
        assert!(!look_of.legend.is_empty(), "{attribute:?}");
        for row in &look_of.legend {
            let is_of_group = |block: &usize| {
                let blocks = &lane.blocks;
                let held = lane.tensor(*block as u32).map(|tensor| HeldTensor {
                    tensor,
                    bytes: Bytes(blocks.bytes.at(*block)),
                    n_steps: blocks.end[*block] - blocks.start[*block],
                });
                let group = held.and_then(|held| grouping.group(&held));
                group.is_some_and(|group| grouping.text(group) == row.text)
            };
            let blocks: Vec<usize> = (0..lane.blocks.len()).filter(is_of_group).collect();
            assert_eq!(blocks.len(), row.n_blocks, "{attribute:?} {}", row.text);
            let lives = |block: &&usize| (lane.blocks.start[**block]..lane.blocks.end[**block]).contains(&peak);
            let at_peak: u64 = blocks
                .iter()
                .filter(lives)
                .map(|block| lane.blocks.bytes.at(*block))
                .sum();
            assert_eq!(at_peak, row.at_peak.get(), "{attribute:?} {}", row.text);
            for block in blocks {
                assert_eq!(look_of.color(main, lane, block), row.color);
            }
        }
        let first = look_of.legend[0].text.clone();
        let hidden = look(&comparison, &timeline, ColorBy::By(attribute), &[&first]);
        for (number, lane) in timeline.lanes.iter().enumerate() {
            for block in 0..lane.blocks.len() {
                let (before, after) = (look_of.color(number, lane, block), hidden.color(number, lane, block));
                let is_first = before == look_of.legend[0].color && after != before;
                assert_eq!(after, if is_first { before | DIMMED } else { before });
            }
        }
    }
}

#[test]
fn blocks_without_a_match_are_dimmed() {
    let comparison = synthetic::comparison(5, 1);
    let timeline = Timeline::new(&comparison);
    let wanted = timeline.lanes[0].tensor(4).unwrap();
    let is_lit = |_lane: usize, tensor| tensor == wanted;
    let look = Coloring::new(&comparison, &timeline, &ColoringRequest::default(), Some(&is_lit));
    for (number, lane) in timeline.lanes.iter().enumerate() {
        for block in 0..lane.blocks.len() {
            let own = lane.blocks.color[block];
            let is_found = lane.tensor(block as u32) == Some(wanted);
            let expected = if is_found { own } else { own | DIMMED };
            assert_eq!(look.color(number, lane, block), expected);
        }
    }
}
