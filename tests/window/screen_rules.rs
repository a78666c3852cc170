//! Rules of the main screen that rectangles and texts show: one row of controls, one selection, tooltips within their
//! lane, comparisons that cut nothing, lanes that run out of memory.

use eframe::egui::{Key, Modifiers, Rect, Role};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use highwater_options::keys;
use highwater_session::{Command, SourceSpec};
use highwater_ui::app::App;
use highwater_ui::lanes::EdgeChoice;

use crate::harness::{
    Window, click, click_label, lane_map, lane_row, policy_lane, press, press_and_settle, push_label, set_option,
    settle, settle_chain, window_of_app,
};
use crate::sessions::session;

const WIDE: [f32; 2] = [1600.0, 900.0];
const SMALL: [f32; 2] = [1280.0, 800.0];

fn window(sample: &str, size: [f32; 2]) -> Window {
    let sample = highwater_session::sample(sample).expect("a sample");
    window_of_app(
        App::new(session(vec![SourceSpec::Sample(sample)])).with_typed_paths(),
        size,
    )
}

#[test]
fn the_controls_are_in_one_row_in_every_view() {
    for size in [SMALL, WIDE] {
        let mut window = window("mixed", size);
        for view in ["Memory map", "Areas", "Lifetimes"] {
            click(&mut window, Role::Button, view);
            let first = window.get_by_role_and_label(Role::Button, "Memory map").rect();
            let inspector = window.get_by_role_and_label(Role::Tab, "Inspector").rect();
            let mut n_seen = 0;
            for label in [
                "Areas",
                "Lifetimes",
                "lane arrangement",
                "overlays",
                "legend",
                "Fit",
                "more controls",
            ] {
                let Some(node) = window.query_by_role_and_label(Role::Button, label) else {
                    continue;
                };
                let rect = node.rect();
                n_seen += 1;
                assert!(
                    (rect.center().y - first.center().y).abs() < 2.0,
                    "{view} at {size:?}: {label} wraps"
                );
                assert!(
                    rect.right() <= inspector.left(),
                    "{view} at {size:?}: {label} ends at {}",
                    rect.right()
                );
            }
            assert!(n_seen >= 3, "{view}: {n_seen}");
        }
    }
}

#[test]
fn groups_of_colours_have_one_row_and_a_menu() {
    let mut window = window("mixed", SMALL);
    click(&mut window, Role::Button, "Areas");
    let groups: Vec<Rect> = window
        .query_all_by_role(Role::CheckBox)
        .filter(|node| node.accesskit_node().label().unwrap_or_default().starts_with("group "))
        .map(|node| node.rect())
        .collect();
    assert!(groups.len() >= 3, "{}", groups.len());
    assert!(
        groups
            .iter()
            .all(|rect| (rect.center().y - groups[0].center().y).abs() < 1.0)
    );
    window
        .query_all_by_role(Role::Button)
        .find(|node| {
            let label = node.accesskit_node().label().unwrap_or_default();
            label.contains("group") && label.ends_with(" more")
        })
        .expect("the menu of the other groups");
}

#[test]
fn the_search_has_all_its_parts_and_they_keep_their_place() {
    for size in [SMALL, WIDE] {
        let mut window = window("mixed", size);
        let places = |window: &Window| {
            ["previous", "next", "clear"].map(|label| window.get_by_role_and_label(Role::Button, label).rect())
        };
        let before = places(&window);
        press(&mut window, Modifiers::NONE, Key::Slash);
        window.get_by_role_and_label(Role::TextInput, "Find").type_text("conv");
        settle_chain(&mut window);
        press_and_settle(&mut window, Modifiers::NONE, Key::Enter);
        for (now, before) in places(&window).iter().zip(&before) {
            assert!((now.min - before.min).length() < 1.0, "{size:?}: {now:?} {before:?}");
        }
        let inspector = window.get_by_role_and_label(Role::Tab, "Inspector").rect();
        let matches = window.state().session().search().matches.clone().expect("matches");
        let count = format!("{} of", highwater_model::units::grouped(matches.len() as u64));
        let count = window
            .query_all_by_label_contains(&count)
            .next()
            .expect("a count")
            .rect();
        assert!(
            count.right() <= inspector.left(),
            "{size:?}: the count ends at {}",
            count.right()
        );
        assert!(count.left() >= before[2].right());
    }
}

#[test]
fn hidden_lanes_are_told_in_the_table_and_shown_from_there() {
    let mut window = window("mixed", SMALL);
    let top = lane_map(&window, 2).top();
    push_label(&mut window, "arrange policy 0");
    push_label(&mut window, "Hide");
    press(&mut window, Modifiers::NONE, Key::Escape);
    let show = window.get_by_label("1 lane hidden: show").rect();
    assert!(show.bottom() < lane_row(&window, 0).top() + 1.0, "above the rows");
    assert!(
        lane_map(&window, 2).top() < top,
        "the first visible lane begins where the hidden one did"
    );
    click(&mut window, Role::Button, "1 lane hidden: show");
    assert!((lane_map(&window, 2).top() - top).abs() < 1.0);
}

#[test]
fn the_pointer_chooses_a_step_and_never_a_lane() {
    let mut window = window("mixed", WIDE);
    window.hover_at(lane_row(&window, 2).left_center() + eframe::egui::vec2(40.0, 0.0));
    let place = lane_row(&window, 2).left_center() + eframe::egui::vec2(40.0, 0.0);
    window.drag_at(place);
    window.run_steps(1);
    window.drop_at(place);
    settle_chain(&mut window);
    press_and_settle(&mut window, Modifiers::NONE, Key::M);
    let pictured = |window: &Window| {
        window
            .state()
            .session()
            .device_picture()
            .last()
            .expect("a picture")
            .clone()
    };
    assert_eq!(pictured(&window).lane, policy_lane(2));
    let before = pictured(&window).picture.step;
    window.hover_at(lane_map(&window, 3).center());
    settle_chain(&mut window);
    settle_chain(&mut window);
    assert_eq!(pictured(&window).lane, policy_lane(2));
    assert_ne!(pictured(&window).picture.step, before, "the step follows");
    // A pin in another lane selects it, for all panes.
    click_label(&mut window, "device under policy 4");
    assert_eq!(pictured(&window).lane, policy_lane(4));
    click(&mut window, Role::Tab, "Inspector");
    window.get_by_label("Peak of policy 4");
}

#[test]
fn a_comparison_of_two_lanes_cuts_nothing() {
    let mut window = window("mixed", SMALL);
    window
        .state_mut()
        .apply(Command::SetDifference(Some((policy_lane(4), policy_lane(0)))));
    settle_chain(&mut window);
    let plot = window
        .get_by_label_contains("difference, policy 4 less policy 0")
        .rect();
    let compared = [0, 4].map(|policy| lane_map(&window, policy));
    for rect in compared {
        assert!(rect.bottom() <= SMALL[1] && rect.height() >= 112.0, "{rect:?}");
    }
    assert!(plot.bottom() <= compared[0].top());
    assert!(
        window.query_by_label("lane policy 2 memory map").is_none(),
        "the others wait"
    );
    click(&mut window, Role::Button, "Close");
    for policy in [0, 2, 3, 4] {
        assert!(lane_map(&window, policy).height() >= 112.0);
    }
}

#[test]
fn lanes_that_run_out_come_last_and_do_not_take_the_differences() {
    let mut window = window("mixed", WIDE);
    set_option(&mut window, keys::DEVICE_MEMORY, "3600MiB");
    let (comparison, _) = window.state().session().answer().expect("an answer");
    let (failed, whole): (Vec<_>, Vec<_>) = comparison.lanes.iter().partition(|lane| lane.summary.out_of_memory);
    let numbers =
        |lanes: &[&highwater_analysis::Lane]| -> Vec<u8> { lanes.iter().map(|lane| lane.policy.number()).collect() };
    let (failed, whole) = (numbers(&failed), numbers(&whole));
    assert!(failed.contains(&0) && whole.len() >= 2, "{failed:?} {whole:?}");
    for policy in &failed {
        let top = lane_row(&window, *policy).top();
        assert!(
            whole.iter().all(|other| lane_row(&window, *other).top() < top),
            "policy {policy}"
        );
    }
    let session = window.state().session();
    let (comparison, _) = session.answer().expect("an answer");
    let baseline = &comparison.lanes[session.baseline(comparison)];
    assert_eq!(
        baseline.policy.number(),
        whole[0],
        "a lane without a peak is no baseline"
    );
    window.get_by_label_contains("diff baseline");
    // A baseline that was chosen stays, and the rows say why they state no difference.
    window.state_mut().apply(Command::SetBaseline(Some(policy_lane(0))));
    settle_chain(&mut window);
    assert!(
        window
            .query_all_by_label_contains("No difference: the baseline, policy 0, ends early")
            .count()
            > 0
    );
}

#[test]
fn the_reason_is_a_whole_clause() {
    for (size, sample) in [(SMALL, "resnet50"), (WIDE, "resnet50")] {
        let window = window(sample, size);
        let shown = window.query_all_by_label_contains("Why: ").next();
        let shown = shown.unwrap_or_else(|| panic!("{sample} at {size:?} has no reason"));
        let node = shown.accesskit_node();
        let text = node.value().or_else(|| node.label()).unwrap_or_default();
        assert!(
            text.ends_with('.') && !text.contains('…'),
            "{sample} at {size:?}: {text}"
        );
        let goal = window
            .query_all_by_label_contains("goal: ")
            .next()
            .expect("the goal")
            .rect();
        assert!(shown.rect().right() <= goal.left(), "{sample} at {size:?}");
    }
}

#[test]
fn hidden_columns_are_in_a_menu() {
    let mut window = window("mixed", SMALL);
    let menu = window
        .query_all_by_role(Role::Button)
        .find(|node| node.accesskit_node().label().unwrap_or_default().ends_with(" hidden"))
        .expect("columns without room");
    let label = menu.accesskit_node().label().unwrap_or_default();
    assert!(label.starts_with("1 column ") || label.contains(" columns "), "{label}");
    menu.click();
    window.run_steps(3);
    window.get_by_label("device calls");
}

/// Waits until a tooltip is there.
fn rest_at(window: &mut Window, place: eframe::egui::Pos2) {
    window.hover_at(place);
    for _ in 0..8 {
        window.run_steps(1);
    }
}

#[test]
fn tooltips_lie_within_their_lane() {
    let mut window = window("mixed", SMALL);
    for policy in [0, 4] {
        let body = lane_map(&window, policy);
        let mut n_seen = 0;
        for share in [0.05, 0.3, 0.5, 0.7, 0.95] {
            for height in [0.6, 0.75, 0.9] {
                let place = body.left_top() + body.size() * eframe::egui::vec2(share, height);
                rest_at(&mut window, place);
                let lines: Vec<Rect> = ["bytes", "live", "here", "reserved", "offset", "free"]
                    .into_iter()
                    .flat_map(|label| window.query_all_by_role_and_label(Role::Label, label))
                    .map(|node| node.rect())
                    .filter(|rect| rect.top() > body.top() - 60.0 && rect.top() < body.bottom() + 60.0)
                    .filter(|rect| rect.left() > body.left() && rect.left() < body.right())
                    .collect();
                n_seen += lines.len();
                for line in lines {
                    let is_within = line.top() >= body.top() - 1.0 && line.bottom() <= body.bottom() + 1.0;
                    assert!(is_within, "policy {policy} at {place:?}: {line:?} is outside {body:?}");
                }
            }
        }
        assert!(n_seen > 0, "policy {policy} has no tooltip");
    }
}

/// The painted texts with bytes right of the options, each with the greatest opacity of its letters, from 0 to 255.
fn figures_of_the_answer(window: &Window) -> Vec<(String, u8)> {
    let left = window.get_by_role_and_label(Role::Tab, "Policies").rect().left() - 4.0;
    let mut found = Vec::new();
    for clipped in &window.output().shapes {
        collect_figures(&clipped.shape, left, &mut found);
    }
    found
}

fn collect_figures(shape: &eframe::egui::Shape, left: f32, found: &mut Vec<(String, u8)>) {
    use eframe::egui::Shape;
    match shape {
        Shape::Vec(shapes) => shapes.iter().for_each(|shape| collect_figures(shape, left, found)),
        Shape::Text(text) => {
            let words = text.galley.text();
            let is_hint = words.contains("size:>");
            if text.pos.x < left || is_hint || !words.contains("iB") {
                return;
            }
            let rows = text.galley.rows.iter();
            let alphas = rows.flat_map(|row| row.visuals.mesh.vertices.iter().map(|vertex| vertex.color.a()));
            let own = text.override_text_color.map(|color| color.a());
            // Letters without a colour of their own have that of the shape.
            let alpha = own.or(alphas.max()).unwrap_or(0).max(text.fallback_color.a());
            found.push((words.to_owned(), (f32::from(alpha) * text.opacity_factor) as u8));
        }
        _ => {}
    }
}

#[test]
fn figures_of_an_older_answer_are_told_to_be_old() {
    let mut window = window("mixed", WIDE);
    assert!(
        window
            .query_by_label_contains("figures are of the previous answer")
            .is_none()
    );
    let dimmed = |window: &Window| {
        let figures = figures_of_the_answer(window);
        assert!(figures.len() > 12, "{}", figures.len());
        figures
    };
    for (text, alpha) in dimmed(&window) {
        assert!(alpha > 200, "{text} is drawn at {alpha}");
    }
    window.state_mut().apply(Command::SetIterations(3));
    window.run_steps(1);
    window.get_by_label_contains("figures are of the previous answer");
    for (text, alpha) in dimmed(&window) {
        assert!((60..=170).contains(&alpha), "{text} is drawn at {alpha}");
    }
    settle_chain(&mut window);
    for (text, alpha) in dimmed(&window) {
        assert!(alpha > 200, "{text} is drawn at {alpha}");
    }
    assert!(
        window
            .query_by_label_contains("figures are of the previous answer")
            .is_none()
    );
}

#[test]
fn a_capacity_that_the_profile_does_not_state_is_named_with_it() {
    let mut window = window("mixed", WIDE);
    assert!(window.query_by_label_contains("generic-32GB with").is_none());
    set_option(&mut window, keys::DEVICE_MEMORY, "5GiB");
    let named = window.query_all_by_role(Role::ComboBox).any(|node| {
        let node = node.accesskit_node();
        let texts = [node.value(), node.label()];
        texts.into_iter().flatten().any(|text| text.contains("with 5.000"))
    });
    assert!(named, "the device menu names its capacity");
}

#[test]
fn the_edges_of_the_hovered_tensor_join_those_of_the_peak() {
    let mut window = window("mobilenet", WIDE);
    press(&mut window, Modifiers::NONE, Key::E);
    assert_eq!(window.state().lanes().marks.edges, EdgeChoice::Peak);
    let edges = |window: &Window| window.state().lanes().edges_drawn;
    let of_hovered = |window: &Window| window.state().lanes().hovered_edges_drawn;
    let before = edges(&window);
    assert!(before.0 > 0 && of_hovered(&window) == (0, 0), "{before:?}");
    let body = lane_map(&window, 0);
    let mut most = 0;
    for share in [0.2, 0.35, 0.5, 0.65, 0.8] {
        for height in [0.6, 0.7, 0.8, 0.9] {
            window.hover_at(body.left_top() + body.size() * eframe::egui::vec2(share, height));
            window.run_steps(2);
            assert_eq!(edges(&window), before, "those of the peak stay");
            let (drawn, total) = of_hovered(&window);
            let (_, timeline) = window.state().session().answer().expect("an answer");
            let hovered = window.state().lanes().hovered;
            let expected = |tensor| timeline.lanes.iter().map(|lane| lane.arrows(tensor).n_total).sum();
            assert_eq!(total, hovered.map_or(0, expected));
            assert!(drawn <= total && (total == 0 || drawn > 0), "{drawn} of {total}");
            most = most.max(drawn);
        }
    }
    assert!(most > 0, "no tensor under the pointer reuses bytes");
    window.hover_at(eframe::egui::pos2(4.0, 4.0));
    window.run_steps(3);
    assert_eq!(
        (edges(&window), of_hovered(&window)),
        (before, (0, 0)),
        "they go with the pointer"
    );
}

#[test]
fn a_selection_moves_no_row_of_the_budgets() {
    let mut window = window("mobilenet", WIDE);
    press_and_settle(&mut window, Modifiers::SHIFT, Key::B);
    settle(&mut window);
    let head = |window: &Window| {
        window
            .query_all_by_label_contains("sort by budget")
            .next()
            .expect("a table")
            .rect()
    };
    let before = head(&window);
    window
        .query_all_by_label_contains("select MegEngine static under")
        .next()
        .expect("a row")
        .click();
    window.run_steps(3);
    assert_eq!(head(&window), before);
}
