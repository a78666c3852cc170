//! Passes over programs: rematerialization against recorded runs of the originals, calls in place.
#![expect(clippy::unwrap_used, reason = "tests may stop at the first surprise")]

mod inline;
mod remat_megengine;
mod remat_runtime;
#[path = "../support/support.rs"]
mod support;
