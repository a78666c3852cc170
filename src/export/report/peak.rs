//! Where the peak comes from: live tensors with shares, and what lowers the peak.

use super::Report;
use crate::blocks::{Block, paragraph, text};
use crate::compare::{failures, shortages};
use crate::peak::PeakAnswer;
use crate::subject::ExportError;
use highwater_model::progress::Progress;
use highwater_timeline::{Attribute, PeakAt, PeakReport, PeakRequest};

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
            within: None,
            n_first: FEW,
            against: None,
        };
        let Some(report) = PeakReport::checked(comparison, ask, progress)? else {
            return Ok(vec![paragraph("No step to explain.")]);
        };
        let answer = PeakAnswer::new(comparison, &report, FEW);
        let mut blocks = answer.moment();
        blocks.push(paragraph(
            "The peak reserved of each lane is explained below its picture.",
        ));
        if let Some(shown) = self.close_up() {
            blocks.push(self.figure(self.lanes().len(), &shown)?);
        }
        blocks.push(Block::Lines(shortages(&self.answer())));
        blocks.extend(failures(&self.answer()));
        blocks.extend(answer.holders());
        let reductions = answer.reductions();
        if !reductions.is_empty() {
            blocks.push(Block::Heading(3, text("Reductions of peak live")));
            blocks.extend(reductions);
        }
        Ok(blocks)
    }
}
