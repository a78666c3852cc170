//! The answer of `reuse` as JSON, and its warnings.

use serde::Serialize;
use serde_json::{Value as Json, json};

use super::json_parts::{diagnostics_json, list};
use highwater_model::diagnostics::Diagnostics;
use highwater_options::nearest_of;
use highwater_rewrite::name_reuse::{Hazard, HazardKind, ReuseQuestion, ReuseReport};

#[derive(Serialize, Debug)]
pub struct WireReuse<'a> {
    #[serde(flatten)]
    head: Json,
    /// Borrowed, because a log can be far larger than its program.
    log: Vec<&'a str>,
    #[serde(flatten)]
    figures: Json,
}

impl<'a> WireReuse<'a> {
    pub fn new(question: &'a ReuseQuestion<'_>, report: &'a ReuseReport, diagnostics: &Diagnostics) -> Self {
        let (reuse, figures) = (&report.reuse, &report.figures);
        let version = question.request.version.rules();
        let renames = list(&reuse.renames, |rename| {
            json!({
                "variable": rename.variable.to_string(),
                "cache": rename.cache.to_string(),
                "block": rename.block,
                "op_index": rename.op_index,
                "cfg_op_index": rename.cfg_op_index,
            })
        });
        let findings = list(&report.findings, |finding| {
            json!({
                "kind": finding.kind.name(),
                "block": finding.block,
                "op_index": finding.op,
                "input_position": finding.position,
                "variable": finding.variable.to_string(),
                "renamed": finding.renamed.to_string(),
                "message": finding.message,
            })
        });
        Self {
            head: json!({
                "program": question.program.name,
                "level": question.request.level,
                "version": version.names.first().copied().unwrap_or_default(),
                "hits": reuse.hits(),
                "exception": reuse.exception,
                "warnings": reuse_warnings(question, report),
            }),
            log: reuse.log.iter().map(|line| &*line.text).collect(),
            figures: json!({
                "renames": renames,
                "unsafe": findings,
                "bytes_before": figures.bytes_before.get(),
                "bytes_after": figures.bytes_after.get(),
                "peak_before_bytes": figures.peak_before.get(),
                "peak_after_bytes": figures.peak_after.get(),
                "batch": question.batch,
                "diagnostics": diagnostics_json(diagnostics),
            }),
        }
    }
}

/// Unknown names that get a suggestion: each is compared with every variable.
const MOST_UNKNOWN: usize = 200;

/// The hazards of a report as sentences; the first unknown names come with the nearest known name.
pub fn reuse_warnings(question: &ReuseQuestion<'_>, report: &ReuseReport) -> Vec<String> {
    let names = || {
        question
            .program
            .blocks
            .iter()
            .flat_map(|block| block.variables.keys().map(|name| &**name))
    };
    let mut n_unknown = 0;
    let sentence = |hazard: &Hazard| {
        let is_unknown = hazard.kind == HazardKind::UnknownSkipName;
        n_unknown += usize::from(is_unknown);
        let unknown = hazard
            .variable
            .as_ref()
            .filter(|_| is_unknown && n_unknown <= MOST_UNKNOWN);
        let nearest = unknown.and_then(|name| nearest_of(name, names()));
        // The sentence may name a longer variable already.
        match nearest.filter(|nearest| !hazard.message.contains(&format!("\"{nearest}\""))) {
            Some(nearest) => format!("{}; did you mean \"{nearest}\"?", hazard.message),
            None => hazard.message.clone(),
        }
    };
    report.hazards.iter().map(sentence).collect()
}
