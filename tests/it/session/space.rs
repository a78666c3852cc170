//! Spaces in a session: points arrive in batches, a stop keeps them, a comparison interrupts, configurations can be
//! applied.

use highwater::analysis::sweep::{Goal, SweepAxis};
use highwater::session::{Command, Session, SourceSpec, SweepOrder, sample};
use highwater::units::Bytes;

use super::{session_of, set};

fn order(session: &Session, texts: &[&str]) -> SweepOrder {
    let dims = session.loaded().unwrap().workload.symbols();
    let axes = texts.iter().map(|text| SweepAxis::parse(text, &dims).unwrap());
    SweepOrder {
        axes: axes.collect(),
        capacity: None,
    }
}

fn n_points(session: &Session) -> usize {
    session.sweep().map_or(0, |table| table.points.len())
}

fn wait_for(session: &mut Session, wanted: usize) {
    while n_points(session) < wanted && session.is_sweep_running() {
        session.poll();
        std::thread::yield_now();
    }
}

#[test]
fn a_stop_keeps_points_and_the_same_order_goes_on() {
    let mut session = session_of("resnet50");
    let order = order(&session, &["policy=0,2,3,4", "malloc_ns=1..60"]);
    session.apply(Command::StartSweep(Box::new(order.clone())));
    wait_for(&mut session, 1);
    assert!(session.is_sweep_running());
    session.apply(Command::StopSweep);
    let kept = session.sweep().unwrap().points.clone();
    assert!(!session.is_sweep_running() && !kept.is_empty() && kept.len() < 240);
    session.settle();
    assert_eq!(session.sweep().unwrap().points, kept, "what was under way is dropped");
    session.apply(Command::StartSweep(Box::new(order.clone())));
    // A comparison interrupts, and the points continue after it.
    set(&mut session, "memory_config.static_memory_policy", "2");
    session.settle();
    let table = session.sweep().unwrap();
    assert_eq!(table.points.len(), 240);
    assert_eq!(table.points[..kept.len()], kept);
    assert!(!table.is_unfinished() && !session.is_sweep_stale());
    let mut numbers: Vec<u64> = table.points.iter().map(|point| point.idx).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..240).collect::<Vec<u64>>());
    let mut front = highwater::analysis::sweep::front(&table.points);
    front.sort_unstable();
    let mut known = table.front.clone();
    known.sort_unstable();
    assert_eq!(known, front, "the front is kept up to date");
    let fitting = table.points.iter().filter(|point| point.fitting().is_some());
    assert_eq!(table.n_fitting, fitting.count() as u64);
    let smallest = table.smallest.clone().unwrap().expect("it fits on some device");
    assert_eq!(smallest.device.name, "generic-16GB");
    // Pins do not invalidate the points.
    session.apply(Command::PinConfiguration {
        name: "one".to_owned(),
        configuration: Box::new(session.configuration()),
    });
    assert!(!session.is_sweep_stale());
    let table = session.sweep().unwrap();
    assert!(
        numbers
            .iter()
            .all(|idx| table.position(*idx).is_some_and(|at| table.points[at].idx == *idx))
    );
}

#[test]
fn a_recommendation_waits_for_the_points_and_is_taken_over() {
    let mut session = session_of("mixed");
    let mut order = order(&session, &["policy=0,2,3,4", "seq=64,128"]);
    order.capacity = Some(Bytes::gib(8));
    session.apply(Command::Recommend(Box::new(order), Goal::Largest(1)));
    assert!(session.is_recommending());
    session.settle();
    let found = session.sweep().unwrap().recommendation.clone().unwrap();
    let winner = found.winner.as_ref().unwrap();
    assert_eq!(winner.configuration.plan.dims["seq"], [128]);
    session.apply(Command::UseConfiguration(Box::new(winner.configuration.clone())));
    session.settle();
    let document = session.document().clone();
    assert_eq!(document.options, winner.configuration.options);
    assert_eq!(document.plan.dims["seq"], [128]);
    let (comparison, _) = session.answer().unwrap();
    let lane = comparison.lane(winner.configuration.policy()).unwrap();
    assert_eq!(lane.summary.peak_reserved, winner.figures().peak_reserved);
    session.apply(Command::Undo);
    session.settle();
    assert!(session.document().options.is_empty());
    assert_ne!(session.document().plan.dims["seq"], [128]);
}

#[test]
fn nothing_is_recommended_while_other_sources_are_read() {
    let mut session = session_of("mixed");
    let order = order(&session, &["policy=0,2"]);
    session.apply(Command::StartSweep(Box::new(order.clone())));
    session.settle();
    session.apply(Command::Open(vec![SourceSpec::Sample(sample("lenet").unwrap())]));
    session.apply(Command::Recommend(Box::new(order), Goal::Largest(0)));
    assert!(!session.is_sweep_running() && !session.is_recommending());
    session.settle();
    assert!(session.sweep().is_none());
}

#[test]
fn a_point_of_a_part_leaves_the_schedule_of_the_others() {
    let mut session = session_of("mixed");
    let entries = vec!["train*3".parse().unwrap(), "evaluate".parse().unwrap()];
    session.apply(Command::SetEntries {
        entries: entries.clone(),
        field: None,
    });
    session.settle();
    let mut configuration = session.configuration();
    configuration.plan.entries.truncate(1);
    configuration.plan.iterations = 7;
    session.apply(Command::UseConfiguration(Box::new(configuration)));
    session.settle();
    let plan = &session.document().plan;
    assert_eq!((&plan.entries, plan.iterations), (&entries, 7));
}

#[test]
fn impossible_spaces_are_reported() {
    let mut session = session_of("resnet50");
    let many = order(&session, &["malloc_ns=1..1000", "free_ns=1..1000"]);
    session.apply(Command::StartSweep(Box::new(many)));
    assert!(session.sweep().is_none() && !session.is_sweep_running());
    assert!(format!("{:?}", session.notice()).contains("the limit of 100000"));
    let few = order(&session, &["policy=0,2"]);
    session.apply(Command::StartSweep(Box::new(few)));
    session.settle();
    assert_eq!(n_points(&session), 2);
    session.apply(Command::Open(vec![SourceSpec::Sample(sample("mobilenet").unwrap())]));
    session.settle();
    assert!(session.sweep().is_none(), "points of other sources are gone");
}
