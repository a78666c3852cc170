//! `highwater peak`: the live tensors at the peak, at a step or in a range, and savings.

mod find;
mod recorded;
mod tree;

use self::find::{found, told_language};
use self::recorded::{events, growth, segments};
use self::tree::{check_forms, has_tree, tree_request, tree_text};
use anyhow::{Context as _, bail};

use super::args::{Format, PeakArgs};
use super::compare::baseline::read_baseline;
use super::request::{Prepared, chosen_policy};
use super::settings::Settings;
use super::text::print_answer;
use super::{Verdict, print};
use highwater_analysis::{Comparison, LaneId, compare};
use highwater_export::{Baseline, FlameAnswer, PEAK_ROWS, PeakAnswer};
use highwater_model::progress::Progress;
use highwater_model::units::Step;
use highwater_session::Keep;
use highwater_sim::StaticMemoryPolicy;
use highwater_timeline::{
    Attribute, Changes, FlameGraph, PeakAt, PeakContributors, PeakReport, PeakRequest, StepRange, peak_step,
};

pub(super) fn run(args: &PeakArgs, progress: &Progress<'_>) -> anyhow::Result<Verdict> {
    check_forms(args)?;
    if let Some(query) = &args.find
        && told_language(query, args.format)?
    {
        return Ok(Verdict::Done);
    }
    let by = args.group_by.as_deref().map(attributes).transpose()?;
    let policy = args.policy.as_deref().map(chosen_policy).transpose()?;
    let at = at(args)?;
    if args.baseline.is_some() && at != PeakAt::Peak {
        bail!(
            "--baseline compares peaks, without --step and --range; to compare runs at a step, give both recordings: \
             `highwater peak BEFORE AFTER --align HOW --lane 2 --against 1 --step S`"
        );
    }
    let mut settings = Settings::read(&args.files, &args.common, progress)?;
    args.alignment.set(&mut settings.document.options)?;
    let mut prepared = Prepared::kept(settings, args.graph.as_ref(), Keep::Shown, progress)?;
    if args.against.is_none() {
        prepared.request.policies = policy.into_iter().collect();
    }
    let comparison = compare(&prepared.request, progress)?;
    if !args.verifying.holds(&comparison, progress)? {
        return Ok(Verdict::No);
    }
    args.alignment.warn_without_effect(&comparison);
    let name = &prepared.loaded.workload.name;
    let lane = lane(args, policy, &comparison)?;
    if let Some(text) = &args.events {
        events(
            args,
            &comparison,
            lane,
            range_of("--events", text)?,
            &prepared.diagnostics(),
        )?;
        return Ok(Verdict::Done);
    }
    if let Some(query) = &args.find {
        let lanes = searched(args, lane, &comparison);
        found(args, comparison, &lanes, query, (&prepared.diagnostics(), progress))?;
        return Ok(Verdict::Done);
    }
    let at = on_axis(&comparison, lane, at, name)?;
    if args.segments {
        let step = segments_step(at, &comparison, lane).with_context(|| format!("{name} has no step to explain"))?;
        segments(args, &comparison, lane, step, &prepared.diagnostics())?;
        return Ok(Verdict::Done);
    }
    if let Some(n_parts) = args.growth {
        // Without a number the steps are those of annotations.
        let n_parts = Some(n_parts).filter(|n_parts| *n_parts > 0);
        growth(args, &comparison, lane, n_parts, &prepared.diagnostics())?;
        return Ok(Verdict::Done);
    }
    let (by, within) = grouping(by, &comparison, lane).with_context(|| name.clone())?;
    let ask = PeakRequest {
        lane,
        at,
        by,
        within,
        n_first: args.top.unwrap_or(PEAK_ROWS),
        against: args
            .against
            .map(|number| position(&comparison, "--against", number))
            .transpose()?,
    };
    let nothing = || format!("{name} has no step to explain");
    let graph = has_tree(args).then(|| FlameGraph::new(&comparison, tree_request(args, ask)).with_context(nothing));
    let graph = graph.transpose()?;
    let tree = graph.as_ref().map(|graph| FlameAnswer {
        comparison: &comparison,
        graph,
        most: args.top,
    });
    if let Some(text) = tree.and_then(|tree| tree_text(args.format, &tree)) {
        print(&text)?;
        return Ok(Verdict::Done);
    }
    let mut report = PeakReport::checked(&comparison, ask, progress)?.with_context(nothing)?;
    let baseline = args.baseline.as_deref();
    let baseline = baseline.map(|path| read_baseline(path, &args.common, progress));
    if let Some(read) = baseline.transpose()? {
        report.changes = changes_from(&read.baseline, &comparison, lane);
    }
    let baseline_title = args.baseline.as_deref().map(|path| path.display().to_string());
    let import = prepared.diagnostics();
    let answer = PeakAnswer {
        baseline: baseline_title.as_deref(),
        tree,
        import: Some(&import),
        ..PeakAnswer::new(&comparison, &report, most(args))
    };
    print_answer(&answer, args.format, args.raw)?;
    Ok(Verdict::Done)
}

/// The lanes that `--find` searches: of recordings all, where none is chosen; lanes of policies hold the same tensors.
fn searched(args: &PeakArgs, lane: usize, comparison: &Comparison) -> Vec<usize> {
    let is_recording = |lane: &usize| comparison.recording(comparison.lanes[*lane].id).is_some();
    let recordings: Vec<usize> = (0..comparison.lanes.len()).filter(is_recording).collect();
    if args.lane.is_none() && recordings.contains(&lane) {
        recordings
    } else {
        vec![lane]
    }
}

/// The number of rows of each list.
fn most(args: &PeakArgs) -> usize {
    let most = match args.format {
        Format::Text | Format::Markdown => PEAK_ROWS,
        _ => usize::MAX,
    };
    args.top.unwrap_or(most)
}

/// The step whose segments are listed: without another that of the last failed request, else that with most live bytes of
/// those with most reserved bytes.
fn segments_step(at: PeakAt, comparison: &Comparison, lane: usize) -> Option<Step> {
    match at {
        PeakAt::Step(step) => Some(step),
        PeakAt::Peak | PeakAt::Range(_) => {
            let failed = comparison.failures(lane).last();
            let failed = failed.and_then(|failure| comparison.axis_step(lane, failure.event));
            let fullest = failed.or_else(|| comparison.fullest_step(lane));
            fullest.or_else(|| peak_step(comparison, lane))
        }
    }
}

/// The attributes of `--group-by`, else the usual one; and what the groups are divided into.
///
/// # Errors
/// Nothing in the lanes has an attribute.
fn grouping(
    by: Option<(Attribute, Option<Attribute>)>,
    comparison: &Comparison,
    lane: usize,
) -> anyhow::Result<(Attribute, Option<Attribute>)> {
    let Some((by, within)) = by else {
        return Ok((Attribute::of_peak(comparison, lane), None));
    };
    for one in [Some(by), within].into_iter().flatten() {
        if !one.is_of(comparison) {
            let known = Attribute::ALL.into_iter().filter(|one| one.is_of(comparison));
            let known: Vec<&str> = known.map(Attribute::key).collect();
            bail!("--group-by {} says nothing here; use {}", one.key(), known.join(", "));
        }
    }
    Ok((by, within.or_else(|| by.usual_parts())))
}

/// `file`, or `pool,call_site`: groups, and what they are divided into.
fn attributes(names: &str) -> anyhow::Result<(Attribute, Option<Attribute>)> {
    Ok(match names.split_once(',') {
        Some((by, within)) => (attribute(by.trim())?, Some(attribute(within.trim())?)),
        None => (attribute(names)?, None),
    })
}

fn attribute(name: &str) -> anyhow::Result<Attribute> {
    Attribute::find(name).with_context(|| {
        let known = Attribute::ALL.map(Attribute::key);
        format!(
            "--group-by {name}: there is no such attribute; known: {}",
            known.join(", ")
        )
    })
}

fn at(args: &PeakArgs) -> anyhow::Result<PeakAt> {
    if let Some(step) = args.step {
        return Ok(PeakAt::Step(Step(step)));
    }
    let Some(text) = &args.range else {
        return Ok(PeakAt::Peak);
    };
    Ok(PeakAt::Range(range_of("--range", text)?))
}

/// `100..200`.
fn range_of(flag: &str, text: &str) -> anyhow::Result<StepRange> {
    let ends = text.split_once("..");
    let ends = ends.and_then(|(a, b)| Some((a.trim().parse().ok()?, b.trim().parse().ok()?)));
    match ends {
        Some((start, end)) if start < end => Ok(StepRange {
            start: Step(start),
            end: Step(end),
        }),
        _ => bail!("{flag} {text}: expected FIRST..END (exclusive), e.g. 100..200"),
    }
}

/// Changes from the peak of a baseline; `None` where it lists no tensors.
fn changes_from(baseline: &Baseline, comparison: &Comparison, lane: usize) -> Option<Changes> {
    let before = baseline.lane.contributors.as_ref()?;
    let after = PeakContributors::new(comparison, lane, usize::MAX)?;
    Some(Changes::new(before, &after))
}

/// The lane of `--lane` or `--policy`, else the main lane.
fn lane(args: &PeakArgs, policy: Option<StaticMemoryPolicy>, comparison: &Comparison) -> anyhow::Result<usize> {
    if let Some(number) = args.lane {
        return position(comparison, "--lane", number);
    }
    if let Some(policy) = policy {
        let found = comparison
            .lanes
            .iter()
            .position(|lane| lane.id == LaneId::Policy(policy));
        return found.with_context(|| {
            let number = policy.number();
            format!(
                "--policy {number}: lanes here are not policies; choose with --lane: {}",
                titles(comparison)
            )
        });
    }
    comparison.main_lane().context("there is no lane to explain")
}

fn titles(comparison: &Comparison) -> String {
    let titles = comparison.lanes.iter().map(|lane| comparison.lane_title(lane.id));
    titles.collect::<Vec<_>>().join(", ")
}

/// The position of a lane from its number in a flag, which counts from 1.
fn position(comparison: &Comparison, flag: &str, number: usize) -> anyhow::Result<usize> {
    let position = number.checked_sub(1).filter(|lane| *lane < comparison.lanes.len());
    position.with_context(|| format!("{flag} {number}: no such lane; there are {}", titles(comparison)))
}

/// Steps of the axis from those of a lane; refuses steps after the last one.
fn on_axis(comparison: &Comparison, lane: usize, at: PeakAt, name: &str) -> anyhow::Result<PeakAt> {
    let step = |step: Step, flag: &dyn Fn() -> String| {
        let there = comparison.axis_step(lane, step);
        there.with_context(|| {
            let (count, word) = (comparison.n_shown_steps(lane), comparison.axis_word());
            format!(
                "{name}: {} exceeds the last {word}, {}",
                flag(),
                count.saturating_sub(1)
            )
        })
    };
    Ok(match at {
        PeakAt::Peak => PeakAt::Peak,
        PeakAt::Step(at) => PeakAt::Step(step(at, &|| format!("--step {at}"))?),
        PeakAt::Range(range) => {
            let flag = || format!("--range {}..{}", range.start, range.end);
            let (start, last) = (step(range.start, &flag)?, step(range.last(), &flag)?);
            PeakAt::Range(StepRange {
                start,
                end: Step(last.0 + 1),
            })
        }
    })
}
