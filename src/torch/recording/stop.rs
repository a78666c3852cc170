//! Cancels long work.

/// Asks at regular intervals whether the caller cancelled the work.
#[derive(Clone, Copy)]
pub struct Stop<'a>(&'a (dyn Fn() -> bool + Sync));

/// The work was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("stopped")]
pub struct Stopped;

impl<'a> Stop<'a> {
    /// The work runs to its end.
    pub const NEVER: Self = Self(&|| false);

    /// Events between two checks: a few milliseconds of work.
    const EVENTS: usize = 4096;

    /// Work that ends with [`Stopped`] once the function returns true.
    pub fn when(is_stopped: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Self(is_stopped)
    }

    /// To be called for every event of a loop, with its number.
    pub(super) fn look(self, number: usize) -> Result<(), Stopped> {
        if number.is_multiple_of(Self::EVENTS) && (self.0)() {
            return Err(Stopped);
        }
        Ok(())
    }
}

impl std::fmt::Debug for Stop<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stop").finish_non_exhaustive()
    }
}
