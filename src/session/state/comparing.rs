//! The comparison of the loaded workload under the document's settings: the request, its assumptions, and the answer.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::document::Document;
use super::super::loaded::Loaded;
use super::super::performer::free;
use super::super::planner::BestPlan;
use super::super::task::{Outcome, TaskKind};
use super::super::worker::Partial;
use super::Session;
use super::requests::{ContentTask, DifferenceTask};
use highwater_analysis::{AnalysisError, Comparison, PlanWatch, Request, bound_plan, compare, repin};
use highwater_model::progress::Progress;
use highwater_model::workload::SchedulePlan;
use highwater_options::SeenFiles;
use highwater_timeline::{ColorBy, Timeline, TimelineParts};

/// The value of dimensions that nothing gives one.
const ASSUMED: u64 = 1;

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
        let Assuming {
            mut request,
            bound,
            assumed,
        } = Assuming::new(&self.document, loaded, &self.files);
        self.problem = None;
        self.scheduled = request.plan.or_stated(&request.workload.schedule).into_owned();
        self.scheduled.linked_dims = bound.linked_dims;
        self.bound_dims = bound.dims;
        self.bound_dims.retain(|name, _| !request.plan.dims.contains_key(name));
        self.scheduled.dims.extend(self.bound_dims.clone());
        self.bound_dims.values_mut().for_each(Vec::dedup);
        self.assumed = assumed;
        let known = self.known_but_for_pins(&request.workload);
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
                    session.answered_workload = Some(Arc::clone(&order.request.workload));
                    session.take_compared(answer, is_preview);
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

    fn take_compared(&mut self, answer: (Arc<Comparison>, Arc<Timeline>), is_preview: bool) {
        self.best_plan = BestPlan::of_answer(self.best_plan.take(), &answer.0);
        free(self.answer.replace(answer));
        self.revision += 1;
        self.is_preview = is_preview;
        self.drop_pictures();
        self.ask_again::<DifferenceTask>();
        if self.look_order().by != ColorBy::Tensor {
            self.color_blocks();
        }
        self.ask_again::<ContentTask>();
        self.answered = Some(self.document.clone());
        self.drop_dead_selection();
        self.search_again();
    }

    /// Drops a selection whose run or tensor is gone.
    fn drop_dead_selection(&mut self) {
        let Some((comparison, _)) = &self.answer else {
            return;
        };
        self.selection.retain(|selected| {
            let run = comparison.axis.runs.get(selected.run as usize);
            run.is_some_and(|run| run.run.graph == selected.graph)
        });
    }

    /// A document as files have it: without values of samples that options replace.
    pub(super) fn stated(&self, document: &Document) -> Document {
        let mut document = document.clone();
        document.plan.dims.retain(|name, _| !self.bound_dims.contains_key(name));
        document
    }

    /// The same with assumed values, as commands and pins need it.
    pub(super) fn complete(&self, document: &Document) -> Document {
        let mut document = self.stated(document);
        let assumed = self.assumed.iter().map(|name| (name.clone(), vec![ASSUMED]));
        document.plan.dims.extend(assumed);
        document
    }

    pub(super) fn is_assumed(&self, name: &str, values: &[u64]) -> bool {
        self.assumed.contains(name) && values == [ASSUMED]
    }

    /// The comparison of what is loaded under the document's settings, in which every dimension that nothing gives a value is 1.
    pub(super) fn request(&self) -> Option<Request> {
        let loaded = self.loaded.as_ref()?;
        Some(Assuming::new(&self.document, loaded, &self.files).request)
    }
}

/// A request in which dimensions that nothing gives a value are 1.
struct Assuming {
    request: Request,
    /// The schedule with values of options, without assumed ones.
    bound: SchedulePlan,
    /// The names of these dimensions.
    assumed: BTreeSet<String>,
}

impl Assuming {
    fn new(document: &Document, loaded: &Loaded, files: &Arc<SeenFiles>) -> Self {
        let mut request = document.request(loaded, Arc::clone(files));
        let (bound, _) = bound_plan(&request);
        // Dimensions with values from entries need no assumption.
        let graphs = bound.shown_graphs(loaded.workload.scheduled_graphs());
        let assumed: BTreeSet<String> = bound.unbound(&graphs).into_iter().collect();
        let values = assumed.iter().map(|name| (name.clone(), vec![ASSUMED]));
        request.plan.dims.extend(values);
        Self {
            request,
            bound,
            assumed,
        }
    }
}
