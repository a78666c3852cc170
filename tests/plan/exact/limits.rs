//! Nodes, capacities, stops, cancels and what is reported on the way.

use std::cell::{Cell, RefCell};

use highwater_model::progress::{Cancel, Progress};
use highwater_plan::{Limits, PlacementProblem, PlanError, PlanRequest, Planned, find, plan, verify};

use super::{Random, exact, puzzle};

#[test]
fn equal_questions_have_equal_answers_within_the_nodes() {
    for seed in 0..6 {
        let problem = puzzle(&mut Random::new(seed), 70, 7);
        let bound = problem.lower_bound();
        for capacity in [None, Some(bound)] {
            for nodes in [0, 1, 1000, 30_000] {
                let limits = Limits {
                    capacity,
                    nodes,
                    ..Limits::default()
                };
                let first = exact(&problem, limits);
                assert!(first.nodes <= nodes, "{} nodes of {nodes}", first.nodes);
                assert_eq!(first, exact(&problem, limits));
                let race = exact(&problem, Limits { race: true, ..limits });
                assert!(race.plan.footprint >= bound);
            }
        }
    }
}

#[test]
fn a_stop_gives_what_there_is_and_a_cancel_gives_nothing() {
    let problem = puzzle(&mut Random::new(3), 70, 7);
    let stop = Cancel::new();
    stop.cancel();
    let limits = Limits {
        stop: Some(&stop),
        ..Limits::default()
    };
    assert_eq!(exact(&problem, limits).nodes, 0);
    let progress = Progress::silent(&stop);
    let outcome = plan(find("exact").unwrap(), &PlanRequest::new(&problem), &progress);
    assert!(matches!(outcome, Err(PlanError::Cancelled(_))), "{outcome:?}");
}

fn outcome(problem: &PlacementProblem, limits: Limits<'_>, progress: &Progress<'_>) -> Result<Planned, PlanError> {
    let request = PlanRequest {
        limits,
        ..PlanRequest::new(problem)
    };
    plan(find("exact").unwrap(), &request, progress)
}

#[test]
fn progress_says_how_many_nodes_are_used_and_never_goes_back() {
    let problem = puzzle(&mut Random::new(3), 70, 7);
    let fractions = RefCell::new(Vec::new());
    let report = |stage: &'static str, fraction: f32| {
        if stage == "searching" {
            fractions.borrow_mut().push(fraction);
        }
    };
    let cancel = Cancel::new();
    let limits = Limits {
        nodes: 20_000,
        ..Limits::default()
    };
    outcome(&problem, limits, &Progress::new(&cancel, &report)).unwrap();
    let fractions = fractions.into_inner();
    assert!(fractions.len() > 1 && fractions[0] < 1e-9, "{fractions:?}");
    assert!(fractions.is_sorted(), "{fractions:?}");
}

#[test]
fn a_cancel_on_the_way_gives_nothing() {
    let problem = puzzle(&mut Random::new(3), 70, 7);
    let cancel = Cancel::new();
    let n_reports = Cell::new(0);
    let report = |stage: &'static str, fraction: f32| {
        if stage == "searching" && fraction > 0.0 {
            n_reports.set(n_reports.get() + 1);
            cancel.cancel();
        }
    };
    let limits = Limits {
        nodes: 100_000,
        ..Limits::default()
    };
    let outcome = outcome(&problem, limits, &Progress::new(&cancel, &report));
    assert!(matches!(outcome, Err(PlanError::Cancelled(_))), "{outcome:?}");
    assert_eq!(n_reports.get(), 1);
}

#[test]
fn a_cancel_from_another_thread_ends_a_search_on_the_way() {
    let problem = puzzle(&mut Random::new(3), 70, 7);
    let cancel = Cancel::new();
    let n_reports = Cell::new(0);
    let (ask, asked) = std::sync::mpsc::channel();
    let (confirm, confirmed) = std::sync::mpsc::channel();
    let outcome = std::thread::scope(|scope| {
        let flag = cancel.clone();
        scope.spawn(move || {
            while asked.recv().is_ok() {
                flag.cancel();
                confirm.send(()).unwrap();
            }
        });
        // The search waits until the other thread has set the flag: a search that goes on reaches its limit of nodes.
        let report = |stage: &'static str, fraction: f32| {
            if stage == "searching" && fraction > 0.0 {
                n_reports.set(n_reports.get() + 1);
                ask.send(()).unwrap();
                confirmed.recv().unwrap();
            }
        };
        let limits = Limits {
            nodes: 100_000,
            ..Limits::default()
        };
        let outcome = outcome(&problem, limits, &Progress::new(&cancel, &report));
        drop(ask);
        outcome
    });
    assert!(matches!(outcome, Err(PlanError::Cancelled(_))), "{outcome:?}");
    assert_eq!(n_reports.get(), 1);
}

#[test]
fn a_stop_on_the_way_gives_a_valid_plan() {
    let problem = puzzle(&mut Random::new(3), 70, 7);
    for n_before in 1..8 {
        let (cancel, stop) = (Cancel::new(), Cancel::new());
        let n_reports = Cell::new(0);
        let report = |stage: &'static str, _: f32| {
            if stage == "searching" {
                n_reports.set(n_reports.get() + 1);
                if n_reports.get() == n_before {
                    stop.cancel();
                }
            }
        };
        let limits = Limits {
            nodes: u64::MAX,
            stop: Some(&stop),
            ..Limits::default()
        };
        let planned = outcome(&problem, limits, &Progress::new(&cancel, &report)).unwrap();
        assert_eq!(verify(&problem, &planned.plan), Ok(()));
        assert!(planned.plan.footprint >= planned.proved_bound);
        // One more at the end.
        assert!(n_reports.get() <= n_before + 1, "{} reports", n_reports.get());
    }
}
