//! The rows that the panel shows first: options that change the bytes of what is open, those that are set, and those with findings.
//!
//! A row that was among them stays, and none is added while the others are shown too: an edit moves no row.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Item, items};
use highwater_analysis::study_of;
use highwater_model::workload::Workload;
use highwater_options::OptionSubject;
use highwater_session::Session;

#[derive(Debug, Default)]
pub(super) struct FirstRows {
    names: BTreeSet<&'static str>,
    /// `None` where no option acts on what is open.
    subject: Option<OptionSubject>,
    /// What was open when the rows were chosen.
    of: Option<Arc<Workload>>,
    is_chosen: bool,
    had_rest: bool,
}

impl FirstRows {
    /// Chooses the rows again where other sources are open, or where the others are hidden or shown.
    pub(super) fn follow(&mut self, session: &Session, troubled: &BTreeSet<&str>, shows_rest: bool) {
        let workload = session.loaded().map(|loaded| &loaded.workload);
        let is_same = self.of.as_ref().map(Arc::as_ptr) == workload.map(Arc::as_ptr);
        let is_kept = self.is_chosen && is_same && self.had_rest == shows_rest;
        if is_kept && shows_rest {
            return;
        }
        // Without anything open it is not known what will be: graphs are the usual case.
        self.subject = workload.map_or(Some(OptionSubject::Graphs), |workload| {
            study_of(workload).option_subject()
        });
        let subject = self.subject;
        let is_first =
            |item: &Item| item.is_changed(session) || troubled.contains(item.name()) || item.acts(subject, session);
        let names = items().filter(is_first).map(Item::name);
        if is_kept {
            self.names.extend(names);
        } else {
            self.names = names.collect();
        }
        self.of = workload.cloned();
        self.is_chosen = true;
        self.had_rest = shows_rest;
    }

    pub(super) fn has(&self, item: Item) -> bool {
        self.names.contains(item.name())
    }

    /// Whether options act on what is open.
    pub(super) const fn has_acting(&self) -> bool {
        self.subject.is_some()
    }
}
