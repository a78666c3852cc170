//! Facts about the selected tensor, one per row; producers and readers are links.

use eframe::egui::{self, RichText, Role};

use crate::panels::neighbourhood::title;
use crate::widgets::{Named as _, link_ui, list_end_ui, list_length, wrapped_ui};
use highwater_analysis::Comparison;
use highwater_model::units::{Bytes, Step, grouped};
use highwater_session::Selected;
use highwater_timeline::{Destination, NeighbourNode, Neighbourhood, TensorFacts, Timeline};

/// Readers listed.
const NAMED: usize = 3;
/// The list's name for assistive technology.
const READERS: &str = "readers";

/// Returns the target of a click.
pub(super) fn tensor_ui(
    ui: &mut egui::Ui,
    comparison: &Comparison,
    timeline: &Timeline,
    selected: Selected,
    around: Option<&Neighbourhood>,
) -> Option<Destination> {
    let facts = timeline.facts(comparison, 0, selected);
    wrapped_ui(ui, RichText::new(&facts.name).strong());
    ui.add_space(2.0);
    let grid = egui::Grid::new("tensor").num_columns(2).spacing([8.0, 4.0]);
    let shown = grid.show(ui, |ui| {
        let to = ops_ui(ui, &facts, around);
        let lane = comparison.lane_of_blocks(selected.graph);
        for (name, value) in rows(comparison, lane, &facts) {
            row_ui(ui, name, value);
        }
        to
    });
    shown.inner
}

fn row_ui(ui: &mut egui::Ui, name: &str, value: String) {
    if !value.is_empty() {
        ui.weak(name);
        wrapped_ui(ui, value);
        ui.end_row();
    }
}

/// Producer and readers.
fn ops_ui(ui: &mut egui::Ui, facts: &TensorFacts, around: Option<&Neighbourhood>) -> Option<Destination> {
    let Some(around) = around else {
        row_ui(ui, "op", facts.op.clone());
        row_ui(ui, "type", facts.op_kind.clone());
        return None;
    };
    let mut to = None;
    // The neighbourhood below knows the nearest readers.
    let n_known = around.readers().count();
    let n_named = list_length(ui, READERS, NAMED, n_known);
    for producer in around.producers().take(NAMED) {
        ui.weak("op");
        to = to.or(op_ui(ui, "computed by", producer));
        ui.end_row();
    }
    for (position, reader) in around.readers().take(n_named).enumerate() {
        ui.weak(if position == 0 { "read by" } else { "" });
        to = to.or(op_ui(ui, "read by", reader));
        ui.end_row();
    }
    if n_known > NAMED {
        ui.weak("");
        list_end_ui(ui, READERS, NAMED, n_known);
        ui.end_row();
    }
    let n_left = around.consumers.n_total.saturating_sub(n_known);
    if n_left > 0 {
        ui.weak("");
        ui.weak(format!("and {} further readers", grouped(n_left as u64)));
        ui.end_row();
    }
    if around.consumers.n_total == 0 {
        row_ui(ui, "read by", "no op".to_owned());
    }
    to
}

/// An op's type and name.
fn op_ui(ui: &mut egui::Ui, what: &str, op: &NeighbourNode) -> Option<Destination> {
    let title = title(op);
    let button = link_ui(ui, &title);
    let label = format!("{what} {title}");
    let button = button.named(Role::Button, || &label);
    let step = op.step.map_or_else(String::new, |step| format!(", at step {step}"));
    let is_clicked = button.clicked();
    button.on_hover_text(format!("{label}{step}"));
    op.to.filter(|_| is_clicked)
}

fn rows(comparison: &Comparison, lane: usize, facts: &TensorFacts) -> Vec<(&'static str, String)> {
    let mut rows = vec![
        ("phase", facts.phase.name().to_owned()),
        ("graph", facts.graph.clone()),
        ("shape", facts.shape.clone()),
        ("dtype", facts.dtype.clone()),
        ("role", facts.role.map_or(String::new(), |role| role.name().to_owned())),
        ("size", facts.bytes.map_or(String::new(), |bytes| bytes.to_string())),
        ("exact", facts.bytes.map_or(String::new(), Bytes::exact)),
    ];
    if let Some((birth, end)) = facts.life {
        let ends = comparison.steps_text(lane, birth, end);
        let count = comparison.shown_step(lane, Step(end.0.saturating_sub(1)));
        let count = Step(count.0.saturating_sub(comparison.shown_step(lane, birth).0) + 1);
        rows.push(("lives", format!("{ends} ({count})")));
        if facts.n_pieces > 1 && facts.n_held < end.0 - birth.0 {
            rows.push(("live", format!("{} times, on {} steps", facts.n_pieces, facts.n_held)));
        }
    }
    rows.push(("region", facts.held_in.clone()));
    rows.extend(facts.recorded.iter().cloned());
    rows.push(("shares with", facts.sharing.words()));
    if let Some((op, through)) = &facts.sharing.read_last {
        rows.push(("read last", format!("by {op}, as {through}")));
    }
    rows
}
