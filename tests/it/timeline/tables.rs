//! Tables: orders and filters against plain second implementations, cells, and exported files.

use std::sync::Arc;

use highwater::diagnostics::Severity;
use highwater::export::table_csv;
use highwater::progress::{Cancel, Progress};
use highwater::timeline::{
    ProblemLine, Selected, Sort, TableError, TableKind, TableRows, TableSpec, TableSubject, Timeline, Value,
};
use highwater::units::Step;
use proptest::prelude::*;

use super::search::find;
use crate::{synthetic, synthetic_remat};

fn subject(n_layers: u32, n_iterations: u32) -> TableSubject {
    let comparison = Arc::new(synthetic::comparison(n_layers, n_iterations));
    let line = |severity, source: &str, text: &str, option: Option<&str>| ProblemLine {
        severity,
        source: source.to_owned(),
        text: text.to_owned(),
        option: option.map(str::to_owned),
        finding: None,
    };
    TableSubject {
        timeline: Arc::new(Timeline::new(&comparison)),
        comparison,
        problems: Arc::new([
            line(Severity::Error, "rule-b", "the second, \"quoted\"", Some("key.b")),
            line(Severity::Warning, "rule-a", "the first", Some("key.a")),
            line(Severity::Info, "file", "an oddity", None),
        ]),
    }
}

fn table(spec: TableSpec, subject: &TableSubject) -> TableRows {
    TableRows::new(spec, subject.clone(), &Progress::silent(&Cancel::new())).expect("a table")
}

fn of(kind: TableKind) -> TableSpec {
    TableSpec {
        kind,
        step: if kind == TableKind::Live { Step(20) } else { Step(0) },
        has_allocations: kind == TableKind::Events,
        ..TableSpec::default()
    }
}

fn shown(table: &TableRows) -> Vec<Vec<String>> {
    let columns = table.columns().len();
    (0..table.len())
        .map(|row| {
            let cells = (0..columns).map(|column| table.value(row, column).raw().into_owned());
            cells.collect()
        })
        .collect()
}

/// Whether rows are in the order of a column; unstated values last.
#[track_caller]
fn check_order(table: &TableRows, natural: &TableRows, sort: Sort) {
    let cell = |position: usize| table.value(position, sort.column);
    let is_number = table.columns()[sort.column].is_number;
    let before = shown(natural);
    let mut wanted: Vec<usize> = (0..natural.len()).collect();
    wanted.sort_by(|a, b| {
        let (a, b) = (natural.value(*a, sort.column), natural.value(*b, sort.column));
        match (&a, &b) {
            (Value::Nothing, Value::Nothing) => std::cmp::Ordering::Equal,
            (Value::Nothing, _) => std::cmp::Ordering::Greater,
            (_, Value::Nothing) => std::cmp::Ordering::Less,
            _ => {
                let order = if is_number {
                    let number = |value: &Value<'_>| value.raw().parse::<f64>().expect("a number");
                    number(&a).total_cmp(&number(&b))
                } else {
                    key_of(&a.shown()).cmp(&key_of(&b.shown()))
                };
                if sort.is_descending { order.reverse() } else { order }
            }
        }
    });
    let wanted: Vec<&Vec<String>> = wanted.iter().map(|row| &before[*row]).collect();
    let found = shown(table);
    assert_eq!(found.iter().collect::<Vec<_>>(), wanted, "{sort:?}");
    assert!(cell(table.len()) == Value::Nothing, "behind the end there is nothing");
}

/// Words and numbers in turn, numbers as numbers.
fn key_of(text: &str) -> (Vec<(String, u64)>, String) {
    let mut parts: Vec<(String, u64)> = vec![(String::new(), 0)];
    let mut was_digit = false;
    for letter in text.chars() {
        if was_digit && !letter.is_ascii_digit() {
            parts.push((String::new(), 0));
        }
        let part = parts.last_mut().expect("never empty");
        match letter.to_digit(10) {
            // Below all letters and above the end of a text, as the digits themselves are here.
            Some(digit) => {
                if !was_digit {
                    part.0.push('0');
                }
                part.1 = part.1 * 10 + u64::from(digit);
            }
            None => part.0.push(letter.to_ascii_lowercase()),
        }
        was_digit = letter.is_ascii_digit();
    }
    (parts, text.to_owned())
}

#[test]
fn every_table_is_sorted_by_every_column_both_ways() {
    let subject = subject(12, 2);
    for kind in TableKind::ALL.into_iter().filter(|kind| *kind != TableKind::Evictions) {
        let natural = table(of(kind), &subject);
        assert!(!natural.is_empty(), "{kind:?}");
        assert_eq!(natural.len(), natural.n_total(), "{kind:?}");
        for column in 0..kind.columns().len() {
            for is_descending in [false, true] {
                let sort = Sort { column, is_descending };
                let spec = TableSpec {
                    sort: Some(sort),
                    ..of(kind)
                };
                check_order(&table(spec, &subject), &natural, sort);
            }
        }
    }
}

#[test]
fn a_filter_keeps_the_matches_of_the_search() {
    let subject = subject(12, 2);
    let (comparison, timeline) = (&subject.comparison, &subject.timeline);
    for filter in ["grad", "op:conv size:>1MiB", "-op:conv live:20", "nothing is called so"] {
        let matches = find(comparison, timeline, filter);
        for kind in [TableKind::Tensors, TableKind::Live] {
            let spec = TableSpec {
                filter: filter.to_owned(),
                ..of(kind)
            };
            let (all, found) = (table(of(kind), &subject), table(spec, &subject));
            let tensors = |table: &TableRows| -> Vec<Selected> {
                (0..table.len()).filter_map(|row| table.target(row).tensor).collect()
            };
            let wanted: Vec<Selected> = tensors(&all).into_iter().filter(|one| matches.contains(*one)).collect();
            assert_eq!(tensors(&found), wanted, "{filter} in {kind:?}");
            assert_eq!(found.n_total(), all.len(), "{filter}");
            assert_eq!(found.total(), all.total(), "a filter changes no share");
        }
    }
}

#[test]
fn a_text_filter_looks_into_every_text_column() {
    let subject = subject(6, 1);
    for (kind, filter, wanted) in [
        (TableKind::Problems, "KEY.A", 1),
        (TableKind::Problems, "rule", 2),
        (TableKind::Problems, "error", 1),
        (TableKind::Problems, "odd", 1),
        (TableKind::Problems, "xyz", 0),
        (TableKind::Ops, "relu", 4),
        (TableKind::Ops, "optimizer", 1),
        (TableKind::Events, "driver malloc", 3),
    ] {
        let spec = TableSpec {
            filter: filter.to_owned(),
            ..of(kind)
        };
        assert_eq!(table(spec, &subject).len(), wanted, "{filter} in {kind:?}");
    }
}

#[test]
fn events_exclude_tensors_unless_requested() {
    let subject = subject(6, 1);
    let few = TableSpec {
        has_allocations: false,
        ..of(TableKind::Events)
    };
    let (few, all) = (table(few, &subject), table(of(TableKind::Events), &subject));
    let n_events = subject.comparison.lanes[0].simulation.events.len();
    assert_eq!(all.len(), n_events);
    assert!(few.len() < n_events / 4 && !few.is_empty());
    let steps: Vec<Option<Step>> = (0..all.len()).map(|row| all.target(row).step).collect();
    assert!(steps.is_sorted(), "events stand in the order in which they happen");
}

#[test]
fn shares_of_live_bytes_add_up() {
    let subject = subject(12, 1);
    let live = table(of(TableKind::Live), &subject);
    let bytes: u64 = (0..live.len())
        .map(|row| live.value(row, 1).raw().parse::<u64>().expect("bytes"))
        .sum();
    assert_eq!(bytes, live.total().get());
    assert_eq!(bytes, subject.timeline.lanes[0].live.at(20), "the curve says the same");
    let shares: f64 = (0..live.len())
        .map(|row| live.value(row, 2).raw().parse::<f64>().expect("a share"))
        .sum();
    assert!((shares - 1.0).abs() < 1e-4, "{shares}");
}

#[test]
fn a_table_that_cannot_be_made_says_why() {
    let subject = subject(3, 1);
    let spec = TableSpec {
        filter: "size:>big".to_owned(),
        ..of(TableKind::Tensors)
    };
    let cancel = Cancel::new();
    let made = |spec: TableSpec| TableRows::new(spec, subject.clone(), &Progress::silent(&cancel)).map(|_| ());
    assert!(matches!(made(spec), Err(TableError::Query(_))));
    cancel.cancel();
    let spec = TableSpec {
        sort: Some(Sort {
            column: 0,
            is_descending: false,
        }),
        ..of(TableKind::Tensors)
    };
    assert!(matches!(made(spec), Err(TableError::Cancelled(_))));
}

#[test]
fn files_hold_plain_numbers_in_the_order_of_the_table() {
    let subject = subject(3, 1);
    let cancel = Cancel::new();
    let csv = |spec: TableSpec| {
        let mut bytes = Vec::new();
        table_csv(&table(spec, &subject), &mut bytes, &Progress::silent(&cancel)).expect("no cancel");
        String::from_utf8(bytes).expect("text")
    };
    let by_bytes = TableSpec {
        sort: Some(Sort {
            column: 1,
            is_descending: true,
        }),
        filter: "run:0 live:0..2".to_owned(),
        ..of(TableKind::Tensors)
    };
    expect_test::expect![[r"
        name,bytes,op,op type,dtype,shape,role,phase,birth,freed,steps,run
        layer0.out,102760448,,convolution,float32,32×64×112×112,activation,forward,0,6,6,0
        layer1.out,64225280,,native_batch_norm,float32,32×160×56×56,activation,forward,1,5,4,0
        layer2.out,32112640,,relu,float32,32×320×28×28,activation,forward,2,4,2,0
    "]]
    .assert_eq(&csv(by_bytes));
    expect_test::expect![[r#"
        severity,source,problem,option
        error,rule-b,"the second, ""quoted""",key.b
        warning,rule-a,the first,key.a
        info,file,an oddity,
    "#]]
    .assert_eq(&csv(of(TableKind::Problems)));
    let live = TableSpec {
        step: Step(2),
        ..of(TableKind::Live)
    };
    expect_test::expect![[r"
        name,bytes,share,birth,freed,role,op type,offset,region
        layer0.out,102760448,0.516129,0,6,activation,convolution,0,arena of train
        layer1.out,64225280,0.322581,1,5,activation,native_batch_norm,102760448,arena of train
        layer2.out,32112640,0.161290,2,4,activation,relu,166985728,arena of train
    "]]
    .assert_eq(&csv(live));
    expect_test::expect![[r"
        step,name,type,phase,run,flops,time_ns,estimated_time_ns,live_bytes,result_bytes
        0,,convolution,forward,train,,,122028,102760448,102760448
        1,,native_batch_norm,forward,train,,,166985,166985728,64225280
        2,,relu,forward,train,,,96337,199098368,32112640
        3,,threshold_backward,backward,train,,,164249,234897408,35799040
        4,,native_batch_norm_backward,backward,train,,,264245,267931648,65146880
        5,,convolution_backward,backward,train,,,289161,274501632,102907904
        6,,_fused_adam,optimizer,train,,,4755,4755456,0
        7,,convolution,forward,evaluate,,,122028,102760448,102760448
        8,,native_batch_norm,forward,evaluate,,,166985,166985728,64225280
        9,,relu,forward,evaluate,,,96337,96337920,32112640
    "]]
    .assert_eq(&csv(of(TableKind::Ops)));
}

#[test]
fn cells_have_units_and_exact_values() {
    let subject = subject(3, 1);
    let tensors = table(of(TableKind::Tensors), &subject);
    let bytes = tensors.value(0, 1);
    assert!(bytes.shown().ends_with("iB"), "{}", bytes.shown());
    let exact = bytes.exact().expect("exact bytes");
    assert_eq!(exact.replace(['\u{a0}', 'B'], ""), bytes.raw());
    assert_eq!(tensors.value(0, 8).exact(), None);
    let position = tensors.position_of(tensors.target(2).tensor.expect("a tensor"));
    assert_eq!(position, Some(2));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_order_loses_no_row(kind in 0..5_usize, column in 0..12_usize, is_descending: bool, has_filter: bool) {
        let subject = subject(6, 2);
        let kind = TableKind::ALL[kind];
        let filter = if has_filter { "e" } else { "" };
        let natural = TableSpec { filter: filter.to_owned(), ..of(kind) };
        let sort = Some(Sort { column: column % kind.columns().len(), is_descending });
        let sorted = TableSpec { sort, ..natural.clone() };
        let (natural, sorted) = (table(natural, &subject), table(sorted, &subject));
        let (mut one, mut other) = (shown(&natural), shown(&sorted));
        one.sort();
        other.sort();
        prop_assert_eq!(one, other);
    }
}

/// Each eviction is paired with the recomputation of its tensor: the intervals of the lane say the same.
#[test]
fn evictions_state_when_why_and_what_they_cost() {
    let comparison = Arc::new(synthetic_remat::comparison(12, synthetic_remat::End::Whole));
    let subject = TableSubject {
        timeline: Arc::new(Timeline::new(&comparison)),
        comparison,
        problems: Arc::new([]),
    };
    let natural = table(of(TableKind::Evictions), &subject);
    let remat = subject.timeline.lanes[0].remat.as_ref().expect("a budget");
    let mut wanted: Vec<(String, String)> = remat
        .eviction_intervals
        .iter()
        .map(|interval| (interval.from.0.to_string(), interval.to.0.to_string()))
        .collect();
    let rows = shown(&natural);
    let mut found: Vec<(String, String)> = rows
        .iter()
        .filter(|row| !row[5].is_empty())
        .map(|row| (row[1].clone(), row[5].clone()))
        .collect();
    wanted.sort();
    found.sort();
    assert_eq!(found, wanted);
    for row in &rows {
        assert!(row[3].starts_with("score ") && row[3].contains("lowest of"), "{row:?}");
        assert!(
            !row[5].is_empty() || row[7].is_empty(),
            "a cost has a recomputation: {row:?}"
        );
    }
    for column in 0..TableKind::Evictions.columns().len() {
        for is_descending in [false, true] {
            let sort = Sort { column, is_descending };
            let spec = TableSpec {
                sort: Some(sort),
                ..of(TableKind::Evictions)
            };
            check_order(&table(spec, &subject), &natural, sort);
        }
    }
}
