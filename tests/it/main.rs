//! Integration tests, one binary.
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests compute expectations in plain floats and may stop at the first surprise"
)]

mod analysis;
mod cancelling;
mod cli;
mod corpus;
mod document;
mod documents;
mod effects;
mod engine_plans;
mod exporters;
mod exports;
mod golden;
mod manifests;
#[path = "../support/marked_lanes.rs"]
mod marked_lanes;
mod name_reuse;
mod native;
mod opening;
mod options;
#[path = "../support/oracle.rs"]
mod oracle;
mod plan_csv;
mod plan_exporter;
#[path = "../support/problems.rs"]
mod problems;
mod replay;
mod schedule;
mod session;
#[path = "../support/sessions.rs"]
mod sessions;
mod sim;
#[path = "../support/snapshots.rs"]
mod snapshots;
mod space;
#[path = "../support/support.rs"]
mod support;
mod svg;
#[path = "../support/synthetic.rs"]
mod synthetic;
#[path = "../support/synthetic_remat.rs"]
mod synthetic_remat;
mod tidy;
mod timeline;
mod trace_compare;
mod workloads;
