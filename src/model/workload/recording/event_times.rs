//! The time of each event of a recording, in four bytes where the clock allows it.
//!
//! ```text
//! 1700000000.000012 s  1700000000.000150 s    the first, then multiples of 1 µs (at most 71 minutes) or of 1 ns (4.2 s)
//! anything else                               nanoseconds, 8 bytes each
//! ```

use crate::units::Nanos;

/// Times by event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventTimes(Form);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Form {
    /// Multiples of `unit` from the first time on.
    Narrow {
        first: u64,
        unit: u64,
        since: Vec<u32>,
    },
    Wide(Vec<u64>),
}

impl Default for Form {
    fn default() -> Self {
        Self::Narrow {
            first: 0,
            unit: 1,
            since: Vec::new(),
        }
    }
}

impl EventTimes {
    /// In nanoseconds.
    const MICROSECOND: u64 = 1000;

    pub fn len(&self) -> usize {
        match &self.0 {
            Form::Narrow { since, .. } => since.len(),
            Form::Wide(times) => times.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Room for more events at once.
    pub fn reserve_exact(&mut self, more: usize) {
        match &mut self.0 {
            Form::Narrow { since, .. } => since.reserve_exact(more),
            Form::Wide(times) => times.reserve_exact(more),
        }
    }

    /// Appends an event.
    pub fn push(&mut self, time: Nanos) {
        if let Form::Wide(times) = &mut self.0 {
            return times.push(time.0);
        }
        if !self.push_narrow(time.0) {
            let mut times = Vec::with_capacity(self.len() * 2);
            times.extend(self.iter().map(|known| known.0));
            times.push(time.0);
            self.0 = Form::Wide(times);
        }
    }

    /// Whether the time has the narrow form.
    fn push_narrow(&mut self, time: u64) -> bool {
        let Form::Narrow { first, unit, since } = &mut self.0 else {
            return false;
        };
        if since.is_empty() {
            let is_whole = time.is_multiple_of(Self::MICROSECOND);
            (*first, *unit) = (time, if is_whole { Self::MICROSECOND } else { 1 });
        }
        let passed = time.checked_sub(*first).filter(|passed| passed.is_multiple_of(*unit));
        let units = passed.and_then(|passed| u32::try_from(passed / *unit).ok());
        since.extend(units);
        units.is_some()
    }

    /// `None` beyond the end.
    #[inline]
    pub fn get(&self, event: usize) -> Option<Nanos> {
        Some(Nanos(match &self.0 {
            Form::Narrow { first, unit, since } => first + unit * u64::from(*since.get(event)?),
            Form::Wide(times) => *times.get(event)?,
        }))
    }

    pub fn first(&self) -> Option<Nanos> {
        self.get(0)
    }

    pub fn last(&self) -> Option<Nanos> {
        self.get(self.len().checked_sub(1)?)
    }

    pub fn iter(&self) -> impl Iterator<Item = Nanos> + Clone + '_ {
        (0..self.len()).map_while(|event| self.get(event))
    }

    pub fn is_sorted(&self) -> bool {
        self.iter().is_sorted()
    }

    /// The number of events before a time; of sorted times. O(log events).
    pub fn n_before(&self, time: Nanos) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.get(middle) < Some(time) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}

impl FromIterator<Nanos> for EventTimes {
    fn from_iter<T: IntoIterator<Item = Nanos>>(times: T) -> Self {
        let mut all = Self::default();
        times.into_iter().for_each(|time| all.push(time));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: u64 = 3_600_000_000_000;
    const NOW: u64 = 1_700_000_000_000_000_000;

    #[test]
    fn times_are_kept_exactly() {
        for (times, is_narrow) in [
            (vec![], true),
            (vec![NOW, NOW + 1000, NOW + HOUR], true),
            (vec![NOW, NOW + 1000, NOW + 2 * HOUR], false),
            (vec![NOW + 1, NOW + 2, NOW + 4_000_000_001], true),
            (vec![NOW + 1, NOW + 2, NOW + HOUR], false),
            (vec![NOW, NOW + 1, NOW + 2], false),
            (vec![NOW, NOW - 1000, NOW], false),
            (vec![0, u64::MAX, 0], false),
        ] {
            let kept: EventTimes = times.iter().copied().map(Nanos).collect();
            assert_eq!(matches!(kept.0, Form::Narrow { .. }), is_narrow, "{times:?}");
            assert_eq!(kept.iter().map(|time| time.0).collect::<Vec<_>>(), times);
            assert_eq!(kept.last().map(|time| time.0), times.last().copied());
            assert_eq!(kept.get(times.len()), None);
            assert_eq!(kept.is_sorted(), times.is_sorted());
        }
    }

    #[test]
    fn events_before_a_time_are_counted() {
        for times in [
            vec![NOW, NOW + 1000, NOW + 1000, NOW + 5000],
            vec![NOW, NOW + 1, NOW + 9],
            vec![],
        ] {
            let kept: EventTimes = times.iter().copied().map(Nanos).collect();
            for time in (NOW - 2..NOW + 10).chain([NOW + 1000, NOW + 1001, NOW + 9000]) {
                let expected = times.iter().filter(|known| **known < time).count();
                assert_eq!(kept.n_before(Nanos(time)), expected, "{times:?} {time}");
            }
        }
    }
}
