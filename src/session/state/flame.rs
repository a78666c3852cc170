//! Flame graphs of a lane, shown and written to files.

use std::path::PathBuf;
use std::sync::Arc;

use super::super::task::{Failure, TaskKind};
use super::Session;
use super::request::{Request, Task};
use highwater_analysis::Comparison;
use highwater_export::{FLAME_FORMS, FlameAnswer, flame_file};
use highwater_model::progress::Progress;
use highwater_timeline::{FlameGraph, FlameRequest};

/// The tree of call stacks of a lane.
pub(super) struct FlameTask {
    comparison: Arc<Comparison>,
    ask: FlameRequest,
}

impl Task for FlameTask {
    type Key = FlameRequest;
    /// `None` where there is no such step.
    type Output = Option<Arc<FlameGraph>>;

    const KIND: TaskKind = TaskKind::Flame;

    fn request(session: &mut Session) -> &mut Request<Self> {
        &mut session.flame
    }

    fn new(session: &Session, ask: &FlameRequest) -> Option<Self> {
        let (comparison, _) = session.answer.as_ref()?;
        Some(Self {
            comparison: Arc::clone(comparison),
            ask: *ask,
        })
    }

    fn perform(self, _: &Progress<'_>) -> Result<Self::Output, Failure> {
        Ok(FlameGraph::new(&self.comparison, self.ask).map(Arc::new))
    }

    fn waits(_: &FlameRequest, _: &FlameRequest) -> bool {
        true
    }
}

impl Session {
    /// The last flame graph of the answer on the screen; perhaps of another step (see [`Self::has_flame_graph`]).
    pub fn flame_graph(&self) -> Option<&Arc<FlameGraph>> {
        self.flame.known_at(self.revision)?.as_ref()
    }

    /// Whether the last flame graph is this one.
    pub fn has_flame_graph(&self, ask: &FlameRequest) -> bool {
        self.flame.has(self.revision, ask)
    }

    /// Whether this was the last question about the answer on the screen.
    pub fn wants_flame_graph(&self, ask: &FlameRequest) -> bool {
        self.flame.wants(self.revision, ask)
    }

    /// Writes the last flame graph; the extension decides the format.
    pub(super) fn export_flame(&mut self, path: PathBuf) -> Result<(), Failure> {
        let answer = self.answer.as_ref().zip(self.flame_graph());
        let ((comparison, _), graph) = answer.ok_or("no flame graph to export yet; open the Flame tab")?;
        let name = path.display().to_string();
        let form = path.extension().and_then(|extension| extension.to_str());
        let form = form.map(str::to_ascii_lowercase);
        if !matches!(form.as_deref(), Some("svg" | "folded" | "txt")) {
            return Err(format!("{name}: {FLAME_FORMS}").into());
        }
        let (comparison, graph) = (Arc::clone(comparison), Arc::clone(graph));
        self.write(path, move |out, _| {
            let answer = FlameAnswer {
                comparison: &comparison,
                graph: &graph,
                most: None,
            };
            let text = flame_file(&name, &answer).ok_or_else(|| format!("{name}: {FLAME_FORMS}"))?;
            Ok(out.write_all(text.as_bytes())?)
        });
        Ok(())
    }
}
