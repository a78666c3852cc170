//! Plans that a search found before its end: they are shown while it runs, and stay where the user stops it.

use std::collections::BTreeMap;

use highwater::analysis::LaneId;
use highwater::export::ExportForm;
use highwater::plan::{BEST, Effort, STRATEGIES, verify};
use highwater::session::{Command, Session};
use highwater::units::Bytes;
use highwater::workload::GraphIdx;

use super::{narrow_problem, open, session_of};

/// Takes messages until a condition holds.
fn wait_until(session: &mut Session, is_met: impl Fn(&Session) -> bool) {
    while !is_met(session) {
        session.poll();
        std::thread::yield_now();
    }
}

/// The footprint of the first lane, whether its search ended, and whether its plan is valid.
fn first_lane(session: &Session) -> (Bytes, bool) {
    let (comparison, _) = session.answer().unwrap();
    let planned = &comparison.lanes[0].plans[0].1;
    let entry = comparison.stated_problem().unwrap();
    assert_eq!(verify(&entry.problem, &planned.plan), Ok(()));
    (planned.plan.footprint, planned.is_unfinished)
}

/// A search that runs on, with an answer on the screen.
fn searching() -> Session {
    let mut session = open(vec![narrow_problem(400)]);
    wait_until(&mut session, |session| {
        session.answer().is_some() && session.found_plan().is_some()
    });
    session
}

#[test]
fn a_search_shows_smaller_and_smaller_plans_before_its_answer() {
    let mut session = open(vec![narrow_problem(400)]);
    let mut peaks: Vec<Bytes> = Vec::new();
    while peaks.len() < 3 {
        session.poll();
        if let Some(found) = session.found_plan() {
            assert!(found.planned.lower_bound < found.planned.plan.footprint);
            peaks.push(found.planned.plan.footprint);
            peaks.dedup();
        }
        std::thread::yield_now();
    }
    assert!(peaks.is_sorted_by(|earlier, later| earlier > later), "{peaks:?}");
}

#[test]
fn a_stopped_search_leaves_its_smallest_plan_in_the_lane() {
    let mut session = searching();
    let shown = session.found_plan().unwrap().planned.plan.footprint;
    session.apply(Command::Cancel);
    session.settle();
    assert!(session.found_plan().is_none() && session.busy().is_none() && !session.is_stale());
    assert!(session.is_preview());
    let (footprint, is_unfinished) = first_lane(&session);
    assert!(footprint <= shown && is_unfinished);
    // It stays while other settings change.
    session.apply(Command::SetStrategy {
        lane: Some(LaneId::Problem(1)),
        strategy: Some("naive"),
    });
    session.settle();
    assert_eq!(first_lane(&session), (footprint, true));
    // The planner's table takes it too.
    session.apply(Command::ListPlans(GraphIdx(0)));
    wait_until(&mut session, |session| {
        session.planner_table().is_some_and(|table| {
            let mut rows = table.rows.iter();
            rows.any(|row| row.strategy.name == BEST)
        })
    });
    let table = session.planner_table().unwrap();
    let row = table.rows.iter().find(|row| row.strategy.name == BEST).unwrap();
    assert!(row.is_stopped());
    assert_eq!(row.result.as_ref().unwrap().footprint, footprint);
    exports_have_the_shown_plan(&mut session, footprint);
    // A new search begins where the user wants one.
    session.apply(Command::RestartSearches);
    wait_until(&mut session, |session| session.found_plan().is_some());
    session.apply(Command::Cancel);
    session.settle();
}

/// The plan of the first lane as CSV, and the report, which says that the search did not end.
#[track_caller]
fn exports_have_the_shown_plan(session: &mut Session, footprint: Bytes) {
    let folder = tempfile::tempdir().unwrap();
    let mut export = |form, name: &str| {
        let path = folder.path().join(name);
        session.apply(Command::Export {
            form,
            path: path.clone(),
            lanes: Some(vec![LaneId::Problem(0)]),
        });
        session.settle();
        std::fs::read_to_string(path).unwrap()
    };
    let csv = export(ExportForm::Plan, "plan.csv");
    let mut rows = csv::Reader::from_reader(csv.as_bytes());
    let ends = rows.deserialize().map(|row| {
        let row: BTreeMap<String, String> = row.unwrap();
        let number = |name: &str| row[name].parse::<u64>().unwrap();
        number("offset") + number("placed_bytes")
    });
    assert_eq!(ends.max(), Some(footprint.get()));
    let report = export(ExportForm::Report, "report.html");
    assert!(
        report.contains("The search for plans did not end in lane 1"),
        "{report}"
    );
    assert!(report.contains(&footprint.exact()));
}

#[test]
fn a_stopped_row_of_the_planner_becomes_a_lane() {
    let mut session = open(vec![narrow_problem(400)]);
    let choose = |session: &mut Session, strategy| {
        session.apply(Command::SetStrategy {
            lane: Some(LaneId::Problem(0)),
            strategy: Some(strategy),
        });
    };
    choose(&mut session, "naive");
    session.settle();
    session.apply(Command::ListPlans(GraphIdx(0)));
    wait_until(&mut session, |session| {
        let table = session.planner_table();
        table.is_some_and(|table| {
            let searching = table.searching.as_ref();
            searching.is_some_and(|searching| searching.row.strategy.name == BEST)
        })
    });
    session.apply(Command::Cancel);
    session.settle();
    let table = session.planner_table().unwrap();
    assert!(table.searching.is_none());
    assert!(table.pending.iter().all(|strategy| strategy.name != BEST));
    let row = table.rows.iter().find(|row| row.strategy.name == BEST).unwrap();
    assert!(row.is_stopped());
    let footprint = row.result.as_ref().unwrap().footprint;
    choose(&mut session, BEST);
    session.settle();
    assert_eq!(first_lane(&session), (footprint, true));
    assert!(session.is_preview());
}

#[test]
fn an_edit_leaves_no_plan_of_the_interrupted_search_behind() {
    let mut session = open(vec![narrow_problem(400)]);
    let mut sweeps = STRATEGIES.iter().filter(|row| row.effort == Effort::Sweep);
    let quick = [sweeps.next().unwrap().name, sweeps.next().unwrap().name];
    let choose = |session: &mut Session, strategy| {
        session.apply(Command::SetStrategy {
            lane: Some(LaneId::Problem(0)),
            strategy: Some(strategy),
        });
    };
    choose(&mut session, quick[0]);
    session.settle();
    session.apply(Command::ListPlans(GraphIdx(0)));
    wait_until(&mut session, |session| {
        session.planner_table().is_some_and(|table| table.searching.is_some())
    });
    choose(&mut session, quick[1]);
    session.settle();
    let table = session.planner_table().unwrap();
    assert!(!session.is_planner_running() && table.searching.is_none());
    session.apply(Command::Cancel);
    let table = session.planner_table().unwrap();
    assert!(table.rows.iter().all(|row| !row.is_stopped()));
    assert!(table.pending.iter().any(|strategy| strategy.effort == Effort::Search));
}

#[test]
fn stopping_the_planner_stops_no_other_task() {
    let mut session = session_of("resnet50");
    session.apply(Command::StartBudgetSweep(GraphIdx(0)));
    session.apply(Command::ListPlans(GraphIdx(0)));
    assert!(session.is_planner_running() && session.is_budget_sweep_running());
    session.apply(Command::StopPlans);
    assert!(!session.is_planner_running() && session.is_budget_sweep_running());
    session.apply(Command::Cancel);
}
