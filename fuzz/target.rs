//! One target, by the name of the binary.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| highwater_fuzz::read(env!("CARGO_BIN_NAME"), bytes));
