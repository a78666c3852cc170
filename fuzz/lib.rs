//! The readers of `tests/mutate` for libFuzzer.

#[path = "../tests/mutate/targets/mod.rs"]
#[expect(dead_code, reason = "the test uses the rest")]
mod targets;

use std::cell::Cell;

use targets::{Target, compared};

/// One of so many readable inputs is compared under every policy, by a sum over its bytes.
const READABLE_TO_COMPARED: u32 = 32;

/// Reads bytes by a target: its name, or its name and the ending of the file (`script-py`).
///
/// # Panics
/// The reader has a fault.
pub fn read(target: &str, bytes: &[u8]) {
    let (name, ending) = target.split_once('-').unwrap_or((target, "bin"));
    let target = Target::named(name).unwrap_or_else(|| panic!("{name} is no target"));
    let Some(readable) = target.read(&format!("input.{ending}"), bytes, &Cell::new(0)) else {
        return;
    };
    let sum = bytes.iter().fold(0_u32, |sum, byte| sum.rotate_left(5) ^ u32::from(*byte));
    if sum.is_multiple_of(READABLE_TO_COMPARED) {
        assert!(compared(readable), "a panic in the comparison");
    }
}
