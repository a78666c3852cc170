//! Progress and cancellation of long work.
//!
//! In: a cancel flag shared with another thread and a closure that shows progress. Out: [`Cancelled`] at the next loop
//! head once the flag is set. Threads and clocks belong to callers.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use super::threads::cores;

/// Elements sorted between two checks of the flag: about 3 ms of work.
const CHUNK: usize = 32_768;

const RUNNING: u8 = 0;
const CANCELLED: u8 = 1;
/// Too late to cancel.
const COMMITTED: u8 = 2;

/// A cancel flag. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<Flag>);

#[derive(Debug, Default)]
struct Flag {
    /// [`RUNNING`], [`CANCELLED`] or [`COMMITTED`].
    state: AtomicU8,
    /// Whether looks are counted.
    is_counting: bool,
    /// Looks at the flag so far.
    looks: AtomicU64,
    /// The most threads that the work may use; 0 is one per core.
    n_threads: usize,
    /// The look that sets the flag.
    last: u64,
}

impl Cancel {
    pub fn new() -> Self {
        Self::default()
    }

    /// A flag that is set by the look with this number, from 1; for tests, which count the looks.
    pub fn at_look(last: u64) -> Self {
        Self(Arc::new(Flag {
            is_counting: true,
            last,
            ..Flag::default()
        }))
    }

    /// A flag of work on at most so many threads; 0 is one per core. Answers do not depend on it.
    pub fn on_threads(n_threads: usize) -> Self {
        Self(Arc::new(Flag {
            n_threads,
            ..Flag::default()
        }))
    }

    /// The most threads that the work may use: one per core unless the caller says otherwise.
    pub fn n_threads(&self) -> usize {
        match self.0.n_threads {
            0 => cores(),
            stated => stated,
        }
    }

    /// Sets the flag, unless the work is committed.
    pub fn cancel(&self) {
        // A failure means that it is set already, or too late.
        let _before = self.leave_running(CANCELLED);
    }

    /// Changes the state if it is [`RUNNING`]; returns the state before.
    fn leave_running(&self, next: u8) -> u8 {
        let swapped = self
            .0
            .state
            .compare_exchange(RUNNING, next, Ordering::Relaxed, Ordering::Relaxed);
        swapped.unwrap_or_else(|before| before)
    }

    pub fn is_cancelled(&self) -> bool {
        if self.0.is_counting && self.0.looks.fetch_add(1, Ordering::Relaxed) + 1 >= self.0.last {
            self.cancel();
        }
        self.0.state.load(Ordering::Relaxed) == CANCELLED
    }

    /// Whether a cancel would have an effect: there was none, and the work is not committed.
    pub fn is_running(&self) -> bool {
        self.0.state.load(Ordering::Relaxed) == RUNNING
    }

    /// Looks at a flag of [`Self::at_look`] so far.
    pub fn looks(&self) -> u64 {
        self.0.looks.load(Ordering::Relaxed)
    }
}

/// The work was cancelled; nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;

/// Reports progress of long work and tells it when to stop.
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
    /// `report(stage, fraction)` gets a stage name and 0.0..=1.0, at any rate.
    pub fn new(cancel: &'a Cancel, report: &'a dyn Fn(&'static str, f32)) -> Self {
        Self { cancel, report }
    }

    /// Progress that reports nothing, with a flag of the caller.
    pub fn silent(cancel: &'a Cancel) -> Self {
        Self {
            cancel,
            report: &|_, _| {},
        }
    }

    /// As [`Cancel::n_threads`].
    pub fn n_threads(&self) -> usize {
        self.cancel.n_threads()
    }

    /// The flag, for work in other threads.
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

    /// From here on a cancel has no effect: what follows, such as the last step of writing a file, runs to its end.
    ///
    /// # Errors
    /// [`Cancelled`] if the flag was set before.
    pub fn commit(&self) -> Result<(), Cancelled> {
        match self.cancel.leave_running(COMMITTED) {
            CANCELLED => Err(Cancelled),
            _ => Ok(()),
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

    /// Unstable sort that checks the flag between short runs and merges. O(n log n).
    ///
    /// # Errors
    /// [`Cancelled`] once the flag is set.
    pub fn sorted<T: Ord + Copy>(&self, mut elements: Vec<T>) -> Result<Vec<T>, Cancelled> {
        for run in elements.chunks_mut(CHUNK) {
            self.check()?;
            run.sort_unstable();
        }
        let mut width = CHUNK;
        while width < elements.len() {
            let mut merged = Vec::with_capacity(elements.len());
            for pair in elements.chunks(2 * width) {
                let (one, other) = pair.split_at(width.min(pair.len()));
                let (mut one, mut other) = (one.iter().peekable(), other.iter().peekable());
                loop {
                    let next = match (one.peek(), other.peek()) {
                        (Some(a), Some(b)) if a <= b => one.next(),
                        (_, Some(_)) => other.next(),
                        (_, None) => one.next(),
                    };
                    let Some(next) = next else { break };
                    merged.push(*next);
                    if merged.len() % CHUNK == 0 {
                        self.check()?;
                    }
                }
            }
            elements = merged;
            width *= 2;
            // Freeing the merged vector takes time.
            self.check()?;
        }
        Ok(elements)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn committed_work_is_not_cancelled() {
        let cancel = Cancel::new();
        let progress = Progress::silent(&cancel);
        assert_eq!([progress.commit(), progress.commit()], [Ok(()); 2]);
        cancel.cancel();
        assert_eq!([progress.check(), progress.commit()], [Ok(()); 2]);
        let cancel = Cancel::new();
        cancel.cancel();
        let progress = Progress::silent(&cancel);
        assert_eq!([progress.commit(), progress.check()], [Err(Cancelled); 2]);
    }

    #[test]
    fn long_lists_are_sorted_in_runs() {
        let cancel = Cancel::new();
        let progress = Progress::silent(&cancel);
        let mut state = 7_u64;
        let numbers: Vec<u64> = (0..150_000)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                state >> 40
            })
            .collect();
        let mut expected = numbers.clone();
        expected.sort_unstable();
        assert_eq!(progress.sorted(numbers.clone()), Ok(expected));
        cancel.cancel();
        assert_eq!(progress.sorted(numbers), Err(Cancelled));
    }
}
