//! The difference of two configurations in time: the net, and the largest causes in both directions.

use super::chosen_lane::ChosenLane;
use crate::sweep::sentence::{Link, Sentence, WhichChoice};
use highwater_model::units::Nanos;
use highwater_sim::fold::{Cause, Overhead};

/// Causes that are named in each direction.
const SHOWN: usize = 2;

/// A cause is named where it makes at least this fraction of the difference...
const SHARE: u64 = 20;

/// ...and at least this much: smaller ones are rounding remainders.
pub(super) const LEAST: Nanos = Nanos(1_000);

/// The share of a cause in a difference.
#[derive(Clone, Copy, Debug)]
struct Share {
    cause: Cause,
    time: Nanos,
    /// Occurrences in the slower and in the faster configuration.
    counts: (u64, u64),
    is_more: bool,
}

/// What the slower configuration spends more time on, and what it saves.
pub(super) fn causes(winner: &ChosenLane, other: &ChosenLane) -> Option<Sentence> {
    let (own, next) = (winner.figures().overhead, other.figures().overhead);
    let (slow, fast, which) = if own > next {
        (winner, other, WhichChoice::Winner)
    } else {
        (other, winner, WhichChoice::RunnerUp)
    };
    let name = if which == WhichChoice::Winner {
        "The recommended one"
    } else {
        "The runner-up"
    };
    let difference = Nanos(own.0.abs_diff(next.0));
    let (slow, fast) = (&slow.lane()?.summary, &fast.lane()?.summary);
    sentence(name, difference, &slow.overhead, &fast.overhead, &Link::Lane(which))
}

/// `None` where nothing is worth a sentence.
fn sentence(name: &str, net: Nanos, slow: &[Overhead], fast: &[Overhead], link: &Link) -> Option<Sentence> {
    if net < LEAST {
        return None;
    }
    let mut shares: Vec<Share> = Cause::ALL.iter().map(|cause| share(*cause, slow, fast)).collect();
    shares.retain(|share| share.time >= LEAST && share.time.0 >= net.0 / SHARE);
    shares.sort_by_key(|share| std::cmp::Reverse(share.time));
    let named = |is_more| shares.iter().filter(move |share| share.is_more == is_more).take(SHOWN);
    let (more, less): (Vec<&Share>, Vec<&Share>) = (named(true).collect(), named(false).collect());
    let total = |list: &[&Share]| list.iter().map(|share| i128::from(share.time.0)).sum::<i128>();
    let rest = i128::from(net.0) - total(&more) + total(&less);
    let mut sentence = Sentence::of(format!("{name} spends "));
    let is_all_of_it = less.is_empty() && more.len() == 1 && rest.unsigned_abs() < u128::from(LEAST.0);
    if !is_all_of_it {
        sentence = sentence.time(net, link.clone()).say(" more in total: ");
    }
    let n_named = more.len() + less.len();
    for (position, share) in more.into_iter().chain(less).enumerate() {
        let word = if share.is_more { "more" } else { "less" };
        sentence = sentence
            .say(if position > 0 { ", " } else { "" })
            .time(share.time, link.clone())
            .say(format!(" {word} on {} ({})", share.cause.label(), share.counted()));
    }
    if rest.unsigned_abs() >= u128::from(LEAST.0) {
        let time = Nanos(u64::try_from(rest.unsigned_abs()).unwrap_or(u64::MAX));
        let word = if rest > 0 { "more" } else { "less" };
        sentence = sentence
            .say(", ")
            .time(time, link.clone())
            .say(format!(" {word} on all else"));
    }
    (n_named > 0).then(|| sentence.say("."))
}

fn share(cause: Cause, slow: &[Overhead], fast: &[Overhead]) -> Share {
    let of = |list: &[Overhead]| {
        let found = list.iter().find(|overhead| overhead.cause == cause);
        found.map_or((0, Nanos(0)), |overhead| (overhead.count, overhead.time))
    };
    let ((slow_count, slow_time), (fast_count, fast_time)) = (of(slow), of(fast));
    Share {
        cause,
        time: Nanos(slow_time.0.abs_diff(fast_time.0)),
        counts: (slow_count, fast_count),
        is_more: slow_time > fast_time,
    }
}

impl Share {
    /// The occurrences; and another reason where they alone do not explain the time.
    fn counted(&self) -> String {
        let (count, before) = self.counts;
        let size = if self.is_more { "longer" } else { "shorter" };
        if count == before {
            return format!("{count} {size}");
        }
        if (count > before) == self.is_more {
            return format!("{count} instead of {before}");
        }
        format!("{count} {size} instead of {before}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(slow: &[(Cause, u64, u64)], fast: &[(Cause, u64, u64)], expected: Option<&str>) {
        let list = |rows: &[(Cause, u64, u64)]| -> Vec<Overhead> {
            let rows = rows.iter();
            rows.map(|(cause, count, time)| Overhead {
                cause: *cause,
                count: *count,
                time: Nanos(*time),
            })
            .collect()
        };
        let sum = |rows: &[(Cause, u64, u64)]| rows.iter().map(|(_, _, time)| time).sum::<u64>();
        let net = Nanos(sum(slow) - sum(fast));
        let link = Link::Lane(WhichChoice::RunnerUp);
        let sentence = sentence("It", net, &list(slow), &list(fast), &link);
        let parts = sentence.iter().flat_map(|sentence| &sentence.parts);
        assert!(parts.into_iter().all(|part| !part.text.is_empty()), "{sentence:?}");
        let sentence = sentence.map(|sentence| sentence.text());
        let sentence = sentence.map(|text| text.replace('\u{a0}', " "));
        assert_eq!(sentence.as_deref(), expected);
    }

    #[test]
    fn the_net_is_told_with_what_makes_it() {
        use Cause::{Free, LoadMemset, Malloc, Map};
        // More on one, less on another: neither alone is the difference.
        check(
            &[(Malloc, 4, 400_000), (Map, 2, 40_000)],
            &[(Malloc, 2, 200_000), (Map, 10, 200_000)],
            Some(
                "It spends 40.00 µs more in total: 200.0 µs more on device mallocs (4 instead of 2), 160.0 µs less \
                 on pages mapped (2 instead of 10).",
            ),
        );
        // One cause alone, and a remainder of rounding that is no reason.
        check(
            &[(Malloc, 4, 400_000), (LoadMemset, 3, 501)],
            &[(Malloc, 2, 200_000), (LoadMemset, 4, 500)],
            Some("It spends 200.0 µs more on device mallocs (4 instead of 2)."),
        );
        check(&[(LoadMemset, 3, 501)], &[(LoadMemset, 4, 500)], None);
        // What is too small to be named is in the rest.
        check(
            &[(Map, 333, 19_980_000)],
            &[(Malloc, 2, 160_000)],
            Some(
                "It spends 19.82 ms more in total: 19.98 ms more on pages mapped (333 instead of 0), 160.0 µs less \
                 on all else.",
            ),
        );
        // Fewer that take longer; three causes, of which the smallest is in the rest.
        check(
            &[(LoadMemset, 3, 9_000)],
            &[(LoadMemset, 4, 4_000)],
            Some("It spends 5.00 µs more on memory zeroed at load (3 longer instead of 4)."),
        );
        check(
            &[
                (Malloc, 3, 300_000),
                (Free, 3, 150_000),
                (Map, 1, 20_000),
                (LoadMemset, 1, 50_000),
            ],
            &[],
            Some(
                "It spends 520.0 µs more in total: 300.0 µs more on device mallocs (3 instead of 0), 150.0 µs more \
                 on device frees (3 instead of 0), 70.00 µs more on all else.",
            ),
        );
    }
}
