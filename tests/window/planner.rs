//! The window with a placement problem: lanes are strategies, a table compares all of them, a click shows one.

use eframe::egui::{self, Key, Modifiers, Role};
use egui_kittest::Node;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use highwater_analysis::{LaneId, LaneKind};
use highwater_model::units::Bytes;
use highwater_model::workload::DeviceProfiles;
use highwater_plan::peak_chain;
use highwater_session::{Command, Document, Session, SourceSpec, Worker};
use highwater_sim::StaticMemoryPolicy;

use crate::harness::{Window, apply, press, press_and_settle, settle_chain, window_of_session};
use crate::sessions::{session, source};

const PROBLEM: &str = "id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\nb4,9,21,4\nb5,0,21,4\n";

fn window(name: &str, text: &str) -> Window {
    window_of_session(session(vec![source(name, text)]), 800.0)
}

/// The button of a strategy, which is named after its figures, and its name.
fn row_of<'w>(harness: &'w Window, strategy: &str) -> (Node<'w>, String) {
    let mut rows = harness.query_all_by_label_contains(": bytes ").filter_map(|node| {
        let name = node.accesskit_node().label()?;
        let (label, _) = name.split_once(": bytes ")?;
        let is_it = ["use ", "is lane of "]
            .iter()
            .any(|verb| label.strip_prefix(verb) == Some(strategy));
        is_it.then_some((node, name))
    });
    rows.next().unwrap_or_else(|| panic!("no row of {strategy}"))
}

#[test]
fn a_problem_opens_with_a_lane_per_strategy() {
    let mut harness = window("five.csv", PROBLEM);
    settle_chain(&mut harness);
    let session = harness.state().session();
    let (comparison, timeline) = session.answer().expect("an answer");
    assert!(comparison.lane_kind() == LaneKind::Strategies);
    assert!(comparison.lanes.len() >= 2);
    assert_eq!(timeline.n_steps, 21);
    for lane in &comparison.lanes {
        let footprint = lane.plans[0].1.plan.footprint;
        assert_eq!(lane.summary.peak_reserved, footprint, "{}", lane.strategy.name);
        assert_eq!(lane.summary.peak_live.get(), 12);
    }
    assert!(
        harness
            .query_by_label_contains("Lowest footprint: 12\u{a0}B by best")
            .is_some()
    );
    assert!(
        harness
            .query_by_label_contains("lane 1: best, placed by best")
            .is_some()
    );
}

#[test]
fn the_table_lists_every_strategy_and_a_click_shows_one() {
    // So high that no row is scrolled to.
    let mut harness = window_of_session(session(vec![source("five.csv", PROBLEM)]), 1400.0);
    settle_chain(&mut harness);
    press(&mut harness, Modifiers::NONE, Key::P);
    harness.run_steps(2);
    settle_chain(&mut harness);
    let table = harness.state().session().planner_table().expect("a table");
    assert!(!harness.state().session().is_planner_running());
    let made = highwater_plan::STRATEGIES.iter().filter(|row| row.suits(None));
    for row in made {
        let known = table.rows.iter().find(|known| known.strategy == row);
        let figures = known.expect(row.name).result.as_ref().expect("a plan");
        let (_, name) = row_of(&harness, row.label);
        let over = if figures.footprint.get() == 12 {
            "over optimal"
        } else {
            "%"
        };
        assert!(
            name.contains(&figures.footprint.to_string()) && name.contains(over),
            "{name}"
        );
    }
    row_of(&harness, "naive").0.click();
    harness.run_steps(2);
    settle_chain(&mut harness);
    let (comparison, _) = harness.state().session().answer().expect("an answer");
    assert_eq!(comparison.lanes[0].id, LaneId::Problem(0));
    assert_eq!(comparison.lanes[0].strategy.name, "naive");
    assert_eq!(comparison.lanes[0].summary.peak_reserved.get(), 20);
    apply(&mut harness, Command::Undo);
    let (comparison, _) = harness.state().session().answer().expect("an answer");
    assert_eq!(comparison.lanes[0].strategy.name, "best");
}

/// A plan that a lane has shown is not forgotten when the lane shows another.
#[test]
fn the_best_plan_that_was_shown_stays_known() {
    let mut harness = window("five.csv", PROBLEM);
    settle_chain(&mut harness);
    let best = harness.state().session().best_plan().expect("a plan").clone();
    for lane in 0..4 {
        harness.state_mut().apply(Command::SetStrategy {
            lane: Some(LaneId::Problem(lane)),
            strategy: Some("naive"),
        });
    }
    settle_chain(&mut harness);
    let (comparison, _) = harness.state().session().answer().expect("an answer");
    assert!(
        comparison
            .lanes
            .iter()
            .all(|lane| lane.summary.peak_reserved > best.footprint)
    );
    let words = format!("{} found {}", best.strategy.label, best.footprint);
    harness.get_by_label_contains(&words);
    harness.get_by_label_contains(", the minimum");
}

#[test]
fn lanes_of_a_graph_choose_their_strategy() {
    let sample = SourceSpec::from_argument("sample:resnet50").expect("a sample");
    let mut session = session(vec![sample]);
    let lane = LaneId::Policy(StaticMemoryPolicy::StaticExtend);
    session.apply(Command::SetStrategy {
        lane: Some(lane),
        strategy: Some("naive"),
    });
    session.settle();
    let (comparison, _) = session.answer().expect("an answer");
    let names: Vec<&str> = comparison.lanes.iter().map(|lane| lane.strategy.name).collect();
    assert_eq!(names, ["ge_default", "naive", "ge_default", "ge_default"]);
    let peak = |idx: usize| comparison.lanes[idx].summary.peak_reserved;
    assert!(peak(1) > peak(0));
    session.apply(Command::SetStrategy {
        lane: None,
        strategy: Some("naive"),
    });
    session.settle();
    let (comparison, _) = session.answer().expect("an answer");
    assert!(comparison.lanes.iter().all(|lane| lane.strategy.name == "naive"));
    assert!(session.command_line().contains("simulation.placement_strategy=naive"));
}

/// In the narrow pane of a 1280 pixels wide window every column is within sight, and no two of a row overlap.
#[test]
fn the_table_fits_its_pane() {
    let mut harness = window("five.csv", PROBLEM);
    settle_chain(&mut harness);
    press(&mut harness, Modifiers::NONE, Key::P);
    harness.run_steps(2);
    settle_chain(&mut harness);
    let pane = harness.get_by_label_contains("sort by strategy, of").rect();
    let cells: Vec<egui::Rect> = ["\u{a0}B", "\u{a0}µs", "\u{a0}ms", "\u{a0}ns", "optimal", "%"]
        .into_iter()
        .flat_map(|part| harness.query_all_by_label_contains(part))
        .map(|node| node.rect())
        // The names state the figures for assistive technology.
        .filter(|rect| rect.left() > pane.right())
        .collect();
    for strategy in ["best", "naive", "shared objects, breadth", "smallest gap, by width"] {
        let name = row_of(&harness, strategy).0.rect();
        let mut on_row: Vec<egui::Rect> = cells
            .iter()
            .filter(|cell| name.y_range().contains(cell.center().y))
            .copied()
            .collect();
        on_row.sort_by(|a, b| a.left().total_cmp(&b.left()));
        assert_eq!(on_row.len(), 3, "{strategy}: {on_row:?}");
        assert!(name.right() <= on_row[0].left(), "{strategy}");
        assert!(
            on_row.windows(2).all(|pair| pair[0].right() <= pair[1].left()),
            "{strategy}: {on_row:?}"
        );
        assert!(on_row[2].right() <= 1280.0 - 4.0, "{strategy}: {on_row:?}");
    }
}

#[test]
fn the_inspector_tells_what_holds_the_footprint_of_a_problem() {
    let mut harness = window("five.csv", PROBLEM);
    settle_chain(&mut harness);
    // The stack comes with the answer: no frame computes it.
    let (comparison, timeline) = harness.state().session().answer().expect("an answer");
    for (lane, view) in comparison.lanes.iter().zip(&timeline.lanes) {
        let stack = view.arena_stack.as_ref().expect("an arena");
        let problem = &comparison.workload.problems()[0].problem;
        assert_eq!(stack.chain, peak_chain(problem, &lane.plans[0].1.plan));
        let sizes: Vec<Bytes> = stack.links().map(|link| link.size).collect();
        assert!(sizes.is_sorted_by(|large, small| large >= small));
        assert_eq!(
            sizes.iter().copied().sum::<Bytes>() + stack.chain.gap_bytes,
            stack.footprint
        );
    }
    harness.get_by_label("Arena size");
    harness.get_by_label("Gaps");
    assert!(harness.query_by_label_contains("stacked").is_some());
    assert!(harness.query_by_label_contains("buffers:").is_some());
    assert!(harness.query_by_label_contains("at .").is_none());
    // A header makes the inspector explain its lane.
    let title = harness
        .state()
        .session()
        .answer()
        .expect("an answer")
        .0
        .lane_title(LaneId::Problem(1));
    let header = harness.get_by_label(&format!("header of {title}")).rect();
    let pos = header.center();
    harness.hover_at(pos);
    harness.run_steps(1);
    harness.drag_at(pos);
    harness.run_steps(1);
    harness.drop_at(pos);
    harness.run_steps(3);
    harness.get_by_label(&format!("Peak of {title}"));
    // A name of the stack selects its buffer, and the inspector tells of it.
    let names: Vec<String> = (1..=5).map(|number| format!("buffer b{number}")).collect();
    let mut links = names
        .iter()
        .flat_map(|name| harness.query_all_by_role_and_label(Role::Button, name));
    links.next().expect("a link").click();
    drop(links);
    harness.run_steps(3);
    assert!(harness.state().session().selection().is_some());
    harness.get_by_label("Placement");
}

/// Odd sizes with similar lives: a search of seconds.
fn narrow_problem() -> SourceSpec {
    let mut text = "id,lower,upper,size\n".to_owned();
    for number in 0..400 {
        let lower = number * 7919 % 97;
        let (upper, size) = (lower + 5 + number * 31 % 17, number * 104_729 % 61 + 20);
        text.push_str(&format!("{number},{lower},{upper},{size}\n"));
    }
    source("narrow.csv", &text)
}

#[test]
fn a_search_says_how_far_it_is_and_a_stop_keeps_its_plan() {
    let worker = Worker::start(|| {}).expect("a thread");
    let profiles = DeviceProfiles::bundled().expect("bundled");
    let session = Session::new(Document::new(vec![narrow_problem()]), profiles, worker);
    let mut harness = window_of_session(session, 800.0);
    let is_found = |harness: &Window| {
        let session = harness.state().session();
        session.answer().is_some() && session.found_plan().is_some()
    };
    while !is_found(&harness) {
        harness.run_steps(1);
    }
    let has = |harness: &Window, words: &str| harness.query_all_by_label_contains(words).next().is_some();
    assert!(has(&harness, "% above the bound"), "the status bar and the overview");
    assert!(has(&harness, "searching, "));
    press(&mut harness, Modifiers::NONE, Key::P);
    harness.run_steps(2);
    assert!(has(&harness, "once the lanes have their plans"), "no empty pane");
    press_and_settle(&mut harness, Modifiers::NONE, Key::Escape);
    assert!(has(
        &harness,
        "The search was stopped; the lanes show the smallest plans found so far."
    ));
    // The planner's table says so too, and offers to search again. How long that search took is not known.
    while !has(&harness, "; stopped, ") {
        harness.run_steps(1);
    }
    let footprint = {
        let (comparison, _) = harness.state().session().answer().expect("an answer");
        comparison.lanes[0].plans[0].1.plan.footprint
    };
    harness.get_by_label_contains(&format!("best: {footprint}, bound "));
    harness.get_by_role_and_label(Role::Button, "Search again");
    let table = harness.state().session().planner_table().expect("a table");
    let stopped: Vec<_> = table.rows.iter().filter(|row| row.is_stopped()).collect();
    assert!(!stopped.is_empty());
    assert!(
        stopped
            .iter()
            .all(|row| row.result.as_ref().is_ok_and(|figures| figures.elapsed.is_none()))
    );
    apply(&mut harness, Command::Cancel);
}

#[test]
fn a_proved_plan_is_called_optimal() {
    let mut harness = window("five.csv", PROBLEM);
    settle_chain(&mut harness);
    press(&mut harness, Modifiers::NONE, Key::P);
    harness.run_steps(2);
    settle_chain(&mut harness);
    harness.get_by_label_contains("best: 12\u{a0}B, bound 12\u{a0}B; optimal (proved)");
}
