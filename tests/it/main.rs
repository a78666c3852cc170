//! Integration tests, one binary.
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compute expectations in plain floats and may stop at the first surprise"
)]

mod areas;
mod ascend_corpus;
mod axis;
mod beside;
mod calls;
mod cli;
mod cli_baseline;
mod cli_compare;
mod cli_inspect;
mod cli_learn;
mod cli_peak;
mod cli_pins;
mod cli_plan;
mod cli_plan_dumped;
mod cli_verdict;
mod device_figures;
#[cfg(feature = "gui")]
mod device_lanes;
mod device_view;
mod document;
mod document_names;
mod effects;
mod exporters;
mod exports;
mod forbidden;
mod ge_corpus;
mod inline;
mod kernels;
mod lifetimes;
mod name_reuse;
mod native;
mod neighbourhood;
mod onnx;
mod onnx_corpus;
mod opening;
mod options;
mod oracle;
mod parts;
mod passes;
mod peak;
mod peak_against;
mod pins;
mod plan;
mod raster;
mod remat_megengine;
mod remat_runtime;
mod replay;
mod schedule;
mod search;
mod session;
mod session_names;
mod session_peak;
mod session_pins;
mod session_remat;
mod session_schedule;
mod session_search;
mod session_space;
mod session_sweep;
mod sim;
mod space;
mod support;
mod svg;
mod synthetic;
mod synthetic_remat;
mod tables;
mod tensorflow;
mod tensorflow_binary;
mod tensorflow_corpus;
mod tensorflow_notices;
mod tensorflow_shapes;
mod tflite_corpus;
mod tidy;
mod timeline;
mod timeline_remat;
mod timeline_reuse;
mod torch_corpus;
mod trace_compare;
#[cfg(feature = "gui")]
mod ui_app;
#[cfg(feature = "gui")]
mod ui_arrange;
#[cfg(feature = "gui")]
mod ui_axis;
#[cfg(feature = "gui")]
mod ui_budgets;
#[cfg(feature = "gui")]
mod ui_device;
#[cfg(feature = "gui")]
mod ui_document;
#[cfg(feature = "gui")]
mod ui_exports;
#[cfg(feature = "gui")]
mod ui_keyboard;
#[cfg(feature = "gui")]
mod ui_lanes;
#[cfg(feature = "gui")]
mod ui_lifetimes;
#[cfg(feature = "gui")]
mod ui_measured;
#[cfg(feature = "gui")]
mod ui_measuring;
#[cfg(feature = "gui")]
mod ui_names;
#[cfg(feature = "gui")]
mod ui_neighbourhood;
#[cfg(feature = "gui")]
mod ui_options;
#[cfg(feature = "gui")]
mod ui_peak;
#[cfg(feature = "gui")]
mod ui_pins;
#[cfg(feature = "gui")]
mod ui_planner;
#[cfg(feature = "gui")]
mod ui_portraits;
#[cfg(feature = "gui")]
mod ui_ranges;
#[cfg(feature = "gui")]
mod ui_remat;
#[cfg(feature = "gui")]
mod ui_reuse;
#[cfg(feature = "gui")]
mod ui_schedule;
#[cfg(feature = "gui")]
mod ui_search;
#[cfg(feature = "gui")]
mod ui_shell;
#[cfg(feature = "gui")]
mod ui_sizes;
#[cfg(feature = "gui")]
mod ui_space;
#[cfg(feature = "gui")]
mod ui_tables;
mod xla_corpus;
mod xla_together;
