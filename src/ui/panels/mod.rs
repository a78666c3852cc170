//! The panes around the lanes. Each is a function of the session and its own view state; it pushes commands.

pub mod inspector;
pub mod options;
pub mod overview;
pub mod problems;
pub mod schedule;
