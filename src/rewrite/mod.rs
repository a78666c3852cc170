//! Program -> Program: passes that change what lives when, before anything is placed.
//!
//! Each pass is one file, optional, and driven by its own parameters. Deliberately not here: placement.

mod atomic_clean;

pub use atomic_clean::{AtomicClean, atomic_clean};
