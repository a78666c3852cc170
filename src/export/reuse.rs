//! The wire form of `highwater reuse --format json`.

use serde::Serialize;

use super::WireDiagnostic;
use highwater_model::diagnostics::Diagnostics;
use highwater_options::nearest_of;
use highwater_rewrite::name_reuse::{Hazard, HazardKind, Rename, ReuseQuestion, ReuseReport, Unsafe};

/// One rename.
#[derive(Serialize, Debug)]
pub struct WireRename {
    variable: String,
    cache: String,
    block: u32,
    op_index: u32,
    cfg_op_index: u32,
}

impl WireRename {
    fn new(rename: &Rename) -> Self {
        Self {
            variable: rename.variable.to_string(),
            cache: rename.cache.to_string(),
            block: rename.block,
            op_index: rename.op_index,
            cfg_op_index: rename.cfg_op_index,
        }
    }
}

/// One finding about what ops see.
#[derive(Serialize, Debug)]
pub struct WireUnsafe {
    kind: &'static str,
    block: u32,
    op_index: u32,
    input_position: Option<u32>,
    variable: String,
    renamed: String,
    message: String,
}

impl WireUnsafe {
    fn new(finding: &Unsafe) -> Self {
        Self {
            kind: finding.kind.name(),
            block: finding.block,
            op_index: finding.op,
            input_position: finding.position,
            variable: finding.variable.to_string(),
            renamed: finding.renamed.to_string(),
            message: finding.message.clone(),
        }
    }
}

/// What became of a program.
#[derive(Serialize, Debug)]
pub struct WireReuse<'a> {
    program: String,
    level: i64,
    version: &'static str,
    hits: usize,
    exception: Option<String>,
    warnings: Vec<String>,
    log: Vec<&'a str>,
    renames: Vec<WireRename>,
    #[serde(rename = "unsafe")]
    findings: Vec<WireUnsafe>,
    bytes_before: u64,
    bytes_after: u64,
    peak_before_bytes: u64,
    peak_after_bytes: u64,
    batch: u64,
    diagnostics: Vec<WireDiagnostic>,
}

impl<'a> WireReuse<'a> {
    /// The wire form of a report on what was asked, with what is odd about it.
    pub fn new(question: &ReuseQuestion<'_>, report: &'a ReuseReport, diagnostics: &Diagnostics) -> Self {
        let (reuse, figures) = (&report.reuse, &report.figures);
        let version = question.request.version.rules();
        Self {
            program: question.program.name.clone(),
            level: question.request.level,
            version: version.names.first().copied().unwrap_or_default(),
            hits: reuse.hits(),
            exception: reuse.exception.clone(),
            warnings: reuse_warnings(question, report),
            log: reuse.log.iter().map(|line| &*line.text).collect(),
            renames: reuse.renames.iter().map(WireRename::new).collect(),
            findings: report.findings.iter().map(WireUnsafe::new).collect(),
            bytes_before: figures.bytes_before.get(),
            bytes_after: figures.bytes_after.get(),
            peak_before_bytes: figures.peak_before.get(),
            peak_after_bytes: figures.peak_after.get(),
            batch: question.batch,
            diagnostics: WireDiagnostic::all(diagnostics),
        }
    }
}

/// Unknown names for which a near one is looked for: each is compared with every variable.
const MOST_UNKNOWN: usize = 200;

/// The hazards of a report as sentences; unknown names with the known one that is nearest, the first 200 of them.
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
