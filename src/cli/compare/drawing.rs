//! `compare --svg`: a lane as a drawing.

use std::path::Path;

use anyhow::{anyhow, bail};

use highwater_analysis::{Comparison, LaneId};
use highwater_export::{LaneDrawing, SvgColors, lane_svg};
use highwater_session::write_whole;
use highwater_sim::StaticMemoryPolicy;
use highwater_timeline::{AxisKind, ColorBy, Coloring, ColoringRequest, Timeline};

/// How wide and high it is, in points.
const SIZE: (f64, f64) = (1200.0, 600.0);

/// What is asked for, as it was typed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    /// Whose lane; the main one unless given.
    pub(super) policy: Option<&'a str>,
    /// Along what; steps unless given.
    pub(super) axis: Option<&'a str>,
    /// What colours stand for; tensors unless given.
    pub(super) color_by: Option<&'a str>,
}

/// Writes the drawing of a policy's lane.
///
/// # Errors
/// A policy that is not compared, an axis that there is none of, colours of nothing known, nothing to draw, or a file that
/// cannot be written.
pub(super) fn write(path: &Path, asked: Asked<'_>, comparison: &Comparison) -> anyhow::Result<()> {
    let lane = match asked.policy {
        Some(text) => lane_of(text, comparison)?,
        None => comparison.main_lane().unwrap_or(0),
    };
    let timeline = Timeline::new(comparison);
    let axis = asked
        .axis
        .map_or(Ok(AxisKind::Order), |text| axis_of(text, &timeline))?;
    let by = asked.color_by.map_or(Ok(ColorBy::Tensor), color_by_of)?;
    let order = ColoringRequest { by, hidden: Vec::new() };
    let look = Coloring::new(comparison, &timeline, &order, None);
    let drawing = LaneDrawing {
        comparison,
        timeline: &timeline,
        lane,
        viewport: timeline.fit(),
        axis,
        size: SIZE,
        colors: &SvgColors::print(),
        look: Some(&look),
        most_shapes: None,
    };
    let text = lane_svg(&drawing).map_err(|reason| anyhow!("--svg: {reason}"))?;
    write_whole(path, text.as_bytes())?;
    Ok(())
}

pub(crate) fn color_by_of(text: &str) -> anyhow::Result<ColorBy> {
    let known = ColorBy::all().find(|by| by.words() == text.trim());
    known.ok_or_else(|| {
        let known: Vec<&str> = ColorBy::all().map(ColorBy::words).collect();
        anyhow!("--color-by {text}: known are {}", known.join(", "))
    })
}

pub(crate) fn axis_of(text: &str, timeline: &Timeline) -> anyhow::Result<AxisKind> {
    let Some(kind) = AxisKind::find(text) else {
        let known: Vec<&str> = AxisKind::ALL.iter().map(|kind| kind.name()).collect();
        bail!("--axis {text}: known are {}", known.join(", "));
    };
    match timeline.axes.why_not(kind) {
        Some(why) => bail!("--axis {text}: {why}"),
        None => Ok(kind),
    }
}

fn lane_of(text: &str, comparison: &Comparison) -> anyhow::Result<usize> {
    let number = text.trim().parse().ok().and_then(StaticMemoryPolicy::from_number);
    let lane = number.and_then(|policy| {
        let lanes = &comparison.lanes;
        lanes.iter().position(|lane| lane.id == LaneId::Policy(policy))
    });
    let Some(lane) = lane else {
        let ids = comparison.lanes.iter().filter_map(|lane| match lane.id {
            LaneId::Policy(policy) => Some(policy.number().to_string()),
            _ => None,
        });
        let known: Vec<String> = ids.collect();
        if known.is_empty() {
            bail!("--policy {text}: what is compared here is no policies");
        }
        bail!(
            "--policy {text}: it is not among those that are compared: {}",
            known.join(", ")
        );
    };
    Ok(lane)
}
