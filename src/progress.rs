//! Progress and Cancel: how long work reports and how it stops.
//!
//! In: a cancel flag shared with another thread and a closure that shows progress. Out:
//! [`Cancelled`] at the next loop head once the flag is set. Deliberately not here: threads and clocks.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that asks work to stop. Clones share the flag.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// A flag that is not set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the work to stop.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the work should stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The work was cancelled; nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;

/// What long work gets: where to report and when to stop.
#[derive(Clone, Copy)]
pub struct Progress<'a> {
    cancel: &'a Cancel,
    report: &'a dyn Fn(&'static str, f32),
}

impl fmt::Debug for Progress<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Progress")
            .field("cancel", &self.cancel)
            .finish_non_exhaustive()
    }
}

impl<'a> Progress<'a> {
    /// `report(stage, fraction)` gets a stage name and 0.0..=1.0, as often as loops like.
    pub fn new(cancel: &'a Cancel, report: &'a dyn Fn(&'static str, f32)) -> Self {
        Self { cancel, report }
    }

    /// Progress that shows nothing, with a flag that the caller holds.
    pub fn silent(cancel: &'a Cancel) -> Self {
        Self {
            cancel,
            report: &|_, _| {},
        }
    }

    /// The flag, for work that is shared out.
    pub fn cancel_flag(&self) -> &'a Cancel {
        self.cancel
    }

    /// To be called at loop heads.
    ///
    /// # Errors
    /// [`Cancelled`] once the flag is set.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.cancel.is_cancelled() {
            Err(Cancelled)
        } else {
            Ok(())
        }
    }

    /// Reports `done` of `total` and checks the flag.
    ///
    /// # Errors
    /// [`Cancelled`] once the flag is set.
    pub fn set(&self, stage: &'static str, done: u64, total: u64) -> Result<(), Cancelled> {
        #[expect(clippy::cast_precision_loss, reason = "a progress bar")]
        let fraction = if total == 0 { 1.0 } else { done as f32 / total as f32 };
        (self.report)(stage, fraction.clamp(0.0, 1.0));
        self.check()
    }
}
