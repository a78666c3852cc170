//! Name reuse with its log, for a graph of the answer on the screen.

use std::sync::Arc;

use super::super::name_reuse::{NamesReport, NamesTask, names_report};
use super::super::task::{Failure, TaskKind};
use super::Session;
use super::request::{Request, Task};
use highwater_model::graph::Bindings;
use highwater_model::progress::Progress;
use highwater_model::workload::GraphIdx;
use highwater_options::lower;

/// The dimension whose value replaces -1 in shapes.
const BATCH: &str = "batch";

impl Task for NamesTask {
    type Key = GraphIdx;
    /// `None` where there is neither a graph nor a program.
    type Output = Option<Arc<NamesReport>>;

    const KIND: TaskKind = TaskKind::NameReuse;

    fn request(session: &mut Session) -> &mut Request<Self> {
        &mut session.names
    }

    fn new(session: &Session, graph: &GraphIdx) -> Option<Self> {
        let (comparison, _) = session.answer.as_ref()?;
        let document = &session.document;
        let lowered = lower(
            &document.options,
            &document.environment,
            &document.device(),
            &*session.files,
        );
        let dims = document.plan.dims.iter().chain(&session.bound_dims);
        let values = dims.filter_map(|(name, values)| Some((name.clone(), *values.first()?)));
        let bindings: Bindings = values.collect();
        Some(Self {
            comparison: Arc::clone(comparison),
            graph: *graph,
            batch: bindings.get(BATCH).copied().unwrap_or(1),
            bindings,
            request: lowered.name_reuse,
        })
    }

    fn perform(self, progress: &Progress<'_>) -> Result<Self::Output, Failure> {
        Ok(names_report(&self, progress)?.map(Arc::new))
    }
}

impl Session {
    /// Name reuse in the graph that was requested last, where it is known and of the answer on the screen.
    pub fn name_reuse(&self) -> Option<&Arc<NamesReport>> {
        self.answer.as_ref()?;
        self.names.wanted_at(self.revision)?.as_ref()
    }

    /// Why name reuse failed; another request may succeed.
    pub fn name_reuse_failure(&self) -> Option<&str> {
        self.names.failure()
    }

    /// Whether name reuse was requested for this graph of the answer on the screen.
    pub fn has_name_reuse(&self, graph: GraphIdx) -> bool {
        self.answer.is_none() || self.names.wants(self.revision, &graph)
    }

    /// Whether name reuse is pending.
    pub fn is_reusing_names(&self) -> bool {
        self.worker.is_waiting(TaskKind::NameReuse)
    }
}
