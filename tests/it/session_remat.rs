//! Budgets of lanes in the session: moved as typing is, undone as one step.

use highwater::analysis::{LaneSet, RematLane};
use highwater::rewrite::remat::{Budget, find_heuristic};
use highwater::session::{Command, Document, Session, SourceSpec, Worker, sample};
use highwater::units::Bytes;
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
