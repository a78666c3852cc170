//! What the inferred categories of the recorded blocks of an explained step rest on, and how many bytes stay unknown.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::PeakAnswer;
use crate::blocks::{Block, paragraph};
use crate::record::{Record, Rows, Value};
use highwater_model::units::{Bytes, percent_text};
use highwater_model::workload::{Category, CategoryBasis};
use highwater_timeline::Attribute;

impl<'a> PeakAnswer<'a> {
    /// Categories by what they rest on, most bytes first; empty where the answer is not grouped by category.
    pub(super) fn categories(&self) -> Rows<'a> {
        let answer = *self;
        let mut sums: BTreeMap<(Category, CategoryBasis), (Bytes, u64)> = BTreeMap::new();
        for member in self.report.set.members.iter().filter(|_| self.has_categories()) {
            let block = self
                .comparison
                .recorded_block(member.tensor.graph, member.tensor.tensor);
            if let Some((_, block)) = block {
                let (bytes, count) = sums.entry((block.category, block.basis)).or_default();
                *bytes += member.bytes;
                *count += 1;
            }
        }
        let mut sums: Vec<_> = sums.into_iter().collect();
        sums.sort_by_key(|(key, (bytes, _))| (Reverse(*bytes), *key));
        Rows::indexed(sums.len(), move |row| {
            let ((category, basis), (bytes, count)) = sums[row];
            Record::new()
                .field("category", "category", category.name())
                .field("count", ">blocks", count)
                .field("bytes", ">live", bytes)
                .key("share", answer.share(bytes))
                .shown(">share", Value::Percent(answer.report.share(bytes)))
                .key("rests_on", basis.key())
                .field("because", "rests on", basis.text())
        })
        .captioned("What the categories rest on", "")
    }

    fn has_categories(&self) -> bool {
        self.report.ask.by == Attribute::Category && self.comparison.is_measured_lane(self.report.ask.lane)
    }

    /// Bytes without a category, and among them those of parameters that cannot be told from states.
    pub(super) fn unknown(&self) -> Option<(Bytes, Bytes)> {
        if !self.has_categories() {
            return None;
        }
        let (mut unknown, mut parameters) = (Bytes::ZERO, Bytes::ZERO);
        for member in &self.report.set.members {
            let block = self
                .comparison
                .recorded_block(member.tensor.graph, member.tensor.tensor);
            let (recording, block) = block?;
            if block.category == Category::Unknown {
                unknown += member.bytes;
            }
            if block.basis == CategoryBasis::ParameterOrState {
                parameters = recording.undecided_parameters;
            }
        }
        Some((unknown, parameters))
    }

    /// The table of both.
    pub(super) fn category_blocks(&self) -> Vec<Block> {
        let Some((unknown, parameters)) = self.unknown() else {
            return Vec::new();
        };
        let mut sentence = format!(
            "Categories are inferred; {unknown} ({}) stay unknown.",
            percent_text(self.report.share(unknown))
        );
        if parameters > Bytes::ZERO {
            sentence += &format!(
                " Of them {parameters} are parameters, one block for each gradient of its size; which ones is not known."
            );
        }
        vec![self.categories().table(usize::MAX).into(), paragraph(sentence)]
    }
}
