//! Settings as text again: the values in force, and the text that sets them.

use super::table::{Effect, Field, OPTIONS, OptionRow};
use super::{INTERVALS, MIB, Settings};

impl Settings {
    /// Every key that acts in this version, with its value in force.
    pub fn values(&self) -> impl Iterator<Item = (&'static OptionRow, String)> {
        let acting = OPTIONS.iter().filter(|option| option.effect() == Effect::Acts);
        let known = acting.filter(|option| option.is_known_to(self.version));
        known.map(|option| {
            (
                option,
                self.value(option.field).unwrap_or_else(|| option.default.to_owned()),
            )
        })
    }

    /// The text that makes these settings from unset ones: keys that act and are not as by default, in the table's
    /// order.
    pub fn text(&self) -> String {
        let default = Self::new(self.version);
        let known = OPTIONS.iter().filter(|option| option.is_known_to(self.version));
        let pairs = known.filter_map(|option| {
            let value = self.value(option.field)?;
            let differs = default.value(option.field).as_ref() != Some(&value);
            differs.then(|| format!("{}:{value}", option.key))
        });
        pairs.collect::<Vec<String>>().join(",")
    }

    /// The value of a field as the settings write it; none: no text says it.
    fn value(&self, field: Field) -> Option<String> {
        let flag = |value| Some(if value { "True" } else { "False" }.to_owned());
        let size = |bytes: u64| Some((bytes / MIB).to_string());
        match field {
            Field::MaxSplit => Some(self.max_split).filter(|bytes| *bytes < u64::MAX).and_then(size),
            Field::Slack => self.slack.and_then(size),
            Field::LargeSegment => size(self.large_segment),
            Field::Threshold => Some(self.collection_threshold)
                .filter(|part| *part > 0.0)
                .map(|part| part.to_string()),
            Field::Divisions => self.divisions_text(),
            Field::Expandable => flag(self.expandable),
            Field::Throws => flag(self.throws),
            Field::Fraction => Some(self.fraction.to_string()),
            Field::BaseAlignment => Some((self.npu.base_alignment >> 10).to_string()),
            Field::PageSize => self.npu.huge_pages.then(|| "1g".to_owned()),
            Field::SegmentPage => self.npu.segment_page.and_then(size),
            Field::LazyReclaim => flag(self.npu.lazy_reclaim),
            Field::None => None,
        }
    }

    /// One number, or a list that every version reads alike; none: no divisions.
    fn divisions_text(&self) -> Option<String> {
        let divisions = self.divisions;
        let first = divisions[0];
        let last = divisions[INTERVALS - 1];
        let Some(other) = divisions.iter().position(|value| *value != first) else {
            return (first > 0).then(|| first.to_string());
        };
        // The first pair fills what is below it; intervals without a pair have none.
        let tail = divisions
            .iter()
            .rposition(|value| *value != last)
            .map_or(0, |at| at + 1);
        let mut pairs = vec![format!("{}:{first}", 1 << (other - 1))];
        let named = (other..=tail).filter(|at| divisions[*at] > 0);
        pairs.extend(named.map(|at| format!("{}:{}", 1 << at, divisions[at])));
        if last > 0 && tail < INTERVALS - 1 {
            pairs.push(format!(">:{last}"));
        }
        Some(format!("[{}]", pairs.join(",")))
    }
}
