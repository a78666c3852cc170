//! The text of traces.

use highwater_torch::{Replay, Settings, Trace, Version};
use proptest::prelude::*;

const DEVICE: &str = "device total=1000 other=0 order=up\n";

#[test]
fn errors_name_line_and_column() {
    let cases = [
        ("alloc 1 2 3", "line 1, column 1: "),
        ("", "line 1, column 1: the first line must be `device"),
        ("device total=x", "line 1, column 8: `total=x`"),
        ("device other=1", "line 1, column 15: the device has no size"),
    ];
    for (text, wanted) in cases {
        let error = Trace::parse(text).expect_err("it is wrong").to_string();
        assert!(error.starts_with(wanted), "{error}");
    }
    let cases = [
        ("alloc 1", "line 2, column 8: the size is missing"),
        ("alloc 1 -5 0", "line 2, column 9: `-5` is no size"),
        ("free 1 2", "line 2, column 8: `2` is more"),
        ("fraction 2", "line 2, column 10: a fraction is"),
        ("pool_begin 1 x", "line 2, column 14: a pool takes"),
        ("frobnicate", "line 2, column 1: `frobnicate` is no command"),
        (
            "alloc 1 2 0\nalloc 1 2 0",
            "line 3, column 7: allocation 1 was made before",
        ),
    ];
    for (text, wanted) in cases {
        let error = Trace::parse(&format!("{DEVICE}{text}"))
            .expect_err("it is wrong")
            .to_string();
        assert!(error.starts_with(wanted), "{error}");
    }
}

proptest! {
    #[test]
    fn any_text_is_answered(text in "(?s).{0,60}", command in "(alloc|free|set|pool_begin|empty|é)[ 0-9é*]{0,12}") {
        let answers = [Trace::parse(&text), Trace::parse(&format!("{DEVICE}{command}"))];
        for error in answers.into_iter().filter_map(Result::err) {
            prop_assert!(!error.to_string().is_empty());
        }
    }

    /// Sizes and devices at the ends of their range end in answers, never in a panic.
    #[test]
    fn extreme_numbers_are_answered(
        choices in prop::collection::vec((0..10_u8, extreme(), 0..3_u64), 1..60),
        (total, other) in (extreme(), prop::sample::select(vec![0, 1 << 20, u64::MAX])),
        order in prop::sample::select(vec!["up", "down"]),
        conf in prop::sample::select(vec![
            "",
            "expandable_segments:True",
            "large_segment_size_mb:-1,expandable_segments:True",
            "max_split_size_mb:-1,max_non_split_rounding_mb:-1,roundup_power2_divisions:4611686018427387904",
            "large_segment_size_mb:17000000000000,max_split_size_mb:-5",
            "large_segment_size_mb:4096,roundup_power2_divisions:[1:2,>:8]",
        ]),
        version in prop::sample::select(vec![Version::Torch2_12, Version::NEWEST, Version::Npu]),
    ) {
        let mut text = format!("device total={total} other={other} order={order}\n");
        for (id, (choice, size, stream)) in choices.into_iter().enumerate() {
            text += &match choice {
                0..=5 => format!("alloc {id} {size} {stream}\n"),
                6 | 7 => format!("free {}\n", size % (id as u64 + 1)),
                8 => format!("record {} {stream}\nempty\n", size % (id as u64 + 1)),
                _ => format!("fraction 0.{stream}\nsnapshot\ndone {size}\n"),
            };
        }
        let trace = Trace::parse(&text).expect("a trace");
        if let Ok(settings) = Settings::parse(conf, version) {
            let answers = Replay::new(&trace, settings, version.rules()).count();
            prop_assert_eq!(answers, trace.commands.len());
        }
    }
}

fn extreme() -> impl Strategy<Value = u64> {
    let ends = vec![
        0,
        1,
        512,
        1 << 20,
        20 << 20,
        80 << 30,
        1 << 39,
        1 << 44,
        1 << 61,
        1 << 63,
        u64::MAX - 511,
        u64::MAX,
    ];
    prop_oneof![prop::sample::select(ends), any::<u64>(), 0..200_000_000_u64]
}
