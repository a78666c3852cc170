//! The main screen: the verdict, the table of lanes, the room of the drawing; nothing moves.

use eframe::egui::{Color32, Key, Modifiers, Rect, Role, Shape, vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use highwater_analysis::LaneGoal;
use highwater_options::keys;
use highwater_session::SourceSpec;
use highwater_ui::app::App;

use crate::harness::{
    Window, click, lane_map, press, press_and_settle, set_option, settle, settle_chain, window_of_app,
};
use crate::sessions::session;

/// Points of a window, and the least height of each lane, curve and map together.
const SIZES: [([f32; 2], f32); 3] = [
    ([1280.0, 800.0], 112.0),
    ([1600.0, 900.0], 138.0),
    ([1920.0, 1080.0], 182.0),
];

/// The lowest top of the first lane.
const TOP: f32 = 240.0;

fn window(sample: &str, size: [f32; 2]) -> Window {
    let sample = highwater_session::sample(sample).expect("a sample");
    window_of_app(
        App::new(session(vec![SourceSpec::Sample(sample)])).with_typed_paths(),
        size,
    )
}

fn lanes(window: &Window) -> Vec<Rect> {
    [0, 2, 3, 4].map(|policy| lane_map(window, policy)).to_vec()
}

#[test]
fn the_lanes_have_the_room() {
    let cases = SIZES
        .iter()
        .flat_map(|case| ["mixed", "bert", "resnet50"].map(|sample| (sample, *case)));
    for (sample, (size, least)) in cases {
        let window = window(sample, size);
        let lanes = lanes(&window);
        assert!(
            lanes[0].top() <= TOP,
            "{size:?}: the first lane begins at {}",
            lanes[0].top()
        );
        for lane in &lanes {
            assert!(lane.height() >= least, "{size:?}: a lane is {} high", lane.height());
            assert!(lane.bottom() <= size[1], "{size:?}: a lane ends at {}", lane.bottom());
        }
        let is_below = |pair: &[Rect]| pair[0].bottom() <= pair[1].top();
        assert!(lanes.windows(2).all(is_below), "{size:?}");
    }
}

#[test]
fn nothing_moves() {
    let mut window = window("mixed", SIZES[0].0);
    let before = lanes(&window);
    let check = |window: &Window, what: &str| {
        assert_eq!(lanes(window), before, "{what}");
    };
    window.hover_at(before[1].center());
    window.run_steps(3);
    check(&window, "a step under the pointer");
    press(&mut window, Modifiers::NONE, Key::Slash);
    window.get_by_role_and_label(Role::TextInput, "Find").type_text("conv");
    settle_chain(&mut window);
    check(&window, "a search with matches");
    press_and_settle(&mut window, Modifiers::NONE, Key::Enter);
    check(&window, "a selected match");
    press_and_settle(&mut window, Modifiers::NONE, Key::Escape);
    // A finding of level error is counted in the status bar.
    set_option(&mut window, "graph_max_parallel_model_num", "2");
    set_option(&mut window, keys::STATIC_MEMORY_POLICY, "2");
    check(&window, "an error");
    window.get_by_label_contains("show problems: 1 error");
}

#[test]
fn a_row_selects_the_lane_that_the_panes_follow() {
    let mut window = window("mixed", SIZES[2].0);
    window.get_by_label_contains("policy 0, active");
    let mut rows = window.query_all_by_role(Role::RadioButton);
    let row = rows.find(|node| {
        let label = node.accesskit_node().label().unwrap_or_default();
        label.starts_with("policy 4") && label.contains("peak reserved")
    });
    let place = row.expect("a row").rect().left_center() + vec2(40.0, 0.0);
    drop(rows);
    let click_at = |window: &mut Window| {
        window.hover_at(place);
        window.run_steps(1);
        window.drag_at(place);
        window.run_steps(1);
        window.drop_at(place);
        window.run_steps(3);
        settle(window);
    };
    click_at(&mut window);
    assert!(window.query_by_label_contains("Peak of policy 4").is_some());
    press_and_settle(&mut window, Modifiers::NONE, Key::M);
    let known = window
        .state()
        .session()
        .device_picture()
        .last()
        .expect("a picture of the device");
    assert_eq!(
        known.lane,
        highwater_analysis::LaneId::Policy(highwater_sim::StaticMemoryPolicy::FullExtend)
    );
}

#[test]
fn rows_are_sorted_by_their_columns() {
    let mut window = window("mixed", SIZES[2].0);
    let tops = |window: &Window| -> Vec<u8> {
        let mut rows: Vec<(i32, u8)> = [0, 2, 3, 4]
            .map(|policy| {
                let all = window.query_all_by_role(Role::RadioButton);
                let mut rows = all.filter(|node| {
                    let label = node.accesskit_node().label().unwrap_or_default();
                    label.starts_with(&format!("policy {policy}")) && label.contains("peak reserved")
                });
                (rows.next().expect("a row").rect().top() as i32, policy)
            })
            .to_vec();
        rows.sort_unstable();
        rows.into_iter().map(|(_, policy)| policy).collect()
    };
    assert_eq!(tops(&window), [0, 2, 3, 4]);
    for (order, what) in [
        ([4, 2, 3, 0], "ascending"),
        ([0, 3, 2, 4], "descending"),
        ([0, 2, 3, 4], "as before"),
    ] {
        click(&mut window, Role::Button, "sort lanes by peak reserved");
        assert_eq!(tops(&window), order, "{what}");
    }
}

#[test]
fn the_verdict_has_both_ends_and_follows_the_goal() {
    let mut window = window("mixed", SIZES[1].0);
    let end = |window: &Window, start: &str| {
        let node = window.get_by_label_contains(start);
        let text = node.accesskit_node();
        text.value().or_else(|| text.label()).unwrap_or_default()
    };
    let overhead = end(&window, "Least overhead: policy 2");
    let peak = end(&window, "Lowest peak: policy 4");
    // Bytes and time of each end are always told.
    assert!(
        overhead.contains("GiB") && overhead.contains("no extra time"),
        "{overhead}"
    );
    assert!(peak.contains("GiB") && peak.contains("ms"), "{peak}");
    window.get_by_label_contains("Lowest peak: policy 4").click();
    settle(&mut window);
    assert_eq!(window.state().session().document().goal, LaneGoal::LowestPeak);
    window.get_by_label_contains("apply policy 4");
    press_and_settle(&mut window, Modifiers::COMMAND, Key::Z);
    click(&mut window, Role::ComboBox, "goal: least overhead that fits");
    press_and_settle(&mut window, Modifiers::NONE, Key::Escape);
    click(&mut window, Role::Button, "apply policy 2");
    window.get_by_label_contains("policy 2, recommended, active");
    assert!(
        window.query_by_label_contains("apply policy").is_none(),
        "nothing is left to apply"
    );
}

/// The forms of the verdict: whatever the width, both ends have their bytes and their time.
#[test]
fn no_width_cuts_an_end_of_the_verdict() {
    for (size, n_rows) in [
        ([1024.0, 640.0], 2),
        ([1280.0, 800.0], 1),
        ([1600.0, 900.0], 1),
        ([1920.0, 1080.0], 1),
    ] {
        let window = window("mixed", size);
        let ends = ["Least overhead: ", "Lowest peak: "].map(|start| {
            let node = window.get_by_label_contains(start);
            let text = node.accesskit_node().value().or_else(|| node.accesskit_node().label());
            let text = text.unwrap_or_default();
            assert!(text.contains("GiB") && !text.contains('…'), "{size:?}: {text}");
            assert!(
                text.contains("ms") || text.contains("no extra time"),
                "{size:?}: {text}"
            );
            node.rect()
        });
        let is_one_row = (ends[0].center().y - ends[1].center().y).abs() < 2.0;
        assert_eq!(is_one_row, n_rows == 1, "{size:?}");
        assert!(ends[1].right() <= size[0], "{size:?}");
    }
}

#[test]
fn lanes_that_run_out_of_memory_are_never_advised() {
    let mut window = window("mixed", SIZES[1].0);
    set_option(&mut window, keys::DEVICE_MEMORY, "3600MiB");
    let (comparison, _) = window.state().session().answer().expect("an answer");
    let failed: Vec<u8> = comparison
        .lanes
        .iter()
        .filter(|lane| lane.summary.out_of_memory)
        .map(|lane| lane.policy.number())
        .collect();
    assert!(!failed.is_empty());
    let recommended = comparison.recommended(LaneGoal::LeastOverhead).expect("a policy fits");
    assert!(!failed.contains(&recommended.policy.number()));
    let words = format!("policy {}", recommended.policy.number());
    let ends = window.query_all_by_label_contains("Least overhead: ");
    let ends = ends.chain(window.query_all_by_label_contains("Recommended: "));
    let texts = ends.map(|node| node.accesskit_node().value().or_else(|| node.accesskit_node().label()));
    assert!(texts.flatten().any(|text| text.contains(&words)), "{words}");
    assert!(window.query_all_by_label_contains("out of memory at step").count() >= failed.len());
    set_option(&mut window, keys::DEVICE_MEMORY, "1GiB");
    window.get_by_label_contains("No policy fits 1.000");
    assert!(window.query_by_label_contains("apply policy").is_none());
}

#[test]
fn the_row_below_the_lanes_opens_on_command() {
    let mut window = window("mixed", SIZES[0].0);
    let before = lanes(&window);
    click(&mut window, Role::Tab, "Tables");
    assert!(lane_map(&window, 0).height() < before[0].height() || lane_map(&window, 4).top() > before[3].top() - 40.0);
    assert!(window.query_by_label("open the row").is_none());
    click(&mut window, Role::Button, "collapse the row");
    assert_eq!(lanes(&window), before);
    click(&mut window, Role::Button, "show problems: 0 errors, 0 warnings");
    window.get_by_label("collapse the row");
}

/// The colours that rectangles of the last frame are filled with.
fn fills(window: &Window) -> Vec<Color32> {
    fn add(shape: &Shape, fills: &mut Vec<Color32>) {
        match shape {
            Shape::Vec(shapes) => {
                for shape in shapes {
                    add(shape, fills);
                }
            }
            Shape::Rect(rect) => fills.push(rect.fill),
            _ => {}
        }
    }
    let mut fills = Vec::new();
    for clipped in &window.output().shapes {
        add(&clipped.shape, &mut fills);
    }
    fills
}

#[test]
fn no_frame_mixes_the_colours_of_two_themes() {
    let mut window = window("resnet50", SIZES[0].0);
    let before = fills(&window);
    window.key_press_modifiers(Modifiers::COMMAND, Key::T);
    window.run_steps(1);
    let first = fills(&window);
    window.run_steps(3);
    assert_ne!(first, before, "the theme changed");
    assert_eq!(
        first,
        fills(&window),
        "the first frame has all colours of the new theme"
    );
}
