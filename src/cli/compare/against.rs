//! The lane in force beside an earlier answer, for people: figures, what changed, limits.

use std::path::Path;

use anyhow::{Context as _, bail};

use crate::args::CompareArgs;
use crate::text::Table;
use highwater_analysis::{COMPARED, Comparison, Configuration, Limit, METRICS, Metric};
use highwater_export::{Against, Baseline, Beside, CompareAnswer, VerdictMark, verdict};
use highwater_session::read_bytes;
use highwater_timeline::signed_bytes;

/// How many changes of a kind are listed unless it is said.
pub(super) const FEW: usize = 10;

/// What the answer is compared with, read before anything is worked out.
pub(super) struct Asked {
    baseline: Option<(String, Baseline)>,
    /// A lane of the same answer as the baseline.
    lane: Option<String>,
    limits: Vec<Limit>,
}

impl Asked {
    /// Reads the arguments and the file.
    pub(super) fn new(args: &CompareArgs) -> anyhow::Result<Self> {
        let mut limits = Vec::new();
        for text in &args.fail_if {
            let limit = Limit::parse(text).map_err(|error| anyhow::anyhow!("--fail-if {error}"))?;
            if limit.needs_before() && args.baseline.is_none() && args.baseline_lane.is_none() {
                bail!(
                    "--fail-if {text}: it speaks of what was before; give the earlier answer with --baseline FILE, or another \
                     lane with --baseline-lane NAME"
                );
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
            lane: args.baseline_lane.clone(),
            limits,
        })
    }

    /// The lane that all others are compared with, where one is asked for.
    pub(super) fn beside(&self, comparison: &Comparison) -> anyhow::Result<Option<Beside>> {
        let Some(name) = &self.lane else { return Ok(None) };
        match comparison.lane_named(name) {
            Ok(lane) => Ok(Some(Beside::new(comparison, lane))),
            Err(known) => bail!("--baseline-lane {name}: there is no such lane; lanes are {known}"),
        }
    }

    /// The lane in force beside it; `None` where nothing is asked.
    pub(super) fn against<'a>(
        &'a self,
        comparison: &'a Comparison,
        options: &Configuration,
        beside: Option<&'a Beside>,
    ) -> anyhow::Result<Option<Against<'a>>> {
        if self.baseline.is_none() && self.limits.is_empty() {
            return Ok(None);
        }
        let baseline = self.baseline.as_ref().map(|(name, baseline)| (name.as_str(), baseline));
        let baseline = baseline.or_else(|| Some(("", &beside?.baseline)));
        let against = Against::new((comparison, options), baseline, &self.limits);
        let number = comparison.active_policy.number();
        let why = || {
            format!("policy {number} is in force, and --policies leaves it out; --baseline and --fail-if look at it")
        };
        Ok(Some(against.with_context(why)?))
    }
}

/// The text.
pub(super) fn text(against: &Against<'_>, most: usize) -> String {
    let mut out = String::new();
    if let Some((file, (_, baseline))) = against.file().zip(against.baseline) {
        out.push_str(&format!(
            "\n{} against {file} ({})\n",
            against.title, baseline.lane.title
        ));
        out.push_str(&figures(against));
        out.push_str(&changes(against, most));
    }
    out
}

/// What makes the answer "no", what is to be known, and which limits hold, at the end, where a terminal stands.
pub(super) fn verdict_text(answer: &CompareAnswer<'_>) -> String {
    let mut out = String::new();
    for line in verdict(answer) {
        let word = match line.mark {
            VerdictMark::No => "fails",
            VerdictMark::Warning => "warning",
            VerdictMark::Holds => "holds",
        };
        let of = if line.of.is_empty() {
            String::new()
        } else {
            format!(" {}", line.of)
        };
        let colon = if line.text.is_empty() { "" } else { ": " };
        out.push_str(&format!("{word}{of}{colon}{}\n", line.text));
    }
    if out.is_empty() { out } else { format!("\n{out}") }
}

fn figures(against: &Against<'_>) -> String {
    let [was, is] = against.headings().map(|heading| format!(">{heading}"));
    let mut table = Table::new(&["figure", &was, &is, ">difference", ">"]);
    let mut n_rows = 0;
    for metric in METRICS {
        let Some((before, now)) = against.before(metric).zip(against.now(metric)) else {
            continue;
        };
        if before == now && !metric.name.starts_with("peak") {
            continue;
        }
        n_rows += 1;
        let [bytes, percent] = against.difference_texts(now, before);
        table.row(vec![
            metric.label.to_owned(),
            before.to_string(),
            now.to_string(),
            bytes,
            percent,
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
    let mut out = String::new();
    if let Some(why) = against.untold() {
        out.push_str(&format!("{why}\n"));
    }
    for (title, changes) in against.told() {
        let mut table = Table::new(&[title, ">before", ">now", ">difference", "of"]);
        for line in changes.lines(most) {
            table.row(line.cells().into());
        }
        if changes.unlisted != 0 {
            let empty = String::new;
            let what = changes.unlisted_words().to_owned();
            table.row(vec![empty(), empty(), empty(), signed_bytes(changes.unlisted), what]);
        }
        out.push_str(&format!("\n{}", table.text()));
    }
    out
}

/// All lanes beside one of them: figures with differences, then what their peaks hold differently. Of lanes that share their
/// options with others, only the one in force is told tensor by tensor.
pub(super) fn beside_text(beside: &Beside, comparison: &Comparison, most: usize) -> String {
    let title = &beside.baseline.lane.title;
    let metrics: Vec<&Metric> = COMPARED.iter().filter_map(|name| Metric::find(name)).collect();
    let mut headings = vec!["lane".to_owned()];
    for metric in &metrics {
        headings.push(format!(">{}", metric.label));
        headings.push(">".to_owned());
    }
    headings.push("fits".to_owned());
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    let mut table = Table::new(&headings);
    let mut own = vec![title.clone()];
    for metric in &metrics {
        let figure = comparison.figure(beside.lane, metric);
        own.push(figure.map_or_else(unknown, |figure| figure.to_string()));
        own.push(String::new());
    }
    own.push(comparison.fit(beside.lane).text());
    table.row(own);
    let others = beside.others(comparison);
    for against in &others {
        let mut cells = vec![against.title.clone()];
        for metric in &metrics {
            let (before, now) = (against.before(metric), against.now(metric));
            cells.push(now.map_or_else(unknown, |now| now.to_string()));
            let difference = |(now, before)| {
                let [bytes, percent] = against.difference_texts(now, before);
                if bytes.is_empty() {
                    bytes
                } else {
                    format!("{bytes} ({percent})")
                }
            };
            cells.push(now.zip(before).map_or_else(String::new, difference));
        }
        cells.push(against.fit().text());
        table.row(cells);
    }
    let mut out = format!("\nlanes against {title}\n{}", table.text());
    let main = comparison
        .main_lane()
        .map(|lane| comparison.lane_title(comparison.lanes[lane].id));
    for against in others {
        let is_pinned = against.lane.pinned.is_some();
        if is_pinned || main.as_ref() == Some(&against.title) {
            out.push_str(&format!("\n{} against {title}\n", against.title));
            out.push_str(&changes(&against, most));
        }
    }
    out
}

fn unknown() -> String {
    "not recorded".to_owned()
}
