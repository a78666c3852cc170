//! What an explained step says of recorded blocks beyond those of tensors: call site, address, stream, segment.

use serde::Serialize;

use super::{PeakAnswer, WireMember};
use highwater_analysis::Comparison;
use highwater_model::units::{Bytes, grouped};
use highwater_model::workload::Recording;
use highwater_timeline::{Attribute, LiveGroup, LiveMember, PeakReport, Segments};

/// Fields of a recorded block.
#[derive(Serialize, Clone, Debug)]
pub(super) struct RecordedFields {
    call_site: String,
    function: String,
    module: String,
    /// An inference.
    category: &'static str,
    op: String,
    held_bytes: u64,
    address: Option<String>,
    stream: Option<u64>,
    /// The address of the segment.
    segment: Option<String>,
}

/// A live block as a row of CSV.
#[derive(Serialize, Debug)]
pub(super) struct BlockRow<'a> {
    call_site: String,
    function: String,
    module: String,
    /// An inference.
    category: &'static str,
    op: String,
    group: &'a str,
    recording: &'a str,
    bytes: u64,
    held_bytes: u64,
    share: f64,
    birth: u32,
    end: u32,
    address: Option<String>,
    stream: Option<u64>,
    segment: Option<String>,
    alive_before: Option<bool>,
}

impl<'a> BlockRow<'a> {
    /// `None` for what is no recorded block.
    pub(super) fn new(member: WireMember<'a>) -> Option<Self> {
        let fields = member.recorded?;
        Some(Self {
            call_site: fields.call_site,
            function: fields.function,
            module: fields.module,
            category: fields.category,
            op: fields.op,
            group: member.group,
            recording: member.graph,
            bytes: member.bytes,
            held_bytes: fields.held_bytes,
            share: member.share,
            birth: member.birth,
            end: member.end,
            address: fields.address,
            stream: fields.stream,
            segment: fields.segment,
            alive_before: member.alive_before,
        })
    }
}

/// What is said of the recorded blocks of an explained step.
pub(super) struct RecordedSegments<'a> {
    comparison: &'a Comparison,
    segments: Segments,
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

    pub(super) fn of(&self, member: &LiveMember) -> Option<RecordedFields> {
        let (recording, block) = self
            .comparison
            .recorded_block(member.tensor.graph, member.tensor.tensor)?;
        let hexadecimal = |address: u64| format!("{address:#x}");
        let text = |attribute: Attribute| attribute.of_block(recording, block).to_owned();
        Some(RecordedFields {
            call_site: text(Attribute::CallSite),
            function: text(Attribute::Function),
            module: text(Attribute::Module),
            category: block.category.name(),
            op: text(Attribute::OpType),
            held_bytes: block.held.get(),
            address: block.address.map(|address| hexadecimal(address.get())),
            stream: block.stated_stream(),
            segment: self.segments.of(block).map(|segment| hexadecimal(segment.address)),
        })
    }
}

impl PeakAnswer<'_> {
    /// The call site that ran the forward operator of a group of one node of the autograd graph.
    pub(super) fn forward(&self, group: &LiveGroup) -> Option<&str> {
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
