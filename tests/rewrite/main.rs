//! Passes over programs: rematerialization against recorded runs of the originals, calls in place.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compute expectations in plain numbers and may stop at the first surprise"
)]

mod inline;
mod remat_megengine;
mod remat_runtime;
#[path = "../support/support.rs"]
mod support;
