//! Integration tests, one binary.
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compute expectations in plain floats and may stop at the first surprise"
)]

mod sim;
mod synthetic;
mod timeline;
