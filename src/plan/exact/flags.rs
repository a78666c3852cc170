//! Who may end a search, and how often long loops ask.
//!
//! Both flags stay set once they are: whoever has seen one may leave its state unfinished, because nobody goes on with
//! it. At less than a nanosecond an operation, [`WORK_PER_LOOK`] is far below the 20 ms in which a cancel has to be seen.

use highwater_model::progress::{Cancel, Cancelled, Progress};

/// Inner operations between two looks at the flags.
pub(super) const WORK_PER_LOOK: usize = 100_000;

/// The flags of a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flags<'a> {
    /// Drop everything.
    pub(super) cancel: &'a Cancel,
    /// End with what there is.
    pub(super) stop: Option<&'a Cancel>,
}

impl Flags<'_> {
    pub(super) fn is_set(&self) -> bool {
        self.cancel.is_cancelled() || self.stop.is_some_and(Cancel::is_cancelled)
    }
}

/// Looks at the flag of a cancel now and then.
#[derive(Debug)]
pub(super) struct Pace<'a> {
    progress: &'a Progress<'a>,
    work: usize,
}

impl<'a> Pace<'a> {
    pub(super) fn new(progress: &'a Progress<'a>) -> Self {
        Self { progress, work: 0 }
    }

    /// Counts operations.
    pub(super) fn spend(&mut self, work: usize) -> Result<(), Cancelled> {
        self.work += work;
        if self.work >= WORK_PER_LOOK {
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
        let mut pace = Pace::new(&progress);
        cancel.cancel();
        assert_eq!(pace.spend(WORK_PER_LOOK - 1), Ok(()));
        assert_eq!(pace.spend(1), Err(Cancelled));
    }
}
