//! Flame graphs in the session: the newest request wins, and files are written by the worker.

use highwater::session::{Command, Notice, Session};
use highwater::timeline::{FlameGraph, FlameRequest, PeakAt};
use highwater::units::Step;

use super::session_of;

const fn ask(step: u32) -> FlameRequest {
    FlameRequest {
        lane: 1,
        at: PeakAt::Step(Step(step)),
        is_inverse: false,
        keeps_native: false,
    }
}

#[test]
fn the_newest_request_wins_and_a_new_answer_needs_a_new_one() {
    let mut session = session_of("bert");
    for step in 0..9 {
        session.apply(Command::DrawFlame(ask(step)));
    }
    session.settle();
    assert!(session.flame_graph().has(&ask(8)) && session.flame_graph().wants(&ask(8)));
    let (comparison, _) = session.answer().unwrap();
    let expected = FlameGraph::new(comparison, ask(8)).unwrap();
    assert_eq!(**session.flame_graph().current().unwrap(), expected);
    session.apply(Command::SetIterations(2));
    session.settle();
    assert!(session.flame_graph().current().is_none() && !session.flame_graph().wants(&ask(8)));
}

#[test]
fn flame_graphs_are_written_by_their_extension() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session_of("bert");
    let failed = |session: &Session| matches!(session.notice(), Some(Notice::Failed(_)));
    session.apply(Command::ExportFlame(folder.path().join("early.svg")));
    assert!(failed(&session));
    session.apply(Command::DrawFlame(ask(400)));
    session.settle();
    session.apply(Command::ExportFlame(folder.path().join("flame.doc")));
    assert!(failed(&session));
    for name in ["flame.svg", "flame.folded", "flame.txt"] {
        session.apply(Command::ExportFlame(folder.path().join(name)));
    }
    session.settle();
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(read("flame.svg").starts_with("<svg "));
    assert!(read("flame.txt").contains("live bytes by scope, step 400"));
    let total: u128 = read("flame.folded")
        .lines()
        .map(|line| line.rsplit_once(' ').unwrap().1.parse::<u128>().unwrap())
        .sum();
    assert_eq!(total, session.flame_graph().current().unwrap().total());
}
