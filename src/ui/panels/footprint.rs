//! Part of the inspector: what holds the footprint of a lane's plan, and what it loses to holes.
//!
//! Both are worked out when the lane, the plan or the answer changes, not in every frame: O(n log n).

use std::sync::{Arc, Weak};

use eframe::egui::{self, RichText};

use highwater_analysis::{Comparison, Lane, arena_problem};
use highwater_model::graph::{Id as _, TensorId};
use highwater_model::units::Bytes;
use highwater_model::workload::GraphIdx;
use highwater_plan::{ChainLink, Fragmentation, PeakChain, PlacementProblem, Planned, fragmentation, peak_chain};
use highwater_session::{Command, Selected};
use highwater_timeline::{Timeline, facts};

/// Larger problems are left to the command line: a frame would wait for them.
const MAX_BUFFERS: usize = 100_000;
/// Links of a stack that is not opened, the largest.
const FEW: usize = 8;
/// Links of one that is.
const MANY: usize = 400;

/// What is known of one plan.
#[derive(Debug)]
pub(super) struct Footprint {
    timeline: Weak<Timeline>,
    plan: Weak<Planned>,
    graph: GraphIdx,
    chain: PeakChain,
    /// Positions of its links, the largest first; equal ones from the top down.
    by_size: Vec<usize>,
    fragmentation: Fragmentation,
    /// The tensor of each buffer.
    tensors: Vec<TensorId>,
    /// The first run of the graph.
    run: u32,
    is_open: bool,
}

impl Footprint {
    fn new(
        timeline: &Arc<Timeline>,
        (comparison, lane): (&Comparison, &Lane),
        (graph, planned): (GraphIdx, &Arc<Planned>),
    ) -> Self {
        let session = lane.session.as_deref().unwrap_or(&comparison.session);
        let position = session.runs.iter().position(|run| run.graph == graph);
        let bound = position.map(|run| &session.runs[run].bound);
        let made;
        let empty = PlacementProblem::default();
        let (problem, tensors): (&PlacementProblem, Vec<TensorId>) =
            match (comparison.workload.problems().first(), bound) {
                (Some(entry), _) => {
                    let n_buffers = u32::try_from(entry.problem.buffers.len()).unwrap_or(0);
                    (&entry.problem, (0..n_buffers).map(TensorId).collect())
                }
                (None, Some(bound)) => {
                    made = arena_problem(&bound.program, &bound.engine_sizes);
                    let items = &bound.program.lifetimes.items;
                    (&made, items.iter().map(|item| item.tensor).collect())
                }
                (None, None) => (&empty, Vec::new()),
            };
        let is_known = problem.buffers.len() == planned.plan.offsets.len() && problem.buffers.len() <= MAX_BUFFERS;
        let (chain, fragmentation) = if is_known {
            (
                peak_chain(problem, &planned.plan),
                fragmentation(problem, &planned.plan),
            )
        } else {
            Default::default()
        };
        let mut by_size: Vec<usize> = (0..chain.links.len()).collect();
        by_size.sort_by_key(|position| std::cmp::Reverse(chain.links[*position].size));
        Self {
            timeline: Arc::downgrade(timeline),
            plan: Arc::downgrade(planned),
            graph,
            chain,
            by_size,
            fragmentation,
            tensors,
            run: position.and_then(|run| u32::try_from(run).ok()).unwrap_or(0),
            is_open: false,
        }
    }

    fn is_of(&self, timeline: &Arc<Timeline>, planned: &Arc<Planned>) -> bool {
        let is_same = std::ptr::eq(self.timeline.as_ptr(), Arc::as_ptr(timeline));
        is_same && std::ptr::eq(self.plan.as_ptr(), Arc::as_ptr(planned))
    }

    fn tensor(&self, link: &ChainLink) -> Option<Selected> {
        Some(Selected {
            run: self.run,
            graph: self.graph,
            tensor: *self.tensors.get(link.buffer as usize)?,
        })
    }
}

/// The stack and the holes of the lane's largest arena; a click on a name selects it.
pub(super) fn footprint_ui(
    ui: &mut egui::Ui,
    comparison: &Comparison,
    timeline: &Arc<Timeline>,
    lane: &Lane,
    known: &mut Option<Footprint>,
    commands: &mut Vec<Command>,
) {
    // The first of equally large ones.
    let plans = lane.plans.iter().rev();
    let Some((graph, planned)) = plans.max_by_key(|(_, planned)| planned.plan.footprint) else {
        return;
    };
    if !known.as_ref().is_some_and(|known| known.is_of(timeline, planned)) {
        *known = Some(Footprint::new(timeline, (comparison, lane), (*graph, planned)));
    }
    let Some(known) = known else { return };
    if known.chain.links.is_empty() {
        return;
    }
    ui.strong("What holds the footprint");
    let name = comparison
        .session
        .graphs
        .get(graph.idx())
        .map_or("", |graph| &graph.name);
    let noun = comparison.study().words().tensor;
    let (footprint, holes) = (planned.plan.footprint, known.chain.gap_bytes);
    let text = format!(
        "{footprint} in {name}: {} {noun}s stand on each other, over {holes} of holes; the largest first",
        known.chain.links.len()
    );
    ui.add(egui::Label::new(text).wrap()).on_hover_text(format!(
        "{}, of it {} of holes; {} of the stack live on the step with the most live bytes",
        footprint.exact(),
        holes.exact(),
        known.chain.live_at_peak
    ));
    chain_ui(ui, comparison, known, commands);
    ui.add_space(6.0);
    fragmentation_ui(ui, &known.fragmentation);
    ui.add_space(6.0);
}

fn chain_ui(ui: &mut egui::Ui, comparison: &Comparison, known: &mut Footprint, commands: &mut Vec<Command>) {
    let most = if known.is_open { MANY } else { FEW };
    egui::Grid::new("stack of the footprint")
        .num_columns(3)
        .min_col_width(0.0)
        .spacing([8.0, 2.0])
        .striped(true)
        .show(ui, |ui| {
            ui.weak("size");
            ui.weak("offset");
            ui.weak("name");
            ui.end_row();
            for link in known
                .by_size
                .iter()
                .take(most)
                .filter_map(|position| known.chain.links.get(*position))
            {
                figure_ui(ui, link.size);
                figure_ui(ui, Bytes(link.offset));
                let tensor = known.tensor(link);
                let name = tensor.map_or(String::new(), |tensor| facts(comparison, tensor).name);
                let text = RichText::new(&name).color(ui.visuals().hyperlink_color);
                let button = ui.add(egui::Button::new(text).frame(false).truncate());
                let live = if link.is_live_at_peak {
                    "live on the step with the most live bytes"
                } else {
                    "not live on the step with the most live bytes"
                };
                if button.on_hover_text(format!("Select {name}; {live}")).clicked() {
                    commands.push(Command::Select(tensor));
                }
                ui.end_row();
                if link.gap_below > Bytes::ZERO {
                    figure_ui(ui, link.gap_below);
                    ui.label("");
                    ui.weak("hole below");
                    ui.end_row();
                }
            }
        });
    let left = known.chain.links.len().saturating_sub(FEW);
    if left > 0 {
        let words = if known.is_open {
            format!("Show only the largest {FEW}")
        } else {
            format!("Show {left} more")
        };
        if ui.small_button(words).clicked() {
            known.is_open = !known.is_open;
        }
    }
}

fn figure_ui(ui: &mut egui::Ui, bytes: Bytes) {
    ui.monospace(bytes.to_string()).on_hover_text(bytes.exact());
}

fn fragmentation_ui(ui: &mut egui::Ui, fragmentation: &Fragmentation) {
    ui.strong("Lost to holes");
    let lost = fragmentation.lost();
    let peak = fragmentation.peak_live;
    let at = fragmentation
        .peak_step
        .map_or(String::new(), |step| format!(" (step {step})"));
    let text = if lost == Bytes::ZERO {
        format!("nothing: the footprint is the most bytes that are live at once, rounding included, {peak}{at}")
    } else {
        format!(
            "{lost}: the footprint is {}, the most live bytes, rounding included, are {peak}{at}",
            fragmentation.footprint
        )
    };
    ui.add(egui::Label::new(text).wrap()).on_hover_text(lost.exact());
    let at = fragmentation.at_footprint.and_then(|at| fragmentation.steps.get(at));
    if let Some(at) = at {
        let text = match at.n_gaps {
            0 => format!("The footprint is reached at step {} with no hole.", at.step),
            1 => format!(
                "The footprint is reached at step {} over a hole of {}.",
                at.step, at.largest_gap
            ),
            count => format!(
                "The footprint is reached at step {} over {count} holes of {} in sum, the largest {}.",
                at.step,
                at.gap_bytes(),
                at.largest_gap
            ),
        };
        ui.add(egui::Label::new(text).wrap());
    }
}
