//! The answer on the screen, with everything that falls with it.

use std::sync::Arc;

use super::super::document::Document;
use super::super::performer::free;
use super::super::planner::BestPlan;
use highwater_analysis::Comparison;
use highwater_model::workload::Workload;
use highwater_timeline::Timeline;

#[derive(Debug)]
struct Answer {
    pair: (Arc<Comparison>, Arc<Timeline>),
    document: Document,
    /// The workload that it was simulated from.
    workload: Arc<Workload>,
    /// Whether searches for plans were cut short.
    is_preview: bool,
}

/// The last answer; it may belong to an older document.
#[derive(Debug, Default)]
pub(super) struct Answers {
    shown: Option<Answer>,
    /// The number of the answer. Results of requests have the revision of their answer.
    revision: u64,
    best_plan: Option<BestPlan>,
}

impl Answers {
    pub(super) fn pair(&self) -> Option<&(Arc<Comparison>, Arc<Timeline>)> {
        self.shown.as_ref().map(|shown| &shown.pair)
    }

    pub(super) fn comparison(&self) -> Option<&Arc<Comparison>> {
        self.pair().map(|(comparison, _)| comparison)
    }

    pub(super) fn document(&self) -> Option<&Document> {
        self.shown.as_ref().map(|shown| &shown.document)
    }

    pub(super) const fn revision(&self) -> u64 {
        self.revision
    }

    pub(super) const fn best_plan(&self) -> Option<&BestPlan> {
        self.best_plan.as_ref()
    }

    pub(super) fn is_preview(&self) -> bool {
        self.shown.as_ref().is_some_and(|shown| shown.is_preview)
    }

    /// The comparison, where a document differs from its document in pins alone.
    pub(super) fn known_but_for_pins(&self, document: &Document, workload: &Arc<Workload>) -> Option<Arc<Comparison>> {
        let shown = self.shown.as_ref().filter(|shown| !shown.is_preview)?;
        let same = Document {
            pins: document.pins.clone(),
            baseline: document.baseline,
            ..shown.document.clone()
        };
        let is_known = Arc::ptr_eq(&shown.workload, workload) && shown.document.pins != document.pins;
        (is_known && same == *document).then(|| Arc::clone(&shown.pair.0))
    }

    pub(super) fn replace(
        &mut self,
        pair: (Arc<Comparison>, Arc<Timeline>),
        document: Document,
        workload: Arc<Workload>,
        is_preview: bool,
    ) {
        self.best_plan = BestPlan::of_answer(self.best_plan.take(), &pair.0);
        self.revision += 1;
        free(self.shown.replace(Answer {
            pair,
            document,
            workload,
            is_preview,
        }));
    }

    pub(super) fn drop_shown(&mut self) {
        self.shown = None;
    }

    /// Stays current where only marks of the document changed: it does not depend on them.
    pub(super) fn follow_marks(&mut self, document: &Document) {
        if let Some(shown) = &mut self.shown {
            shown.document.take_marks(document);
        }
    }
}
