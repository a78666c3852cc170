//! What grows from step to step in a recording.

use serde::Serialize;

use super::answer::{Answer, Page, diagnostics_blocks};
use super::blocks::paragraph;
use super::json_parts::{diagnostics_json, list};
use super::record::{MORE_WITH_TOP, Record, Rows};
use highwater_analysis::Comparison;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::units::{counted, signed_bytes};
use highwater_timeline::{Growth, GrowthRow};
use serde_json::json;

/// Growth of a lane of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct GrowthAnswer<'a> {
    pub comparison: &'a Comparison,
    /// By position.
    pub lane: usize,
    pub growth: &'a Growth,
    /// The number of listed rows.
    pub most: usize,
    /// The importer's diagnostics.
    pub import: &'a Diagnostics,
}

impl Answer for GrowthAnswer<'_> {
    fn page(&self) -> Page {
        let growth = self.growth;
        let noun = if growth.is_marked { "step" } else { "equal part" };
        let title = format!(
            "{}, {}: growth over {}",
            self.comparison.workload.name,
            self.comparison.title_of(self.lane),
            counted(growth.steps.len() as u64, noun)
        );
        let mut blocks = vec![paragraph(title)];
        if growth.rows.is_empty() {
            blocks.push(paragraph("Nothing grows from step to step."));
        } else {
            let rows = self.rows().more_with(MORE_WITH_TOP);
            let all = self.row("all live blocks", &growth.all);
            blocks.push(rows.table_with(self.most, Some(all)).into());
            blocks.extend(rows.left_out(growth.rows.len(), self.most));
        }
        blocks.extend(conclusion(growth).map(paragraph));
        blocks.extend(diagnostics_blocks(self.import));
        Page(blocks)
    }

    fn json(&self) -> impl Serialize {
        let growth = self.growth;
        Record::new()
            .key("lane", self.comparison.title_of(self.lane))
            .key(
                "steps_from",
                if growth.is_marked { "annotations" } else { "equal parts" },
            )
            .key(
                "steps",
                list(
                    &growth.steps,
                    |step| json!({"name": step.name, "last_event": step.last.0}),
                ),
            )
            .key("rows_total", growth.rows.len())
            .key("rows", self.rows().first(self.most))
            .key("all", self.row(&growth.all.name, &growth.all))
            .key("slope_bytes_per_step", growth.slope())
            .key("headroom_bytes", growth.headroom)
            .key("full_after_steps", growth.full_after())
            .key("diagnostics", diagnostics_json(self.import))
    }

    /// A row per name.
    fn csv(&self) -> Option<String> {
        let rows = Rows::new(&self.growth.rows, |row| {
            Record::new()
                .key("name", &row.name)
                .key("slope_bytes_per_step", row.slope.to_string())
                .key("grown_steps", row.n_grown)
                .key("growth_bytes", row.total())
                .key("first_bytes", row.live.first().copied().unwrap_or_default())
                .key("last_bytes", row.live.last().copied().unwrap_or_default())
        });
        let header = "name,slope_bytes_per_step,grown_steps,growth_bytes,first_bytes,last_bytes";
        Some(rows.first(self.most).csv(header))
    }
}

impl<'a> GrowthAnswer<'a> {
    fn rows(&self) -> Rows<'a> {
        let answer = *self;
        Rows::new(&self.growth.rows, move |row| answer.row(&row.name, row))
    }

    fn row(&self, name: &'a str, row: &'a GrowthRow) -> Record<'a> {
        let step = if self.growth.is_marked {
            ">per step"
        } else {
            ">per part"
        };
        let n_changes = self.growth.steps.len() - 1;
        Record::new()
            .field("name", "grows", name)
            .key("slope_bytes_per_step", row.slope)
            .shown(step, slope_text(row.slope))
            .key("grown_steps", row.n_grown)
            .shown(">grew in", format!("{} of {n_changes}", row.n_grown))
            .field("growth_bytes", ">growth", row.total())
            .shown(">exact", row.total().exact())
            .key("live_bytes", list(&row.live, |bytes| bytes.get().into()))
            .shown(">first", row.live.first().copied())
            .shown(">last", row.live.last().copied())
    }
}

#[expect(clippy::cast_possible_truncation, reason = "casts of floats saturate")]
fn slope_text(slope: f64) -> String {
    signed_bytes(slope.round() as i128)
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
