//! The comparison of the loaded workload under the document's settings: the request, its assumptions, and the answer.

use std::sync::Arc;

use super::super::performer::free;
use super::super::planner::BestPlan;
use super::super::task::{Outcome, TaskKind};
use super::super::worker::Partial;
use super::Session;
use super::requests::{ContentTask, DifferenceTask};
use highwater_analysis::{AnalysisError, Comparison, PlanWatch, Request, bound_plan, compare, repin};
use highwater_model::progress::Progress;
use highwater_model::workload::Workload;
use highwater_plan::Limits;
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
        self.problem = None;
        let is_partial = loaded.lacks_a_source();
        // While a source is missing, names in the schedule may belong to it.
        if !is_partial {
            loaded.follow(&mut self.document.plan);
        }
        let symbols = loaded.workload.symbols();
        // Values of dimensions of former files are removed. Values that the shown part does not need stay for the whole.
        let all = loaded.whole.symbols();
        let is_known = |name: &String| is_partial || all.contains(name) || symbols.contains(name);
        self.document.plan.dims.retain(|name, _| is_known(name));
        if !is_partial {
            self.document.plan.retain_graphs(&loaded.whole.scheduled_graphs());
        }
        self.assumed.retain(is_known);
        // Options may give more values by now, or fewer.
        for symbol in std::mem::take(&mut self.assumed) {
            self.document.plan.dims.remove(&symbol);
        }
        // Options override the values of samples.
        let presets = self.document.presets();
        let dims = &mut self.document.plan.dims;
        dims.retain(|name, values| presets.get(name) != Some(values));
        let mut request = self.request(Arc::clone(&loaded.workload));
        let graphs = loaded.workload.scheduled_graphs();
        request.plan.retain_graphs(&graphs);
        for pin in &mut request.pins {
            loaded.follow(&mut pin.configuration.plan);
            // Entries of graphs that are not shown are left out, as in the schedule.
            if is_partial || !Arc::ptr_eq(&loaded.workload, &loaded.whole) {
                pin.configuration.plan.retain_graphs(&graphs);
            }
        }
        request.plan.dims.retain(|name, _| symbols.contains(name));
        let (bound, _) = bound_plan(&request);
        // Dimensions with values from entries need no assumption.
        let needed = bound.unbound(&bound.shown_graphs(graphs));
        self.bound_dims.clone_from(&bound.dims);
        self.bound_dims.retain(|name, _| !request.plan.dims.contains_key(name));
        self.bound_dims.values_mut().for_each(Vec::dedup);
        for symbol in &needed {
            let preset = presets.get(symbol).cloned();
            if preset.is_none() {
                self.assumed.insert(symbol.clone());
            }
            let values = preset.unwrap_or_else(|| vec![1]);
            self.document.plan.dims.insert(symbol.clone(), values);
        }
        request.plan.dims.clone_from(&self.document.plan.dims);
        request.plan.dims.retain(|name, _| symbols.contains(name));
        self.scheduled = request.plan.or_stated(&request.workload.schedule).into_owned();
        for (name, values) in bound.dims {
            self.scheduled.dims.entry(name).or_insert(values);
        }
        self.scheduled.linked_dims = bound.linked_dims;
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

    /// The comparison of a workload under the document's settings.
    pub(super) fn request(&self, workload: Arc<Workload>) -> Request {
        Request {
            lanes: self.document.lanes.clone(),
            workload,
            plan: self.document.plan.clone(),
            options: self.document.options.clone(),
            environment: self.document.environment.clone(),
            files: Arc::clone(&self.files),
            device: self.document.device(),
            policies: Vec::new(),
            strategies: self.document.strategies.clone(),
            allocator_settings: self.document.allocator_settings.clone(),
            recording_rules: self.document.recording_rules.clone(),
            search: Limits::DEFAULT_NODES.into(),
            pins: self
                .document
                .pins
                .iter()
                .map(|pin| pin.with_schedule(&self.document.plan))
                .collect(),
        }
    }
}
