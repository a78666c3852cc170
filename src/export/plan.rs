//! The wire forms of `highwater plan`: one JSON object, or rows of CSV.

use std::fmt::Write as _;

use serde::Serialize;

use crate::plan::{Plan, Problem, ReuseEdge};

/// One reuse edge by names.
#[derive(Serialize, Debug)]
pub struct WireEdge {
    /// Who held the bytes before.
    pub donor: String,
    /// Who took them.
    pub heir: String,
    /// How many.
    pub bytes: u64,
}

/// A plan's figures.
#[derive(Serialize, Debug)]
#[expect(missing_docs, reason = "the fields are described in docs of the command line")]
pub struct WirePlan {
    pub strategy: &'static str,
    pub buffers: u64,
    pub lower_bound_bytes: u64,
    pub footprint_bytes: u64,
    pub capacity_bytes: Option<u64>,
    pub fits: Option<bool>,
    pub optimal: bool,
    pub verified: bool,
    pub nodes: u64,
    pub elapsed_ns: u64,
    pub reuse_edges: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edges: Option<Vec<WireEdge>>,
}

impl WirePlan {
    /// Counts the edges, and lists them where asked.
    #[must_use]
    pub fn with_edges(mut self, edges: &[ReuseEdge], names: &[String], lists: bool) -> Self {
        self.reuse_edges = edges.len() as u64;
        self.edges = lists.then(|| {
            edges
                .iter()
                .map(|edge| WireEdge {
                    donor: names[edge.donor as usize].clone(),
                    heir: names[edge.heir as usize].clone(),
                    bytes: edge.bytes.get(),
                })
                .collect()
        });
        self
    }
}

/// Rows `id,lower,upper,size,offset`, half-open; ids with commas or quotes are quoted.
pub fn plan_csv(names: &[String], problem: &Problem, plan: &Plan) -> String {
    let mut out = String::from("id,lower,upper,size,offset\n");
    for ((name, buffer), offset) in names.iter().zip(&problem.buffers).zip(&plan.offsets) {
        let id = if name.contains([',', '"', '\n', '\r']) {
            format!("\"{}\"", name.replace('"', "\"\""))
        } else {
            name.clone()
        };
        // Writing to a String cannot fail.
        let _infallible = writeln!(
            out,
            "{id},{},{},{},{offset}",
            buffer.lower,
            buffer.upper,
            buffer.size.get()
        );
    }
    out
}
