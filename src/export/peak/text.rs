//! A step explained, as text: figures, groups, the largest tensors, what would lower it.

use super::PeakAnswer;
use highwater_analysis::Comparison;
use highwater_model::units::{Bytes, Step, counted, grouped, percent_text};
use highwater_timeline::{CurveStats, LiveGroup, OpUse, PeakAt, RangeStats, Tally, Uses, step_facts, tensor_label};

/// The report for people, with exact bytes.
pub fn peak_text(answer: &PeakAnswer<'_>) -> String {
    let PeakAnswer { comparison, report, .. } = *answer;
    let mut out = format!("{}\n\n", title(answer));
    out.push_str(&figures(answer));
    if let Some(stats) = &report.range {
        out.push_str(&range_text(comparison, stats));
    }
    if report.set.members.is_empty() {
        out.push_str("\nNo tensor is listed as live there.\n");
        return out;
    }
    let mut table = Columns::new(&[
        &format!("by {}", report.ask.by.words()),
        ">tensors",
        ">live",
        ">share",
        "largest",
    ]);
    for group in &report.groups {
        table.row(group_row(answer, group));
    }
    out.push_str(&format!("\n{}", table.text()));
    out.push_str(&format!("\n{}", largest(answer)));
    match &report.uses {
        Ok(uses) => out.push_str(&uses_text(answer, uses)),
        Err(why) => out.push_str(&format!("\n{why}\n")),
    }
    out.push_str(&without(answer));
    out.push_str(&against(answer));
    out
}

/// What another lane holds otherwise.
fn against(answer: &PeakAnswer<'_>) -> String {
    let PeakAnswer {
        comparison,
        report,
        most,
    } = *answer;
    let lane = report.ask.against.and_then(|lane| comparison.lanes.get(lane));
    let Some((changes, lane)) = report.changes.as_ref().zip(lane) else {
        return String::new();
    };
    let title = comparison.lane_title(lane.id);
    if changes.rows.is_empty() {
        return format!("\nThe same bytes of the same tensors as in {title}.\n");
    }
    let mut table = Columns::new(&[&format!("against {title}"), ">there", ">here", ">difference", "of"]);
    for line in changes.lines(most) {
        table.row(line.cells().into());
    }
    format!("\n{}", table.text())
}

fn title(answer: &PeakAnswer<'_>) -> String {
    let PeakAnswer { comparison, report, .. } = *answer;
    let lane = comparison.lanes.get(report.ask.lane).map(|lane| lane.id);
    let lane = lane.map_or_else(String::new, |id| comparison.lane_title(id));
    let word = comparison.axis_word();
    let step = report.set.step;
    let what = match report.ask.at {
        PeakAt::Peak => format!("the live peak, {word} {step}"),
        PeakAt::Step(_) => format!("{word} {step}"),
        PeakAt::Range(range) => format!("{word}s {} to {}, highest at {word} {step}", range.start, range.last()),
    };
    let op = if comparison.is_measured_lane(report.ask.lane) {
        String::new()
    } else {
        step_facts(comparison, step).map_or_else(String::new, |facts| facts.op_text().to_owned())
    };
    let op = if op.is_empty() { op } else { format!(" ({op})") };
    format!("{}, {lane}: {what}{op}", comparison.workload.name)
}

fn figures(answer: &PeakAnswer<'_>) -> String {
    let report = answer.report;
    let set = &report.set;
    let mut table = Columns::new(&["", ">bytes", ">exact"]);
    let mut row = |what: &str, bytes: Bytes| {
        table.row(vec![what.to_owned(), bytes.to_string(), bytes.exact()]);
    };
    if answer.comparison.states(report.ask.lane).1 {
        row("live", set.live);
    }
    let listed: Bytes = set.members.iter().map(|member| member.bytes).sum();
    row(&format!("in {}", counted(set.members.len() as u64, "tensor")), listed);
    if set.unlisted > Bytes::ZERO {
        row("live, of no listed tensor", set.unlisted);
    }
    for (rest, bytes) in &set.rest {
        row(rest.words(), *bytes);
    }
    if set.surplus > Bytes::ZERO {
        row("less what shares a place, or stands outside", set.surplus);
    }
    if let Some(reserved) = set.reserved {
        row("reserved", reserved);
    }
    if let Some(older) = report.alive_before {
        row(
            &format!("alive before the range: {}", grouped(older.count)),
            older.bytes,
        );
    }
    table.text()
}

fn range_text(comparison: &Comparison, stats: &RangeStats) -> String {
    let word = comparison.axis_word();
    let mut table = Columns::new(&["range", ">bytes", ">exact", ""]);
    let mut row = |what: String, bytes: Bytes, note: String| {
        table.row(vec![what, bytes.to_string(), bytes.exact(), note]);
    };
    let curves: [(&str, Option<&CurveStats>); 2] =
        [("live", stats.live.as_ref()), ("reserved", stats.reserved.as_ref())];
    for (name, curve) in curves {
        let Some(curve) = curve else { continue };
        row(format!("{name} peak"), curve.peak.0, format!("{word} {}", curve.peak.1));
        row(
            format!("{name} mean"),
            curve.mean(),
            counted(u64::from(curve.n_steps), word),
        );
        row(
            format!("{name} minimum"),
            curve.minimum.0,
            format!("{word} {}", curve.minimum.1),
        );
    }
    let tallies: [(&str, Tally); 4] = [
        ("alive before", stats.before),
        ("allocated inside", stats.allocated),
        ("freed inside", stats.freed),
        ("alive behind", stats.after),
    ];
    for (name, tally) in tallies {
        row(name.to_owned(), tally.bytes, counted(tally.count, "tensor"));
    }
    format!("\n{}", table.text())
}

fn group_row(answer: &PeakAnswer<'_>, group: &LiveGroup) -> Vec<String> {
    vec![
        group.text.to_string(),
        grouped(group.count),
        group.bytes.to_string(),
        percent_text(answer.report.share(group.bytes)),
        tensor_label(answer.comparison, group.largest.0).into_owned(),
    ]
}

fn largest(answer: &PeakAnswer<'_>) -> String {
    let report = answer.report;
    let mut table = Columns::new(&["largest", ">live", ">exact", ">share", ">from", ">to"]);
    for member in report.set.members.iter().take(answer.most) {
        table.row(vec![
            tensor_label(answer.comparison, member.tensor).into_owned(),
            member.bytes.to_string(),
            member.bytes.exact(),
            percent_text(report.share(member.bytes)),
            member.birth.to_string(),
            last_of(member.end),
        ]);
    }
    let mut text = table.text();
    let left = report.set.members.len().saturating_sub(answer.most);
    if left > 0 {
        text.push_str(&format!("and {} more\n", grouped(left as u64)));
    }
    text
}

/// The last step of a life.
fn last_of(end: Step) -> String {
    end.0.saturating_sub(1).to_string()
}

fn uses_text(answer: &PeakAnswer<'_>, uses: &Uses) -> String {
    let mut out = String::new();
    let by =
        |by: Option<&OpUse>, nobody: &str| by.map_or_else(|| nobody.to_owned(), |by| format!("{} {}", by.step, by.op));
    if uses.longest.is_empty() {
        out.push_str("\nNo live tensor waits: each is in use.\n");
    } else {
        let mut table = Columns::new(&["longest idle", ">live", ">idle steps", "last used", "next used"]);
        for row in uses.longest.iter().take(answer.most) {
            table.row(vec![
                answer.name(row.member),
                Bytes(answer.bytes(row.member)).to_string(),
                grouped(u64::from(row.idle.n_steps)),
                by(row.since.as_ref(), "not yet"),
                by(row.until.as_ref(), "never again"),
            ]);
        }
        out.push_str(&format!("\n{}", table.text()));
    }
    if !uses.holders.is_empty() {
        let mut table = Columns::new(&["kept for", ">step", ">tensors", ">live"]);
        for holder in uses.holders.iter().take(answer.most) {
            table.row(vec![
                holder.by.op.clone(),
                holder.by.step.to_string(),
                grouped(holder.count),
                holder.bytes.to_string(),
            ]);
        }
        out.push_str(&format!("\n{}", table.text()));
    }
    if uses.unread.0 > 0 {
        let (count, bytes) = uses.unread;
        out.push_str(&format!(
            "{bytes} in {} nobody uses any more.\n",
            counted(count, "tensor")
        ));
    }
    out
}

fn without(answer: &PeakAnswer<'_>) -> String {
    let report = answer.report;
    let rows = match &report.without {
        Ok(rows) if rows.is_empty() => return String::new(),
        Ok(rows) => rows,
        Err(why) => return format!("\n{why}\n"),
    };
    let mut table = Columns::new(&["the peak without", ">lower by", ">exact", ">peak", ">at step"]);
    for row in rows {
        table.row(vec![
            answer.name(row.member),
            row.lowers_by.to_string(),
            row.lowers_by.exact(),
            row.peak.to_string(),
            row.step.map_or_else(String::new, |step| step.to_string()),
        ]);
    }
    format!("\n{}", table.text())
}

/// Rows with columns as wide as their widest cell.
struct Columns {
    rows: Vec<Vec<String>>,
    is_right: Vec<bool>,
}

impl Columns {
    /// A heading that starts with `>` stands over figures.
    fn new(headings: &[&str]) -> Self {
        let words = headings
            .iter()
            .map(|heading| heading.trim_start_matches('>').to_owned());
        Self {
            is_right: headings.iter().map(|heading| heading.starts_with('>')).collect(),
            rows: vec![words.collect()],
        }
    }

    fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    fn text(&self) -> String {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.is_right.len()).map(width).collect();
        let mut out = String::new();
        for row in &self.rows {
            let cells = row.iter().zip(self.is_right.iter().zip(&widths));
            let cells: Vec<String> = cells
                .map(|(cell, (is_right, width))| {
                    let room = " ".repeat(width.saturating_sub(cell.chars().count()));
                    if *is_right {
                        room + cell
                    } else {
                        format!("{cell}{room}")
                    }
                })
                .collect();
            out.push_str(cells.join("  ").trim_end());
            out.push('\n');
        }
        out
    }
}
