//! What an explained step says of recorded blocks beyond those of tensors: call site, address, stream, segment.

use super::PeakAnswer;
use crate::record::{Record, Rows};
use highwater_analysis::Comparison;
use highwater_model::units::{Bytes, grouped};
use highwater_model::workload::{RecordedBlock, Recording, Segments};
use highwater_timeline::{Attribute, LiveGroup, LiveMember, PeakReport};

/// What is said of the recorded blocks of an explained step.
pub(super) struct RecordedSegments<'a> {
    comparison: &'a Comparison,
    segments: Segments,
}

fn hexadecimal(address: u64) -> String {
    format!("{address:#x}")
}

impl<'a> RecordedSegments<'a> {
    /// O(segments log segments).
    pub(super) fn new(comparison: &'a Comparison, report: &PeakReport) -> Self {
        let first = report.set.members.first();
        let recording = first.and_then(|member| comparison.recording_of(member.tensor.graph));
        Self {
            comparison,
            segments: recording.map_or_else(Segments::default, Segments::new),
        }
    }

    /// `None` for what is no recorded block.
    fn block(&self, member: &LiveMember) -> Option<(&'a Recording, &'a RecordedBlock)> {
        self.comparison
            .recorded_block(member.tensor.graph, member.tensor.tensor)
    }

    /// The fields that a member has as a recorded block.
    pub(super) fn of(&self, member: &LiveMember) -> Option<Record<'a>> {
        let (recording, block) = self.block(member)?;
        let record = sites(recording, block)
            .key("category_rests_on", block.basis.key())
            .key("held_bytes", block.held);
        Some(notes(self.place(record, block), recording, block))
    }

    fn place(&self, record: Record<'a>, block: &RecordedBlock) -> Record<'a> {
        let segment = self.segments.of(block).map(|segment| hexadecimal(segment.address));
        record
            .key("address", block.address.map(|address| hexadecimal(address.get())))
            .key("stream", block.stated_stream())
            .key("segment", segment)
    }
}

/// Where the program allocates a block; the category is an inference.
fn sites<'a>(recording: &'a Recording, block: &'a RecordedBlock) -> Record<'a> {
    let text = |attribute: Attribute| attribute.of_block(recording, block);
    Record::new()
        .key("call_site", text(Attribute::CallSite))
        .key("function", text(Attribute::Function))
        .key("module", text(Attribute::Module))
        .key("category", block.category.name())
        .key("op", text(Attribute::OpType))
}

/// The file of its call site, and what the recording notes on its allocation.
fn notes<'a>(record: Record<'a>, recording: &'a Recording, block: &'a RecordedBlock) -> Record<'a> {
    let text = |attribute: Attribute| attribute.of_block(recording, block);
    record
        .key("file", text(Attribute::File))
        .key("annotation", text(Attribute::Annotation))
        .key("compile_context", text(Attribute::CompileContext))
        .key("user_metadata", text(Attribute::UserMetadata))
}

impl<'a> PeakAnswer<'a> {
    /// Live blocks as rows of CSV.
    pub(super) fn recorded_rows(&self) -> Rows<'a> {
        let (answer, recorded) = (*self, RecordedSegments::new(self.comparison, self.report));
        let members = self.report.set.members.iter().enumerate();
        let blocks = members.filter_map(|(position, member)| Some((position, recorded.block(member)?)));
        let blocks: Vec<(usize, (&Recording, &RecordedBlock))> = blocks.collect();
        Rows::indexed(blocks.len(), move |row| {
            let (position, (recording, block)) = blocks[row];
            let report = answer.report;
            let member = &report.set.members[position];
            let record = sites(recording, block)
                .key("group", &*report.groups[report.group_of[position] as usize].text)
                .key("recording", answer.graph(Some(member.tensor)))
                .key("bytes", member.bytes)
                .key("held_bytes", block.held)
                .key("share", answer.share(member.bytes))
                .key("birth", member.birth)
                .key("end", member.end);
            let range = report.range.as_ref().map(|stats| stats.range);
            let record = recorded
                .place(record, block)
                .key("alive_before", range.map(|range| member.birth < range.start));
            notes(record, recording, block)
        })
    }

    /// The call site that ran the forward operator of a group of one node of the autograd graph.
    pub(super) fn forward(&self, group: &LiveGroup) -> Option<&'a str> {
        if self.report.ask.by != Attribute::CallSite {
            return None;
        }
        let tensor = group.largest.0;
        let (recording, block) = self.comparison.recorded_block(tensor.graph, tensor.tensor)?;
        forward(recording, recording.site_of(block)?)
    }
}

fn forward(recording: &Recording, site: u32) -> Option<&str> {
    let sites = &recording.call_sites;
    sites.get(site)?.forward.map(|forward| sites.text(forward))
}

/// Sizes that a cell lists.
const FEW_SIZES: usize = 3;

/// `48 x 1.0 MiB, 2 x 4.0 KiB`.
pub(super) fn sizes_text(sizes: &[(Bytes, u64)]) -> String {
    let one = |(bytes, count): &(Bytes, u64)| match count {
        1 => bytes.to_string(),
        count => format!("{} × {bytes}", grouped(*count)),
    };
    let mut texts: Vec<String> = sizes.iter().take(FEW_SIZES).map(one).collect();
    if sizes.len() > FEW_SIZES {
        let left = grouped((sizes.len() - FEW_SIZES) as u64);
        let noun = if sizes.len() - FEW_SIZES == 1 { "size" } else { "sizes" };
        texts.push(format!("{left} more {noun}"));
    }
    texts.join(", ")
}
