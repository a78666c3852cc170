//! The fast path through dicts of small values, and the slow one, opcode by opcode.

use super::*;
use pickle_writer::synthetic;

/// An opcode pair without effect behind each empty dict keeps it off the fast path.
fn only_slow(bytes: &[u8]) -> (Vec<u8>, usize) {
    let mut long = Vec::with_capacity(2 * bytes.len());
    let mut n_dicts = 0;
    for (place, byte) in bytes.iter().enumerate() {
        long.push(*byte);
        let is_memoized = matches!(bytes.get(place + 1), Some(&opcode::MEMOIZE | b'q' | b'r'));
        if *byte == opcode::EMPTY_DICT && is_memoized {
            long.extend([opcode::NONE, opcode::POP]);
            n_dicts += 1;
        }
    }
    (long, n_dicts)
}

#[test]
fn the_fast_path_and_the_slow_path_read_the_same() {
    for protocol in [2, 3, 4, 5] {
        // More than the 256 KiB that are read at once, so that dicts lie across the border too.
        let bytes = synthetic(4_000, protocol);
        assert!(bytes.len() > 300_000);
        let (long, n_dicts) = only_slow(&bytes);
        assert!(n_dicts > 8_000);
        let (short, told) = read(&bytes).expect("it is whole");
        let (other, told_of_other) = read(&long).expect("it is whole");
        assert_eq!(short, other, "protocol {protocol}");
        assert_eq!(messages(&told), messages(&told_of_other));
    }
}

#[test]
fn places_of_the_memo_are_those_that_were_stored_last() {
    // A key in a place beyond the short opcodes, a place that is stored twice, and numbers of every length.
    let event = |writer: &mut Vec<u8>, number: &[u8]| {
        writer.extend(b"}\x94(j\x2c\x01\x00\x00h\x07X\x04\x00\x00\x00addr");
        writer.extend(number);
        writer.extend(b"u");
    };
    let mut bytes = b"\x80\x04}(X\x0d\x00\x00\x00device_traces](X\x06\x00\x00\x00actionr\x2c\x01\x00\x000".to_vec();
    bytes.extend(b"X\x04\x00\x00\x00freeq\x070X\x05\x00\x00\x00allocq\x070](");
    for number in [
        &b"K\x05"[..],
        b"M\x05\x06",
        b"J\x05\x00\x00\x01",
        b"\x8a\x00",
        b"\x8a\x01\xff",
        b"\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x7f",
        b"\x8a\x09\x00\x00\x00\x00\x00\x00\x00\xff\x00",
        b"N",
    ] {
        event(&mut bytes, number);
    }
    bytes.extend(b"eeu.");
    let (recordings, told) = read(&bytes).expect("it is whole");
    let actions: Vec<(String, u64)> = recordings[0].counts.clone();
    assert!(actions.contains(&("alloc".to_owned(), 8)), "{actions:?}");
    assert!(messages(&told).contains("x8"), "{}", messages(&told));
}
