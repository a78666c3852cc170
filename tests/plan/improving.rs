//! Smaller plans that a search reports while it runs.

use std::sync::Mutex;

use highwater_model::progress::{Cancel, Progress};
use highwater_model::units::Bytes;
use highwater_plan::{BEST, EXACT, Limits, PlacementProblem, PlanRequest, Planned, find, plan, verify};

use super::buffer;
use super::nested::nested;

/// The reported plans, and the final one.
fn watched(strategy: &str, problem: &PlacementProblem, cancel: &Cancel) -> (Vec<Planned>, Planned) {
    let reported = Mutex::new(Vec::new());
    let watch = |planned: Planned| reported.lock().unwrap().push(planned);
    let mut request = PlanRequest::new(problem);
    request.limits = Limits {
        nodes: 200_000,
        watch: Some(&watch),
        ..Limits::default()
    };
    let planned = plan(find(strategy).unwrap(), &request, &Progress::silent(cancel)).unwrap();
    (reported.into_inner().unwrap(), planned)
}

/// Odd sizes with similar lives.
fn odd(n_buffers: u32) -> PlacementProblem {
    PlacementProblem::of((0..n_buffers).map(|number| {
        let lower = number * 7919 % 97;
        let size = u64::from(number * 104_729 % 61 + 20);
        buffer(lower, lower + 5 + number * 31 % 17, size)
    }))
}

#[test]
fn each_reported_plan_is_valid_and_smaller_than_the_one_before_and_the_last_is_the_final_one() {
    let problems = [odd(300), odd(2_000), nested(6_000)];
    for problem in &problems {
        let (reported, last) = watched(BEST, problem, &Cancel::new());
        assert!(!reported.is_empty());
        for planned in &reported {
            assert_eq!(verify(problem, &planned.plan), Ok(()));
            assert!(planned.is_unfinished && planned.strategy == BEST);
            assert_eq!(planned.lower_bound, last.lower_bound);
            assert!(planned.proved_bound <= last.proved_bound);
        }
        let peaks: Vec<Bytes> = reported.iter().map(|planned| planned.plan.footprint).collect();
        assert!(peaks.is_sorted_by(|earlier, later| earlier > later), "{peaks:?}");
        assert_eq!(peaks.last(), Some(&last.plan.footprint));
        assert!(!last.is_unfinished);
    }
    let (reported, _) = watched(BEST, &problems[0], &Cancel::new());
    assert!(reported.len() > 2, "the search finds more than the first plan");
}

/// The final answer depends neither on the watch nor on the number of threads.
#[test]
fn watching_changes_no_answer() {
    let problem = odd(400);
    for strategy in [BEST, EXACT] {
        let (_, watched_plan) = watched(strategy, &problem, &Cancel::new());
        let (_, alone) = watched(strategy, &problem, &Cancel::on_threads(1));
        let mut request = PlanRequest::new(&problem);
        request.limits.nodes = 200_000;
        let cancel = Cancel::new();
        let plain = plan(find(strategy).unwrap(), &request, &Progress::silent(&cancel)).unwrap();
        assert_eq!(watched_plan, plain);
        assert_eq!(alone, plain);
    }
}
