//! Explained steps and bookmarks in the session: the newest request wins, answers belong to their comparison, bookmarks
//! can be undone and keep the answer.

use highwater::analysis::LaneId;
use highwater::session::{Bookmark, Command, Notice, Session, SourceSpec, sample};
use highwater::sim::StaticMemoryPolicy;
use highwater::timeline::{Attribute, PeakAt, PeakReport, PeakRequest};
use highwater::units::Step;

use super::session_of;

fn session() -> Session {
    session_of("bert")
}

fn ask(step: u32) -> PeakRequest {
    PeakRequest {
        lane: 1,
        at: PeakAt::Step(Step(step)),
        by: Attribute::OpType,
        within: None,
        n_first: 5,
        against: None,
    }
}

#[test]
fn the_newest_request_wins_and_a_new_answer_needs_a_new_one() {
    let mut session = session();
    for step in 0..9 {
        session.apply(Command::ExplainPeak(ask(step)));
    }
    assert!(!session.peak_report().has(&ask(8)), "nobody waits for the worker");
    session.settle();
    assert!(session.peak_report().has(&ask(8)) && session.peak_report().wants(&ask(8)));
    let (comparison, _) = session.answer().unwrap();
    let expected = PeakReport::new(comparison, ask(8)).unwrap();
    assert_eq!(**session.peak_report().last().unwrap(), expected);
    assert!(session.peak_text().unwrap().contains("step 8"));
    session.apply(Command::SetIterations(2));
    session.settle();
    assert!(!session.peak_report().has(&ask(8)) && !session.peak_report().wants(&ask(8)));
    assert!(session.peak_text().is_none(), "its names may be others");
    session.apply(Command::ExplainPeak(ask(8)));
    session.settle();
    assert!(session.peak_report().has(&ask(8)));
}

#[test]
fn reports_are_written_by_the_worker() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session();
    let failed = |session: &Session| matches!(session.notice(), Some(Notice::Failed(_)));
    session.apply(Command::ExportPeak(folder.path().join("early.csv")));
    assert!(failed(&session));
    session.apply(Command::ExplainPeak(ask(400)));
    session.settle();
    session.apply(Command::ExportPeak(folder.path().join("peak.doc")));
    assert!(failed(&session));
    for name in ["peak.csv", "peak.json", "peak.txt", "peak.md"] {
        session.apply(Command::ExportPeak(folder.path().join(name)));
    }
    // Files are written in order before later requests.
    session.apply(Command::SetIterations(2));
    session.settle();
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(read("peak.csv").starts_with("tensor,graph,"));
    assert!(read("peak.txt").contains("by op type"));
    assert!(read("peak.md").contains("| by op type |"));
    let json: serde_json::Value = serde_json::from_str(&read("peak.json")).unwrap();
    assert_eq!(json["step"], 400);
}

fn mark(step: u32, note: &str) -> Bookmark {
    Bookmark {
        step: Step(step),
        turn: None,
        note: note.to_owned(),
        lane: Some(LaneId::Policy(StaticMemoryPolicy::Dynamic)),
    }
}

#[test]
fn bookmarks_are_kept_in_order_undone_and_survive_a_new_answer() {
    let mut session = session();
    let notes = |session: &Session| -> Vec<String> {
        let all = session.document().bookmarks.iter();
        all.map(|bookmark| format!("{} {}", bookmark.step, bookmark.note))
            .collect()
    };
    for (step, note) in [(9, "nine"), (2, "two"), (5, "five")] {
        session.apply(Command::AddBookmark(mark(step, note)));
    }
    assert_eq!(notes(&session), ["2 two", "5 five", "9 nine"]);
    assert!(
        !session.is_stale() && session.busy().is_none(),
        "nothing is worked out anew"
    );
    for note in ["fi", "fif", "fifth"] {
        let note = note.to_owned();
        session.apply(Command::NoteBookmark { position: 1, note });
    }
    session.apply(Command::RemoveBookmark(0));
    assert_eq!(notes(&session), ["5 fifth", "9 nine"]);
    session.apply(Command::SetIterations(2));
    session.settle();
    assert_eq!(notes(&session), ["5 fifth", "9 nine"]);
    session.apply(Command::Undo);
    session.settle();
    assert_eq!(notes(&session), ["5 fifth", "9 nine"]);
    session.apply(Command::Undo);
    assert_eq!(notes(&session), ["2 two", "5 fifth", "9 nine"]);
    assert!(!session.is_stale() && session.busy().is_none());
    assert_eq!(session.notice(), Some(&Notice::Done("undone: bookmarks".to_owned())));
    session.apply(Command::Undo);
    assert_eq!(notes(&session), ["2 two", "5 five", "9 nine"], "letters are one step");
    session.apply(Command::Redo);
    session.apply(Command::Redo);
    assert_eq!(notes(&session), ["5 fifth", "9 nine"]);
    // An index out of range does nothing.
    session.apply(Command::RemoveBookmark(7));
    session.apply(Command::NoteBookmark {
        position: 7,
        note: "none".to_owned(),
    });
    assert_eq!(notes(&session).len(), 2);
    session.apply(Command::Open(vec![SourceSpec::Sample(sample("mobilenet").unwrap())]));
    session.settle();
    assert!(notes(&session).is_empty());
}
