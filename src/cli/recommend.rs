//! `highwater recommend`: the recommended configuration, the runner-up, and the reasons.

mod allocator;

use anyhow::bail;

use super::args::{Format, RecommendArgs};
use super::space::Exploration;
use super::text::diagnostics;
use super::{Verdict, print, print_json};
use highwater_analysis::sweep::{Chosen, Goal, Recommendation, SweepPoint, excluded, recommend};
use highwater_export::{Table, recommendation_json};
use highwater_model::progress::Progress;
use highwater_model::units::{counted, grouped};
use highwater_session::shell_flag;

/// The answer is "no" where nothing fits.
pub(super) fn run(args: &RecommendArgs, progress: &Progress<'_>) -> anyhow::Result<Verdict> {
    args.space.format.check(&[Format::Text, Format::Json])?;
    let prepared = Exploration::prepared(&args.space, progress)?;
    if let Some(recordings) = allocator::recordings(args, &prepared) {
        return allocator::run(args, &prepared, &recordings, progress);
    }
    if args.torch.is_some() {
        bail!("--torch is for settings of torch's allocator, which are recommended for memory snapshots alone");
    }
    let exploration = Exploration::over(&args.space, prepared)?;
    let explorer = &exploration.explorer;
    let goal = Goal::parse(args.goal.as_deref().unwrap_or("least-overhead"), explorer.space())?;
    let found = recommend(explorer, goal, args.most, &mut |_: &SweepPoint| {}, progress)?;
    if !exploration.holds() {
        return Ok(Verdict::No);
    }
    match args.space.format {
        Format::Json => {
            let (name, diagnostics) = (&exploration.name, &exploration.diagnostics);
            print_json(&recommendation_json(name, explorer.space(), &found, diagnostics))?;
        }
        _ => print(&text(&exploration, &found))?,
    }
    Ok(Verdict::yes_if(found.winner.is_some()))
}

fn text(exploration: &Exploration, found: &Recommendation) -> String {
    let space = exploration.explorer.space();
    let mut out = exploration.head();
    let all = counted(space.size(), "configuration");
    let tried = if found.searched.is_whole() {
        format!("all of {all} simulated")
    } else {
        format!("{} of {all} simulated", grouped(found.searched.tried))
    };
    out.push_str(&format!("goal: {}; {tried}\n\n", found.goal.name(space)));
    let figures = [">peak reserved", ">peak live", ">device calls", ">overhead"];
    let mut table = Table::new(&[&["", "configuration"], &figures[..]].concat());
    for (word, chosen) in [("take", &found.winner), ("next", &found.runner_up)] {
        if let Some(chosen) = chosen {
            table.strings(row(word, &chosen.title, &chosen.point));
        }
    }
    table.strings(row("now", "active configuration", &found.base));
    out.push_str(&table.text());
    out.push('\n');
    for reason in &found.reasons {
        out.push_str(&format!("{}\n", reason.text()));
    }
    if let Some(winner) = &found.winner {
        out.push_str(&format!("\nto apply it: {}\n", flags(exploration, winner)));
    }
    for line in excluded(&found.rules, &found.left_out) {
        out.push_str(&format!("{line}\n"));
    }
    for sentence in &found.uncertain {
        out.push_str(&format!("uncertain: {}\n", sentence.text()));
    }
    out.push_str(&diagnostics(&exploration.diagnostics));
    out
}

fn row(word: &str, title: &str, point: &SweepPoint) -> Vec<String> {
    let mut cells = vec![word.to_owned(), title.to_owned()];
    match point.fitting() {
        Some(figures) => cells.extend([
            figures.peak_reserved.to_string(),
            figures.peak_live.to_string(),
            grouped(figures.device_calls()),
            figures.overhead.to_string(),
        ]),
        None => cells.push(point.label().to_owned()),
    }
    cells
}

/// The flags that set the winner when added to those of this call: values of the axes, the memory of the device, and the entries of
/// the schedule where an axis changes them.
fn flags(exploration: &Exploration, winner: &Chosen) -> String {
    let space = exploration.explorer.space();
    let values = space.axes().iter().zip(space.values(winner.point.idx));
    let mut flags: Vec<(&str, String)> = values.map(|(axis, value)| axis.flag(value)).collect();
    if let Some(capacity) = &exploration.capacity {
        flags.push(("--device-memory", capacity.clone()));
    }
    let entries = &winner.configuration.plan.entries;
    if *entries != space.base().plan.entries {
        flags.extend(entries.iter().map(|entry| ("--run", entry.to_string())));
    }
    let words: Vec<String> = flags.iter().map(|(flag, value)| shell_flag(flag, value)).collect();
    words.join(" ")
}
