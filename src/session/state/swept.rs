//! Sweeps: work whose points arrive in parts.
//!
//! The worker gets a part at a time, so that files are read and comparisons made in between. A comparison interrupts a part,
//! which then starts again; a stop keeps the points.

use std::sync::Arc;

use super::super::budget_sweep::BudgetSweepTable;
use super::super::document::Document;
use super::super::sweep::SweepTable;
use super::super::task::{Failure, Outcome, TaskKind};
use super::super::worker::Partial;
use super::Session;
use super::settings_search::FoundSettings;
use highwater_analysis::BatchSearch;
use highwater_model::progress::Progress;
use highwater_options::SeenFiles;

/// Work on the worker's thread; the session applies its result.
pub(super) type Part = Box<dyn FnOnce(Partial, &Progress<'_>) -> Result<Change, Failure> + Send>;
pub(super) type Change = Box<dyn FnOnce(&mut Session) + Send>;

/// A document, and the files that it names as rules judge them.
pub(super) type Settings = (Document, Arc<SeenFiles>);

/// The points of a kind of sweep.
pub(super) trait Swept: std::fmt::Debug + Sized + 'static {
    type Order: Clone + PartialEq + std::fmt::Debug;

    const KIND: TaskKind;

    fn sweep(session: &mut Session) -> &mut Sweep<Self>;

    /// The settings that the points depend on.
    fn settings(_session: &Session, _order: &Self::Order) -> Option<Settings> {
        None
    }

    /// The points of a new order before its first part, which may make them.
    ///
    /// # Errors
    /// The order is impossible.
    fn new(_session: &Session, _order: &Self::Order) -> Result<Option<Self>, Failure> {
        Ok(None)
    }

    /// Whether the next start makes the points once more: they are complete.
    fn starts_again(&self) -> bool {
        false
    }

    /// Drops what belongs to a part that did not end.
    fn interrupt(&mut self) {}

    /// The next part; `None` at the end.
    fn next(session: &Session) -> Option<Part>;
}

/// The last order of a kind of sweep, with its points.
#[derive(Debug)]
pub(super) struct Sweep<T: Swept> {
    pub(super) table: Option<T>,
    pub(super) order: Option<T::Order>,
    settings: Option<Settings>,
    /// Counts the orders, from 1.
    pub(super) number: u64,
    /// Why the last part failed.
    pub(super) failure: Option<String>,
}

impl<T: Swept> Default for Sweep<T> {
    fn default() -> Self {
        Self {
            table: None,
            order: None,
            settings: None,
            number: 0,
            failure: None,
        }
    }
}

impl<T: Swept> Sweep<T> {
    /// Whether the points were made with other settings than those of the document.
    pub(super) fn is_stale(&self, session: &Session) -> bool {
        let order = self.order.as_ref();
        order.is_some_and(|order| self.settings != T::settings(session, order))
    }

    pub(super) fn change(&mut self, change: impl FnOnce(&mut T)) {
        if let Some(table) = &mut self.table {
            change(table);
        }
    }
}

impl Session {
    /// Starts a sweep, or continues a stopped one of the same order and settings.
    ///
    /// # Errors
    /// As [`Swept::new`].
    pub(super) fn start<T: Swept>(&mut self, order: T::Order) -> Result<(), Failure> {
        self.start_with::<T>(order, |_| ())
    }

    /// As [`Session::start`]; changes the points before the next part is sent.
    pub(super) fn start_with<T: Swept>(&mut self, order: T::Order, change: impl FnOnce(&mut T)) -> Result<(), Failure> {
        if self.loaded.is_none() || self.worker.is_waiting(TaskKind::Load) {
            // The document names other sources than those that are loaded.
            return Ok(());
        }
        let settings = T::settings(self, &order);
        let sweep = T::sweep(self);
        let goes_on = sweep.table.as_ref().is_some_and(|table| !table.starts_again());
        let is_same = sweep.order.as_ref() == Some(&order) && sweep.settings == settings && goes_on;
        if !is_same {
            let table = T::new(self, &order)?;
            self.drop_sweep::<T>();
            let sweep = T::sweep(self);
            (sweep.table, sweep.order, sweep.settings) = (table, Some(order), settings);
        }
        let sweep = T::sweep(self);
        sweep.failure = None;
        sweep.change(change);
        if !self.worker.is_waiting(T::KIND) {
            self.next_part::<T>();
        }
        Ok(())
    }

    /// Sends the next part, also where a comparison interrupted the last one.
    pub(super) fn next_part<T: Swept>(&mut self) {
        let sweep = T::sweep(self);
        if let (None, Some(order)) = (&sweep.table, sweep.order.clone()) {
            // Without points it is made with the newest settings.
            T::sweep(self).settings = T::settings(self, &order);
        }
        let Some(part) = T::next(self) else { return };
        self.worker.send_in_parts(T::KIND, part, |session, outcome| {
            match outcome {
                Outcome::Done(change) => change(session),
                Outcome::Failed(why) => {
                    let sweep = T::sweep(session);
                    sweep.change(T::interrupt);
                    sweep.failure = Some(why);
                    return;
                }
                Outcome::Cancelled => T::sweep(session).change(T::interrupt),
            }
            session.next_part::<T>();
        });
    }

    /// Forgets what is about sources that are gone. Plans of the same arena stay.
    pub(super) fn drop_sweeps(&mut self) {
        self.drop_sweep::<BudgetSweepTable>();
        self.drop_sweep::<SweepTable>();
        self.drop_sweep::<FoundSettings>();
        self.drop_sweep::<BatchSearch>();
    }

    fn drop_sweep<T: Swept>(&mut self) {
        self.discard(T::KIND);
        let sweep = T::sweep(self);
        *sweep = Sweep {
            number: sweep.number + 1,
            ..Sweep::default()
        };
    }
}
