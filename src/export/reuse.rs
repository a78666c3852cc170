//! The answer of `reuse`, and its warnings.

use serde::Serialize;
use serde_json::json;

use super::answer::{Answer, Page, diagnostics_blocks, lines_blocks};
use super::json_parts::diagnostics_json;
use super::record::{Record, Rows, Value};
use highwater_model::diagnostics::Diagnostics;
use highwater_options::nearest_of;
use highwater_rewrite::name_reuse::{Hazard, HazardKind, ReuseQuestion, ReuseReport};

#[derive(Clone, Copy, Debug)]
pub struct ReuseAnswer<'a> {
    pub question: &'a ReuseQuestion<'a>,
    pub report: &'a ReuseReport,
    pub diagnostics: &'a Diagnostics,
}

impl Answer for ReuseAnswer<'_> {
    /// Without the log, which can be far larger than its program.
    fn page(&self) -> Page {
        let Self { question, report, .. } = *self;
        let exception = report.reuse.exception.as_ref();
        let exception = exception.map(|exception| format!("Paddle raises {exception}"));
        let findings = report.findings.iter().map(|finding| {
            let severity = if finding.kind.is_corruption() {
                "error"
            } else {
                "warning"
            };
            format!("{severity}: {}", finding.message)
        });
        let warnings = reuse_warnings(question, report).into_iter();
        let warnings = warnings.map(|warning| format!("warning: {warning}"));
        let lines: Vec<String> = exception.into_iter().chain(findings).chain(warnings).collect();
        let title = format!("level {}", question.request.level);
        let mut blocks = vec![self.record().facts("reuse", &title).into()];
        blocks.extend(lines_blocks(lines));
        blocks.extend(diagnostics_blocks(self.diagnostics));
        Page(blocks)
    }

    fn json(&self) -> impl Serialize {
        self.record().key("diagnostics", diagnostics_json(self.diagnostics))
    }
}

impl<'a> ReuseAnswer<'a> {
    fn record(&self) -> Record<'a> {
        let Self { question, report, .. } = *self;
        let (reuse, figures) = (&report.reuse, &report.figures);
        let version = question.request.version.rules();
        let renames = Rows::new(&reuse.renames, |rename| {
            Record::new()
                .key("variable", rename.variable.to_string())
                .key("cache", rename.cache.to_string())
                .key("block", json!(rename.block))
                .key("op_index", json!(rename.op_index))
                .key("cfg_op_index", json!(rename.cfg_op_index))
        });
        let findings = Rows::new(&report.findings, |finding| {
            Record::new()
                .key("kind", finding.kind.name())
                .key("block", json!(finding.block))
                .key("op_index", json!(finding.op))
                .key("input_position", json!(finding.position))
                .key("variable", finding.variable.to_string())
                .key("renamed", finding.renamed.to_string())
                .key("message", &finding.message)
        });
        let batch = if question.batch == 1 { "" } else { "batch" };
        Record::new()
            .key("program", &question.program.name)
            .key("level", json!(question.request.level))
            .key("version", version.names.first().copied().unwrap_or_default())
            .field("hits", "hits", reuse.hits())
            .key("exception", reuse.exception.as_ref())
            .key("warnings", json!(reuse_warnings(question, report)))
            .key("log", Value::Texts(reuse.log.iter().map(|line| &*line.text).collect()))
            .key("renames", renames)
            .key("unsafe", findings)
            .shown("unsafe", report.findings.len())
            .field("bytes_before", "bytes before", figures.bytes_before)
            .field("bytes_after", "bytes after", figures.bytes_after)
            .field("peak_before_bytes", "peak before", figures.peak_before)
            .field("peak_after_bytes", "peak after", figures.peak_after)
            .field("batch", batch, question.batch)
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
