//! Budgets of lanes in the session: changed like typing, undone as one step.

use highwater::analysis::{LaneSet, RematLane};
use highwater::rewrite::remat::{Budget, find_heuristic};
use highwater::session::{Bookmark, Command, Document, Session, SourceSpec, Worker, sample};
use highwater::timeline::OpOccurrence;
use highwater::units::{Bytes, Step};
use highwater::workload::DeviceProfiles;

fn budgets(session: &Session) -> Vec<Budget> {
    match &session.document().lanes {
        LaneSet::Remat(lanes) => lanes.iter().map(|lane| lane.budget).collect(),
        LaneSet::Policies | LaneSet::NameReuse => Vec::new(),
    }
}

#[test]
fn a_drag_of_a_budget_is_one_step_to_undo() {
    let profiles = DeviceProfiles::bundled().unwrap();
    let sources = vec![SourceSpec::Sample(sample("resnet50").unwrap())];
    let mut session = Session::new(Document::new(sources), profiles, Worker::start(|| {}).unwrap());
    let lane = |ratio: f64| RematLane {
        heuristic: find_heuristic("lru").unwrap(),
        budget: Budget::Ratio(ratio),
    };
    session.apply(Command::SetLanes(LaneSet::Remat(vec![lane(0.5), lane(0.7)])));
    for bytes in [900, 800, 700] {
        session.apply(Command::SetRematBudget {
            lane: 1,
            budget: Bytes::mib(bytes),
        });
    }
    session.apply(Command::EndTyping);
    assert_eq!(budgets(&session), [Budget::Ratio(0.5), Budget::Bytes(Bytes::mib(700))]);
    session.apply(Command::SetRematBudget {
        lane: 9,
        budget: Bytes(1),
    });
    session.apply(Command::Undo);
    assert_eq!(budgets(&session), [Budget::Ratio(0.5), Budget::Ratio(0.7)]);
    session.apply(Command::Redo);
    assert_eq!(budgets(&session)[1], Budget::Bytes(Bytes::mib(700)));
}

#[test]
fn a_step_is_found_on_another_axis() {
    let profiles = DeviceProfiles::bundled().unwrap();
    let sources = vec![SourceSpec::Sample(sample("resnet50").unwrap())];
    let mut session = Session::new(Document::new(sources), profiles, Worker::start(|| {}).unwrap());
    session.apply(Command::SetIterations(2));
    session.settle();
    let plain = session.answer().unwrap().0.clone();
    let lane = RematLane {
        heuristic: find_heuristic("lru").unwrap(),
        budget: Budget::Ratio(0.5),
    };
    session.apply(Command::SetLanes(LaneSet::Remat(vec![lane])));
    session.settle();
    let squeezed = session.answer().unwrap().0.clone();
    assert!(squeezed.axis.n_steps > plain.axis.n_steps, "ops are recomputed");
    for axis in [&plain, &squeezed] {
        for step in (0..axis.axis.n_steps).map(Step) {
            let turn = OpOccurrence::of(axis, step).expect("it is on the axis");
            assert_eq!(turn.step(axis), Some(step), "{turn:?}");
            let mark = Bookmark {
                step,
                turn: Some(turn),
                note: String::new(),
                lane: None,
            };
            for other in [&plain, &squeezed] {
                let there = mark.step_in(other).expect("the same ops run");
                assert_eq!(other.axis.locate(there), axis.axis.locate(step), "{mark:?}");
            }
        }
    }
    let behind = Step(plain.axis.n_steps);
    assert_eq!(OpOccurrence::of(&plain, behind), None);
    let last = OpOccurrence::of(&plain, Step(behind.0 - 1)).unwrap();
    assert_eq!(last.iteration, 1);
    session.apply(Command::SetLanes(LaneSet::Policies));
    session.apply(Command::SetIterations(1));
    session.settle();
    assert_eq!(last.step(session.answer().unwrap().0), None, "one iteration runs");
}
