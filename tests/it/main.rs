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
mod device_view;
mod document;
mod document_names;
mod effects;
mod engine_plans;
mod exporters;
mod exports;
mod forbidden;
mod ge_corpus;
mod kernels;
mod lifetimes;
mod name_reuse;
mod native;
mod neighbourhood;
mod opening;
mod options;
#[path = "../support/oracle.rs"]
mod oracle;
mod parts;
mod passes;
mod peak;
mod peak_against;
mod pins;
mod plan_csv;
#[path = "../support/problems.rs"]
mod problems;
mod raster;
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
#[path = "../support/sessions.rs"]
mod sessions;
mod sim;
mod space;
#[path = "../support/support.rs"]
mod support;
mod svg;
#[path = "../support/synthetic.rs"]
mod synthetic;
#[path = "../support/synthetic_remat.rs"]
mod synthetic_remat;
mod tables;
mod tflite_corpus;
mod tidy;
mod timeline;
mod timeline_remat;
mod timeline_reuse;
mod torch_corpus;
mod trace_compare;
mod workloads;
mod xla_corpus;
mod xla_together;
