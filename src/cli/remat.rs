//! `highwater remat`: a run of a graph or a log under a memory budget, with eviction and recomputation.

mod subject;

use anyhow::{Context as _, bail};

use super::args::{Format, RematArgs};
use super::request::{import_diagnostics, request};
use super::settings::Settings;
use super::text::diagnostics_section;
use super::verified::told;
use super::{Verdict, print, print_json, timed};
use highwater_analysis::{Audit, LaneSet, RematLane, Request, compare, part_of};
use highwater_export::{RematAnswer, Table, WireRemat};
use highwater_model::diagnostics::{Diagnostics, Severity};
use highwater_model::progress::Progress;
use highwater_model::units::{Bytes, Nanos, counted, grouped};
use highwater_model::workload::Tape;
use highwater_options::{Finding, Lowered, Options, check, idle_dtr_options, keys, lower};
use highwater_rewrite::remat::{
    Budget, Engine, MinimumRule, NO_CHOICE, RematRequest, RematRun, RematStatus, find_heuristic, remat, unlimited_peak,
};
use highwater_session::{OnFailure, load};
use subject::subject;

/// A larger number is a number of bytes.
const LARGEST_RATIO: f64 = 16.0;

/// The number of storages in the message about a shortage.
const MOST_HELD: usize = 5;

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
    let answer = subject.answer(&run, elapsed);
    match args.format {
        Format::Json => print_json(&WireRemat::new(&answer, args.events))?,
        _ => print(&text(args, &answer))?,
    }
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

    fn answer<'b>(&'b self, run: &'b RematRun, elapsed: Nanos) -> RematAnswer<'b> {
        RematAnswer {
            tape: self.tape,
            run,
            unlimited: self.unlimited,
            minimum: self.lowered.dtr.factors.evictee_minimum_size,
            lower_bound: self.lower_bound,
            diagnostics: &self.diagnostics,
            elapsed_ns: elapsed.0,
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
    let mut table = Table::new(&[
        ">budget",
        ">of peak",
        "status",
        ">overhead",
        ">peak",
        ">evictions",
        ">recomputed",
    ]);
    let mut wire = Vec::new();
    let read = |text: &String| Ok(subject.bytes(budget(text).with_context(|| format!("--sweep {text}"))?));
    let budgets: Vec<Bytes> = args.sweep.iter().map(read).collect::<anyhow::Result<_>>()?;
    if !holds(args, subject, &budgets, alone, progress)? {
        return Ok(Verdict::No);
    }
    for budget in budgets {
        let (run, elapsed) = subject.run(budget, progress)?;
        if args.format == Format::Json {
            wire.push(WireRemat::new(&subject.answer(&run, elapsed), args.events));
            continue;
        }
        table.row(&[
            &budget,
            &format!("{:.1} %", budget.percent_of(subject.unlimited)),
            &run.status_words(),
            &format!("{:.3}", run.overhead()),
            &run.peak,
            &grouped(run.counts.evictions),
            &grouped(run.counts.rematerializations + run.counts.collateral),
        ]);
    }
    if args.format == Format::Json {
        print_json(&wire)?;
    } else {
        print(&format!(
            "{}: {}, unconstrained peak {}\n\n{}{}",
            subject.tape.name,
            subject.lowered.dtr.heuristic.label,
            subject.unlimited.exact(),
            table.text(),
            diagnostics_section(&subject.diagnostics)
        ))?;
    }
    Ok(Verdict::Done)
}

fn text(args: &RematArgs, answer: &RematAnswer<'_>) -> String {
    let RematAnswer { tape, run, .. } = *answer;
    let mut rows = String::new();
    let mut row = |name: &str, value: String| rows.push_str(&format!("{name:<24}{value}\n"));
    row("heuristic", format!("{} ({})", run.heuristic.label, run.heuristic.name));
    if let Some(budget) = run.budget {
        let part = budget.percent_of(answer.unlimited);
        row(
            "budget",
            format!("{}, {part:.1} % of the unconstrained peak", budget.exact()),
        );
    }
    row("unconstrained peak", answer.unlimited.exact());
    row("status", run.status_words());
    row(
        "peak",
        format!("{}, at op {}", run.peak.exact(), op_name(tape, run.peak_step)),
    );
    row("smallest evictee", smallest_evictee(answer));
    let ops = tape.ops.iter().filter(|op| !op.is_source).count() as u64;
    row("program", format!("{}, {}", counted(ops, "op"), run.base_compute));
    row(
        "recomputed",
        format!(
            "{}, {} (total {:.3} times the program's time)",
            counted(run.counts.rematerializations + run.counts.collateral, "tensor"),
            run.remat_compute,
            run.overhead()
        ),
    );
    row(
        "evicted",
        format!("{} times, {}", grouped(run.counts.evictions), run.counts.evicted_bytes),
    );
    if run.thrashes() {
        row(
            "thrash",
            "stopped: recomputation costs exceed simulation.thrash_limit".to_owned(),
        );
    }
    if run.is_over_budget() && !matches!(run.status, RematStatus::OutOfMemory(_)) {
        let above = run.peak.saturating_sub(run.budget.unwrap_or_default());
        let ends = match run.counts.steps_over_budget {
            0 => String::new(),
            steps => format!(", and at the end of {}", counted(steps, "op")),
        };
        let minimum = match run.heuristic.engine.minimum_rule() {
            MinimumRule::AtLeast | MinimumRule::Above => " (tensors below dtr.evictee_minimum_size never are)",
            MinimumRule::Ignored => "",
        };
        row(
            "over budget",
            format!("by {above} at the peak{ends}: no more tensors could be evicted{minimum}"),
        );
    }
    let mut out = format!("{}\n\n{rows}", tape.name);
    if let Some(why) = answer.lower_bound {
        out.push_str(&format!("the sizes are lower bounds: {why}\n"));
    }
    out.push_str(&shortage_text(tape, run));
    if args.events {
        out.push('\n');
        out.push_str(&events_text(tape, run));
    }
    out.push_str(&diagnostics_section(answer.diagnostics));
    out
}

/// The minimum size with its boundary, which the documentation and the code state differently.
fn smallest_evictee(answer: &RematAnswer<'_>) -> String {
    let minimum = answer.minimum.exact();
    match answer.run.heuristic.engine.minimum_rule() {
        MinimumRule::AtLeast => format!(
            "{minimum}, inclusive (the code compares size >= minimum; the DTRConfig documentation says \"exceeds\")"
        ),
        MinimumRule::Above => format!("larger than {minimum} (the code compares size > minimum)"),
        MinimumRule::Ignored => "any size: this heuristic ignores dtr.evictee_minimum_size".to_owned(),
    }
}

fn op_name(tape: &Tape, op: u32) -> &str {
    tape.ops.get(op as usize).map_or("the end", |op| &op.name)
}

/// The refused request, the storages in its way, and the missing bytes.
fn shortage_text(tape: &Tape, run: &RematRun) -> String {
    let RematStatus::OutOfMemory(shortage) = &run.status else {
        return String::new();
    };
    let held = shortage.held.iter().take(MOST_HELD).map(|id| {
        let tensor = &tape.tensors[*id as usize];
        format!("{} ({})", tensor.name, tensor.bytes)
    });
    let held: Vec<String> = held.collect();
    let more = shortage.held.len().saturating_sub(MOST_HELD);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    format!(
        "\nop {} requests {} while {} are live: {} are missing. Nothing can be evicted; live tensors: {}{more}\n",
        op_name(tape, shortage.op),
        shortage.requested.exact(),
        shortage.in_use.exact(),
        shortage.short.exact(),
        held.join(", ")
    )
}

fn events_text(tape: &Tape, run: &RematRun) -> String {
    let clock = match run.heuristic.engine {
        Engine::Runtime(_) => ">clock (ns)",
        Engine::StaticPlanner => ">step",
        Engine::Eager => ">clock (bytes moved)",
    };
    let mut table = Table::new(&["op", "event", "tensor", ">copy", clock, ">memory", ">score"]);
    for event in &run.events {
        let choice = run
            .choices
            .get(event.choice as usize)
            .filter(|_| event.choice != NO_CHOICE);
        table.row(&[
            &op_name(tape, event.step),
            &event.kind.name(),
            &tape.tensors[event.tensor as usize].name,
            &event.copy,
            &grouped(event.clock),
            &grouped(event.memory_after.get()),
            &choice.map_or_else(String::new, |choice| format!("{:e}", choice.score)),
        ]);
    }
    table.text()
}
