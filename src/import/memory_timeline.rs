//! Memory timelines of `torch.profiler` (`export_memory_timeline`): sums by category over time, without blocks.
//!
//! ```text
//! [[time, ...], [[0, bytes by category, ...], ...]]          NAME.json: microseconds; a row of sums for each time
//! [[time, action, bytes, category], ...]                     NAME.raw.json: nanoseconds, -1 for what was there before
//! ```
//!
//! Actions are 1 (was there), 2 (created), 3 (changed: minus the old, plus the new version) and 4 (destroyed); bytes have a
//! sign. Source: `torch/profiler/_memory_profiler.py`. Events of the raw form do not name their tensors, so no block can be told.
//!
//! In: text. Out: one recording with the curve of all categories, and the highest sum of each as a count.

use std::sync::Arc;

use serde::de::IgnoredAny;

use super::{ImportError, Input};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_model::units::{Bytes, Nanos, Step};
use highwater_model::workload::{EventTimes, RecordedTotal, Recording, Source, TotalKind};

/// Names of categories in the order of their numbers (`_CATEGORY_TO_INDEX`).
const CATEGORIES: &[&str] = &[
    "parameters",
    "optimizer state",
    "inputs",
    "temporary",
    "activations",
    "gradients",
    "autograd detail",
    "unknown",
];

/// Values of `Action`; the sign of the bytes is that of the change.
const ACTIONS: std::ops::RangeInclusive<i64> = 1..=4;

const ADVICE: &str = "the file is damaged or of another tool; export it again with export_memory_timeline, or record blocks with \
                      export_chrome_trace and profile_memory=True";

/// A list that begins with an event of four numbers, or with a list of times before a list of lists.
pub(super) fn detect(input: &Input<'_>) -> bool {
    let head = input.head().trim_ascii_start();
    let Some(first) = head.strip_prefix(b"[").map(<[u8]>::trim_ascii_start) else {
        return false;
    };
    let is_number = |byte: &u8| byte.is_ascii_digit() || byte.is_ascii_whitespace() || matches!(byte, b',' | b'-');
    let Some(numbers) = first.strip_prefix(b"[") else {
        return false;
    };
    let n_bytes = numbers.iter().take_while(|byte| is_number(byte)).count();
    let (list, behind) = numbers.split_at(n_bytes);
    let behind: Vec<u8> = behind
        .iter()
        .copied()
        .filter(|byte| !byte.is_ascii_whitespace())
        .take(4)
        .collect();
    let is_cut = behind.is_empty() && (input.head().len() as u64) < input.len();
    let n_numbers = list.split(|byte| *byte == b',').count();
    let is_event =
        n_numbers == 4 && list.iter().any(u8::is_ascii_digit) && matches!(&behind[..], [b']', b',' | b']', ..]);
    let is_times = behind.starts_with(b"],[[") || is_cut && n_numbers > 4;
    is_times || is_event
}

pub(super) fn import(
    input: &mut Input<'_>,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Source, ImportError> {
    let bytes = input.read_all(progress)?;
    let damaged = |error: &serde_json::Error| ImportError::of_json(error, bytes.len());
    let is_raw = serde_json::from_slice::<(Vec<i64>, Vec<IgnoredAny>)>(&bytes).is_err()
        || serde_json::from_slice::<Vec<[i64; 4]>>(&bytes).is_ok();
    let samples = if is_raw {
        raw_samples(&serde_json::from_slice::<Vec<[i64; 4]>>(&bytes).map_err(|error| damaged(&error))?)?
    } else {
        let (times, rows): (Vec<i64>, Vec<Vec<i64>>) =
            serde_json::from_slice(&bytes).map_err(|error| damaged(&error))?;
        stated_samples(&times, rows)?
    };
    progress.check()?;
    let recording = recording(&samples, is_raw)?;
    diagnostics.info(
        "a memory timeline holds sums by category alone; for blocks record the same step with export_chrome_trace and \
         profile_memory=True, or torch.cuda.memory._record_memory_history and _dump_snapshot",
        "",
    );
    debug_assert_eq!(recording.check(), Ok(()));
    Ok(Source::Recordings(vec![Arc::new(recording)]))
}

/// A time in nanoseconds, and the bytes by category from it on.
struct Sample {
    time: u64,
    sums: Vec<u64>,
}

fn wrong(what: &str, at: usize) -> ImportError {
    ImportError::at(what, format!("sample {at}"), ADVICE)
}

fn stated_samples(times: &[i64], rows: Vec<Vec<i64>>) -> Result<Vec<Sample>, ImportError> {
    if times.len() != rows.len() {
        return Err(wrong(
            "there are not as many rows of sums as times",
            times.len().min(rows.len()),
        ));
    }
    let samples = times.iter().zip(rows).enumerate().map(|(at, (time, row))| {
        let time = u64::try_from(*time).ok().and_then(|time| time.checked_mul(1000));
        // The first column is the base line of a plot, always 0.
        let sums = row.into_iter().skip(1).map(|sum| u64::try_from(sum).ok()).collect();
        match (time, sums) {
            (Some(time), Some(sums)) => Ok(Sample { time, sums }),
            _ => Err(wrong("a time or a sum is negative", at)),
        }
    });
    samples.collect()
}

fn raw_samples(events: &[[i64; 4]]) -> Result<Vec<Sample>, ImportError> {
    let first = events.iter().map(|event| event[0]).find(|time| *time >= 0).unwrap_or(0);
    let mut sums = [0_i64; CATEGORIES.len()];
    let mut samples: Vec<Sample> = Vec::new();
    for (at, [time, action, bytes, category]) in events.iter().enumerate() {
        if !ACTIONS.contains(action) {
            return Err(wrong("an event has an action that is not known", at));
        }
        let place = usize::try_from(*category)
            .ok()
            .and_then(|category| sums.get_mut(category));
        let sum = place.ok_or_else(|| wrong("an event has a category that is not known", at))?;
        *sum = sum.checked_add(*bytes).ok_or_else(|| wrong("a sum is too large", at))?;
        let time = u64::try_from(if *time < 0 { first } else { *time }).unwrap_or(0);
        // A changed tensor leaves its category in one event and enters another in the next.
        let sums = sums.iter().map(|sum| u64::try_from(*sum).unwrap_or(0)).collect();
        match samples.last_mut() {
            Some(last) if last.time == time => last.sums = sums,
            _ => samples.push(Sample { time, sums }),
        }
    }
    Ok(samples)
}

fn recording(samples: &[Sample], is_raw: bool) -> Result<Recording, ImportError> {
    let Ok(n_steps) = u32::try_from(samples.len()) else {
        return Err(wrong("there are more samples than can be counted", samples.len()));
    };
    if n_steps == 0 {
        return Err(wrong("the timeline is empty", 0));
    }
    let sum = |sample: &Sample| sample.sums.iter().try_fold(0_u64, |sum, bytes| sum.checked_add(*bytes));
    let totals: Option<Vec<(Step, Bytes)>> = (0_u32..)
        .zip(samples)
        .map(|(step, sample)| Some((Step(step), Bytes(sum(sample)?))))
        .collect();
    let totals = totals.ok_or_else(|| wrong("a sum is too large", 0))?;
    let is_ordered = samples.is_sorted_by_key(|sample| sample.time);
    let times: EventTimes = samples
        .iter()
        .filter(|_| is_ordered)
        .map(|sample| Nanos(sample.time))
        .collect();
    let highest = |category: usize| samples.iter().filter_map(|sample| sample.sums.get(category)).max();
    let counts = CATEGORIES.iter().enumerate().filter_map(|(category, name)| {
        let bytes = highest(category).filter(|bytes| **bytes > 0)?;
        Some((format!("bytes of {name} at their peak"), *bytes))
    });
    Ok(Recording {
        name: "memory timeline".to_owned(),
        recorder: if is_raw {
            "PyTorch memory timeline (raw events)".to_owned()
        } else {
            "PyTorch memory timeline".to_owned()
        },
        n_steps,
        times,
        totals: RecordedTotal::known([(TotalKind::Allocated, totals)]),
        counts: counts.collect(),
        ..Recording::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_help::{read, recordings, shows};

    #[test]
    fn both_forms_give_the_curve_of_all_categories() {
        let stated = b"[[1000, 1001, 1002], [[0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 5, 0, 0, 0, 0, 0, 0, 0], [0, 5, 0, 0, 0, 7, 0, 0, 1]]]";
        let (found, told) = recordings(import, "a.json", stated).expect("it is read");
        shows(
            &found,
            "memory timeline, 3 steps: 1000000 +1000 +2000
             allocated 0:0 1:5 2:13",
        );
        assert!(told.entries()[0].message.contains("export_chrome_trace"));
        let raw = b"[[-1, 1, 8, 0], [1000, 2, 5, 4], [1001, 3, -5, 4], [1001, 3, 5, 5], [1002, 4, -5, 5]]";
        let (found, _) = recordings(import, "a.raw.json", raw).expect("it is read");
        shows(
            &found,
            "memory timeline, 3 steps: 1000 +1 +2
             allocated 0:13 1:13 2:8",
        );
    }

    #[test]
    fn other_lists_of_numbers_are_no_timelines() {
        for text in [
            "[]",
            "[[]]",
            "[[1, 2]]",
            "[1, 2, 3, 4]",
            "[[1, 2, 3, 4, 5]]",
            "[[\"P\", 1]]",
            "{\"a\": [[1, 2, 3, 4]]}",
        ] {
            assert!(read("a.json", text.as_bytes()).is_err(), "{text}");
            let input = Input::from_bytes("a.json", text).expect("memory can be read");
            assert!(!detect(&input), "{text}");
        }
        for text in [
            "[[1], [[0, -1]]]",
            "[[1, 2], [[0, 1]]]",
            "[[1, 9, 1, 1], [1, 1, 1, 1]]",
            "[[1, 1, 1, 99]]",
            "[[1, 1, 1, 1]",
        ] {
            assert!(read("a.json", text.as_bytes()).is_err(), "{text}");
        }
    }
}
