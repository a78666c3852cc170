//! `highwater peak`: the live tensors at the peak, at a step or in a range, and savings; or the tree of call stacks.

use anyhow::{Context as _, bail};

use super::args::{Format, PeakArgs};
use super::opened::Named;
use super::request::{Prepared, policy_of};
use super::text::diagnostics;
use super::{Verdict, print, print_json};
use highwater_analysis::{Comparison, LaneId, compare};
use highwater_export::{
    FlameAnswer, PeakAnswer, SvgColors, WirePeak, WireTree, flame_svg, flame_text, folded_stacks, peak_csv, peak_text,
};
use highwater_model::progress::Progress;
use highwater_model::units::Step;
use highwater_sim::StaticMemoryPolicy;
use highwater_timeline::{Attribute, FlameGraph, FlameRequest, PeakAt, PeakReport, PeakRequest, StepRange};

/// The number of entries of each list without `--top`.
const FEW: usize = 10;

pub(super) fn run(args: &PeakArgs, progress: &Progress<'_>) -> anyhow::Result<Verdict> {
    check_forms(args)?;
    let by = attribute(&args.group_by)?;
    let policy = args.policy.as_deref().map(policy).transpose()?;
    let at = at(args)?;
    let named = Named::of(&args.files, &args.common.opening, progress)?;
    let settings = named.settings(&args.common)?;
    let mut prepared = Prepared::new(named.sources, settings, args.graph.as_ref(), &args.common, progress)?;
    if args.against.is_none() {
        prepared.request.policies = policy.into_iter().collect();
    }
    let comparison = compare(&prepared.request, progress)?;
    let ask = PeakRequest {
        lane: lane(args, policy, &comparison)?,
        at,
        by,
        n_first: args.top.unwrap_or(FEW),
        against: args
            .against
            .map(|number| position(&comparison, "--against", number))
            .transpose()?,
    };
    let name = &prepared.loaded.workload.name;
    check(&comparison, at, name)?;
    let nothing = || format!("{name} has no step to explain");
    let graph = has_tree(args).then(|| {
        let graph = FlameGraph::new(&comparison, tree_request(args, ask));
        graph.with_context(nothing)
    });
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
    let report = PeakReport::new(&comparison, ask).with_context(nothing)?;
    let most = match args.format {
        Format::Text => FEW,
        _ => usize::MAX,
    };
    let answer = PeakAnswer {
        comparison: &comparison,
        report: &report,
        most: args.top.unwrap_or(most),
    };
    let import = prepared.diagnostics();
    match args.format {
        Format::Json => {
            let wire = WirePeak::new(&answer, &import);
            match &tree {
                Some(tree) => print_json(&wire.with_tree(WireTree::new(tree)))?,
                None => print_json(&wire)?,
            }
        }
        Format::Csv => print(&peak_csv(&answer))?,
        _ => {
            let mut text = peak_text(&answer);
            if let Some(note) = comparison.scratch.note().filter(|_| comparison.lower_bound) {
                text.push_str(&format!("\n{note}\n"));
            }
            text.push_str(&diagnostics(&import));
            text.push_str(&diagnostics(&comparison.diagnostics));
            print(&text)?;
        }
    }
    Ok(Verdict::Done)
}

fn check_forms(args: &PeakArgs) -> anyhow::Result<()> {
    use Format::{Csv, Folded, Json, Svg, Text};
    args.format.check(&[Text, Json, Csv, Folded, Svg])?;
    if args.tree && args.format == Csv {
        bail!("--tree is not written as csv; use text, json, folded or svg");
    }
    if (args.inverse || args.cpp_frames) && !has_tree(args) {
        bail!("--inverse and --cpp-frames are for --tree, --format folded and --format svg");
    }
    Ok(())
}

/// Whether the answer is or has a tree of call stacks.
fn has_tree(args: &PeakArgs) -> bool {
    args.tree || matches!(args.format, Format::Folded | Format::Svg)
}

const fn tree_request(args: &PeakArgs, ask: PeakRequest) -> FlameRequest {
    FlameRequest {
        lane: ask.lane,
        at: ask.at,
        is_inverse: args.inverse,
        keeps_native: args.cpp_frames,
    }
}

/// The whole answer, where the tree is that.
fn tree_text(format: Format, tree: &FlameAnswer<'_>) -> Option<String> {
    match format {
        Format::Text => Some(flame_text(tree)),
        Format::Folded => Some(folded_stacks(tree.graph)),
        Format::Svg => Some(flame_svg(tree, &SvgColors::print())),
        Format::Json | Format::Csv | Format::Markdown | Format::Schema | Format::DocumentSchema => None,
    }
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

fn policy(text: &str) -> anyhow::Result<StaticMemoryPolicy> {
    policy_of(text).with_context(|| {
        let known = StaticMemoryPolicy::known_numbers();
        format!("--policy {text}: expected one of {known}")
    })
}

fn at(args: &PeakArgs) -> anyhow::Result<PeakAt> {
    if let Some(step) = args.step {
        return Ok(PeakAt::Step(Step(step)));
    }
    let Some(text) = &args.range else {
        return Ok(PeakAt::Peak);
    };
    let ends = text.split_once("..");
    let ends = ends.and_then(|(a, b)| Some((a.trim().parse().ok()?, b.trim().parse().ok()?)));
    match ends {
        Some((start, end)) if start < end => Ok(PeakAt::Range(StepRange {
            start: Step(start),
            end: Step(end),
        })),
        _ => bail!("--range {text}: expected FIRST..END (exclusive), e.g. 100..200"),
    }
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

/// Refuses steps behind the last one.
fn check(comparison: &Comparison, at: PeakAt, name: &str) -> anyhow::Result<()> {
    let n_steps = comparison.axis.n_steps;
    let (flag, last) = match at {
        PeakAt::Peak => return Ok(()),
        PeakAt::Step(step) => (format!("--step {step}"), step.0),
        PeakAt::Range(range) => (format!("--range {}..{}", range.start, range.end), range.last().0),
    };
    if last >= n_steps {
        bail!(
            "{name}: {flag} exceeds the last of {n_steps} {}s",
            comparison.axis_word()
        );
    }
    Ok(())
}
