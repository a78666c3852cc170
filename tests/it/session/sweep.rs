//! The budget sweep in a session: points arrive in batches, a stop keeps them, a comparison interrupts, new sources end
//! it.

use highwater::analysis::{LaneGoal, LaneSet, RematLane, SWEEP_RATIOS};
use highwater::rewrite::remat::{Budget, HEURISTICS};
use highwater::session::{Command, Session, SourceSpec, sample};
use highwater::workload::GraphIdx;

use super::{session_of, set};

fn session() -> Session {
    session_of("resnet50")
}

/// Takes answers until there are that many points; returns their number.
fn wait_for(session: &mut Session, n_points: usize) -> usize {
    loop {
        let known = session.budget_sweep().map_or(0, |table| table.points.len());
        if known >= n_points || !session.is_budget_sweep_running() {
            return known;
        }
        session.poll();
        std::thread::yield_now();
    }
}

/// Every point once, in the order of the tasks.
fn assert_whole(session: &Session) {
    let table = session.budget_sweep().unwrap();
    assert_eq!(table.points.len(), HEURISTICS.len() * SWEEP_RATIOS.len());
    assert_eq!(table.n_total, table.points.len());
    assert!(!session.is_budget_sweep_running() && !table.is_unfinished());
    let wanted = HEURISTICS
        .iter()
        .flat_map(|row| SWEEP_RATIOS.map(|ratio| (row.name, ratio)));
    for (point, wanted) in table.points.iter().zip(wanted) {
        assert_eq!((point.heuristic.name, point.ratio), wanted);
    }
}

#[test]
fn points_come_a_few_at_a_time() {
    let mut session = session();
    assert!(session.budget_sweep().is_none() && !session.is_budget_sweep_running());
    session.apply(Command::StartBudgetSweep(GraphIdx(0)));
    assert!(session.is_budget_sweep_running());
    let first = wait_for(&mut session, 1);
    let table = session.budget_sweep().unwrap();
    assert!(first > 0 && first < table.n_total, "{first}");
    assert!(session.is_budget_sweep_running());
    session.settle();
    assert!(!session.is_budget_sweep_running() && !session.is_budget_sweep_stale());
    assert_whole(&session);
    // Marks and pins do not invalidate the points.
    session.apply(Command::SetGoal(LaneGoal::LowestPeak));
    session.apply(Command::PinConfiguration {
        name: "one".to_owned(),
        configuration: Box::new(session.configuration()),
    });
    assert!(!session.is_budget_sweep_stale());
}

#[test]
fn a_stopped_sweep_keeps_its_points_and_can_continue() {
    let mut session = session();
    session.apply(Command::StartBudgetSweep(GraphIdx(0)));
    wait_for(&mut session, 1);
    session.apply(Command::StopBudgetSweep);
    let kept = session.budget_sweep().unwrap().points.clone();
    assert!(!session.is_budget_sweep_running() && !kept.is_empty());
    session.settle();
    for _ in 0..50 {
        session.poll();
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert_eq!(
        session.budget_sweep().unwrap().points,
        kept,
        "what was under way is dropped"
    );
    session.apply(Command::StartBudgetSweep(GraphIdx(0)));
    session.settle();
    assert_eq!(session.budget_sweep().unwrap().points[..kept.len()], kept[..]);
    assert_whole(&session);
}

#[test]
fn a_sweep_goes_on_behind_a_comparison() {
    let mut session = session();
    session.apply(Command::StartBudgetSweep(GraphIdx(0)));
    wait_for(&mut session, 1);
    let lane = RematLane {
        heuristic: &HEURISTICS[2],
        budget: Budget::Ratio(0.7),
    };
    session.apply(Command::AddRematLane(lane));
    assert!(session.is_budget_sweep_running());
    session.settle();
    assert!(!session.is_budget_sweep_stale(), "lanes do not matter to it");
    assert_whole(&session);
    assert_eq!(session.document().lanes, LaneSet::Remat(vec![lane]));
    assert_eq!(session.answer().unwrap().0.lanes.len(), 2);
}

#[test]
fn a_comparison_before_the_first_point_does_not_end_a_sweep() {
    let mut session = session();
    session.apply(Command::StartBudgetSweep(GraphIdx(0)));
    session.apply(Command::SetIterations(2));
    set(&mut session, "dtr.evictee_minimum_size", "4096");
    assert!(session.is_budget_sweep_running());
    session.settle();
    assert_whole(&session);
    assert!(
        !session.is_budget_sweep_stale(),
        "it started anew with the newest settings"
    );
}

#[test]
fn other_settings_make_a_sweep_stale_and_budgets_do_not() {
    let mut session = session();
    session.apply(Command::StartBudgetSweep(GraphIdx(0)));
    session.settle();
    set(&mut session, "dtr.eviction_threshold", "100000000");
    set(&mut session, "simulation.remat_heuristic", "lru");
    assert!(!session.is_budget_sweep_stale());
    set(&mut session, "simulation.thrash_limit", "0.5");
    assert!(session.is_budget_sweep_stale());
    assert_whole(&session);
    session.apply(Command::StartBudgetSweep(GraphIdx(0)));
    session.settle();
    assert!(!session.is_budget_sweep_stale());
    assert_whole(&session);
}

#[test]
fn other_sources_end_a_sweep() {
    let mut session = session();
    session.apply(Command::StartBudgetSweep(GraphIdx(0)));
    wait_for(&mut session, 1);
    session.apply(Command::Open(vec![SourceSpec::Sample(sample("mobilenet").unwrap())]));
    assert!(!session.is_budget_sweep_running());
    session.settle();
    assert!(session.budget_sweep().is_none(), "it was about graphs that are gone");
}

#[test]
fn a_failed_opening_keeps_the_points() {
    let mut session = session();
    session.apply(Command::StartBudgetSweep(GraphIdx(0)));
    wait_for(&mut session, 1);
    session.apply(Command::Open(vec![SourceSpec::Bytes {
        name: "broken.json".to_owned(),
        bytes: b"{".as_slice().into(),
    }]));
    session.settle();
    let known = session.budget_sweep().unwrap().points.len();
    assert!(known > 0 && !session.is_budget_sweep_stale());
    session.apply(Command::StartBudgetSweep(GraphIdx(0)));
    session.settle();
    assert_whole(&session);
}

#[test]
fn cancel_stops_a_sweep_too() {
    let mut session = session();
    session.apply(Command::StartBudgetSweep(GraphIdx(0)));
    wait_for(&mut session, 1);
    session.apply(Command::Cancel);
    assert!(!session.is_budget_sweep_running());
}

#[test]
fn a_finished_sweep_is_run_again() {
    let mut session = session();
    session.apply(Command::StartBudgetSweep(GraphIdx(0)));
    session.settle();
    assert_whole(&session);
    let number = session.budget_sweep_number();
    session.apply(Command::StartBudgetSweep(GraphIdx(0)));
    assert!(session.is_budget_sweep_running());
    session.settle();
    assert_whole(&session);
    assert!(
        session.budget_sweep_number() > number,
        "a selection of the last one is none of this one"
    );
}
