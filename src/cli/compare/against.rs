//! The lane in force beside an earlier answer, for people: figures, what changed, limits.

use std::path::Path;

use anyhow::{Context as _, bail};

use crate::analysis::{Comparison, Limit, METRICS};
use crate::cli::args::CompareArgs;
use crate::cli::text::Table;
use crate::export::{Against, Baseline};
use crate::session::read_bytes;
use crate::timeline::signed_bytes;

/// How many changes of a kind are listed unless it is said.
pub(super) const FEW: usize = 10;

/// What the answer is compared with, read before anything is worked out.
pub(super) struct Asked {
    baseline: Option<(String, Baseline)>,
    limits: Vec<Limit>,
}

impl Asked {
    /// Reads the arguments and the file.
    pub(super) fn new(args: &CompareArgs) -> anyhow::Result<Self> {
        let mut limits = Vec::new();
        for text in &args.fail_if {
            let limit = Limit::parse(text).map_err(|error| anyhow::anyhow!("--fail-if {error}"))?;
            if limit.needs_before() && args.baseline.is_none() {
                bail!("--fail-if {text}: it speaks of what was before; give the earlier answer with --baseline FILE");
            }
            limits.push(limit);
        }
        let read = |path: &Path| -> anyhow::Result<(String, Baseline)> {
            let name = path.display().to_string();
            let bytes = read_bytes(path)?;
            let baseline = Baseline::read(&bytes).with_context(|| name.clone())?;
            Ok((name, baseline))
        };
        Ok(Self {
            baseline: args.baseline.as_deref().map(read).transpose()?,
            limits,
        })
    }

    /// The lane in force beside it; `None` where nothing is asked.
    pub(super) fn against<'a>(&'a self, comparison: &'a Comparison) -> anyhow::Result<Option<Against<'a>>> {
        if self.baseline.is_none() && self.limits.is_empty() {
            return Ok(None);
        }
        let baseline = self.baseline.as_ref().map(|(name, baseline)| (name.as_str(), baseline));
        let against = Against::new(comparison, baseline, &self.limits);
        let number = comparison.configured.number();
        let why = || {
            format!("policy {number} is in force, and --policies leaves it out; --baseline and --fail-if look at it")
        };
        Ok(Some(against.with_context(why)?))
    }
}

/// The text.
pub(super) fn text(against: &Against<'_>, comparison: &Comparison, most: usize) -> String {
    let mut out = String::new();
    if let Some((file, baseline)) = against.baseline {
        out.push_str(&format!(
            "\n{} against {file} ({})\n",
            against.title, baseline.lane.title
        ));
        if let Some(remark) = against.remark(comparison) {
            out.push_str(&format!("{remark}\n"));
        }
        out.push_str(&figures(against));
        out.push_str(&changes(against, most));
    }
    if !against.judged.is_empty() {
        out.push('\n');
    }
    for judged in &against.judged {
        match &judged.why {
            Some(why) => out.push_str(&format!("fails {}: {why}\n", judged.limit)),
            None => out.push_str(&format!("holds {}\n", judged.limit)),
        }
    }
    out
}

fn figures(against: &Against<'_>) -> String {
    let mut table = Table::new(&["figure", ">before", ">now", ">difference", ">"]);
    let mut n_rows = 0;
    for metric in METRICS {
        let Some((before, now)) = against.before(metric).zip(against.now(metric)) else {
            continue;
        };
        if before == now && !metric.name.starts_with("peak") {
            continue;
        }
        n_rows += 1;
        table.row(vec![
            metric.label.to_owned(),
            before.to_string(),
            now.to_string(),
            now.difference_text(before),
            now.percent_text(before),
        ]);
    }
    let memory = |is_out: bool| {
        if is_out {
            "runs out of memory"
        } else {
            "runs to its end"
        }
    };
    let (was, is) = against.baseline.map_or((false, false), |(_, baseline)| {
        (baseline.lane.out_of_memory, against.lane.summary.out_of_memory)
    });
    let mut out = if n_rows == 0 { String::new() } else { table.text() };
    if was != is {
        out.push_str(&format!("before it {}, now it {}\n", memory(was), memory(is)));
    }
    out
}

/// What the peak holds differently.
fn changes(against: &Against<'_>, most: usize) -> String {
    let Some(changes) = &against.changes else {
        return "the baseline does not list tensors, so that nobody can say which of them changed\n".to_owned();
    };
    if changes.rows.is_empty() && changes.unlisted == 0 {
        return "at the peak every tensor holds what it held before\n".to_owned();
    }
    let mut table = Table::new(&["at the peak", ">before", ">now", ">difference", "of"]);
    for line in changes.lines(most) {
        table.row(line.cells().into());
    }
    if changes.unlisted != 0 {
        let what = "tensors that are not listed one by one".to_owned();
        table.row(vec![
            String::new(),
            String::new(),
            String::new(),
            signed_bytes(changes.unlisted),
            what,
        ]);
    }
    format!("\n{}", table.text())
}
