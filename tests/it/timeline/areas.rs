//! Areas: every column shows a step with the most bytes, and the bands add up to it.

use std::collections::BTreeMap;

use highwater::timeline::{
    AreaBand, AreaSource, Areas, Attribute, ColorBy, Coloring, ColoringRequest, Curve, DIMMED, Timeline, Viewport,
};
use highwater::units::Bytes;
use proptest::prelude::*;

use crate::synthetic;

fn order(by: ColorBy, hidden: &[&str]) -> ColoringRequest {
    ColoringRequest {
        by,
        hidden: hidden.iter().map(|text| (*text).to_owned()).collect(),
    }
}

/// By step, by colour: bytes of a lane's blocks, counted one by one.
fn naive(timeline: &Timeline, look: &Coloring, lane: usize) -> Vec<BTreeMap<u8, u64>> {
    let view = &timeline.lanes[lane];
    let colors = look.colors(lane, view);
    let mut steps = vec![BTreeMap::new(); timeline.n_steps as usize];
    for (block, color) in colors.iter().enumerate() {
        let end = view.blocks.end[block].min(timeline.n_steps);
        for step in view.blocks.start[block]..end {
            *steps[step as usize].entry(*color).or_insert(0) += view.blocks.bytes.at(block);
        }
    }
    steps
}

#[test]
fn bands_equal_the_bytes_of_their_blocks_on_every_step() {
    let comparison = synthetic::comparison(20, 2);
    let timeline = Timeline::new(&comparison);
    for by in ColorBy::all() {
        let look = Coloring::new(&comparison, &timeline, &order(by, &[]), None);
        let areas = Areas::new(&timeline, &look);
        assert_eq!(areas.lanes.len(), timeline.lanes.len());
        for (number, lane) in areas.lanes.iter().enumerate() {
            for (step, wanted) in (0_u32..).zip(naive(&timeline, &look, number)) {
                let of_blocks = lane.bands.iter().filter_map(|band| match band.of {
                    AreaSource::Blocks(color) => Some((color, band.at(step))),
                    AreaSource::Regions(_) => None,
                });
                let found: BTreeMap<u8, u64> = of_blocks.filter(|(_, bytes)| *bytes > 0).collect();
                assert_eq!(found, wanted, "{by:?}, lane {number}, step {step}");
                let sum: u64 = lane.bands.iter().map(|band| band.at(step)).sum();
                let reserved = timeline.lanes[number].reserved.at(step);
                assert_eq!(lane.total.at(step), sum);
                assert!(sum <= reserved, "{sum} of {reserved} in lane {number} at {step}");
            }
        }
    }
}

#[test]
fn dimmed_areas_are_on_top_and_the_largest_at_the_bottom() {
    let comparison = synthetic::comparison(20, 1);
    let timeline = Timeline::new(&comparison);
    let by = ColorBy::By(Attribute::OpType);
    let plain = Areas::new(&timeline, &Coloring::new(&comparison, &timeline, &order(by, &[]), None));
    let of_blocks = |band: &&AreaBand| matches!(band.of, AreaSource::Blocks(_));
    let texts: Vec<&str> = plain.lanes[0]
        .bands
        .iter()
        .filter(of_blocks)
        .map(|band| &*band.text)
        .collect();
    assert!(texts.len() >= 2, "{texts:?}");
    let look = Coloring::new(&comparison, &timeline, &order(by, &[texts[0]]), None);
    let hidden = Areas::new(&timeline, &look);
    let last = hidden.lanes[0].bands.last().expect("a band");
    let AreaSource::Blocks(color) = last.of else {
        panic!("{last:?}")
    };
    assert_eq!((&*last.text, color & DIMMED), (texts[0], DIMMED));
    assert_eq!(hidden.lanes[0].total, plain.lanes[0].total);
    let (step, most) = plain.lanes[0]
        .total
        .highest(0, timeline.n_steps as usize)
        .expect("steps");
    let (ground, own) = plain.lanes[0].band_at(step, 0.0).expect("on the ground");
    assert_eq!(own, Bytes(ground.at(step)));
    assert!(plain.lanes[0].band_at(step, most as f64).is_none(), "above all");
}

proptest! {
    #[test]
    fn a_column_shows_its_highest_step(
        (from, share) in (0.0..0.95_f64, 0.02..1.3_f64),
        width in 1_u32..200,
    ) {
        let comparison = synthetic::comparison(24, 2);
        let timeline = Timeline::new(&comparison);
        let look = Coloring::new(&comparison, &timeline, &order(ColorBy::By(Attribute::Role), &[]), None);
        let areas = Areas::new(&timeline, &look);
        let whole = timeline.fit();
        let view = Viewport { t0: whole.t1 * from - 2.0, t1: whole.t1 * (from + share), ..whole };
        let lane = &areas.lanes[0];
        let columns = lane.columns(view, width);
        let extremes = lane.total.columns(view, width);
        for (column, (_, most)) in extremes.iter().enumerate() {
            let tops = columns.tops(column);
            prop_assert_eq!(tops.last().copied().unwrap_or(0), *most, "column {}", column);
            prop_assert!(tops.is_sorted());
            if let Some(step) = columns.steps[column] {
                prop_assert_eq!(lane.total.at(step), *most);
            }
        }
    }

    #[test]
    fn the_highest_step_is_the_first_that_a_scan_finds(
        values in prop::collection::vec(0_u64..6, 1..400),
        (start, end) in (0_usize..420, 0_usize..420),
    ) {
        let bytes: Vec<Bytes> = values.iter().copied().map(Bytes).collect();
        let curve = Curve::new(&bytes);
        let scan = values.iter().enumerate().take(end).skip(start);
        let wanted = scan.fold(None, |best: Option<(usize, u64)>, (step, value)| match best {
            Some((_, most)) if most >= *value => best,
            _ => Some((step, *value)),
        });
        let wanted = wanted.map(|(step, most)| (u32::try_from(step).expect("few"), most));
        prop_assert_eq!(curve.highest(start, end), wanted);
    }
}
