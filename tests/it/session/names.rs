//! Name reuse in the session: a report is shown only with its answer.

use highwater::session::{Command, MOST_LOG_LINES, Session, SourceSpec};
use highwater::workload::GraphIdx;

use super::settled;

/// Four results one after another; the third takes the name of the first, the fourth of the second.
fn chain(name: &str, prefix: &str) -> SourceSpec {
    let node = |number: usize, input: &str| {
        format!(
            r#"{{"name": "n{number}", "op": "relu", "inputs": ["{input}"],
                "outputs": [{{"id": "{prefix}{number}", "shape": [64], "dtype": "float32"}}]}}"#
        )
    };
    let nodes: Vec<String> = (1..=4)
        .map(|number| match number {
            1 => node(1, "x"),
            _ => node(number, &format!("{prefix}{}", number - 1)),
        })
        .collect();
    let text = format!(
        r#"{{"highwater_graph": 1, "name": "{name}", "nodes": [{}],
            "inputs": [{{"id": "x", "shape": [64], "dtype": "float32"}}], "outputs": ["{prefix}4"]}}"#,
        nodes.join(", ")
    );
    SourceSpec::Bytes {
        name: format!("{name}.json"),
        bytes: text.as_bytes().into(),
    }
}

fn session() -> Session {
    settled(vec![chain("first", "t")])
}

fn log(session: &Session) -> Option<Vec<String>> {
    let level = &session.name_reuse().wanted()?.levels[0];
    Some(level.reuse.log.iter().map(|line| line.text.to_string()).collect())
}

#[test]
fn search_results_of_other_sources_are_dropped() {
    let mut session = session();
    session.apply(Command::ReuseNames(GraphIdx(0)));
    session.settle();
    let first = log(&session).expect("a report");
    assert!(first[0].contains("t3[64] => t1[64]"), "{first:?}");
    session.apply(Command::Open(vec![chain("second", "u")]));
    session.settle();
    assert_eq!(log(&session), None);
    assert!(!session.name_reuse().wants(&GraphIdx(0)) && !session.name_reuse().is_pending());
    session.apply(Command::ReuseNames(GraphIdx(0)));
    session.settle();
    let second = log(&session).expect("a report");
    assert!(second[0].contains("u3[64] => u1[64]"), "{second:?}");
}

#[test]
fn a_report_is_not_shown_with_a_newer_answer() {
    let mut session = session();
    session.apply(Command::ReuseNames(GraphIdx(0)));
    session.settle();
    assert!(session.name_reuse().wanted().is_some());
    session.apply(Command::set_option("memory_optimize.skip_opt_set", r#"["t33"]"#));
    session.settle();
    assert!(session.name_reuse().wanted().is_none() && session.name_reuse().failure().is_none());
    session.apply(Command::ReuseNames(GraphIdx(0)));
    session.settle();
    let report = session.name_reuse().wanted().expect("a report");
    assert_eq!(report.levels[0].reuse.hits(), 2);
    let near = report.warnings[0].iter().find(|warning| warning.contains("\"t33\""));
    assert!(
        near.is_some_and(|warning| warning.contains("did you mean \"t3\"?")),
        "{:?}",
        report.warnings
    );
    let level = &report.levels[0].reuse;
    assert!(level.log.len() <= MOST_LOG_LINES && level.n_log_lines == level.log.len() as u64);
}
