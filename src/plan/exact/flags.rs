//! Flags that end a search, and how often long loops check them.
//!
//! Both flags stay set: code that has seen one may leave its state unfinished, because the search does not continue. At
//! less than a nanosecond per operation, [`WORK_PER_CHECK`] is far below the 20 ms in which a cancel must be noticed.

use highwater_model::progress::{Cancel, Cancelled, Progress};

/// Inner operations between two checks of the flags.
pub(super) const WORK_PER_CHECK: usize = 100_000;

#[derive(Clone, Copy, Debug)]
pub(super) struct EndFlags<'a> {
    /// Discard everything.
    pub(super) cancel: &'a Cancel,
    /// End with the best plan so far.
    pub(super) stop: Option<&'a Cancel>,
}

impl EndFlags<'_> {
    pub(super) fn is_set(&self) -> bool {
        self.cancel.is_cancelled() || self.stop.is_some_and(Cancel::is_cancelled)
    }
}

/// Checks the cancel flag every [`WORK_PER_CHECK`] operations.
#[derive(Debug)]
pub(super) struct CancelCheck<'a> {
    progress: &'a Progress<'a>,
    work: usize,
}

impl<'a> CancelCheck<'a> {
    pub(super) fn new(progress: &'a Progress<'a>) -> Self {
        Self { progress, work: 0 }
    }

    /// Counts operations.
    pub(super) fn spend(&mut self, work: usize) -> Result<(), Cancelled> {
        self.work += work;
        if self.work >= WORK_PER_CHECK {
            self.work = 0;
            self.progress.check()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cancel_is_seen_within_the_work() {
        let cancel = Cancel::new();
        let progress = Progress::silent(&cancel);
        let mut check = CancelCheck::new(&progress);
        cancel.cancel();
        assert_eq!(check.spend(WORK_PER_CHECK - 1), Ok(()));
        assert_eq!(check.spend(1), Err(Cancelled));
    }
}
