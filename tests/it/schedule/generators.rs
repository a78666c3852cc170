//! Generators by a table, and by invariants of all of them.

use highwater::workload::{Generator, MAX_VALUES};
use proptest::prelude::*;

fn values(text: &str) -> Vec<u64> {
    let generator: Generator = text.parse().unwrap_or_else(|error| panic!("{error}"));
    generator.values()
}

#[test]
fn values_by_a_table() {
    for (text, expected) in [
        ("8", &[8][..]),
        ("8,16, 32", &[8, 16, 32]),
        (" 0 ", &[0]),
        ("5,5,1", &[5, 5, 1]),
        ("8..10", &[8, 9, 10]),
        ("8..64 step 8", &[8, 16, 24, 32, 40, 48, 56, 64]),
        ("8..30 step 10", &[8, 18, 28]),
        ("3..1", &[3, 2, 1]),
        ("64..8 step 20", &[64, 44, 24]),
        ("7..7", &[7]),
        ("7..7 step 5", &[7]),
        // As dynamic_inputs_shape_range draws them: both ends, evenly by ratio, without duplicates.
        ("1~1000", &[1, 10, 100, 1000]),
        ("8~128 samples 5", &[8, 16, 32, 64, 128]),
        ("3~5", &[3, 4, 5]),
        ("3~6 samples 1", &[6]),
        ("4~4", &[4]),
        // splitmix64 of these seeds, min * ((max + 1) / min)^(draw / 2^64) rounded down, as floats give it too; the values are
        // part of the format.
        ("1..1000 log 4 seed 0", &[447, 19, 1, 818]),
        ("1..1000 log 4", &[447, 19, 1, 818]),
        ("8..1024 log 5 seed 7", &[53, 8, 633, 135, 71]),
        ("100..100000 log 3 seed 123456789", &[251, 2731, 375]),
        ("9..9 log 3 seed 5", &[9, 9, 9]),
    ] {
        assert_eq!(values(text), expected, "{text}");
    }
}

#[test]
fn rejected_texts_get_a_hint() {
    for (text, reason) in [
        ("", "8..64 step 8"),
        ("8,,9", "8..64 step 8"),
        ("eight", "\"eight\" where a whole number"),
        ("9223372036854775808", "below 2^63"),
        ("8..64 step 0", "step of 0"),
        ("8..64 stride 2", "is none of"),
        ("8..64 step", "is none of"),
        ("8..64 step two", "behind \"step\""),
        ("0..64 log 5", "no logarithm"),
        ("64..8 log 5", "ends before it starts: write 8 first"),
        ("1..64 log 0", "draws no value"),
        ("1..64 log 100001", "more than 100000"),
        ("0..100000", "more than 100000"),
        ("8~-1", "no upper bound"),
        ("9~8", "ends before it starts"),
        ("1~8 samples 0", "draws no value"),
        ("1~8 log 4", "is none of"),
    ] {
        let error = text.parse::<Generator>().expect_err(text).to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }
}

#[test]
fn a_log_uniform_sample_is_spread_by_ratio() {
    // A thousand values over three powers of ten: about a third in each.
    let values = values("1..999 log 3000 seed 11");
    let within = |low: u64, high: u64| values.iter().filter(|value| (low..high).contains(*value)).count();
    for (low, high) in [(1, 10), (10, 100), (100, 1000)] {
        let count = within(low, high);
        assert!((900..1100).contains(&count), "{low}..{high}: {count}");
    }
}

pub(super) fn generators() -> impl Strategy<Value = Generator> {
    let value = 0_u64..=i64::MAX as u64;
    let small = 0_u64..5000;
    prop_oneof![
        prop::collection::vec(value, 1..6).prop_map(Generator::List),
        (small.clone(), small, 1_u64..40).prop_map(|(first, last, step)| Generator::Range { first, last, step }),
        (1_u64..1 << 40, 0_u64..1 << 40, 1_u32..50, any::<u64>()).prop_map(|(min, more, count, seed)| {
            Generator::LogUniform {
                min,
                max: min + more,
                count,
                seed,
            }
        }),
        (0_u64..1 << 40, 0_u64..1 << 40, 1_u32..50).prop_map(|(min, more, samples)| Generator::ShapeRange {
            min,
            max: min + more,
            samples,
        }),
    ]
}

proptest! {
    #[test]
    fn values_lie_within_their_range_and_are_the_same_each_time(generator in generators()) {
        let values = generator.values();
        prop_assert_eq!(&values, &generator.values());
        prop_assert!(!values.is_empty() && values.len() as u64 <= MAX_VALUES);
        let within = |low: u64, high: u64| values.iter().all(|value| (low..=high).contains(value));
        match &generator {
            Generator::List(list) => prop_assert_eq!(&values, list),
            Generator::Range { first, last, step } => {
                prop_assert!(within(*first.min(last), *first.max(last)));
                prop_assert_eq!(values[0], *first);
                prop_assert!(values.windows(2).all(|pair| pair[0].abs_diff(pair[1]) == *step));
                let left = values[values.len() - 1].abs_diff(*last);
                prop_assert!(left < *step, "another step would fit");
            }
            Generator::LogUniform { min, max, count, .. } => {
                prop_assert!(within(*min, *max));
                prop_assert_eq!(values.len(), *count as usize);
            }
            Generator::ShapeRange { min, max, samples } => {
                prop_assert!(within(*min, *max));
                prop_assert!(values.is_sorted() && values.len() <= *samples as usize);
                prop_assert_eq!(values[values.len() - 1], *max);
            }
        }
        if !matches!(generator, Generator::ShapeRange { .. }) {
            prop_assert_eq!(values.len() as u64, generator.n_values());
        }
    }

    #[test]
    fn written_files_are_read_back_equal(generator in generators()) {
        let text = generator.to_string();
        prop_assert_eq!(text.parse::<Generator>(), Ok(generator));
    }

    #[test]
    fn no_text_panics(text in "[0-9.~, a-z]{0,24}") {
        if let Ok(generator) = text.parse::<Generator>() {
            prop_assert!(!generator.values().is_empty());
        }
    }
}
