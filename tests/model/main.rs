//! Tests of the model that need another room beside it: `cargo test -p highwater-model --test model`.

#![expect(clippy::print_stdout, reason = "tests say what they compared")]

mod categories;
#[path = "../support/training.rs"]
mod training;
