//! The table of lanes and the Compare pane show every mark of every lane.

use eframe::egui::{Key, Modifiers, Role};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use highwater_analysis::LaneMark;

use crate::harness::{press_and_settle, window_of_session};
use crate::marked_lanes::{N_KINDS, kind, sessions};

#[test]
fn lanes_have_their_marks_in_the_table_and_in_the_pane() {
    let mut seen = [false; N_KINDS];
    for session in sessions(concat!(env!("CARGO_MANIFEST_DIR"), "/../../sample_traces")) {
        let mut window = window_of_session(session, 1400.0);
        press_and_settle(&mut window, Modifiers::SHIFT, Key::V);
        let goal = window.state().session().document().goal;
        let (comparison, _) = window.state().session().answer().expect("an answer");
        let rows: Vec<String> = window
            .query_all_by_role(Role::RadioButton)
            .filter_map(|row| row.accesskit_node().label())
            .collect();
        for (lane, row) in comparison.lanes.iter().enumerate() {
            let title = comparison.lane_title(row.id);
            let row = rows.iter().find(|label| label.starts_with(&title));
            let row = row.unwrap_or_else(|| panic!("{title}: {rows:?}"));
            let labels: Vec<String> = comparison.lane_marks(lane, goal).iter().map(LaneMark::label).collect();
            let labels: Vec<String> = labels.into_iter().filter(|label| !label.is_empty()).collect();
            let below = labels.join(", ");
            let is_below = below.is_empty() || window.query_all_by_label(&below).next().is_some();
            assert!(is_below, "{title}: {below}");
            for mark in comparison.lane_marks(lane, goal) {
                seen[kind(&mark).expect("a mark that says something")] = true;
                assert!(row.contains(&mark.label()), "{mark:?}: {row}");
                if matches!(mark, LaneMark::LowerBound(_)) {
                    assert!(row.contains('\u{2265}'), "{row}");
                }
                if mark.label().is_empty() {
                    let sentence = mark.sentence(&title).expect("a label or a sentence");
                    assert!(row.contains(&sentence), "{sentence}: {row}");
                    assert!(window.query_all_by_label(&sentence).next().is_some(), "{sentence}");
                }
                assert!(!mark.is_against() || !row.contains("\nfits yes"), "{row}");
            }
        }
    }
    assert_eq!(seen, [true; N_KINDS], "every kind of mark has a session");
}
