//! One decision problem, "is there a plan within this capacity", tried in several orders: in turn, or two at a time.
//!
//! The answer never depends on which thread is faster: the first order in the list with an answer decides, an order may
//! be abandoned only after an earlier one has answered, and only the nodes up to that order count. There are two
//! *lanes*, each with its own memory of failed states; orders alternate between them, with or without threads. Where
//! the user allows it ([`crate::Limits::race`]), the first thread with an answer wins instead.

use std::sync::atomic::{AtomicU64, Ordering};

use super::flags::EndFlags;
use super::height::Height;
use super::order::{N_ORDERS, order};
use super::part::Part;
use super::search::{Budget, Search, Verdict};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::threads::both;

/// From this round of a partition on, a second thread pays.
const FIRST_THREADED_ROUND: u64 = 3;

/// Remaining nodes, and the flags that end a search.
pub(super) struct Ledger<'a> {
    pub(super) nodes_left: u64,
    pub(super) nodes_used: u64,
    pub(super) is_race: bool,
    pub(super) progress: &'a Progress<'a>,
    pub(super) flags: EndFlags<'a>,
}

impl Ledger<'_> {
    /// Whether the search must end with its best plan.
    pub(super) fn is_over(&self) -> bool {
        self.nodes_left == 0 || self.flags.is_set()
    }

    /// Reports the used nodes, and checks the cancel flag.
    pub(super) fn report(&self) -> Result<(), Cancelled> {
        let total = self.nodes_used.saturating_add(self.nodes_left);
        self.progress.set("searching", self.nodes_used, total)
    }
}

/// The answer of a round.
pub(super) enum Answer<T> {
    /// Offsets of a plan within the capacity.
    Plan(Vec<T>),
    /// Proved: there is no plan.
    Impossible,
    /// Not found within the nodes.
    Unknown,
}

/// The two searches of a partition.
pub(super) type Lanes<'a, T> = [Search<'a, T>; 2];

pub(super) fn lanes<'a, T: Height>(part: &'a Part<T>, flags: EndFlags<'a>) -> Lanes<'a, T> {
    [Search::new(part, flags), Search::new(part, flags)]
}

struct Outcome<T> {
    place: u64,
    verdict: Verdict,
    nodes: u64,
    offsets: Vec<T>,
}

/// Abandons orders: flags, and the first order that answered.
struct Watch<'a> {
    flags: EndFlags<'a>,
    winner: AtomicU64,
    is_race: bool,
}

impl Watch<'_> {
    fn is_over(&self, place: u64) -> bool {
        let winner = self.winner.load(Ordering::Relaxed);
        self.flags.is_set() || winner < place || (self.is_race && winner < u64::MAX)
    }
}

/// Tries the orders of a round for a plan within `capacity` bytes, with `nodes` nodes each.
pub(super) fn try_orders<T: Height>(
    lanes: &mut Lanes<'_, T>,
    capacity: u64,
    round: u64,
    nodes: u64,
    ledger: &mut Ledger<'_>,
) -> Result<Answer<T>, Cancelled> {
    ledger.report()?;
    // The remaining nodes are distributed in order, so that each order's share is known before any has run.
    let share = |place: u64| nodes.min(ledger.nodes_left.saturating_sub(place * nodes));
    let watch = Watch {
        flags: ledger.flags,
        winner: AtomicU64::new(u64::MAX),
        is_race: ledger.is_race,
    };
    let run = |search: &mut Search<'_, T>, place: u64| {
        let is_over = || watch.is_over(place);
        if share(place) == 0 || is_over() {
            return Outcome::unknown(place);
        }
        let budget = Budget {
            nodes: share(place),
            is_over: &is_over,
        };
        let verdict = search.run(capacity, &order(search.skyline.part, round, place), &budget);
        let mut outcome = Outcome::unknown(place);
        outcome.verdict = verdict;
        outcome.nodes = search.nodes(&budget);
        if verdict == Verdict::Found {
            outcome.offsets.clone_from(&search.skyline.offsets);
        }
        if matches!(verdict, Verdict::Found | Verdict::Impossible) {
            watch.winner.fetch_min(place, Ordering::Relaxed);
        }
        outcome
    };
    let [even, odd] = lanes;
    let is_threaded = round >= FIRST_THREADED_ROUND;
    let mut outcomes = Vec::new();
    if is_threaded && ledger.progress.n_threads() > 1 {
        let run_lane = |search: &mut Search<'_, T>, first: u64| -> Vec<Outcome<T>> {
            (first..N_ORDERS).step_by(2).map(|place| run(search, place)).collect()
        };
        let (first, second) = both(ledger.progress, || run_lane(even, 0), || run_lane(odd, 1));
        outcomes.extend(first);
        outcomes.extend(second);
        outcomes.sort_by_key(|outcome| outcome.place);
    } else {
        outcomes.extend((0..N_ORDERS).map(|place| run(if place % 2 == 0 { &mut *even } else { &mut *odd }, place)));
    }
    ledger.progress.check()?;
    let winner = watch.winner.into_inner();
    if is_threaded && winner < u64::MAX {
        // Failed states that later orders found depend on timing.
        even.failed.clear();
        odd.failed.clear();
    }
    let counted = outcomes
        .iter()
        .filter(|outcome| outcome.place <= winner || ledger.is_race);
    let spent: u64 = counted.map(|outcome| outcome.nodes).sum();
    ledger.nodes_used += spent;
    ledger.nodes_left = ledger.nodes_left.saturating_sub(spent);
    let found = outcomes.into_iter().find(|outcome| outcome.place == winner);
    Ok(match found {
        Some(outcome) if outcome.verdict == Verdict::Found => Answer::Plan(outcome.offsets),
        Some(_) => Answer::Impossible,
        None => Answer::Unknown,
    })
}

impl<T> Outcome<T> {
    fn unknown(place: u64) -> Self {
        Self {
            place,
            verdict: Verdict::Ended,
            nodes: 0,
            offsets: Vec::new(),
        }
    }
}
