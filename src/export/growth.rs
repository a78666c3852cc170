//! What grows from step to step in a recording: text, JSON, CSV.

use serde_json::{Value as Json, json};

use super::blocks::{Table, paragraph, plain_text};
use super::json_parts::{diagnostics_json, list};
use highwater_analysis::Comparison;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::units::{Bytes, counted, grouped, signed_bytes};
use highwater_timeline::{Growth, GrowthRow};

/// Growth of a lane of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct GrowthAnswer<'a> {
    pub comparison: &'a Comparison,
    /// By position.
    pub lane: usize,
    pub growth: &'a Growth,
    /// The number of listed rows.
    pub most: usize,
}

impl GrowthAnswer<'_> {
    fn lane_title(&self) -> String {
        let lane = self.comparison.lanes.get(self.lane).map(|lane| lane.id);
        lane.map_or_else(String::new, |id| self.comparison.lane_title(id))
    }

    fn rows(&self) -> &[GrowthRow] {
        &self.growth.rows[..self.growth.rows.len().min(self.most)]
    }
}

#[expect(clippy::cast_possible_truncation, reason = "casts of floats saturate")]
fn slope_text(slope: f64) -> String {
    signed_bytes(slope.round() as i128)
}

fn row_json(row: &GrowthRow) -> Json {
    json!({
        "name": row.name,
        "slope_bytes_per_step": row.slope,
        "grown_steps": row.n_grown,
        "growth_bytes": row.total().get(),
        "live_bytes": list(&row.live, |bytes| bytes.get().into()),
    })
}

pub fn growth_json(answer: &GrowthAnswer<'_>, diagnostics: &Diagnostics) -> Json {
    let growth = answer.growth;
    json!({
        "lane": answer.lane_title(),
        "steps_from": if growth.is_marked { "annotations" } else { "equal parts" },
        "steps": list(&growth.steps, |step| json!({"name": step.name, "last_event": step.last.0})),
        "rows_total": growth.rows.len(),
        "rows": list(answer.rows(), row_json),
        "all": row_json(&growth.all),
        "slope_bytes_per_step": growth.slope(),
        "headroom_bytes": growth.headroom.map(Bytes::get),
        "full_after_steps": growth.full_after(),
        "diagnostics": diagnostics_json(diagnostics),
    })
}

/// A row per name.
pub fn growth_csv(answer: &GrowthAnswer<'_>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory does not fail.
    drop(writer.write_record([
        "name",
        "slope_bytes_per_step",
        "grown_steps",
        "growth_bytes",
        "first_bytes",
        "last_bytes",
    ]));
    for row in answer.rows() {
        let end = |bytes: Option<&Bytes>| bytes.map_or(0, |bytes| bytes.get()).to_string();
        drop(writer.write_record([
            row.name.as_str(),
            &row.slope.to_string(),
            &row.n_grown.to_string(),
            &row.total().get().to_string(),
            &end(row.live.first()),
            &end(row.live.last()),
        ]));
    }
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

pub fn growth_text(answer: &GrowthAnswer<'_>) -> String {
    let growth = answer.growth;
    let n_steps = counted(
        growth.steps.len() as u64,
        if growth.is_marked { "step" } else { "equal part" },
    );
    let title = format!(
        "{}, {}: growth over {n_steps}",
        answer.comparison.workload.name,
        answer.lane_title()
    );
    let mut blocks = vec![paragraph(title)];
    if growth.rows.is_empty() {
        blocks.push(paragraph("Nothing grows from step to step."));
    } else {
        blocks.push(table(answer).into());
        let left = growth.rows.len() - answer.rows().len();
        if left > 0 {
            blocks.push(paragraph(format!("and {} more", grouped(left as u64))));
        }
    }
    blocks.extend(conclusion(growth).map(paragraph));
    plain_text(&blocks)
}

fn table(answer: &GrowthAnswer<'_>) -> Table {
    let growth = answer.growth;
    let step = if growth.is_marked { ">per step" } else { ">per part" };
    let mut table = Table::new(&["grows", step, ">growth", ">exact", ">grew in", ">first", ">last"]);
    let n_changes = growth.steps.len() - 1;
    let mut add = |name: &str, row: &GrowthRow| {
        let end = |bytes: Option<&Bytes>| bytes.copied().unwrap_or_default().to_string();
        table.strings(vec![
            name.to_owned(),
            slope_text(row.slope),
            row.total().to_string(),
            row.total().exact(),
            format!("{} of {n_changes}", row.n_grown),
            end(row.live.first()),
            end(row.live.last()),
        ]);
    };
    for row in answer.rows() {
        add(&row.name, row);
    }
    add("all live blocks", &growth.all);
    table
}

/// When the device is full.
fn conclusion(growth: &Growth) -> Option<String> {
    if growth.rows.is_empty() {
        return None;
    }
    let slope = slope_text(growth.slope());
    let step = if growth.is_marked { "step" } else { "part" };
    Some(match (growth.headroom, growth.full_after()) {
        (Some(headroom), Some(steps)) => format!(
            "The listed blocks grow by {slope} per {step}; headroom {headroom}: full after {} more.",
            counted(steps, step)
        ),
        _ => format!(
            "The listed blocks grow by {slope} per {step}. The capacity is unknown: --device-memory tells when it is full."
        ),
    })
}
