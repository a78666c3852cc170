//! `highwater remat`: a run of a graph or a log under a memory budget, with eviction and recomputation.

mod subject;

use anyhow::{Context as _, bail};

use super::args::{Format, RematArgs};
use super::request::{import_diagnostics, request};
use super::settings::Settings;
use super::text::print_answer;
use super::verified::told;
use super::{Verdict, timed};
use highwater_analysis::{Audit, LaneSet, RematLane, Request, compare, part_of};
use highwater_export::{RematAnswer, RematSweep};
use highwater_model::diagnostics::{Diagnostics, Severity};
use highwater_model::progress::Progress;
use highwater_model::units::{Bytes, Nanos};
use highwater_model::workload::Tape;
use highwater_options::{Finding, Lowered, Options, check, idle_dtr_options, keys, lower};
use highwater_rewrite::remat::{Budget, RematRequest, RematRun, find_heuristic, remat, unlimited_peak};
use highwater_session::{OnFailure, load};
use subject::subject;

/// A larger number is a number of bytes.
const LARGEST_RATIO: f64 = 16.0;

pub(super) fn run(args: &RematArgs, progress: &Progress<'_>) -> anyhow::Result<Verdict> {
    args.format.check(&[Format::Text, Format::Json])?;
    let mut settings = Settings::read(std::slice::from_ref(&args.file), &args.common, progress)?;
    set_options(args, &mut settings.document.options)?;
    let document = &settings.document;
    let loaded = load(&document.sources, document.with_evaluation, OnFailure::Stop, progress);
    let loaded = loaded.map_err(anyhow::Error::msg)?;
    let mut request = request(document, &loaded);
    // The body of an op may have dimensions that no graph has.
    request.plan.dims.extend(document.stated_dims());
    check_options(args, &request)?;
    let mut lowered = lower(&request.options, &request.environment, &request.device, &*request.files);
    if let Some(limit) = &args.thrash_limit {
        lowered.dtr.thrash_limit = thrash_limit(limit)?;
    }
    let chosen = subject(args.graph.as_deref(), &request, &lowered, progress)?;
    let mut diagnostics = import_diagnostics(&loaded, &settings);
    diagnostics.extend(&chosen.diagnostics);
    for sentence in idle_dtr_options(&request.options, lowered.dtr.heuristic) {
        diagnostics.warning(sentence, "");
    }
    let subject = Budgeted {
        tape: &chosen.tape,
        lower_bound: chosen.lower_bound.as_deref(),
        lowered: &lowered,
        unlimited: unlimited_peak(&chosen.tape, lowered.dtr.heuristic, progress)?,
        diagnostics,
    };
    if !args.sweep.is_empty() {
        return sweep(args, &subject, &chosen.alone, progress);
    }
    let budget = match &args.budget {
        Some(text) => Some(subject.bytes(budget(text).with_context(|| format!("--budget {text}"))?)),
        None => lowered.dtr.budget,
    };
    let Some(budget) = budget else {
        bail!(
            "no budget given; use --budget 0.5 (half of the unconstrained peak, {}), --budget SIZE or --set {}=SIZE",
            subject.unlimited,
            keys::EVICTION_THRESHOLD
        );
    };
    let (run, elapsed) = subject.run(budget, progress)?;
    if !holds(args, &subject, &[budget], &chosen.alone, progress)? {
        return Ok(Verdict::No);
    }
    print_answer(&subject.answer(&run, elapsed, args.events), args.format, false)?;
    Ok(Verdict::yes_if(run.is_within_budget()))
}

/// Whether the executed sequence of each budget holds as a simulation, or is not verified.
fn holds(
    args: &RematArgs,
    subject: &Budgeted<'_>,
    budgets: &[Bytes],
    alone: &Request,
    progress: &Progress<'_>,
) -> anyhow::Result<bool> {
    if !args.verifying.verify {
        return Ok(true);
    }
    let mut alone = alone.clone();
    let symbols = alone.workload.symbols();
    alone.plan.dims.retain(|name, _| symbols.contains(name));
    // Entries may name graphs that are not the subject.
    alone.plan.entries.clear();
    let audit = Audit::default();
    for budget in budgets {
        let lane = RematLane {
            heuristic: subject.lowered.dtr.heuristic,
            budget: Budget::Bytes(*budget),
        };
        let request = Request {
            lanes: LaneSet::Remat(vec![lane]),
            ..alone.clone()
        };
        audit.add(compare(&request, progress)?.verify(progress)?);
    }
    Ok(told(audit.verification()))
}

/// Flags win over options.
fn set_options(args: &RematArgs, options: &mut Options) -> anyhow::Result<()> {
    if let Some(name) = &args.heuristic {
        let heuristic = find_heuristic(name).map_err(anyhow::Error::msg)?;
        options.set_text(keys::REMAT_HEURISTIC, heuristic.name)?;
    }
    if let Some(name) = &args.free_neighbors {
        if !matches!(name.as_str(), "zero" | "arena") {
            bail!("--free-neighbors {name}: expected zero or arena");
        }
        options.set_text(keys::FREE_NEIGHBORS, name)?;
    }
    Ok(())
}

/// A multiple of the program's cost; `None` never stops.
fn thrash_limit(text: &str) -> anyhow::Result<Option<f64>> {
    let number: Option<f64> = text.trim().parse().ok().filter(|limit| *limit >= 0.0);
    let number = number.with_context(|| format!("--thrash-limit {text}: expected a number >= 0, e.g. 1.0, or inf"))?;
    Ok(Some(number).filter(|limit| limit.is_finite()))
}

/// Refuses values of `DTRConfig` that its constructor refuses. The threshold may come from --budget.
fn check_options(args: &RematArgs, request: &Request) -> anyhow::Result<()> {
    let mut options = request.options.clone();
    let has_budget = args.budget.is_some() || !args.sweep.is_empty();
    if has_budget && !options.is_set(keys::EVICTION_THRESHOLD) {
        options.set_text(keys::EVICTION_THRESHOLD, "1")?;
    }
    let findings = check(&options, &request.environment, &*request.files);
    let is_about_dtr = |finding: &&Finding| {
        let mut named = finding.options.iter();
        finding.severity == Severity::Error && named.any(|key| key.starts_with("dtr.") && options.is_set(key))
    };
    match findings.iter().find(is_about_dtr) {
        Some(finding) => bail!("{}: {}", finding.rule, finding.message),
        None => Ok(()),
    }
}

/// A part of the peak, or bytes: a number of at most 1, or one with a point, is a part.
fn budget(text: &str) -> anyhow::Result<Budget> {
    let number: Option<f64> = text.trim().parse().ok();
    let is_part = |number: f64| number > 0.0 && (number <= 1.0 || text.contains('.') && number <= LARGEST_RATIO);
    if let Some(ratio) = number.filter(|number| is_part(*number)) {
        return Ok(Budget::Ratio(ratio));
    }
    let bytes = Bytes::parse(text)?;
    if bytes == Bytes::ZERO {
        bail!("expected a share of the peak > 0, e.g. 0.5, or a size, e.g. 12GiB");
    }
    Ok(Budget::Bytes(bytes))
}

/// A tape with the settings of its runs.
struct Budgeted<'a> {
    tape: &'a Tape,
    lowered: &'a Lowered,
    lower_bound: Option<&'a str>,
    unlimited: Bytes,
    diagnostics: Diagnostics,
}

impl Budgeted<'_> {
    fn bytes(&self, budget: Budget) -> Bytes {
        match budget {
            Budget::Unlimited => self.unlimited,
            Budget::Bytes(bytes) => bytes,
            Budget::Ratio(ratio) => part_of(self.unlimited, ratio),
        }
    }

    fn run(&self, budget: Bytes, progress: &Progress<'_>) -> anyhow::Result<(RematRun, Nanos)> {
        let request = RematRequest {
            budget: Some(budget),
            ..self.lowered.dtr.clone()
        };
        let (run, elapsed) = timed(|| remat(self.tape, &request, progress));
        Ok((run?, elapsed))
    }

    fn answer<'b>(&'b self, run: &'b RematRun, elapsed: Nanos, has_events: bool) -> RematAnswer<'b> {
        RematAnswer {
            tape: self.tape,
            run,
            unlimited: self.unlimited,
            minimum: self.lowered.dtr.factors.evictee_minimum_size,
            lower_bound: self.lower_bound,
            diagnostics: &self.diagnostics,
            elapsed,
            has_events,
        }
    }
}

/// A run per budget; none of them decides the exit code.
fn sweep(
    args: &RematArgs,
    subject: &Budgeted<'_>,
    alone: &Request,
    progress: &Progress<'_>,
) -> anyhow::Result<Verdict> {
    let read = |text: &String| Ok(subject.bytes(budget(text).with_context(|| format!("--sweep {text}"))?));
    let budgets: Vec<Bytes> = args.sweep.iter().map(read).collect::<anyhow::Result<_>>()?;
    if !holds(args, subject, &budgets, alone, progress)? {
        return Ok(Verdict::No);
    }
    let mut runs = Vec::with_capacity(budgets.len());
    for budget in budgets {
        let (mut run, elapsed) = subject.run(budget, progress)?;
        // The table of a sweep has no decisions.
        if !args.events || args.format != Format::Json {
            (run.events, run.choices) = Default::default();
        }
        runs.push((run, elapsed));
    }
    let answer = RematSweep {
        tape: subject.tape,
        heuristic: subject.lowered.dtr.heuristic,
        unlimited: subject.unlimited,
        runs: runs
            .iter()
            .map(|(run, elapsed)| subject.answer(run, *elapsed, args.events))
            .collect(),
        diagnostics: &subject.diagnostics,
    };
    print_answer(&answer, args.format, false)?;
    Ok(Verdict::Done)
}
