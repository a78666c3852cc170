//! The answer of `plan`: one JSON object, or rows of CSV.

mod csv;
mod events;
mod explain;

pub use csv::plan_csv;
pub use events::{WireEnginePlan, WireOp, WireOps};
pub use explain::reused;

use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use super::json_parts::{diagnostics_json, fields_of, list};
use explain::{WireFragmentation, chain_json, reason_json};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::units::Bytes;
use highwater_model::workload::ProblemEntry;
use highwater_plan::{Fit, Fragmentation, PeakChain, PlacementReason, PlanDefect, Planned, ReuseEdge};

#[derive(Serialize, Debug)]
struct WireEdge {
    #[serde(rename = "donor")]
    earlier: String,
    #[serde(rename = "heir")]
    later: String,
    bytes: u64,
}

impl WireEdge {
    fn new(edge: &ReuseEdge, entry: &ProblemEntry) -> Self {
        Self {
            earlier: entry.ids.get(edge.earlier as usize).to_owned(),
            later: entry.ids.get(edge.later as usize).to_owned(),
            bytes: edge.bytes.get(),
        }
    }
}

/// Lists and explanations on demand.
#[derive(Clone, Debug, Default)]
pub struct PlanDetails {
    pub lists_edges: bool,
    /// The stack that fixes the footprint.
    pub chain: Option<PeakChain>,
    pub fragmentation: Option<Fragmentation>,
    /// Of the offsets of single buffers.
    pub reasons: Vec<PlacementReason>,
}

#[derive(Clone, Copy, Debug)]
pub struct PlanAnswer<'a> {
    pub entry: &'a ProblemEntry,
    pub planned: &'a Planned,
    /// Why the plan is invalid.
    pub defect: Option<&'a PlanDefect>,
    pub capacity: Option<Bytes>,
    pub edges: &'a [ReuseEdge],
    /// The names of the file's other entries.
    pub others: &'a [String],
    /// Why the sizes of the buffers are lower bounds, in words; `None` where they are exact.
    pub lower_bound: Option<&'a str>,
    pub diagnostics: &'a Diagnostics,
    pub elapsed_ns: u64,
    pub details: &'a PlanDetails,
}

impl PlanAnswer<'_> {
    /// Whether the plan fits in the capacity, and the certainty of a "no"; `None` without a capacity.
    pub fn fit(&self) -> Option<Fit> {
        let planned = self.planned;
        match (self.capacity?, self.defect) {
            // An invalid plan fits nowhere.
            (capacity, Some(_)) if planned.plan.footprint <= capacity => Some(Fit::NotFound),
            (capacity, _) => Some(planned.fit(capacity)),
        }
    }

    pub fn is_empty(&self) -> bool {
        let mut buffers = self.entry.problem.buffers.iter();
        buffers.all(|buffer| buffer.size == Bytes::ZERO)
    }

    pub fn is_optimal(&self) -> bool {
        self.defect.is_none() && self.planned.is_optimal()
    }

    /// With the ids and times of the file.
    pub fn defect_text(&self) -> Option<String> {
        let id = |position: usize| format!("\"{}\"", self.entry.ids.get(position));
        let time = |step: u32| self.entry.time(highwater_model::units::Step(step));
        Some(self.defect?.sentence(&id, &time))
    }

    /// Percent above the bound of live bytes; `None` for an invalid plan, whose size means nothing.
    pub fn over_bound_percent(&self, footprint: Bytes) -> Option<f64> {
        let is_valid = self.defect.is_none();
        is_valid.then(|| footprint.percent_over(self.planned.lower_bound))
    }
}

/// The figures, then the details.
#[derive(Serialize, Debug)]
pub struct WirePlan {
    #[serde(flatten)]
    figures: Map<String, Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    edges: Option<Vec<WireEdge>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_chain: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fragmentation: Option<WireFragmentation>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    why: Vec<Json>,
    diagnostics: Json,
}

impl WirePlan {
    pub fn new(answer: &PlanAnswer<'_>) -> Self {
        let PlanAnswer {
            entry, edges, details, ..
        } = *answer;
        let reasons = details.reasons.iter();
        Self {
            figures: figures(answer),
            edges: details
                .lists_edges
                .then(|| edges.iter().map(|edge| WireEdge::new(edge, entry)).collect()),
            peak_chain: details.chain.as_ref().map(|chain| chain_json(chain, entry)),
            fragmentation: details
                .fragmentation
                .as_ref()
                .map(|fragmentation| WireFragmentation::new(fragmentation, entry)),
            why: reasons.map(|why| reason_json(why, edges, entry)).collect(),
            diagnostics: diagnostics_json(answer.diagnostics),
        }
    }
}

fn figures(answer: &PlanAnswer<'_>) -> Map<String, Json> {
    let planned = answer.planned;
    let fit = answer.fit();
    let object = json!({
        "strategy": planned.strategy,
        "name": answer.entry.name,
        "others": answer.others,
        "buffers": answer.entry.problem.buffers.len(),
        "lower_bound_bytes": planned.lower_bound.get(),
        "proved_bound_bytes": planned.proved_bound.get(),
        "footprint_bytes": planned.plan.footprint.get(),
        "over_bound_percent": answer.over_bound_percent(planned.plan.footprint),
        "capacity_bytes": answer.capacity.map(Bytes::get),
        "fits": fit.map(|fit| fit == Fit::Fits),
        "fit": fit.map(|fit| match fit {
            Fit::Fits => "fits",
            Fit::Impossible => "impossible",
            Fit::NotFound => "not_found",
        }),
        "optimal": answer.is_optimal(),
        "verified": answer.defect.is_none(),
        "lower_bound": answer.lower_bound.is_some(),
        "defect": answer.defect_text(),
        "nodes": planned.nodes,
        "elapsed_ns": answer.elapsed_ns,
        "strategies": list(&planned.tried, |tried| {
            json!({
                "strategy": tried.strategy,
                "footprint_bytes": tried.footprint.get(),
                "over_bound_percent": answer.over_bound_percent(tried.footprint),
                "nodes": tried.nodes,
                "elapsed_ns": tried.elapsed_ns,
            })
        }),
        "reuse_edges": answer.edges.len(),
    });
    fields_of(object, &[])
}
