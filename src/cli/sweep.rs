//! `highwater sweep`: every combination of some values, with fit and Pareto-optimality.

use super::args::{Format, SweepArgs};
use super::space::Exploration;
use super::text::diagnostics;
use super::{Verdict, print, print_csv, print_json};
use highwater_analysis::sweep::{
    Explorer, Outcome, SmallestDevice, Space, SweepAxis, SweepPoint, excluded, front, largest_of, left_out, refused_by,
    smallest_device,
};
use highwater_export::{SweepAnswers, Table, sweep_csv, sweep_json};
use highwater_model::progress::Progress;
use highwater_model::units::{counted, grouped, percent_text};

/// Of more rows, only the Pareto-optimal ones are listed.
const MOST_ROWS: usize = 200;

/// A stopped sweep writes the points that it has.
pub(super) fn run(args: &SweepArgs, progress: &Progress<'_>) -> anyhow::Result<Verdict> {
    args.space.format.check(&[Format::Text, Format::Json, Format::Csv])?;
    let exploration = Exploration::new(&args.space, progress)?;
    let explorer = &exploration.explorer;
    explorer.space().checked()?;
    let all: Vec<u64> = (0..explorer.space().size()).collect();
    let mut points: Vec<SweepPoint> = Vec::new();
    let ended = explorer.explore(&all, &mut |point| points.push(point.clone()), progress);
    points.sort_unstable_by_key(|point| point.idx);
    let mut answers = SweepAnswers {
        largest: largest(explorer, &points),
        smallest_device: None,
        diagnostics: exploration.diagnostics.clone(),
    };
    if ended.is_ok() {
        answers.smallest_device = smallest_device(explorer, &points, progress)?;
    }
    if !exploration.holds() {
        return Ok(Verdict::No);
    }
    match args.space.format {
        Format::Json => print_json(&sweep_json(&exploration.name, explorer.space(), &points, &answers))?,
        Format::Csv => {
            print_csv(
                &String::from_utf8_lossy(&sweep_csv(explorer.space(), &points)),
                args.raw,
            )?;
        }
        _ => print(&text(args, &exploration, &points, &answers))?,
    }
    ended?;
    Ok(Verdict::Done)
}

/// The largest value that fits of each axis with numbers.
fn largest(explorer: &Explorer, points: &[SweepPoint]) -> Vec<(String, highwater_options::Value, u64)> {
    let space = explorer.space();
    let axes = space.axes().iter().enumerate().filter(|(_, axis)| axis.is_quantity());
    let largest = axes.filter_map(|(position, axis)| {
        let point = &points[largest_of(space, points, position, 0..points.len())?];
        let value = space.values(point.idx)[position].clone();
        Some((axis.name().to_owned(), value, point.idx))
    });
    largest.collect()
}

fn text(args: &SweepArgs, exploration: &Exploration, points: &[SweepPoint], answers: &SweepAnswers) -> String {
    let space = exploration.explorer.space();
    let mut out = exploration.head();
    out.push_str(&counts(space, points));
    let best = front(points);
    let is_short = points.len() > MOST_ROWS && !args.all;
    let all = || (0..points.len()).collect();
    let shown: Vec<usize> = if is_short { best.clone() } else { all() };
    if is_short {
        out.push_str("Pareto-optimal configurations in peak and overhead (--all or --format csv lists all):\n");
    }
    out.push('\n');
    out.push_str(&table(space, points, &shown, &best));
    out.push('\n');
    out.push_str(&best_of(space, points, &best, answers));
    for line in excluded(&refused_by(points), &left_out(points)) {
        out.push_str(&format!("{line}\n"));
    }
    out.push_str("Overhead is an estimate.\n");
    out.push_str(&diagnostics(&answers.diagnostics));
    out
}

/// The number of points, and of these by ending.
fn counts(space: &Space, points: &[SweepPoint]) -> String {
    let count = |is_one: fn(&&SweepPoint) -> bool| points.iter().filter(is_one).count() as u64;
    let left = left_out(points);
    let counts = [
        (count(|point| point.fitting().is_some()), "fit"),
        (left.out_of_memory, "run out of memory"),
        (left.thrashes, "thrash"),
        (left.budget_too_small, "exceed their budget"),
        (
            count(|point| matches!(point.outcome, Outcome::Refused(_))),
            "refused by rules",
        ),
        (
            count(|point| matches!(point.outcome, Outcome::Failed(_))),
            "not simulated",
        ),
    ];
    let parts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, label)| format!("{} {label}", grouped(*count)))
        .collect();
    let whole = counted(space.size(), "configuration");
    match points.len() as u64 {
        tried if tried == space.size() => format!("{whole}: {}\n", parts.join(", ")),
        tried => format!("stopped after {} of {whole}: {}\n", grouped(tried), parts.join(", ")),
    }
}

/// A row per point; Pareto-optimal points have a star.
fn table(space: &Space, points: &[SweepPoint], shown: &[usize], best: &[usize]) -> String {
    let mut headings: Vec<&str> = vec![">#"];
    headings.extend(space.axes().iter().map(SweepAxis::name));
    headings.extend([">peak reserved", ">peak live", ">fragmentation"]);
    headings.extend([">device calls", ">overhead", "", ""]);
    let mut table = Table::new(&headings);
    for position in shown {
        let point = &points[*position];
        let values = space.axes().iter().zip(space.values(point.idx));
        let mut cells = vec![point.idx.to_string()];
        cells.extend(values.map(|(axis, value)| axis.value_text(value)));
        match point.figures() {
            Some(figures) => cells.extend([
                figures.peak_reserved.to_string(),
                figures.peak_live.to_string(),
                percent_text(figures.fragmentation * 100.0),
                grouped(figures.device_calls()),
                figures.overhead.to_string(),
            ]),
            None => cells.extend(vec![String::new(); 5]),
        }
        cells.push(if best.contains(position) { "*" } else { "" }.to_owned());
        cells.push(point.label().to_owned());
        table.strings(cells);
    }
    table.text()
}

fn best_of(space: &Space, points: &[SweepPoint], best: &[usize], answers: &SweepAnswers) -> String {
    let mut out = String::new();
    if best.is_empty() {
        out.push_str("nothing fits\n");
    } else {
        out.push_str("* Pareto-optimal in peak and overhead\n");
    }
    let named = |out: &mut String, what: &str, position: Option<&usize>| {
        if let Some((point, figures)) = position.and_then(|at| Some((&points[*at], points[*at].fitting()?))) {
            out.push_str(&format!(
                "{what}: {} (#{}), peak {}, overhead {}\n",
                space.title(point.idx),
                point.idx,
                figures.peak_reserved,
                figures.overhead
            ));
        }
    };
    named(&mut out, "lowest peak", best.first());
    let overhead = |at: &usize| points[*at].fitting().map(|figures| figures.overhead);
    let least = best.last().and_then(overhead);
    named(&mut out, "least overhead", best.iter().find(|at| overhead(at) == least));
    for (axis, value, idx) in &answers.largest {
        out.push_str(&format!("largest {axis} that fits: {value} (#{idx})\n"));
    }
    if let Some(SmallestDevice { device, point }) = &answers.smallest_device {
        let (name, idx) = (&device.name, point.idx);
        let figures = point.fitting().map_or_else(String::new, |figures| {
            format!(": peak {}, overhead {}", figures.peak_reserved, figures.overhead)
        });
        out.push_str(&format!("smallest device that fits: {name} (#{idx} on it{figures})\n"));
    }
    out
}
