//! An explained step as text: figures, groups, the largest tensors, and the peak without single tensors.

use super::PeakAnswer;
use crate::blocks::{Block, Table, bytes, paragraph, plain_text, text};
use highwater_model::units::{Bytes, Step, counted, grouped};
use highwater_timeline::{PeakAt, RangeStats, Uses, step_facts};

/// The report for people, with exact bytes.
pub fn peak_text(answer: &PeakAnswer<'_>) -> String {
    plain_text(&blocks(answer))
}

fn blocks(answer: &PeakAnswer<'_>) -> Vec<Block> {
    let PeakAnswer { report, most, .. } = *answer;
    let mut figures = answer.breakdown("in");
    if let Some(older) = report.alive_before {
        let what = format!("live before the range: {}", grouped(older.count));
        figures.row(&[&what, &older.bytes, &older.bytes.exact()]);
    }
    let mut blocks = vec![paragraph(title(answer)), figures.into()];
    if let Some(stats) = &report.range {
        blocks.push(range_table(answer, stats).into());
    }
    if report.set.members.is_empty() {
        blocks.push(paragraph("No live tensors at this step."));
        return blocks;
    }
    blocks.push(answer.group_table(most).into());
    blocks.push(answer.largest(">from", ">to").into());
    let n_rows = if report.equal.is_empty() {
        report.set.members.len()
    } else {
        report.equal.len()
    };
    let left = n_rows.saturating_sub(most);
    if left > 0 {
        blocks.push(Block::Note(text(format!("and {} more", grouped(left as u64)))));
    }
    match &report.uses {
        Ok(uses) => blocks.extend(uses_blocks(answer, uses)),
        Err(why) => blocks.push(paragraph(why)),
    }
    blocks.extend(without(answer));
    blocks.extend(against(answer));
    blocks
}

/// Tensors that another lane does not have, or has with other bytes.
fn against(answer: &PeakAnswer<'_>) -> Option<Block> {
    let PeakAnswer {
        comparison,
        report,
        most,
        baseline,
    } = *answer;
    let changes = report.changes.as_ref()?;
    let title = match baseline {
        Some(file) => file.to_owned(),
        None => comparison.lane_title(report.ask.against.and_then(|lane| comparison.lanes.get(lane))?.id),
    };
    if changes.rows.is_empty() {
        return Some(paragraph(format!("Same live tensors as in {title}.")));
    }
    let heading = format!("against {title}");
    let mut table = Table::new(&[&heading, ">there", ">here", ">difference", "of"]);
    for line in changes.lines(most) {
        table.strings(line.cells().into());
    }
    Some(table.into())
}

fn title(answer: &PeakAnswer<'_>) -> String {
    let PeakAnswer { comparison, report, .. } = *answer;
    let lane = comparison.lanes.get(report.ask.lane).map(|lane| lane.id);
    let lane = lane.map_or_else(String::new, |id| comparison.lane_title(id));
    let step = report.set.step;
    let at = comparison.step_text(report.ask.lane, step);
    let what = match report.ask.at {
        PeakAt::Peak => format!("the live peak, {at}"),
        PeakAt::Step(_) => at,
        PeakAt::Range(range) => {
            let ends = comparison.steps_text(report.ask.lane, range.start, range.end);
            format!("{ends}, highest at {at}")
        }
    };
    let facts = step_facts(comparison, step).filter(|_| !comparison.is_measured_lane(report.ask.lane));
    let op = match facts.as_ref().map_or("", |facts| facts.op_text()) {
        "" => String::new(),
        op => format!(" ({op})"),
    };
    format!("{}, {lane}: {what}{op}", comparison.workload.name)
}

fn range_table(answer: &PeakAnswer<'_>, stats: &RangeStats) -> Table {
    let (comparison, lane) = (answer.comparison, answer.report.ask.lane);
    let word = comparison.axis_word();
    let at = |step: Step| comparison.step_text(lane, step);
    let mut table = Table::new(&["range", ">bytes", ">exact", ""]);
    let mut row = |what: String, held: Bytes, note: String| table.row(&[&what, &held, &held.exact(), &note]);
    for (name, curve) in [("live", &stats.live), ("reserved", &stats.reserved)] {
        let Some(curve) = curve else { continue };
        let steps = counted(u64::from(curve.n_steps), word);
        row(format!("{name} peak"), curve.peak.0, at(curve.peak.1));
        row(format!("{name} mean"), curve.mean(), steps);
        let (minimum, since) = curve.minimum;
        row(format!("{name} minimum"), minimum, at(since));
    }
    for (name, tally) in [
        ("live before", stats.before),
        ("allocated inside", stats.allocated),
        ("freed inside", stats.freed),
        ("live after", stats.after),
    ] {
        row(name.to_owned(), tally.bytes, counted(tally.count, answer.noun()));
    }
    table
}

fn uses_blocks(answer: &PeakAnswer<'_>, uses: &Uses) -> Vec<Block> {
    let idle = if uses.longest.is_empty() {
        paragraph("No live tensor is idle.")
    } else {
        answer.idle_table(uses).into()
    };
    let mut blocks = vec![idle];
    if !uses.holders.is_empty() {
        blocks.push(answer.next_use_table(uses).into());
    }
    blocks.extend(PeakAnswer::unread_note(uses));
    blocks
}

fn without(answer: &PeakAnswer<'_>) -> Option<Block> {
    let rows = match &answer.report.without {
        Ok(rows) if rows.is_empty() => return None,
        Ok(rows) => rows,
        Err(why) => return Some(paragraph(why)),
    };
    let at = format!(">at {}", answer.comparison.axis_word());
    let mut table = Table::new(&["savings if removed", ">lower by", ">exact", ">peak", &at]);
    for row in rows {
        let (name, _) = answer.report.left_out(answer.comparison, row.left_out);
        table.cells(vec![
            text(name),
            bytes(row.lowers_by),
            text(row.lowers_by.exact()),
            bytes(row.peak),
            answer.at_step(row.step),
        ]);
    }
    Some(table.into())
}
