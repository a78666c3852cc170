//! Where the peak comes from: live tensors with shares, and what lowers the peak.

use super::Report;
use crate::blocks::{Block, Table, bytes, paragraph, text};
use crate::compare::shortages;
use crate::peak::{PeakAnswer, rank_blocks};
use crate::subject::ExportError;
use highwater_model::progress::Progress;
use highwater_timeline::{Attribute, LeftOut, PeakAt, PeakReport, PeakRequest, PeakWithout, Uses, step_facts};

/// The number of rows of each table.
const FEW: usize = 12;

impl Report<'_> {
    /// The peak of the base lane.
    pub(super) fn peak_part(&self, progress: &Progress<'_>) -> Result<Vec<Block>, ExportError> {
        let comparison = self.comparison;
        let by = Attribute::usual(comparison, self.base);
        let ask = PeakRequest {
            lane: self.base,
            at: PeakAt::Peak,
            by,
            n_first: FEW,
            against: None,
        };
        let Some(report) = PeakReport::checked(comparison, ask, progress)? else {
            return Ok(vec![paragraph("No step to explain.")]);
        };
        let answer = PeakAnswer {
            comparison,
            report: &report,
            most: FEW,
            baseline: None,
        };
        let mut blocks = self.moment(&answer);
        if let Some(shown) = self.close_up() {
            blocks.push(self.figure(self.lanes().len(), &shown)?);
        }
        blocks.push(Block::Lines(shortages(&self.answer())));
        if report.set.members.is_empty() {
            blocks.push(paragraph("No live tensors at this step."));
            return Ok(blocks);
        }
        let word = comparison.axis_word();
        let (from, to) = (format!(">from {word}"), format!(">to {word}"));
        blocks.push(answer.group_table(FEW).into());
        blocks.push(answer.largest(&from, &to).into());
        if let Some(spread) = &report.ranks {
            blocks.extend(rank_blocks(spread, FEW));
        }
        blocks.push(Block::Heading(3, text("Reductions of peak live")));
        match &report.uses {
            Ok(uses) => blocks.extend(uses_blocks(&answer, uses)),
            Err(why) => blocks.push(paragraph(why)),
        }
        match &report.without {
            Ok(rows) => blocks.push(without(&answer, rows).into()),
            Err(why) => blocks.push(paragraph(why)),
        }
        Ok(blocks)
    }

    /// The step of the peak and its bytes.
    fn moment(&self, answer: &PeakAnswer<'_>) -> Vec<Block> {
        let comparison = self.comparison;
        let step = answer.report.set.step;
        let facts = step_facts(comparison, step).filter(|_| !comparison.is_measured_lane(self.base));
        let op = facts.map_or_else(String::new, |facts| match (facts.op_kind.as_str(), facts.op.as_str()) {
            ("", "") => String::new(),
            (kind, name) => format!(", {kind} {name}"),
        });
        let sentence = format!(
            "{}: peak live at {}{op}.",
            self.lane_name(self.base),
            comparison.step_text(self.base, step)
        );
        vec![
            paragraph(sentence),
            paragraph("The peak reserved of each lane is explained below its picture."),
            answer.breakdown("live, in").into(),
        ]
    }
}

fn uses_blocks(answer: &PeakAnswer<'_>, uses: &Uses) -> Vec<Block> {
    let tables = [answer.idle_table(uses).into(), answer.next_use_table(uses).into()];
    tables.into_iter().chain(PeakAnswer::unread_note(uses)).collect()
}

fn without(answer: &PeakAnswer<'_>, rows: &[PeakWithout]) -> Table {
    let what = match rows.first().map(|row| row.left_out) {
        Some(LeftOut::Group(_)) => answer.report.ask.by.words(),
        Some(LeftOut::Member(_)) | None => answer.comparison.study().words().tensor,
    };
    let caption = format!("Peak live if one {what} is removed");
    let at = format!(">at {}", answer.comparison.axis_word());
    let headings = ["without", ">peak live is lower by", ">peak live", &at];
    let mut table = Table::captioned(caption, &headings);
    for row in rows {
        let (name, _) = answer.report.left_out(answer.comparison, row.left_out);
        table.cells(vec![
            text(name),
            bytes(row.lowers_by),
            bytes(row.peak),
            answer.at_step(row.step),
        ]);
    }
    table
}
