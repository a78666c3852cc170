//! `compare --svg`: a lane as a drawing.

use std::path::Path;

use anyhow::{anyhow, bail};

use crate::analysis::{Comparison, LaneId};
use crate::export::{LaneDrawing, SvgColors, lane_svg};
use crate::session::write_whole;
use crate::sim::StaticMemoryPolicy;
use crate::timeline::{AxisKind, Timeline};

/// How wide and high it is, in points.
const SIZE: (f64, f64) = (1200.0, 600.0);

/// Writes the drawing of a policy's lane, of the main one unless a policy is named, along an axis.
///
/// # Errors
/// A policy that is not compared, an axis that there is none of, nothing to draw, or a file that cannot be written.
pub(super) fn write(
    path: &Path,
    (policy, axis): (Option<&str>, Option<&str>),
    comparison: &Comparison,
) -> anyhow::Result<()> {
    let lane = match policy {
        Some(text) => lane_of(text, comparison)?,
        None => comparison.main_lane().unwrap_or(0),
    };
    let timeline = Timeline::new(comparison);
    let axis = axis.map_or(Ok(AxisKind::Order), |text| axis_of(text, &timeline))?;
    let drawing = LaneDrawing {
        comparison,
        timeline: &timeline,
        lane,
        viewport: timeline.fit(),
        axis,
        size: SIZE,
        colors: &SvgColors::print(),
    };
    let text = lane_svg(&drawing).map_err(|reason| anyhow!("--svg: {reason}"))?;
    write_whole(path, text.as_bytes())?;
    Ok(())
}

fn axis_of(text: &str, timeline: &Timeline) -> anyhow::Result<AxisKind> {
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
