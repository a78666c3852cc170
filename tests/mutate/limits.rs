//! Limits for reading damaged bytes, relative to the whole file in the same process.

use std::fmt;
use std::time::Duration;

use crate::reading::{Reading, read};
use crate::samples::Sample;

/// Maximum cost relative to the whole file.
const TIMES: u64 = 10;

/// Bytes that are always allowed.
const LEAST_BYTES: u64 = 16 << 20;

/// Processor time that is always allowed.
const LEAST_TIME: Duration = Duration::from_millis(400);

/// Number of readings of the whole file to measure its time.
const CLEAN_READS: usize = 5;

/// Cost of the whole file.
#[derive(Debug)]
pub(crate) struct Limits {
    work: u64,
    work_a_byte: u64,
    least_work: u64,
    bytes: u64,
    time: Duration,
}

impl Limits {
    pub(crate) fn of(sample: &Sample) -> Self {
        let read = || read(sample.target, &sample.name, &sample.bytes).expect("the whole file is read without a panic");
        let mut reads: Vec<Reading> = (0..CLEAN_READS).map(|_| read()).collect();
        reads.sort_by_key(|reading| reading.time);
        let median = &reads[CLEAN_READS / 2];
        Self {
            work: median.work,
            work_a_byte: sample.target.work_a_byte(),
            least_work: sample.target.least_work(),
            bytes: median.bytes,
            time: median.time,
        }
    }

    /// The limit that a reading of `len` bytes exceeds.
    pub(crate) fn excess(&self, reading: &Reading, len: usize) -> Option<String> {
        let most_work = (self.work * TIMES).max(self.least_work + self.work_a_byte * len as u64);
        if reading.work > most_work {
            return Some(format!(
                "{} allocations and looks at the progress instead of {}",
                reading.work, self.work
            ));
        }
        let most_bytes = self.bytes * TIMES + LEAST_BYTES;
        if reading.bytes > most_bytes {
            return Some(format!("{} bytes at once instead of {}", reading.bytes, self.bytes));
        }
        let most_time = (self.time * 10).max(LEAST_TIME);
        (reading.time > most_time).then(|| format!("{:?} instead of {:?}", reading.time, self.time))
    }
}

impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?}, {} bytes, {} allocations and looks",
            self.time, self.bytes, self.work
        )
    }
}
