//! One point: from its configuration to its figures, with what other points need too made once.
//!
//! ```text
//! what                            depends on
//! a workload that runs            run mode, reads of shapes
//! a graph under a binding         the passes' settings, the binding, whether it is static
//! a session, not yet placed       the passes' settings, schedule, bindings
//! a plan                          the graph under its binding, strategy
//! figures                         the session, strategy, policy, sizes and costs of the device
//! ```
//!
//! Keys are whole [`Lowered`] values in which only what the later stages alone read is blanked out: a setting that is added
//! there parts keys until somebody says that it need not.

use std::convert::Infallible;
use std::sync::Arc;

use super::memo::Memo;
use super::point::{Outcome, PointFigures, Refusal, SweepPoint};
use crate::lanes::{Arena, LaneId, Plans, with_plans};
use crate::lowering::{GraphLowering, LoweredGraph};
use crate::rewriting::LaneRewrite;
use crate::run_lanes::{LaneParts, lane_of};
use crate::session::{RunKey, check_names, device_sessions_by};
use crate::{AnalysisError, Configuration, Request, check_copies, compare, inference, passes, shapes};
use highwater_model::diagnostics::{Diagnostics, Severity};
use highwater_model::graph::Bindings;
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::{Bytes, Nanos};
use highwater_model::workload::{Run, SchedulePlan, Workload};
use highwater_options::{Lowered, check_scheduled, lower};
use highwater_plan::{PlanRequest, Planned, Strategy, default_strategy, plan};
use highwater_rewrite::remat::{HEURISTICS, OpRates, RematRequest};
use highwater_sim::{DeviceSession, Params, StaticMemoryPolicy};

/// Sessions, graphs and plans that are kept: two families of points, each with the graphs of some bindings.
const KEPT: (usize, usize, usize) = (8, 64, 128);

/// Results of one session that are kept.
const KEPT_RESULTS: usize = 4096;

/// What a session depends on.
#[derive(Clone, Debug, PartialEq)]
struct SessionKey {
    plan: SchedulePlan,
    passes: Arc<Lowered>,
}

/// What a graph under a binding depends on.
#[derive(Clone, Debug, PartialEq)]
struct LoweredKey {
    run: RunKey,
    is_static: bool,
    passes: Arc<Lowered>,
}

/// What a result of a session depends on.
#[derive(Clone, Debug, PartialEq)]
struct ResultKey {
    strategy: &'static str,
    policy: StaticMemoryPolicy,
    params: Params,
}

/// A session, not yet placed, with what it came to.
#[derive(Debug)]
struct Laid {
    session: DeviceSession,
    arenas: Vec<(Arena, Bindings)>,
    rewrite: Option<Arc<LaneRewrite>>,
    planned: Memo<&'static str, (Arc<DeviceSession>, Plans)>,
    results: Memo<ResultKey, PointFigures>,
}

/// What was made, or why it could not be.
type Making<T> = Result<T, AnalysisError>;

/// What points share.
#[derive(Debug)]
pub(super) struct Store {
    request: Request,
    workloads: Memo<(bool, bool), Arc<Workload>>,
    graphs: Memo<LoweredKey, Arc<LoweredGraph>>,
    sessions: Memo<SessionKey, Arc<Laid>>,
    plans: Memo<(LoweredKey, &'static str), Arc<Planned>>,
}

impl Store {
    /// For points over a request.
    pub(super) fn new(request: Request) -> Self {
        let (sessions, graphs, plans) = KEPT;
        Self {
            request,
            workloads: Memo::new(4),
            graphs: Memo::new(graphs),
            sessions: Memo::new(sessions),
            plans: Memo::new(plans),
        }
    }

    /// What is asked about, under its own configuration.
    pub(super) const fn request(&self) -> &Request {
        &self.request
    }

    /// What a configuration comes to.
    ///
    /// # Errors
    /// [`Cancelled`]; everything else is an outcome.
    pub(super) fn point(
        &self,
        idx: u64,
        configuration: &Configuration,
        progress: &Progress<'_>,
    ) -> Result<SweepPoint, Cancelled> {
        progress.check()?;
        let policy = configuration.policy();
        let findings = check_scheduled(
            &configuration.options,
            &configuration.environment,
            &*self.request.files,
            &configuration.plan,
        );
        let errors = findings.iter().filter(|finding| finding.severity == Severity::Error);
        let refusals: Vec<Refusal> = errors.map(Refusal::from).collect();
        let outcome = if refusals.is_empty() {
            match self.figures(configuration, progress) {
                Ok(figures) => Outcome::Ran(figures),
                Err(AnalysisError::Cancelled(cancelled)) => return Err(cancelled),
                Err(error) => Outcome::Failed(error.to_string()),
            }
        } else {
            Outcome::Refused(refusals)
        };
        Ok(SweepPoint { idx, policy, outcome })
    }

    /// What session a configuration leads to, to be compared; nothing where it leads to none.
    pub(super) fn session_of(&self, configuration: &Configuration) -> Option<(SchedulePlan, Lowered)> {
        let request = self.request.configured(configuration).ok()?;
        let lowered = lower(&request.options, &request.environment, &request.device, &*request.files);
        Some((request.plan, self.passes_of(&lowered)))
    }

    fn figures(&self, configuration: &Configuration, progress: &Progress<'_>) -> Making<PointFigures> {
        let request = self.request.configured(configuration)?;
        let lowered = lower(&request.options, &request.environment, &request.device, &*request.files);
        if request.workload.graphs().is_empty() {
            return whole(&request, &lowered, progress);
        }
        check_names(&request)?;
        let (mut plan, _) = shapes::bind(&request.workload, &request.plan, &lowered);
        let workload = self.workload(&request, &lowered);
        let symbols = workload.symbols();
        plan.dims.retain(|name, _| symbols.contains(name));
        let running = Request {
            workload,
            plan,
            ..request
        };
        let key = SessionKey {
            plan: running.plan.clone(),
            passes: Arc::new(self.passes_of(&lowered)),
        };
        let laid = self
            .sessions
            .get(&key, || self.lay(&running, &key.passes, &lowered, progress))?;
        let result = ResultKey {
            strategy: lowered.strategy.name,
            policy: lowered.policy,
            params: lowered.params.clone(),
        };
        laid.results
            .get(&result, || self.simulate(&laid, &key.passes, &lowered, progress))
    }

    /// The settings that passes and schedule read, the others blanked out.
    fn passes_of(&self, lowered: &Lowered) -> Lowered {
        let mut passes = Lowered {
            params: Params {
                loop_variables: lowered.params.loop_variables,
                ..Params::for_device(&self.request.device)
            },
            policy: StaticMemoryPolicy::Dynamic,
            strategy: default_strategy(),
            no_reuse: false,
            device_id: 0,
            occupied: Bytes::ZERO,
            estimates: Vec::new(),
            ..lowered.clone()
        };
        if passes.dtr.budget.is_none() {
            passes.dtr = RematRequest::unlimited(&HEURISTICS[0]);
            passes.rates = OpRates {
                flops_per_second: 1,
                bytes_per_second: 1,
                launch: Nanos(0),
            };
        }
        passes
    }

    fn workload(&self, request: &Request, lowered: &Lowered) -> Arc<Workload> {
        let key = (lowered.inference, lowered.shapes_keep_alive);
        let make = || Ok(inference::running_workload(request, lowered, &mut Diagnostics::new()));
        let found: Result<Arc<Workload>, Infallible> = self.workloads.get(&key, make);
        match found {
            Ok(workload) => workload,
        }
    }

    /// The session of a schedule, from graphs that are made once.
    fn lay(
        &self,
        running: &Request,
        passes: &Arc<Lowered>,
        lowered: &Lowered,
        progress: &Progress<'_>,
    ) -> Making<Arc<Laid>> {
        let make = |lowering: &mut GraphLowering<'_>, run: &Run, is_static: bool| {
            let key = LoweredKey {
                run: (run.graph, run.bindings.clone()),
                is_static,
                passes: Arc::clone(passes),
            };
            self.graphs
                .get(&key, || lowering.make(run, is_static, progress).map(Arc::new))
        };
        let (axis, mut variants, _) = device_sessions_by(running, &[lowered], &make, progress)?;
        let variant = variants.pop().ok_or(AnalysisError::NoGraph)?;
        let with_bindings = |arena: Arena| {
            let run = axis.runs.iter().find(|run| run.run.graph == arena.graph);
            let bindings = run.map(|run| run.run.bindings.clone()).unwrap_or_default();
            (arena, bindings)
        };
        Ok(Arc::new(Laid {
            arenas: variant.arenas.into_iter().map(with_bindings).collect(),
            session: variant.session,
            rewrite: variant.rewrite,
            planned: Memo::new(4),
            results: Memo::new(KEPT_RESULTS),
        }))
    }

    fn simulate(
        &self,
        laid: &Laid,
        passes: &Arc<Lowered>,
        lowered: &Lowered,
        progress: &Progress<'_>,
    ) -> Making<PointFigures> {
        check_copies(&laid.session, &lowered.params)?;
        let strategy = lowered.strategy;
        let (session, plans) = laid
            .planned
            .get(&strategy.name, || self.planned(laid, passes, strategy, progress))?;
        let parts = LaneParts {
            id: LaneId::Policy(lowered.policy),
            strategy,
            plans,
        };
        let mut lane = lane_of(&session, parts, (lowered.policy, &lowered.params), progress)?;
        passes::add_rewrite(&mut lane, laid.rewrite.as_ref());
        Ok(PointFigures::of(&lane, &lowered.params))
    }

    /// The session with its arenas placed.
    fn planned(
        &self,
        laid: &Laid,
        passes: &Arc<Lowered>,
        strategy: &'static Strategy,
        progress: &Progress<'_>,
    ) -> Making<(Arc<DeviceSession>, Plans)> {
        let mut plans = Plans::new();
        for (arena, bindings) in &laid.arenas {
            let key = LoweredKey {
                run: (arena.graph, bindings.clone()),
                is_static: true,
                passes: Arc::clone(passes),
            };
            let place = || -> Making<Arc<Planned>> {
                let mut request = PlanRequest::new(&arena.problem);
                request.order = arena.order.as_ref();
                request.limits.nodes = self.request.search_nodes;
                Ok(Arc::new(plan(strategy, &request, progress)?))
            };
            plans.push((arena.graph, self.plans.get(&(key, strategy.name), place)?));
        }
        Ok((Arc::new(with_plans(&laid.session, &plans, false)), plans))
    }
}

/// The figures of what has no graphs, without anything shared.
fn whole(request: &Request, lowered: &Lowered, progress: &Progress<'_>) -> Making<PointFigures> {
    let comparison = compare(request, &Progress::silent(progress.cancel_flag()))?;
    let lane = comparison.lane(lowered.policy).ok_or(AnalysisError::NoGraph)?;
    Ok(PointFigures::of(lane, &comparison.params))
}
