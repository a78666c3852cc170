//! The comparison of the loaded workload under the document's settings: the request, its assumptions, and the answer.

use std::sync::Arc;

use super::super::task::{Outcome, TaskKind};
use super::super::worker::Partial;
use super::Session;
use super::requests::{ContentTask, DifferenceTask};
use super::schedule::Schedule;
use highwater_analysis::{AnalysisError, Comparison, PlanWatch, Request, compare, repin};
use highwater_model::progress::Progress;
use highwater_timeline::{ColorBy, Timeline, TimelineParts};

struct Order {
    request: Request,
    /// An answer that differs in pins alone: only new pins are simulated.
    known: Option<Arc<Comparison>>,
    stage: Stage,
}

/// The length of searches for plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Cut short for a preview, which the whole follows.
    Preview,
    Whole,
    /// Cut short, with the plans of stopped searches.
    Stopped,
}

impl Order {
    /// The comparison, and whether it is a preview.
    fn perform(&mut self, progress: &Progress<'_>) -> Result<(Comparison, bool), AnalysisError> {
        if let Some(known) = &self.known {
            return Ok((repin(known, &self.request, progress)?, false));
        }
        if self.stage != Stage::Whole && self.request.has_search() {
            let nodes = std::mem::take(&mut self.request.search.nodes);
            let preview = compare(&self.request, progress);
            self.request.search.nodes = nodes;
            return Ok((preview?, true));
        }
        let comparison = compare(&self.request, progress)?;
        let is_stopped = has_unfinished_plan(&comparison);
        Ok((comparison, is_stopped))
    }
}

/// Whether a lane has the plan of a search that was stopped.
fn has_unfinished_plan(comparison: &Comparison) -> bool {
    let mut plans = comparison.lanes.iter().flat_map(|lane| &lane.plans);
    plans.any(|(_, planned)| planned.is_unfinished)
}

impl Session {
    /// Starts a comparison; a running load starts one at its end.
    pub(super) fn compare(&mut self) {
        self.compare_at(Stage::Preview);
    }

    /// Compares with the plans that stopped searches found, and searches for no others.
    pub(super) fn show_stopped(&mut self) {
        self.compare_at(Stage::Stopped);
    }

    fn compare_at(&mut self, stage: Stage) {
        if self.is_loading() {
            return;
        }
        let Some(loaded) = &self.loaded else {
            return;
        };
        let (mut request, schedule) = Schedule::new(&self.document, loaded, self.judged.files());
        self.problem = None;
        self.schedule = schedule;
        let known = self.answers.known_but_for_pins(&self.document, &request.workload);
        request.search.stopped.clone_from(&self.found.stopped);
        self.drop_found_plans();
        self.run_comparison(Order { request, known, stage });
    }

    fn run_comparison(&mut self, mut order: Order) {
        let work = move |partial: Partial, progress: &Progress<'_>| {
            order.request.search.watch = (order.stage != Stage::Stopped).then(|| {
                PlanWatch::new(move |found| partial.offer(|session: &mut Self| session.take_found_plan(found)))
            });
            let (comparison, is_preview) = order.perform(progress)?;
            let timeline = Timeline::checked(&comparison, TimelineParts::All, progress)?;
            Ok((order, (Arc::new(comparison), Arc::new(timeline)), is_preview))
        };
        self.worker
            .send_in_parts(TaskKind::Compare, work, |session, outcome| match outcome {
                Outcome::Done((order, answer, is_preview)) => {
                    let (document, workload) = (session.document.clone(), Arc::clone(&order.request.workload));
                    session.answers.replace(answer, document, workload, is_preview);
                    session.follow_answer();
                    if is_preview && order.stage == Stage::Preview {
                        session.run_comparison(Order {
                            stage: Stage::Whole,
                            ..order
                        });
                    }
                }
                Outcome::Failed(message) => session.problem = Some(message),
                Outcome::Cancelled => {}
            });
    }

    /// Requests for the new answer what panes showed of the last one.
    fn follow_answer(&mut self) {
        self.drop_pictures();
        self.ask_again::<DifferenceTask>();
        if self.look_order().by != ColorBy::Tensor {
            self.color_blocks();
        }
        self.ask_again::<ContentTask>();
        self.drop_dead_selection();
        self.search_again();
    }

    /// Drops a selection whose run or tensor is gone.
    fn drop_dead_selection(&mut self) {
        let Some(comparison) = self.answers.comparison() else {
            return;
        };
        self.selection.retain(|selected| {
            let run = comparison.axis.runs.get(selected.run as usize);
            run.is_some_and(|run| run.run.graph == selected.graph)
        });
    }

    /// The comparison of what is loaded under the document's settings, in which every dimension that nothing gives a value is 1.
    pub(super) fn request(&self) -> Option<Request> {
        let loaded = self.loaded.as_ref()?;
        Some(Schedule::new(&self.document, loaded, self.judged.files()).0)
    }
}
