//! The whole window without a screen: found by role and label, driven as users drive it.

use std::sync::Arc;

use eframe::egui::{self, Key, Modifiers, Role, pos2};
use egui_kittest::kittest::Queryable as _;
use highwater_model::units::Bytes;
use highwater_options::{ENVIRONMENT, TABLE};
use highwater_session::{Command, SAMPLES, SourceSpec};
use highwater_sim::StaticMemoryPolicy;
use highwater_ui::commands::{COMMANDS, Menu};

use crate::harness::{Window, click_label, press, push, push_label, settle, window_of, window_of_session};
use crate::sessions::session;

/// Types into the option search.
fn search(harness: &mut Window, text: &str) {
    press(harness, Modifiers::COMMAND, Key::F);
    harness.get_by_role_and_label(Role::TextInput, "Search").type_text(text);
    harness.run_steps(3);
}

fn choose(harness: &mut Window, option: &str, choice: &str) {
    push(harness, Role::ComboBox, option);
    harness.get_by_label_contains(choice).click();
    settle(harness);
}

#[test]
fn every_sample_fills_every_pane() {
    for sample in SAMPLES {
        let harness = window_of(sample.name, 1400.0);
        if sample.name == "measured" {
            for pane in ["Configuration", "Recordings", "Inspector", "Import report"] {
                harness.get_by_label(pane);
            }
            assert!(harness.query_all_by_label_contains("measured").count() > 0);
            continue;
        }
        for pane in ["Configuration", "Policies", "Inspector", "Import report"] {
            harness.get_by_label(pane);
        }
        for policy in [0, 2, 3, 4] {
            harness.get_by_label(&format!("lane policy {policy} memory map"));
        }
        assert!(harness.query_all_by_label_contains("Peak of policy 0").count() > 0);
    }
}

#[test]
fn recordings_of_curves_alone_are_drawn() {
    let mut text = "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Stream Ptr,Device Type\n".to_owned();
    for row in 0..40 {
        let (allocated, reserved) = (row % 7, 8 + row % 3);
        text += &format!("PTA,{row}.5,{allocated}.0,{reserved}.0,,NPU:0\nAPP,{row}.5,,9.5,,NPU:0\n");
    }
    let source = SourceSpec::Bytes {
        name: "memory_record.csv".to_owned(),
        bytes: text.into_bytes().into(),
    };
    let harness = window_of_session(session(vec![source]), 700.0);
    harness.get_by_label("Recordings");
    assert!(harness.query_all_by_label_contains("memory map").count() >= 2);
}

#[test]
fn every_option_has_a_widget_with_its_name() {
    let mut harness = window_of("mobilenet", 16_000.0);
    // A search opens every section.
    search(&mut harness, "e");
    let input = [Role::TextInput, Role::ComboBox, Role::CheckBox];
    // Objects whose fields are options need no field.
    let rows = TABLE
        .iter()
        .filter(|row| highwater_options::find_group(row.key).is_none());
    let names = rows.map(highwater_options::OptionRow::short_key);
    for name in names.chain(ENVIRONMENT.iter().map(|row| row.name)) {
        let is_there = input
            .iter()
            .any(|role| harness.query_all_by_role_and_label(*role, name).count() > 0);
        assert!(is_there, "no widget for {name}");
    }
}

#[test]
fn every_command_is_in_its_menu() {
    /// Entries of a level.
    const MOST: usize = 13;
    let mut harness = window_of("mobilenet", 1400.0);
    let rows = |menu: Menu| COMMANDS.iter().filter(move |row| row.menu == menu);
    let open = |harness: &mut Window, name: &str| {
        push(harness, Role::Button, name);
    };
    let lists = |harness: &Window, menu: Menu| {
        for row in rows(menu) {
            assert!(
                harness.query_all_by_label_contains(row.text).count() > 0,
                "{}",
                row.text
            );
        }
    };
    // Besides commands, File has recent files and View has two lists of panes.
    let menus = [
        (Menu::File, "File", &Menu::OF_FILE[..], 2),
        (Menu::Edit, "Edit", &Menu::OF_EDIT[..], 0),
        (Menu::View, "View", &Menu::OF_VIEW[..], 2),
        (Menu::Help, "Help", &[], 0),
    ];
    for (menu, name, submenus, others) in menus {
        assert!(rows(menu).count() + submenus.len() + others <= MOST, "{name}");
        open(&mut harness, name);
        lists(&harness, menu);
        press(&mut harness, Modifiers::NONE, Key::Escape);
        for (submenu, title) in submenus {
            assert!(rows(*submenu).count() <= MOST, "{title}");
            open(&mut harness, name);
            open(&mut harness, title);
            lists(&harness, *submenu);
            press(&mut harness, Modifiers::NONE, Key::Escape);
        }
    }
    let n_listed = [Menu::Recent, Menu::Panels, Menu::Program].map(|menu| rows(menu).count());
    assert!(n_listed.iter().all(|count| *count > 0), "{n_listed:?}");
}

#[test]
fn the_policy_is_edited_and_the_lanes_follow() {
    let mut harness = window_of("resnet50", 1400.0);
    choose(&mut harness, "static_memory_policy", "2: static expansion");
    let (comparison, _) = harness.state().session().answer().unwrap();
    assert_eq!(comparison.active_policy, StaticMemoryPolicy::StaticExtend);
    harness.get_by_label_contains("policy 2, recommended, active");
    harness.get_by_label_contains("static_memory_policy •");
}

#[test]
fn a_conflict_is_shown_beside_the_field_and_among_the_problems() {
    let mut harness = window_of("resnet50", 1400.0);
    choose(&mut harness, "static_memory_policy", "2: static expansion");
    search(&mut harness, "static_memory");
    choose(&mut harness, "GE_USE_STATIC_MEMORY", "3: ");
    assert!(
        harness.query_all_by_label_contains("error R51").count() > 0,
        "beside the field"
    );
    harness.get_by_label_contains("Problems: 1 error");
    let (comparison, _) = harness.state().session().answer().unwrap();
    assert_eq!(comparison.active_policy, StaticMemoryPolicy::FullExtend);
}

#[test]
fn the_search_narrows_the_options() {
    let mut harness = window_of("mobilenet", 1400.0);
    press(&mut harness, Modifiers::COMMAND, Key::F);
    harness
        .get_by_role_and_label(Role::TextInput, "Search")
        .type_text("precision");
    harness.run_steps(3);
    assert!(harness.query_by_label("variable_placement").is_none());
    assert!(harness.query_all_by_label("precision_mode").count() > 0);
}

#[test]
fn a_click_selects_a_tensor_and_the_inspector_tells_its_facts() {
    let mut harness = window_of("mobilenet", 1400.0);
    let map = harness.get_by_label("lane policy 0 memory map").rect();
    let place = pos2(map.left() + map.width() * 0.5, map.bottom() - map.height() * 0.2);
    harness.hover_at(place);
    harness.run_steps(2);
    press(&mut harness, Modifiers::NONE, Key::Period);
    let selected = harness
        .state()
        .session()
        .selection()
        .expect("the next tensor is selected");
    let (comparison, _) = harness.state().session().answer().unwrap();
    let facts = highwater_timeline::facts(comparison, selected);
    harness.run_steps(2);
    assert!(harness.query_all_by_label(&facts.name).count() > 0, "{}", facts.name);
    assert!(harness.query_all_by_label("In each lane").count() > 0);
    press(&mut harness, Modifiers::NONE, Key::Escape);
    assert_eq!(harness.state().session().selection(), None);
}

/// The lists of the inspector: no frame searches blocks, regions or arenas.
#[test]
fn what_is_held_at_the_peak_comes_with_the_answer() {
    let window = window_of("mixed", 800.0);
    let (comparison, timeline) = window.state().session().answer().unwrap();
    for (lane, view) in comparison.lanes.iter().zip(&timeline.lanes) {
        let mut live = view.live_at(lane.summary.peak_live_step.unwrap());
        live.retain(|block| view.tensor(*block).is_some());
        let mut listed = view.at_peak.blocks.clone();
        let sizes = listed.iter().map(|block| view.blocks.bytes.at(*block as usize));
        assert!(sizes.is_sorted_by(|large, small| large >= small));
        live.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, live);
        // Of ranges of addresses the mapped pages alone.
        let held: Bytes = view.at_peak.regions.iter().map(|(_, bytes)| *bytes).sum();
        assert_eq!(held, lane.summary.peak_reserved, "{:?}", lane.id);
    }
    // Policies with the same plan share what holds its footprint.
    let stack = |lane: usize| timeline.lanes[lane].arena_stack.clone().unwrap();
    let is_same_plan = |lane: usize| comparison.lanes[0].plans == comparison.lanes[lane].plans;
    let alike = (1..comparison.lanes.len()).find(|lane| is_same_plan(*lane)).unwrap();
    assert!(Arc::ptr_eq(&stack(0), &stack(alike)));
}

#[test]
fn a_symbolic_dimension_has_a_field() {
    let mut harness = window_of("bert", 1400.0);
    let field = harness.get_by_role_and_label(Role::TextInput, "seq");
    field.focus();
    harness.run_steps(2);
    press(&mut harness, Modifiers::COMMAND, Key::A);
    harness
        .get_by_role_and_label(Role::TextInput, "seq")
        .type_text("64, 32");
    settle(&mut harness);
    assert_eq!(harness.state().session().document().plan.dims["seq"], [64, 32]);
    let (comparison, _) = harness.state().session().answer().unwrap();
    assert_eq!(comparison.axis.runs.len(), 2);
}

#[test]
fn one_click_makes_the_policies_differ() {
    let mut harness = window_of("mobilenet", 1400.0);
    // No policy is significantly lower, so that none is advised instead of the active one; a granule is much of a small graph.
    harness.get_by_label_contains("Recommended: policy 0");
    assert_eq!(harness.query_all_by_label_contains(", equivalent").count(), 2);
    let mut dynamic = window_of("bert", 1400.0);
    let session = dynamic.state().session();
    assert_eq!(session.answer().unwrap().0.equivalence, None);
    let field = dynamic.get_by_role_and_label(Role::TextInput, "seq");
    field.focus();
    dynamic.run_steps(2);
    press(&mut dynamic, Modifiers::COMMAND, Key::A);
    dynamic.get_by_role_and_label(Role::TextInput, "seq").type_text("128");
    settle(&mut dynamic);
    push_label(&mut dynamic, "Vary the session");
    click_label(&mut dynamic, "Run with several values of seq");
    assert!(dynamic.state().session().document().plan.dims["seq"].len() > 1);
    harness.run_steps(1);
}

#[test]
fn the_configuration_is_exported_through_the_typed_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chosen.json");
    let mut harness = window_of("resnet50", 1400.0);
    choose(&mut harness, "static_memory_policy", "4: ");
    press(&mut harness, Modifiers::COMMAND, Key::E);
    push_label(&mut harness, "Save as…");
    harness.get_by_role_and_label(Role::TextInput, "Path").focus();
    harness.run_steps(2);
    press(&mut harness, Modifiers::COMMAND, Key::A);
    harness
        .get_by_role_and_label(Role::TextInput, "Path")
        .type_text(path.to_str().unwrap());
    harness.run_steps(3);
    push_label(&mut harness, "Save");
    while harness.state().session().notice().is_none() {
        harness.run_steps(1);
        std::thread::yield_now();
    }
    let text = std::fs::read_to_string(&path).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["options"]["memory_config.static_memory_policy"], 4);
    assert!(json["predicted"]["4"]["peak_reserved_bytes"].as_u64() > Some(0));
}

#[test]
fn the_keys_are_listed() {
    let mut harness = window_of("mobilenet", 1400.0);
    press(&mut harness, Modifiers::NONE, Key::Questionmark);
    assert!(harness.query_all_by_label("Everywhere").count() > 0);
    press(&mut harness, Modifiers::NONE, Key::Escape);
    assert_eq!(harness.query_all_by_label("Everywhere").count(), 0);
}

/// A file in the hand of the user.
#[derive(Debug)]
struct Dropped(std::path::PathBuf);

impl egui::DroppedFile for Dropped {
    fn path(&self) -> &std::path::Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        panic!("the worker reads files, not a frame");
    }
}

#[test]
fn a_dropped_file_is_opened() {
    let mut harness = window_of("resnet50", 1400.0);
    let file =
        std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("sample_traces/mobilenet_v2.onnx");
    harness
        .input_mut()
        .dropped_files
        .push(std::sync::Arc::new(Dropped(file)));
    settle(&mut harness);
    assert!(harness.query_all_by_label_contains("mobilenet_v2.onnx").count() > 0);
    let (comparison, _) = harness.state().session().answer().unwrap();
    assert_eq!(comparison.axis.n_steps, 209);
}

#[test]
fn a_dropped_file_that_is_gone_is_an_error_of_the_reading() {
    let mut harness = window_of("resnet50", 1400.0);
    let file = std::path::PathBuf::from("/no/such/dropped.onnx");
    harness
        .input_mut()
        .dropped_files
        .push(std::sync::Arc::new(Dropped(file)));
    settle(&mut harness);
    let told = harness.state().session().not_opened().unwrap_or_default();
    assert!(told.contains("/no/such/dropped.onnx"), "{told}");
}

#[test]
fn pages_of_the_documentation_are_read_and_searched() {
    let mut window = window_of("lenet", 1280.0);
    press(&mut window, Modifiers::SHIFT, Key::F1);
    window.run_steps(3);
    let list = window.query_by_role_and_label(Role::Tab, "The window");
    assert!(list.is_some(), "the list of pages");
    push(&mut window, Role::Tab, "What is new");
    assert!(window.query_by_label("Changelog").is_some(), "the page");
    window
        .get_by_role_and_label(Role::TextInput, "Search the pages")
        .focus();
    window.run_steps(2);
    window
        .get_by_role_and_label(Role::TextInput, "Search the pages")
        .type_text("id,lower,upper");
    window.run_steps(3);
    let list = window.query_by_role_and_label(Role::Tab, "The window");
    assert!(list.is_none(), "lines take the place of the pages");
    let found = window.query_all_by_label_contains("id,lower,upper");
    assert!(found.count() > 0, "lines that match");
    assert!(window.query_by_label("Changelog").is_some(), "the page from before");
    press(&mut window, Modifiers::NONE, Key::Enter);
    window.run_steps(3);
    assert!(
        window.query_by_label("Changelog").is_none(),
        "the page of the first line"
    );
    press(&mut window, Modifiers::NONE, Key::Escape);
    press(&mut window, Modifiers::NONE, Key::Escape);
    window.run_steps(3);
    let list = window.query_by_role_and_label(Role::Tab, "What is new");
    assert!(list.is_none() && window.query_by_label("Changelog").is_none(), "closed");
}

/// No field changes a number that was given, and an impossible one is refused with the limit.
#[test]
fn counts_stay_as_they_were_given() {
    let mut window = window_of("lenet", 1400.0);
    for given in [2800, 1_000_001] {
        window.state_mut().apply(Command::SetIterations(given));
        settle(&mut window);
        press(&mut window, Modifiers::COMMAND, Key::R);
        window.run_steps(3);
        assert_eq!(window.state().session().document().plan.iterations, given);
    }
    let problem = window.state().session().problem().unwrap_or_default();
    assert!(problem.contains("more than"), "{problem}");
}

#[test]
fn escape_cancels_and_the_title_follows() {
    let titles = |window: &Window| -> Vec<String> {
        let viewports = window.output().viewport_output.values();
        let commands = viewports.flat_map(|viewport| viewport.commands.clone());
        let title = |command| match command {
            egui::ViewportCommand::Title(title) => Some(title),
            _ => None,
        };
        commands.filter_map(title).collect()
    };
    let mut window = window_of("lenet", 800.0);
    let before = window.state().session().document_name();
    // A graph that takes long enough to be cancelled.
    let node = |at: u32| {
        format!(
            r#"{{"name": "op{at}", "op": "relu", "inputs": ["t{at}"], "outputs": [{{"id": "t{}", "shape": [8], "dtype": "float32"}}]}}"#,
            at + 1
        )
    };
    let nodes: Vec<String> = (0..60_000).map(node).collect();
    let large = format!(
        r#"{{"highwater_graph": 1, "nodes": [{}], "inputs": [{{"id": "t0", "shape": [8], "dtype": "float32"}}], "outputs": ["t60000"]}}"#,
        nodes.join(", ")
    );
    let source = crate::sessions::source("large.json", &large);
    window.state_mut().apply(Command::Open(vec![source]));
    window.run_steps(1);
    assert!(window.state().session().can_cancel());
    assert!(titles(&window).iter().any(|title| title.contains("large.json")));
    window.key_press(Key::Escape);
    window.run_steps(1);
    assert!(!window.state().session().can_cancel(), "it is cancelled at once");
    let mut later = titles(&window);
    window.state_mut().settle();
    window.run_steps(1);
    later.extend(titles(&window));
    assert_eq!(window.state().session().document_name(), before);
    assert!(later.last().is_some_and(|title| title.contains(&before)), "{later:?}");
    assert!(window.state().session().answer().is_some());
}
