//! The whole window without a screen, found by role and label, driven as users drive it.
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::unwrap_used,
    reason = "tests compute expectations in plain floats and may stop at the first surprise"
)]

mod allocator_settings;
mod app;
mod arrange;
mod axis;
mod budgets;
mod device;
mod document;
mod export;
mod exports;
mod flame;
mod harness;
mod keyboard;
mod lane_marks;
mod lanes;
mod lifetimes;
#[path = "../support/marked_lanes.rs"]
mod marked_lanes;
mod measured;
mod measuring;
mod monkey;
mod names;
mod neighbourhood;
mod options;
mod panel;
mod peak;
mod pictures;
mod pins;
mod planner;
mod portraits;
mod ranges;
mod recordings;
mod remat;
mod reuse;
mod schedule;
mod screen;
mod screen_rules;
mod search;
mod selected_lane;
#[path = "../support/sessions.rs"]
mod sessions;
mod shell;
mod sizes;
mod small_windows;
#[expect(dead_code, clippy::needless_pass_by_value, reason = "other tests use the rest")]
#[path = "../support/snapshots.rs"]
mod snapshots;
mod space;
#[path = "../support/synthetic.rs"]
mod synthetic;
#[path = "../support/synthetic_remat.rs"]
mod synthetic_remat;
mod tables;
mod visible_texts;
