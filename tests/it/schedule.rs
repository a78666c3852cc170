//! Schedules: values from generators, entries as texts, runs with groups, loads and unloads, names of graphs.

mod entries;
mod generators;
mod wholes;
