//! Integration tests, one binary.
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compute expectations in plain floats and may stop at the first surprise"
)]

mod cli;
mod cli_plan;
mod device_view;
mod effects;
mod native;
mod onnx_corpus;
mod options;
mod plan;
mod replay;
mod session;
mod sim;
mod support;
mod synthetic;
mod tidy;
mod timeline;
mod timeline_reuse;
mod trace_compare;
#[cfg(feature = "gui")]
mod ui_app;
#[cfg(feature = "gui")]
mod ui_device;
#[cfg(feature = "gui")]
mod ui_lanes;
#[cfg(feature = "gui")]
mod ui_options;
#[cfg(feature = "gui")]
mod ui_planner;
#[cfg(feature = "gui")]
mod ui_reuse;
