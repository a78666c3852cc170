//! The summary of a recording: what a list of many ranks says of one that no lane shows.
//!
//! In: a recording. Out: its name, its peaks, its curves and call sites, and the blocks that are live at its peak. Events,
//! other blocks and stacks are given up, so that a thousand ranks fit into memory; the file is read again where a rank is
//! opened.

use super::{RecordedNames, RecordedPeaks, RecordedRegion, Recording, TotalKind};
use crate::units::Bytes;

/// Facts of the whole recording that its summary lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WholeRecording {
    pub peaks: RecordedPeaks,
    pub has_content: bool,
    /// See [`Recording::live_outline`].
    pub outline: Vec<Bytes>,
}

/// Parts of an outline.
const OUTLINE: usize = 96;

impl Recording {
    /// The largest of its peaks; of many recordings those with the highest get lanes. O(blocks + regions + steps).
    pub fn highest_peak(&self) -> Bytes {
        let stated = self.total(TotalKind::Allocated).map(|total| total.peak().0);
        let peaks = self.peaks();
        peaks.reserved.0.max(peaks.live.0).max(stated.unwrap_or_default())
    }

    /// The curve of live bytes for a small drawing: the maximum of each of 96 equal parts of the recording; fewer where it
    /// has fewer steps, none where no live bytes are known. O(blocks + steps).
    pub fn live_outline(&self) -> Vec<Bytes> {
        if let Some(whole) = &self.whole {
            return whole.outline.clone();
        }
        let n_steps = self.n_steps as usize;
        let mut outline = vec![Bytes::ZERO; OUTLINE.min(n_steps)];
        let n_parts = outline.len();
        let part = |step: usize| step * n_parts / n_steps.max(1);
        if self.blocks.is_empty() {
            let stated = self.total(TotalKind::Allocated);
            for (step, bytes) in stated.map_or(&[][..], |total| &total.samples) {
                if let Some(most) = outline.get_mut(part(step.idx())) {
                    *most = (*most).max(*bytes);
                }
            }
            return if stated.is_some() { outline } else { Vec::new() };
        }
        let mut change = vec![0_i128; n_steps + 1];
        for block in &self.blocks {
            change[block.birth.idx()] += i128::from(block.bytes.get());
            change[block.end.idx()] -= i128::from(block.bytes.get());
        }
        let mut live = 0_i128;
        for (step, difference) in change.into_iter().enumerate().take(n_steps) {
            live += difference;
            let bytes = Bytes(u64::try_from(live).unwrap_or(u64::MAX));
            if let Some(most) = outline.get_mut(part(step)) {
                *most = (*most).max(bytes);
            }
        }
        outline
    }

    /// Whether it is the summary of a recording.
    pub const fn is_summary(&self) -> bool {
        self.whole.is_some()
    }

    /// Its summary. O(blocks + regions + steps).
    #[must_use]
    pub fn summary(&self) -> Self {
        let peaks = self.peaks();
        let mut names = RecordedNames::default();
        let step = peaks.live.1;
        let is_live = |birth, end| step.is_some_and(|step| birth <= step && step < end);
        let mut blocks = self.blocks.clone();
        blocks.retain(|block| is_live(block.birth, block.end));
        if blocks.is_empty() {
            // There are blocks, though none at the peak.
            blocks.extend(self.blocks.first());
        }
        blocks.shrink_to_fit();
        for block in &mut blocks {
            block.name = names.intern(self.text(block.name));
        }
        let region = |region: &RecordedRegion| RecordedRegion {
            kind: names.intern(self.text(region.kind)),
            ..*region
        };
        // Whether there are regions and stacks is a fact.
        let regions = self.regions.iter().take(1).map(region).collect();
        let stacks = self.stacks.iter().take(1).map(|_| Box::default()).collect();
        Self {
            name: self.name.clone(),
            device: self.device.clone(),
            is_host: self.is_host,
            range: self.range,
            device_memory: self.device_memory,
            recorder: self.recorder.clone(),
            n_steps: self.n_steps,
            blocks,
            names: names.finish(),
            regions,
            stacks,
            totals: self.totals.clone(),
            call_sites: self.call_sites.clone(),
            process: self.process.clone(),
            whole: Some(Box::new(WholeRecording {
                peaks,
                has_content: self.has_content(),
                outline: self.live_outline(),
            })),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{RecordedBlock, RecordedName};
    use super::*;

    use crate::units::Step;

    #[test]
    fn a_summary_keeps_the_peak_and_what_is_live_there() {
        let mut names = RecordedNames::default();
        let mut block = |name: &str, birth, end, bytes| {
            RecordedBlock::new(names.intern(name), Step(birth), Step(end), Bytes(bytes))
        };
        let blocks = vec![
            block("a", 0, 9, 5),
            block("b", 1, 2, 1),
            block("c", 3, 6, 2),
            block("d", 7, 8, 1),
        ];
        let whole = Recording {
            name: "rank0".to_owned(),
            n_steps: 9,
            blocks,
            names: names.finish(),
            ..Recording::default()
        };
        let summary = whole.summary();
        assert_eq!(summary.peaks(), whole.peaks());
        assert_eq!(summary.highest_peak(), Bytes(7));
        assert!(summary.has_content() && summary.is_summary() && !whole.is_summary());
        let outline = [5, 6, 5, 7, 7, 7, 5, 6, 5].map(Bytes);
        assert_eq!(whole.live_outline(), outline);
        assert_eq!(summary.live_outline(), outline);
        let held: Vec<&str> = summary.blocks.iter().map(|block| summary.block_name(block)).collect();
        assert_eq!(held, ["a", "c"]);
        // Without bytes nothing is live, but there are blocks.
        let empty = Recording {
            n_steps: 2,
            blocks: vec![RecordedBlock::new(RecordedName(0), Step(1), Step(2), Bytes(0))],
            names: ["x"].into_iter().collect(),
            ..Recording::default()
        };
        assert_eq!(empty.summary().blocks.len(), 1);
    }
}
