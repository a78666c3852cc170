//! One integration-test binary.
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    reason = "tests compute expectations in plain floats"
)]
mod synthetic;
mod timeline;
#[cfg(feature = "gui")]
mod ui_lanes;
