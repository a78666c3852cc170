//! Problem errors in the words of their file: ids and times instead of positions and steps.

use super::problem::{ProblemEntry, ProblemError};

impl ProblemEntry {
    pub fn sentence(&self, error: &ProblemError) -> String {
        let id = |position: usize| format!("\"{}\"", self.ids.get(position));
        match error {
            ProblemError::MisalignedOffset {
                buffer,
                offset,
                alignment,
            } => format!(
                "buffer {} is fixed at {offset}, which is no multiple of its alignment {alignment}",
                id(*buffer)
            ),
            ProblemError::BadGap { buffer, lower, upper } => format!(
                "gap {}-{} of buffer {} is empty, outside its range, or overlaps another of its gaps",
                self.time(*lower),
                self.time(*upper),
                id(*buffer as usize)
            ),
            ProblemError::NeverLive { buffer } => format!(
                "the gaps of buffer {} leave no time at which it holds its bytes",
                id(*buffer as usize)
            ),
            ProblemError::SplitGroup {
                first,
                second,
                first_offset,
                second_offset,
            } => format!(
                "buffers {} and {} share an address but are fixed at {first_offset} and {second_offset}",
                id(*first as usize),
                id(*second as usize)
            ),
            ProblemError::FixedCollide {
                first,
                second,
                offset,
                step,
            } => format!(
                "buffers {} and {} are both fixed so that they hold byte {offset} at time {}",
                id(*first),
                id(*second),
                self.time(*step)
            ),
            other => other.to_string(),
        }
    }
}
