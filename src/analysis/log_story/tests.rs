//! Stories of made-up processes.
