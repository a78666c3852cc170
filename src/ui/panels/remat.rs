//! Part of the inspector: how a lane's runs under a budget ended, the cost, and the tensors that hold the memory.

use eframe::egui::{self, RichText};

use crate::panels::PaneCx;
use crate::widgets::{bytes_ui, link_ui, list_end_ui, list_length, wrapped_ui};
use highwater_analysis::Lane;
use highwater_model::units::{Bytes, grouped, signed_percent_text};
use highwater_session::Command;
use highwater_timeline::{LaneRemat, RematOomReport, RematOutcome};

/// Tensors listed.
const HOLDERS: usize = 8;

/// Status and figures; without memory also the locked tensors, which are links.
pub(super) fn remat_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, lane: &Lane, remat: &LaneRemat) {
    let verdict = remat.verdict();
    let color = if verdict == RematOutcome::Ok {
        cx.theme.good
    } else {
        cx.theme.bad
    };
    ui.strong("Within the budget");
    ui.label(RichText::new(verdict.words()).strong().color(color));
    if let Some(story) = remat.oom_report() {
        let sentence = RichText::new(story.sentence(remat.budget)).color(cx.theme.bad);
        wrapped_ui(ui, sentence);
        holders_ui(ui, &story, cx.commands);
    }
    if verdict == RematOutcome::Thrash {
        let text = "Stopped: recomputation exceeds simulation.thrash_limit. Later steps were not simulated.";
        wrapped_ui(ui, text);
    }
    let sums = remat.sums();
    let mut rows = vec![
        ("heuristic", remat.heuristic().to_owned()),
        (
            "budget",
            remat
                .budget
                .map_or_else(|| "none".to_owned(), |budget| budget.to_string()),
        ),
        ("planned peak", sums.peak.to_string()),
        ("evicted", grouped(sums.evictions)),
    ];
    if sums.eager_evictions > 0 {
        rows.push(("freed", grouped(sums.eager_evictions)));
    }
    rows.push(("recomputed ops", grouped(sums.recomputed)));
    rows.push(("recomputation time", remat.share_words()));
    let overhead = signed_percent_text((sums.overhead - 1.0).max(0.0) * 100.0);
    rows.push(("overhead", format!("{overhead} time")));
    if sums.steps_over_budget > 0 {
        rows.push(("steps over budget", grouped(sums.steps_over_budget)));
    }
    egui::Grid::new(("remat", lane.id))
        .num_columns(2)
        .spacing([8.0, 3.0])
        .show(ui, |ui| {
            for (name, text) in rows {
                ui.weak(name);
                wrapped_ui(ui, text);
                ui.end_row();
            }
        });
    ui.add_space(6.0);
}

fn holders_ui(ui: &mut egui::Ui, story: &RematOomReport, commands: &mut Vec<Command>) {
    let all: Bytes = story.held.iter().map(|(_, _, bytes)| *bytes).sum();
    ui.label(format!(
        "{} storages are locked or pinned at that step, {all} in total:",
        grouped(story.held.len() as u64)
    ));
    let n_rows = list_length(ui, "locked storages", HOLDERS, story.held.len());
    egui::Grid::new("without memory")
        .num_columns(2)
        .striped(true)
        .show(ui, |ui| {
            for (tensor, name, bytes) in story.held.iter().take(n_rows) {
                bytes_ui(ui, *bytes);
                match tensor {
                    Some(tensor) => {
                        let button = link_ui(ui, name);
                        if button.on_hover_text(format!("Select {name}")).clicked() {
                            commands.push(Command::Select(Some(*tensor)));
                        }
                    }
                    None => {
                        ui.add(egui::Label::new(name).truncate())
                            .on_hover_text("External: the caller owns it, and it is never evicted");
                    }
                }
                ui.end_row();
            }
        });
    list_end_ui(ui, "locked storages", HOLDERS, story.held.len());
}
