//! `compare --svg`: a lane as a drawing.

use std::path::Path;

use anyhow::{anyhow, bail};

use crate::args::CompareArgs;
use crate::request::policy_of;
use highwater_analysis::{Comparison, LaneId};
use highwater_export::{LaneDrawing, SvgColors, lane_svg};
use highwater_session::write_whole;
use highwater_timeline::{AxisKind, ColorBy, Coloring, ColoringRequest, Timeline, TimelineParts};

/// Width and height in points.
const SIZE: (f64, f64) = (1200.0, 600.0);

/// Writes the drawing of a lane.
pub(super) fn write(path: &Path, args: &CompareArgs, comparison: &Comparison) -> anyhow::Result<()> {
    let lane = match &args.policy {
        Some(text) => lane_of(text, comparison)?,
        None => comparison.main_lane().unwrap_or(0),
    };
    let timeline = Timeline::with(comparison, TimelineParts::Drawing);
    let axis = axis_of(args.axis.as_deref(), &timeline)?;
    let drawing = LaneDrawing {
        comparison,
        timeline: &timeline,
        lane,
        viewport: timeline.fit(),
        axis,
        size: SIZE,
        colors: &SvgColors::print(),
        look: Some(&coloring(args.color_by.as_deref(), comparison, &timeline)?),
        most_shapes: None,
    };
    let text = lane_svg(&drawing).map_err(|reason| anyhow!("--svg: {reason}"))?;
    write_whole(path, text.as_bytes())?;
    Ok(())
}

/// The colouring of `--color-by`; by tensor without it.
pub(crate) fn coloring(text: Option<&str>, comparison: &Comparison, timeline: &Timeline) -> anyhow::Result<Coloring> {
    let find = |text: &str| {
        ColorBy::find(text.trim()).ok_or_else(|| {
            let known: Vec<&str> = ColorBy::all().map(ColorBy::key).collect();
            anyhow!("--color-by {text}: expected {}", known.join(", "))
        })
    };
    let order = ColoringRequest {
        by: text.map_or(Ok(ColorBy::Tensor), find)?,
        hidden: Vec::new(),
    };
    Ok(Coloring::new(comparison, timeline, &order, None))
}

/// The axis of `--axis`; program order without it.
pub(crate) fn axis_of(text: Option<&str>, timeline: &Timeline) -> anyhow::Result<AxisKind> {
    let Some(text) = text else {
        return Ok(AxisKind::Order);
    };
    let Some(kind) = AxisKind::find(text) else {
        let known: Vec<&str> = AxisKind::ALL.iter().map(|kind| kind.name()).collect();
        bail!("--axis {text}: expected {}", known.join(", "));
    };
    match timeline.axes.why_not(kind) {
        Some(why) => bail!("--axis {text}: {why}"),
        None => Ok(kind),
    }
}

fn lane_of(text: &str, comparison: &Comparison) -> anyhow::Result<usize> {
    let lanes = &comparison.lanes;
    let lane = policy_of(text).and_then(|policy| lanes.iter().position(|lane| lane.id == LaneId::Policy(policy)));
    if let Some(lane) = lane {
        return Ok(lane);
    }
    let policies = lanes.iter().filter(|lane| matches!(lane.id, LaneId::Policy(_)));
    let known: Vec<String> = policies.map(|lane| lane.policy.number().to_string()).collect();
    if known.is_empty() {
        bail!("--policy {text}: lanes here are not policies");
    }
    bail!("--policy {text}: not compared; compared are {}", known.join(", "))
}
