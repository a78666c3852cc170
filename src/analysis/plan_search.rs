//! How plans are searched for: the limit, who watches, and plans of searches that the user stopped.

use std::fmt;
use std::sync::{Arc, OnceLock};

use highwater_model::progress::Progress;
use highwater_plan::{Effort, PlacementProblem, PlanError, PlanRequest, Planned, Strategy, plan};

/// A plan that a search found before its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundPlan {
    pub problem: Arc<PlacementProblem>,
    pub strategy: &'static Strategy,
    pub planned: Arc<Planned>,
}

impl FoundPlan {
    /// Whether it is of this strategy and problem.
    pub fn is_of(&self, strategy: &Strategy, problem: &PlacementProblem) -> bool {
        self.strategy == strategy && *self.problem == *problem
    }
}

/// Gets each smaller plan while a search runs.
#[derive(Clone)]
pub struct PlanWatch(Arc<dyn Fn(FoundPlan) + Send + Sync>);

impl PlanWatch {
    pub fn new(watch: impl Fn(FoundPlan) + Send + Sync + 'static) -> Self {
        Self(Arc::new(watch))
    }
}

impl fmt::Debug for PlanWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PlanWatch")
    }
}

#[derive(Clone, Debug, Default)]
pub struct PlanSearch {
    /// Most nodes of each search for a plan.
    pub nodes: u64,
    pub watch: Option<PlanWatch>,
    /// Plans of stopped searches, each taken in the place of a new search.
    pub stopped: Vec<FoundPlan>,
}

impl From<u64> for PlanSearch {
    fn from(nodes: u64) -> Self {
        Self {
            nodes,
            ..Self::default()
        }
    }
}

impl PlanSearch {
    /// The plan of a stopped search, if there is one; otherwise a new plan, with the nodes of the request. Without nodes it
    /// is a preview of what a search finds.
    ///
    /// # Errors
    /// As [`plan`].
    pub fn place(
        &self,
        strategy: &'static Strategy,
        request: &PlanRequest<'_>,
        progress: &Progress<'_>,
    ) -> Result<Planned, PlanError> {
        let mut stopped = self.stopped.iter();
        if let Some(found) = stopped.find(|found| found.is_of(strategy, request.problem)) {
            return Ok((*found.planned).clone());
        }
        if strategy.effort != Effort::Search {
            return plan(strategy, request, progress);
        }
        let problem = OnceLock::new();
        let report = |planned: Planned| {
            if let Some(PlanWatch(watch)) = &self.watch {
                watch(FoundPlan {
                    problem: Arc::clone(problem.get_or_init(|| Arc::new(request.problem.clone()))),
                    strategy,
                    planned: Arc::new(planned),
                });
            }
        };
        let mut watched = *request;
        if self.watch.is_some() {
            watched.limits.watch = Some(&report);
        }
        let mut planned = plan(strategy, &watched, progress)?;
        planned.is_unfinished = request.limits.nodes == 0 && !planned.is_optimal();
        if self.watch.is_some() {
            report(planned.clone());
        }
        Ok(planned)
    }
}
