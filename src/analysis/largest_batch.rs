//! The largest batch that fits on the device, by bisection.
//!
//! In: whether values of a batch dimension fit, each simulated under every policy. Out: the next value to try, and in the end the
//! largest that fits. A larger batch is taken to need more memory, so a value that does not fit ends the search above it.
//! O(log of the answer) simulations.

use super::compare::compare;
use super::error::AnalysisError;
use super::request::Request;
use highwater_model::progress::Progress;
use highwater_sim::StaticMemoryPolicy;

/// Values above it are not tried.
const MOST: u64 = 1 << 20;

/// Names of the dimension that counts samples.
const NAMES: [&str; 6] = ["batch", "batch_size", "batchsize", "bs", "n", "b"];

/// The batch dimension of a list of symbols: by its usual names, else the only one that begins with `batch`.
pub fn batch_symbol<'a>(symbols: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let mut named = NAMES
        .iter()
        .filter_map(|name| symbols.clone().find(|symbol| symbol.eq_ignore_ascii_case(name)));
    named.next().or_else(|| {
        let mut like = symbols.filter(|symbol| symbol.to_ascii_lowercase().starts_with("batch"));
        like.next().filter(|_| like.next().is_none())
    })
}

/// The search for the largest batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchSearch {
    /// The name of the dimension.
    pub symbol: String,
    start: u64,
    /// The largest known to fit, and under which policy.
    fitting: Option<(u64, StaticMemoryPolicy)>,
    /// The smallest known not to fit.
    failing: Option<u64>,
}

impl BatchSearch {
    /// Begins at a value, such as the one that is set.
    pub fn new(symbol: &str, start: u64) -> Self {
        Self {
            symbol: symbol.to_owned(),
            start: start.clamp(1, MOST),
            fitting: None,
            failing: None,
        }
    }

    /// The next value to try; `None` where the answer is known.
    pub fn next(&self) -> Option<u64> {
        match (self.fitting, self.failing) {
            (None, None) => Some(self.start),
            (None, Some(failing)) => (failing > 1).then_some(failing / 2),
            (Some((fitting, _)), None) => (fitting < MOST).then(|| (fitting * 2).min(MOST)),
            (Some((fitting, _)), Some(failing)) => (failing - fitting > 1).then_some(fitting + (failing - fitting) / 2),
        }
    }

    /// Takes whether a value fits, and under which policy.
    pub fn record(&mut self, value: u64, fits: Option<StaticMemoryPolicy>) {
        match fits {
            Some(policy) => self.fitting = Some((value, policy)),
            None => self.failing = Some(value),
        }
    }

    pub fn is_done(&self) -> bool {
        self.next().is_none()
    }

    /// The largest that fits so far, and a policy under which it does; `None` where not even one sample fits.
    pub const fn largest(&self) -> Option<(u64, StaticMemoryPolicy)> {
        self.fitting
    }

    /// Whether larger values were not tried.
    pub const fn is_at_limit(&self) -> bool {
        matches!((self.fitting, self.failing), (Some((MOST, _)), _))
    }
}

/// The policy with the lowest peak of those that fit with a value of a dimension; `None` where none does.
///
/// # Errors
/// The work is cancelled, or the graph cannot have the value.
pub fn fitting_policy(
    request: &Request,
    symbol: &str,
    value: u64,
    progress: &Progress<'_>,
) -> Result<Option<StaticMemoryPolicy>, AnalysisError> {
    let mut asked = request.clone();
    asked.plan.clear_dim(symbol);
    asked.plan.dims.insert(symbol.to_owned(), vec![value]);
    asked.pins.clear();
    let comparison = match compare(&asked, progress) {
        Ok(comparison) => comparison,
        // More than any device has.
        Err(AnalysisError::TooManyBytes { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let fitting = comparison.own_lanes().filter(|lane| lane.may_be_recommended());
    let lowest = fitting.min_by_key(|lane| lane.summary.peak_reserved);
    Ok(lowest.map(|lane| lane.policy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_finds_the_largest_that_fits() {
        for largest in [0, 1, 2, 3, 7, 8, 100, 1023, 1024, 99_999, MOST, MOST + 5] {
            for start in [1, 4, 8, 100, 1 << 19] {
                let mut search = BatchSearch::new("batch", start);
                let mut n_tried = 0;
                while let Some(value) = search.next() {
                    let policy = StaticMemoryPolicy::StaticExtend;
                    search.record(value, (value <= largest).then_some(policy));
                    n_tried += 1;
                }
                let found = search.largest().map_or(0, |(value, _)| value);
                assert_eq!(found, largest.min(MOST), "from {start}");
                assert!(n_tried <= 42, "{n_tried} values from {start}");
                assert_eq!(search.is_at_limit(), largest >= MOST);
            }
        }
    }

    #[test]
    fn the_batch_has_a_usual_name() {
        for (symbols, expected) in [
            (&["batch", "seq"][..], Some("batch")),
            (&["seq", "N"], Some("N")),
            (&["batch_dim", "seq"], Some("batch_dim")),
            (&["batch_a", "batch_b"], None),
            (&["height", "width"], None),
            (&[], None),
        ] {
            assert_eq!(batch_symbol(symbols.iter().copied()), expected, "{symbols:?}");
        }
    }
}
