//! The options room and the configuration format: tables, rules, the active policy, lowering, round trips.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop at that line")]

mod changes;
mod companion_scripts;
mod config;
mod docs;
mod flow;
mod following;
mod frameworks;
mod neighbours;
mod older;
mod places;
mod public_scripts;
mod python;
mod real_scripts;
mod reference;
mod rules;
mod scripts;
mod several;
mod shell;
mod table;
mod written;
