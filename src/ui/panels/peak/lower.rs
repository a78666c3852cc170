//! Advice to lower the peak: savings if the largest tensors were removed, the longest idle tensors with the ops at both
//! ends, and the ops that most bytes are kept for.

use eframe::egui::{self, RichText};

use super::Shown;
use super::bars::{Line, line_ui};
use crate::lanes::LanesState;
use crate::numbers::{part_of, to_points};
use highwater_model::units::{Bytes, Step, counted, grouped, signed_bytes};
use highwater_session::Command;
use highwater_timeline::{IdleTensor, LeftOut, LiveMember, OpUse, PeakWithout, RetainingOp, tensor_label};

pub(super) fn lower_ui(ui: &mut egui::Ui, shown: Shown<'_>, lanes: &mut LanesState, commands: &mut Vec<Command>) {
    ui.strong("Lowering the live peak");
    match &shown.report.without {
        Ok(rows) => section(ui, "Savings if removed", |ui| {
            for row in rows {
                without_ui(ui, shown, row, commands);
            }
        }),
        Err(why) => drop(ui.weak(*why)),
    }
    let uses = match &shown.report.uses {
        Ok(uses) => uses,
        Err(why) => {
            ui.weak(*why);
            return;
        }
    };
    section(ui, "Longest idle", |ui| {
        if uses.longest.is_empty() {
            ui.weak("No live tensor is idle.");
        }
        for row in &uses.longest {
            idle_ui(ui, shown, row, commands);
        }
    });
    section(ui, "Needed by", |ui| {
        for holder in &uses.holders {
            holder_ui(ui, shown, holder, lanes);
        }
        if uses.unread.0 > 0 {
            let (count, bytes) = uses.unread;
            let tensors = counted(count, "tensor");
            ui.label(format!("{bytes} in {tensors} without a later use"))
                .on_hover_text(bytes.exact());
        }
    });
}

fn section(ui: &mut egui::Ui, title: &str, add: impl FnOnce(&mut egui::Ui)) {
    egui::CollapsingHeader::new(title)
        .default_open(true)
        .show_unindented(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 1.0;
            add(ui);
        });
}

fn member(shown: Shown<'_>, position: u32) -> Option<&LiveMember> {
    shown.report.set.members.get(position as usize)
}

fn part(bytes: Bytes, of: Bytes) -> f32 {
    to_points(part_of(bytes.get(), of.get()))
}

/// The peak without a tensor.
fn without_ui(ui: &mut egui::Ui, shown: Shown<'_>, row: &PeakWithout, commands: &mut Vec<Command>) {
    let (name, bytes) = shown.report.left_out(shown.comparison, row.left_out);
    let tensor = match row.left_out {
        LeftOut::Member(position) => member(shown, position).map(|member| member.tensor),
        LeftOut::Group(group) => {
            let group = shown.report.groups.get(group as usize);
            group.map(|group| group.largest.0)
        }
    };
    let (peak, at) = shown.report.peak;
    let word = shown.comparison.axis_word();
    let place = match row.step {
        Some(step) if row.step != at => {
            let there = shown.comparison.shown_step(shown.report.ask.lane, step);
            format!(" at another {word}, {there}")
        }
        _ => format!(" at the same {word}"),
    };
    let words = format!(
        "without {name} ({bytes}) the live peak is {} lower: {} instead of {}{place}",
        row.lowers_by.exact(),
        row.peak,
        peak
    );
    let figures = if row.lowers_by == Bytes::ZERO {
        "no lower".to_owned()
    } else {
        signed_bytes(-i128::from(row.lowers_by.get()))
    };
    let line = Line {
        name: &name,
        figures: &figures,
        part: part(row.lowers_by, peak),
        is_selected: tensor.is_some() && shown.selected == tensor,
        indent: 4.0,
    };
    if line_ui(ui, shown, line, &words).clicked() {
        commands.push(Command::Select(tensor));
    }
}

fn idle_ui(ui: &mut egui::Ui, shown: Shown<'_>, row: &IdleTensor, commands: &mut Vec<Command>) {
    let Some(member) = member(shown, row.member) else {
        return;
    };
    let name = tensor_label(shown.comparison, member.tensor);
    let most = shown.report.uses.as_ref().ok();
    let most = most
        .and_then(|uses| uses.longest.first())
        .map_or(1, |first| first.idle.weight);
    let words = format!(
        "{name}: {} idle for {}, last used {}, next used {}",
        member.bytes,
        counted(u64::from(row.idle.n_steps), "step"),
        by_text(row.since.as_ref(), "not yet"),
        by_text(row.until.as_ref(), "never again")
    );
    let figures = format!("{} × {}", member.bytes, grouped(u64::from(row.idle.n_steps)));
    let line = Line {
        name: &name,
        figures: &figures,
        part: weight_part(row.idle.weight, most),
        is_selected: shown.selected == Some(member.tensor),
        indent: 4.0,
    };
    if line_ui(ui, shown, line, &words).clicked() {
        commands.push(Command::Select(Some(member.tensor)));
    }
    let ends = format!(
        "{} to {}",
        by_text(row.since.as_ref(), "birth"),
        by_text(row.until.as_ref(), "its end")
    );
    let text = RichText::new(&ends).size(11.0).color(shown.theme.text_weak);
    ui.horizontal(|ui| {
        ui.add_space(12.0);
        ui.add(egui::Label::new(text).truncate().selectable(false))
            .on_hover_text(&ends);
    });
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "a bar on a screen"
)]
fn weight_part(weight: u128, most: u128) -> f32 {
    (weight as f64 / most.max(1) as f64) as f32
}

/// `41 conv_3`.
fn by_text(by: Option<&OpUse>, otherwise: &str) -> String {
    by.map_or_else(|| otherwise.to_owned(), |by| format!("{} {}", by.step, by.op))
}

/// An op that tensors are kept for; a click pins its step.
fn holder_ui(ui: &mut egui::Ui, shown: Shown<'_>, holder: &RetainingOp, lanes: &mut LanesState) {
    let tensors = counted(holder.count, "tensor");
    let Step(step) = holder.by.step;
    let words = format!(
        "pin step {step}, {}: it needs {} in {tensors}",
        holder.by.op,
        holder.bytes.exact()
    );
    let name = format!("{step} {}", holder.by.op);
    let figures = format!("{} in {}", holder.bytes, grouped(holder.count));
    let line = Line {
        name: &name,
        figures: &figures,
        part: part(holder.bytes, shown.report.set.live),
        is_selected: false,
        indent: 4.0,
    };
    if line_ui(ui, shown, line, &words).clicked() {
        lanes.pin(shown.report.ask.lane, holder.by.step);
    }
}
