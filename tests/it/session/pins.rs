//! Pins in the session: each edit is one undo step, names are unique, and lanes follow.

use highwater::analysis::{LaneId, MAX_PINS};
use highwater::session::{Command, Notice, Session};

use super::{session_of, set};

fn session() -> Session {
    session_of("mixed")
}

fn pin(session: &mut Session, name: &str) {
    let configuration = Box::new(session.configuration());
    session.apply(Command::PinConfiguration {
        name: name.to_owned(),
        configuration,
    });
}

fn names(session: &Session) -> Vec<&str> {
    session.names_of_pins().collect()
}

/// The pinned lanes of the answer, by title.
fn lanes(session: &mut Session) -> Vec<String> {
    session.settle();
    let (comparison, _) = session.answer().expect("there is an answer");
    let pinned = comparison
        .lanes
        .iter()
        .filter(|lane| matches!(lane.id, LaneId::Pinned(_)));
    pinned.map(|lane| comparison.lane_title(lane.id)).collect()
}

#[test]
fn every_edit_of_pins_is_one_step() {
    const POLICY: &str = "memory_config.static_memory_policy";
    let mut session = session();
    pin(&mut session, "plain");
    set(&mut session, POLICY, "4");
    pin(&mut session, " policy 4 ");
    assert_eq!(lanes(&mut session), ["pinned plain", "pinned policy 4"]);
    for (command, after) in [
        (
            Command::RenamePin {
                position: 1,
                name: "four".to_owned(),
            },
            &["plain", "four"][..],
        ),
        (Command::MovePin { position: 1, to: 0 }, &["four", "plain"]),
        (Command::MovePin { position: 0, to: 9 }, &["plain", "four"]),
        (Command::DuplicatePin(0), &["plain", "plain (2)", "four"]),
        (Command::RemovePin(0), &["plain (2)", "four"]),
        (Command::RemovePin(7), &["plain (2)", "four"]),
        (Command::UsePin(0), &["plain (2)", "four"]),
    ] {
        let before: Vec<String> = names(&session).into_iter().map(str::to_owned).collect();
        let document = session.document().clone();
        session.apply(command.clone());
        assert_eq!(names(&session), after, "{command:?}");
        if *session.document() != document {
            session.apply(Command::Undo);
            assert_eq!(names(&session), before, "{command:?}");
            session.apply(Command::Redo);
            assert_eq!(names(&session), after, "{command:?}");
        }
    }
    assert!(
        !session.document().options.is_set(POLICY),
        "the options are those of the pin"
    );
    assert_eq!(session.document().pins[1].configuration.policy().number(), 4);
    session.apply(Command::Undo);
    assert!(session.document().options.is_set(POLICY));
    assert_eq!(lanes(&mut session), ["pinned plain (2)", "pinned four"]);
}

#[test]
fn the_baseline_follows_its_pin() {
    let mut session = session();
    for name in ["a", "b", "c"] {
        pin(&mut session, name);
    }
    lanes(&mut session);
    session.apply(Command::SetBaseline(Some(LaneId::Pinned(1))));
    assert!(!session.is_stale(), "nothing is worked out anew");
    for (command, after) in [
        (Command::MovePin { position: 1, to: 2 }, Some(2)),
        (Command::MovePin { position: 0, to: 2 }, Some(1)),
        (Command::DuplicatePin(0), Some(2)),
        (Command::DuplicatePin(2), Some(2)),
        (Command::RemovePin(0), Some(1)),
        (Command::RemovePin(1), None),
        (Command::Undo, Some(1)),
    ] {
        session.apply(command.clone());
        let expected = after.map(LaneId::Pinned);
        assert_eq!(session.document().baseline, expected, "{command:?}");
        if let Some(position) = after {
            assert_eq!(names(&session)[usize::from(position)], "b", "{command:?}");
        }
    }
    lanes(&mut session);
    session.apply(Command::SetBaseline(None));
    session.apply(Command::Undo);
    assert_eq!(session.document().baseline, Some(LaneId::Pinned(1)));
    assert!(!session.is_stale(), "a baseline says nothing of what is computed");
}

#[test]
fn failed_pins_are_explained_in_a_sentence() {
    let mut session = session();
    pin(&mut session, "one");
    let told = |session: &Session| match session.notice() {
        Some(Notice::Failed(text)) => text.clone(),
        other => panic!("{other:?}"),
    };
    for (name, part) in [
        ("one", "a pin \"one\" exists already"),
        (" one", "a pin \"one\" exists already"),
        ("\t", "a pin needs a name"),
        ("a\nb", "one line"),
        (&"x".repeat(201), "has 201 letters; the limit is 200"),
    ] {
        pin(&mut session, name);
        assert!(told(&session).contains(part), "{name}: {}", told(&session));
        assert_eq!(names(&session), ["one"]);
    }
    session.apply(Command::RenamePin {
        position: 0,
        name: String::new(),
    });
    assert!(told(&session).contains("a pin needs a name"));
    for number in 1..=MAX_PINS {
        pin(&mut session, &number.to_string());
    }
    assert!(told(&session).contains("at most 16 pins"));
    assert_eq!(names(&session).len(), MAX_PINS);
}

#[test]
fn pins_keep_their_configuration_and_name_its_differences() {
    let mut session = session_of("bert");
    let usual = session.configuration();
    assert_eq!(session.name_for_pin(&usual), "policy 0");
    pin(&mut session, "policy 0");
    assert_eq!(session.name_for_pin(&usual), "policy 0 (2)");
    set(&mut session, "memory_config.atomic_clean_policy", "1");
    session.apply(Command::SetDim {
        name: "batch".to_owned(),
        values: vec![16],
    });
    session.settle();
    let configuration = session.configuration();
    let name = session.name_for_pin(&configuration);
    assert!(
        name.starts_with("policy 0, atomic clean 1, ") && name.contains("batch=16"),
        "{name}"
    );
    // Values that the axis does not have: the lane exists all the same.
    pin(&mut session, "batch 16");
    session.apply(Command::SetDim {
        name: "batch".to_owned(),
        values: vec![4],
    });
    assert_eq!(lanes(&mut session).len(), 2);
    let (comparison, _) = session.answer().unwrap();
    assert_eq!(comparison.pin_failures, []);
    let peaks: Vec<u64> = comparison
        .lanes
        .iter()
        .map(|lane| lane.summary.peak_live.get())
        .collect();
    assert!(peaks[5] > peaks[0], "{peaks:?}");
}
