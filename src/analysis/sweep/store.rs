//! One point: from its configuration to its figures; intermediate results are shared between points.
//!
//! ```text
//! result                          depends on
//! workload that runs              run mode, shape reads
//! graph under a binding           settings of the passes, binding, whether it is static
//! session before placement        settings of the passes, schedule, bindings
//! plan                            graph under its binding, strategy
//! figures                         session, strategy, policy, sizes and costs of the device
//! ```
//!
//! Keys are whole [`Lowered`] values without the settings that later stages alone read, so a new setting separates keys
//! until it is listed in `passes_of`.

use std::convert::Infallible;
use std::sync::Arc;

use super::memo::Memo;
use super::point::{Outcome, PointFigures, SweepPoint};
use crate::arena::{Arena, Plans, with_plans};
use crate::compare::compare;
use crate::configuration::Configuration;
use crate::device_sessions::{check_copies, device_sessions_by};
use crate::error::AnalysisError;
use crate::lane_set::LaneId;
use crate::lowering::{GraphLowering, LoweredGraph, RunKey};
use crate::request::Request;
use crate::rewriting::LaneRewrite;
use crate::run_lanes::{LaneParts, simulated_lane};
use crate::running::{check_names, running_workload};
use crate::verified::Audit;
use crate::{passes, shapes};
use highwater_model::diagnostics::{Diagnostics, Severity};
use highwater_model::graph::Bindings;
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::{Bytes, Nanos};
use highwater_model::workload::{Run, SchedulePlan, Workload};
use highwater_options::{Lowered, check_scheduled};
use highwater_plan::{PlanRequest, Planned, Strategy, default_strategy, plan};
use highwater_rewrite::remat::{HEURISTICS, OpRates, RematRequest};
use highwater_sim::{DeviceSession, Params, StaticMemoryPolicy};

/// Cached sessions, graphs and plans: two families of points, each with the graphs of some bindings.
const KEPT: (usize, usize, usize) = (8, 64, 128);

/// Cached results of one session.
const KEPT_RESULTS: usize = 4096;

#[derive(Clone, Debug, PartialEq)]
struct SessionKey {
    plan: SchedulePlan,
    passes: Arc<Lowered>,
}

#[derive(Clone, Debug, PartialEq)]
struct LoweredKey {
    run: RunKey,
    is_static: bool,
    passes: Arc<Lowered>,
}

#[derive(Clone, Debug, PartialEq)]
struct ResultKey {
    strategy: &'static str,
    policy: StaticMemoryPolicy,
    params: Params,
}

/// A session before placement, with its results.
#[derive(Debug)]
struct Laid {
    session: DeviceSession,
    arenas: Vec<(Arena, Bindings)>,
    rewrite: Option<Arc<LaneRewrite>>,
    planned: Memo<&'static str, (Arc<DeviceSession>, Plans)>,
    results: Memo<ResultKey, PointFigures>,
}

type Making<T> = Result<T, AnalysisError>;

/// The results that points share.
#[derive(Debug)]
pub(super) struct Store {
    request: Request,
    workloads: Memo<(bool, bool), Arc<Workload>>,
    graphs: Memo<LoweredKey, Arc<LoweredGraph>>,
    sessions: Memo<SessionKey, Arc<Laid>>,
    plans: Memo<(LoweredKey, &'static str), Arc<Planned>>,
    /// Where every simulation is verified.
    audit: Option<Audit>,
}

impl Store {
    pub(super) fn new(request: Request) -> Self {
        let (sessions, graphs, plans) = KEPT;
        Self {
            request,
            workloads: Memo::new(4),
            graphs: Memo::new(graphs),
            sessions: Memo::new(sessions),
            plans: Memo::new(plans),
            audit: None,
        }
    }

    /// The same, verifying every simulation.
    pub(super) fn verifying(self) -> Self {
        let audit = Some(Audit::default());
        Self { audit, ..self }
    }

    pub(super) const fn audit(&self) -> Option<&Audit> {
        self.audit.as_ref()
    }

    /// The request with its own configuration.
    pub(super) const fn request(&self) -> &Request {
        &self.request
    }

    /// The outcome of a configuration.
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
        let mut errors = check_scheduled(
            &configuration.options,
            &configuration.environment,
            &*self.request.files,
            &configuration.plan,
        );
        errors.retain(|finding| finding.severity == Severity::Error);
        let outcome = if errors.is_empty() {
            match self.figures(configuration, progress) {
                Ok(figures) => Outcome::Ran(figures),
                Err(AnalysisError::Cancelled(cancelled)) => return Err(cancelled),
                Err(error) => Outcome::Failed(error.to_string()),
            }
        } else {
            Outcome::Refused(errors)
        };
        Ok(SweepPoint { idx, policy, outcome })
    }

    /// The inputs of a configuration's session, to be compared; `None` where the configuration is invalid.
    pub(super) fn session_of(&self, configuration: &Configuration) -> Option<(SchedulePlan, Lowered)> {
        let request = self.request.configured(configuration).ok()?;
        let lowered = request.lowered();
        Some((request.plan, self.passes_of(&lowered)))
    }

    fn figures(&self, configuration: &Configuration, progress: &Progress<'_>) -> Making<PointFigures> {
        let request = self.request.configured(configuration)?;
        let lowered = request.lowered();
        if request.workload.graphs().is_empty() {
            return self.whole(&request, &lowered, progress);
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

    /// The settings that passes and schedule read; the others are set to constants.
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
        let make = || Ok(running_workload(request, lowered, &mut Diagnostics::new()));
        let found: Result<Arc<Workload>, Infallible> = self.workloads.get(&key, make);
        match found {
            Ok(workload) => workload,
        }
    }

    /// The session of a schedule, with cached graphs.
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
        let mut lane = simulated_lane(&session, parts, lowered.policy, &lowered.params, progress)?;
        if let Some(audit) = &self.audit {
            audit.check(&lane, &session, progress)?;
        }
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
                request.limits.nodes = self.request.search.nodes;
                Ok(Arc::new(plan(strategy, &request, progress)?))
            };
            plans.push((arena.graph, self.plans.get(&(key, strategy.name), place)?));
        }
        Ok((Arc::new(with_plans(&laid.session, &plans, false)), plans))
    }

    /// The figures of a workload without graphs, which shares nothing between points.
    fn whole(&self, request: &Request, lowered: &Lowered, progress: &Progress<'_>) -> Making<PointFigures> {
        let silent = Progress::silent(progress.cancel_flag());
        let comparison = compare(request, &silent)?;
        if let Some(audit) = &self.audit {
            audit.add(comparison.verify(&silent)?);
        }
        let lane = comparison.lane(lowered.policy).ok_or(AnalysisError::NoGraph)?;
        Ok(PointFigures::of(lane, &comparison.params))
    }
}
