//! Explanations of a plan: the stack that fixes the footprint, gaps, and the reasons of single offsets.

use super::PlanAnswer;
use crate::answer::lines_blocks;
use crate::blocks::{Block, paragraph, text};
use crate::json_parts::list;
use crate::record::{Record, Rows, Value::Digits};
use highwater_model::units::{Bytes, percent_text};
use highwater_plan::{Fragmentation, PeakChain, PlacementReason, ReuseEdge, StepGaps};

/// Most rows of a table; JSON has all of them.
const MOST_ROWS: usize = 40;

impl<'a> PlanAnswer<'a> {
    pub(super) fn edges(&self) -> Rows<'a> {
        let answer = *self;
        Rows::new(self.edges, move |edge| answer.edge(edge))
    }

    fn edge(&self, edge: &ReuseEdge) -> Record<'a> {
        Record::new()
            .field("donor", "buffer", self.id(edge.earlier))
            .field("heir", "reused by", self.id(edge.later))
            .field("bytes", ">bytes", Digits(edge.bytes.get()))
    }

    pub(super) fn chain(&self, chain: &'a PeakChain) -> Record<'a> {
        Record::new()
            .key("peak_live_bytes", chain.peak_live)
            .key("peak_live_step", chain.peak_step.map(|step| self.time(step)))
            .key("live_at_peak_bytes", chain.live_at_peak)
            .key("hole_bytes", chain.gap_bytes)
            .key("links", self.links(chain))
    }

    fn links(&self, chain: &'a PeakChain) -> Rows<'a> {
        let answer = *self;
        Rows::new(&chain.links, move |link| {
            let buffer = &answer.entry.problem.buffers[link.buffer as usize];
            let gap = Some(link.gap_below.get()).filter(|bytes| *bytes > 0);
            Record::new()
                .field("buffer", "buffer", answer.id(link.buffer))
                .field("offset", ">offset", Digits(link.offset))
                .field("bytes", ">bytes", Digits(link.size.get()))
                .field("lower", ">from", answer.time(buffer.lower))
                .field("upper", ">to", answer.time(buffer.upper))
                .key("hole_below_bytes", link.gap_below)
                .shown(">gap below", gap.map(Digits))
                .key("live_at_peak", link.is_live_at_peak)
                .shown("at the peak", link.is_live_at_peak.then_some("live"))
        })
    }

    pub(super) fn fragmentation(&self, of: &'a Fragmentation) -> Record<'a> {
        let answer = *self;
        Record::new()
            .key("footprint_bytes", of.footprint)
            .key("peak_live_bytes", of.peak_live)
            .key("peak_live_step", of.peak_step.map(|step| self.time(step)))
            .key("lost_bytes", of.lost())
            .key(
                "at_footprint",
                of.at_footprint.map(|position| self.gaps_of(&of.steps[position])),
            )
            .key("holes", self.gaps(of))
            .key("steps", Rows::new(&of.steps, move |at| answer.gaps_of(at)))
    }

    /// From one step to the next change of the live set.
    fn gaps_of(&self, at: &StepGaps) -> Record<'a> {
        Record::new()
            .key("step", self.time(at.step))
            .key("live_bytes", at.live)
            .key("top_bytes", at.top)
            .key("hole_bytes", at.gap_bytes())
            .key("holes", at.n_gaps)
            .key("largest_hole_bytes", at.largest_gap)
    }

    fn gaps(&self, of: &'a Fragmentation) -> Rows<'a> {
        let answer = *self;
        Rows::new(&of.gaps, move |gap| {
            Record::new()
                .field("offset", ">gap at", Digits(gap.offset))
                .field("bytes", ">bytes", Digits(gap.size.get()))
                .field("below", "below it", gap.below.map(|below| answer.id(below)))
                .field("above", "above it", answer.id(gap.above))
        })
    }

    pub(super) fn reasons(&self) -> Rows<'a> {
        let answer = *self;
        Rows::new(&self.details.reasons, move |why| answer.reason(why))
    }

    fn reason(&self, why: &'a PlacementReason) -> Record<'a> {
        let buffer = &self.entry.problem.buffers[why.buffer as usize];
        Record::new()
            .key("buffer", self.id(why.buffer))
            .key("offset", why.offset)
            .key("bytes", buffer.size)
            .key("lower", self.time(buffer.lower))
            .key("upper", self.time(buffer.upper))
            .key("fixed", why.is_fixed)
            .key("moves_with", list(&why.moves_with, |member| self.id(*member).into()))
            .key("could_stand_at", why.lowest_offset)
            .key("blockers", self.blockers(why))
            .key("donors", self.reuse(why, |edge| edge.later))
            .key("heirs", self.reuse(why, |edge| edge.earlier))
    }

    /// The edges with the buffer at one end.
    fn reuse(&self, why: &PlacementReason, end: fn(&ReuseEdge) -> u32) -> Rows<'a> {
        let (answer, buffer) = (*self, why.buffer);
        let edges: Vec<&ReuseEdge> = self.edges.iter().filter(|edge| end(edge) == buffer).collect();
        Rows::indexed(edges.len(), move |position| answer.edge(edges[position]))
    }

    fn blockers(&self, why: &'a PlacementReason) -> Rows<'a> {
        let answer = *self;
        Rows::new(&why.blockers, move |blocker| {
            Record::new()
                .field("buffer", "neighbour", answer.id(blocker.buffer))
                .key("against", answer.id(blocker.against))
                .field("offset", ">offset", Digits(blocker.offset))
                .field("bytes", ">bytes", Digits(blocker.size.get()))
                .field("lower", ">overlap from", answer.time(blocker.lower))
                .field("upper", ">to", answer.time(blocker.upper))
                .field("refuses_from", ">excludes offsets from", Digits(blocker.from))
                .field("refuses_below", ">below", Digits(blocker.to))
        })
    }

    /// What was requested, for people.
    pub(super) fn explanation(&self) -> Vec<Block> {
        let details = self.details;
        let chain = details.chain.iter().flat_map(|chain| self.chain_blocks(chain));
        let gaps = details.fragmentation.iter().flat_map(|one| self.gap_blocks(one));
        let reasons = details.reasons.iter().flat_map(|why| self.reason_blocks(why));
        chain.chain(gaps).chain(reasons).collect()
    }

    fn chain_blocks(&self, chain: &'a PeakChain) -> Vec<Block> {
        let mut blocks = vec![paragraph("Stacked buffers that define the arena size, top first")];
        blocks.extend(self.links(chain).blocks(MOST_ROWS));
        let sizes = chain.links.iter().map(|link| link.size.get() + link.gap_below.get());
        let sum: u64 = sizes.sum();
        let share = |bytes: Bytes| percent_text(bytes.percent_of(Bytes(sum)));
        blocks.extend(chain.peak_step.map(|step| {
            let (live, gaps) = (chain.live_at_peak, chain.gap_bytes);
            Block::Note(text(format!(
                "total {sum} bytes: {} ({}) live at step {} (peak live {}), {} ({}) gaps",
                live.get(),
                share(live),
                self.entry.time(step),
                chain.peak_live.get(),
                gaps.get(),
                share(gaps),
            )))
        }));
        blocks
    }

    fn gap_blocks(&self, of: &'a Fragmentation) -> Vec<Block> {
        let larger = percent_text(of.footprint.percent_over(of.peak_live));
        let lost = of.lost().get();
        let mut lines = vec![format!(
            "Fragmentation: the arena is {lost} bytes ({larger}) larger than peak live"
        )];
        lines.extend(of.at_footprint.map(|at| &of.steps[at]).map(|at| {
            format!(
                "step of the peak {}: {} bytes live, {} in {} gap{}, the largest {}",
                self.entry.time(at.step),
                at.live.get(),
                at.gap_bytes().get(),
                at.n_gaps,
                if at.n_gaps == 1 { "" } else { "s" },
                at.largest_gap.get(),
            )
        }));
        let mut blocks = lines_blocks(lines);
        blocks.extend(self.gaps(of).blocks(MOST_ROWS));
        blocks
    }

    /// The reasons for the offset of a buffer.
    fn reason_blocks(&self, why: &'a PlacementReason) -> Vec<Block> {
        let buffer = &self.entry.problem.buffers[why.buffer as usize];
        let mut blocks = vec![paragraph(format!(
            "Why \"{}\" ({} bytes, steps {} to {}) is at {}",
            self.id(why.buffer),
            buffer.size.get(),
            self.entry.time(buffer.lower),
            self.entry.time(buffer.upper),
            why.offset
        ))];
        let note = |words: String| Block::Note(text(words));
        if !why.moves_with.is_empty() {
            let names: Vec<&str> = why.moves_with.iter().map(|member| self.id(*member)).collect();
            blocks.push(note(format!("same address as: {}", names.join(", "))));
        }
        blocks.extend(why.is_fixed.then(|| note("fixed by the file".to_owned())));
        blocks.extend((why.offset == 0).then(|| note("nothing is below it".to_owned())));
        blocks.extend(self.blockers(why).blocks(MOST_ROWS));
        blocks.extend(match why.lowest_offset {
            Some(offset) => Some(note(format!("a lower offset is possible: {offset}"))),
            None => (why.offset > 0).then(|| note("together they exclude every lower offset".to_owned())),
        });
        blocks.extend(
            self.reuse(why, |edge| edge.later)
                .captioned("", "reuses")
                .blocks(MOST_ROWS),
        );
        blocks.extend(self.reuse(why, |edge| edge.earlier).blocks(MOST_ROWS));
        blocks
    }
}
