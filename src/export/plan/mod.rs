//! The answer of `plan`: figures, lists and explanations, or rows of CSV, with the names and times of the file.

mod csv;
mod events;
mod explain;

pub use events::engine_plan_json;

use serde::Serialize;
use serde_json::json;

use self::csv::plan_csv;
use super::answer::{Answer, Page, diagnostics_blocks, lines_blocks};
use super::blocks::{Block, paragraph};
use super::json_parts::diagnostics_json;
use super::record::{Record, Rows, Value, known};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::units::{Bytes, Nanos, Step, grouped, percent_text};
use highwater_model::workload::ProblemEntry;
use highwater_plan::{Effort, Fit, Fragmentation, PeakChain, PlacementReason, PlanDefect, Planned, ReuseEdge, find};

/// The beginning of the diagnostic that there is nothing to place.
pub const NOTHING_TO_PLACE: &str = "there is nothing to place";

/// Lists and explanations on demand.
#[derive(Clone, Debug, Default)]
pub struct PlanDetails {
    pub lists_edges: bool,
    /// The stack that fixes the footprint.
    pub chain: Option<PeakChain>,
    pub fragmentation: Option<Fragmentation>,
    /// Of the offsets of single buffers.
    pub reasons: Vec<PlacementReason>,
}

/// How fixed offsets are left out.
const FREE: &str = "; --free-offsets places all buffers by highwater";

#[derive(Clone, Copy, Debug)]
pub struct PlanAnswer<'a> {
    pub entry: &'a ProblemEntry,
    pub planned: &'a Planned,
    /// Why the plan is invalid.
    pub defect: Option<&'a PlanDefect>,
    pub capacity: Option<Bytes>,
    pub edges: &'a [ReuseEdge],
    /// The names of the file's other entries.
    pub others: &'a [String],
    /// That there are others, in words.
    pub choice: Option<&'a str>,
    /// Whether buffers have alignments: those of a problem file, not those of a graph.
    pub states_alignment: bool,
    /// Why the sizes of the buffers are lower bounds, in words; `None` where they are exact.
    pub lower_bound: Option<&'a str>,
    pub diagnostics: &'a Diagnostics,
    pub elapsed_ns: u64,
    pub details: &'a PlanDetails,
}

impl Answer for PlanAnswer<'_> {
    fn page(&self) -> Page {
        Page(self.blocks())
    }

    fn json(&self) -> impl Serialize {
        let details = self.details;
        self.figures()
            .optional("edges", details.lists_edges.then(|| self.edges()))
            .optional("peak_chain", details.chain.as_ref().map(|chain| self.chain(chain)))
            .optional(
                "fragmentation",
                details.fragmentation.as_ref().map(|one| self.fragmentation(one)),
            )
            .optional("why", (!details.reasons.is_empty()).then(|| self.reasons()))
            .key("diagnostics", diagnostics_json(self.diagnostics))
    }

    fn csv(&self) -> Option<String> {
        Some(plan_csv(self.entry, &self.planned.plan, self.states_alignment))
    }
}

impl<'a> PlanAnswer<'a> {
    /// Whether the plan fits in the capacity, and the certainty of a "no"; `None` without a capacity.
    pub fn fit(&self) -> Option<Fit> {
        let planned = self.planned;
        match (self.capacity?, self.defect) {
            // An invalid plan fits nowhere.
            (capacity, Some(_)) if planned.plan.footprint <= capacity => Some(Fit::NotFound),
            (capacity, _) => Some(planned.fit(capacity)),
        }
    }

    fn is_empty(&self) -> bool {
        let mut buffers = self.entry.problem.buffers.iter();
        buffers.all(|buffer| buffer.size == Bytes::ZERO)
    }

    fn is_optimal(&self) -> bool {
        self.defect.is_none() && self.planned.is_optimal()
    }

    fn id(&self, buffer: u32) -> &'a str {
        self.entry.ids.get(buffer as usize)
    }

    /// A time of the file.
    fn time(&self, step: Step) -> Value<'a> {
        Value::Digits(self.entry.time(step))
    }

    fn defect_text(&self) -> Option<String> {
        let id = |position: usize| format!("\"{}\"", self.entry.ids.get(position));
        let time = |step: u32| self.entry.time(Step(step));
        Some(self.defect?.sentence(&id, &time))
    }

    /// Percent above the bound of live bytes; `None` for an invalid plan, whose size means nothing.
    fn over_bound(&self, footprint: Bytes) -> Option<Value<'a>> {
        let is_valid = self.defect.is_none();
        is_valid.then(|| Value::Percent(footprint.percent_over(self.planned.lower_bound)))
    }

    /// The smallest and the largest alignment of the buffers.
    fn alignment(&self) -> Option<(u64, u64)> {
        let buffers = self.entry.problem.buffers.iter();
        let alignments = buffers.map(|buffer| buffer.alignment.max(1));
        Some((alignments.clone().min()?, alignments.max()?))
    }

    fn alignment_text(&self) -> Option<String> {
        let (least, most) = self.alignment()?;
        Some(if least == most {
            Bytes(least).exact()
        } else {
            format!("{} to {}, by buffer", grouped(least), Bytes(most).exact())
        })
    }

    fn figures(&self) -> Record<'a> {
        let planned = self.planned;
        let fit = self.fit();
        // Colliding buffers do not reuse each other.
        let edges = if self.defect.is_none() { "reuse edges" } else { "" };
        let is_proved = planned.proved_bound > planned.lower_bound;
        let proved = is_proved.then_some(planned.proved_bound);
        Record::new()
            .key("strategy", planned.strategy)
            .key("name", &self.entry.name)
            .key("others", json!(self.others))
            .shown("footprint", planned.plan.footprint)
            .field("buffers", "buffers", self.entry.problem.buffers.len())
            .key(
                "alignment_bytes",
                self.alignment()
                    .filter(|(least, most)| least == most)
                    .map(|(least, _)| Bytes(least)),
            )
            .shown("alignment", self.alignment_text())
            .field("lower_bound_bytes", "peak live (lower bound)", planned.lower_bound)
            .key("proved_bound_bytes", planned.proved_bound)
            .shown("proved bound", proved)
            .key("footprint_bytes", planned.plan.footprint)
            .field(
                "over_bound_percent",
                "above bound",
                self.over_bound(planned.plan.footprint),
            )
            .field("capacity_bytes", "capacity", self.capacity)
            .key("fits", fit.map(|fit| fit == Fit::Fits))
            .key("fit", fit.map(fit_name))
            .key("optimal", self.is_optimal())
            .key("verified", self.defect.is_none())
            .optional("fixed_offsets", Some(planned.n_fixed).filter(|n_fixed| *n_fixed > 0))
            .key("lower_bound", self.lower_bound.is_some())
            .key("defect", self.defect_text())
            .field("nodes", "search nodes", planned.nodes)
            .field("elapsed_ns", "time", Nanos(self.elapsed_ns))
            .key("strategies", self.strategies())
            .field("reuse_edges", edges, self.edges.len())
    }

    fn strategies(&self) -> Rows<'a> {
        let answer = *self;
        Rows::new(&self.planned.tried, move |tried| {
            // The plan may be an improvement of all of them.
            let is_smallest = tried.footprint == answer.planned.plan.footprint;
            Record::new()
                .field("strategy", "strategy", tried.strategy)
                .field("footprint_bytes", ">footprint", tried.footprint)
                .shown(">exact", tried.footprint.exact())
                .field(
                    "over_bound_percent",
                    ">above bound",
                    known(answer.over_bound(tried.footprint)),
                )
                .key("nodes", tried.nodes)
                .shown(">nodes", Some(tried.nodes).filter(|nodes| *nodes > 0))
                .field("elapsed_ns", ">time", tried.elapsed_ns.map(Nanos))
                .shown(" ", is_smallest.then_some("smallest"))
        })
    }

    fn blocks(&self) -> Vec<Block> {
        let mut blocks: Vec<Block> = self.choice.map(paragraph).into_iter().collect();
        if self.is_empty() {
            blocks.extend(self.nothing());
            return blocks;
        }
        blocks.push(self.figures().facts("plan", self.planned.strategy).into());
        blocks.extend(lines_blocks(self.verdict()));
        blocks.extend(self.strategies().blocks(usize::MAX));
        blocks.extend(self.explanation());
        if self.details.lists_edges {
            blocks.extend(self.edges().blocks(usize::MAX));
        }
        blocks.extend(diagnostics_blocks(self.diagnostics));
        blocks
    }

    /// The diagnostic with the reason becomes the heading.
    fn nothing(&self) -> Vec<Block> {
        let mut others = Diagnostics::new();
        let mut reason = "";
        for entry in self.diagnostics.entries() {
            match entry.message.strip_prefix(NOTHING_TO_PLACE) {
                Some(why) => reason = why,
                None => others.push_counted(entry.clone()),
            }
        }
        let mut blocks = vec![paragraph(format!(
            "nothing to place in \"{}\"{reason}",
            self.entry.name
        ))];
        blocks.extend(diagnostics_blocks(&others));
        blocks
    }

    /// The certainty of the answer, a sentence per line.
    fn verdict(&self) -> Vec<String> {
        let planned = self.planned;
        if let Some(defect) = self.defect_text() {
            let is_of_file = find(planned.strategy).is_ok_and(|row| row.effort == Effort::Recorded);
            let whose = "offsets of the file; another --strategy places the buffers again";
            let whose = is_of_file.then(|| whose.to_owned());
            return std::iter::once(format!("NOT A VALID PLAN: {defect}"))
                .chain(whose)
                .collect();
        }
        let free = if planned.n_fixed > 0 { FREE } else { "" };
        let optimality = planned.optimality().map_or_else(
            || {
                let over = percent_text(planned.plan.footprint.percent_over(planned.proved_bound));
                format!("within {over} of the bound, so at most that much above the optimum")
            },
            |optimality| format!("{optimality}{free}"),
        );
        let mut lines = vec![format!("{optimality}; checked: no two live buffers share a byte")];
        let capacity = self.capacity.unwrap_or_default();
        lines.extend(self.fit().map(|fit| match fit {
            Fit::Fits => format!("fits in {capacity}"),
            Fit::Impossible => format!("does not fit in {capacity} (proven: no plan fits)"),
            Fit::NotFound => format!("does not fit in {capacity} (not proven: a plan may exist)"),
        }));
        lines.extend(self.lower_bound.map(|why| format!("the sizes are lower bounds: {why}")));
        lines
    }
}

const fn fit_name(fit: Fit) -> &'static str {
    match fit {
        Fit::Fits => "fits",
        Fit::Impossible => "impossible",
        Fit::NotFound => "not_found",
    }
}
