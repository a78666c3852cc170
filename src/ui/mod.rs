//! Pixels: the only room that names egui.
//!
//! Panels are functions that read state, paint, and push what the user wants into a list; they hold no engine logic
//! and never wait.

pub mod lanes;
pub mod theme;
