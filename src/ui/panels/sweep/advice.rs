//! The recommendation: goal, configuration, reasons, rules, uncertainty.

use eframe::egui::{self, RichText};

use super::configurations::{Wanted, pin};
use crate::lanes::LanesState;
use crate::panels::PaneCx;
use crate::widgets::{Named as _, wrapped_ui};
use highwater_analysis::sweep::{Chosen, Link, Part, Recommendation, Sentence, WhichChoice, excluded};
use highwater_analysis::{Configuration, LaneGoal};
use highwater_model::units::{Step, counted, grouped};
use highwater_options::keys;
use highwater_session::{Command, Selected, Session, SweepOrder, SweepTable};

const SIZE: f32 = 12.0;

/// The selected point, and the lanes: what links change.
pub(super) struct Links<'l> {
    pub(super) table: &'l SweepTable,
    pub(super) selected: &'l mut Option<u64>,
    pub(super) lanes: &'l mut LanesState,
}

/// The goal, and the button that recommends. `order` has the axes in the fields, where they can be parsed.
pub(super) fn goal_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, order: Option<&SweepOrder>, chosen: &mut Wanted) {
    ui.horizontal_wrapped(|ui| {
        let axes = order.map_or(&[][..], |order| &order.axes[..]);
        let mut choices = vec![
            (Wanted::LeastOverhead, LaneGoal::LeastOverhead.label().to_owned()),
            (Wanted::LowestPeak, "lowest peak".to_owned()),
        ];
        let amounts = axes.iter().filter(|axis| axis.is_quantity());
        choices.extend(amounts.map(|axis| (Wanted::Largest(axis.key()), format!("largest {}", axis.name()))));
        if !choices.iter().any(|(wanted, _)| wanted == chosen) {
            *chosen = Wanted::default();
        }
        for (wanted, words) in choices {
            let is_chosen = *chosen == wanted;
            let response =
                ui.selectable_label(is_chosen, &words)
                    .named_choice(egui::Role::RadioButton, is_chosen, || format!("goal: {words}"));
            if response.clicked() {
                *chosen = wanted;
            }
        }
        if cx.session.is_recommending() {
            ui.add(egui::Spinner::new().size(12.0));
            return;
        }
        let button = ui.add_enabled(order.is_some(), egui::Button::new("Recommend"));
        let hint = "recommend a configuration that fits, with reasons; untried configurations run first";
        if button.on_hover_text(hint).clicked()
            && let Some(order) = order
        {
            cx.commands
                .push(Command::Recommend(Box::new(order.clone()), chosen.goal(order)));
        }
    });
}

pub(super) fn advice_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, links: &mut Links<'_>) {
    let Some(found) = &links.table.recommendation else {
        let text = "Recommend compares the points that fit: recommended and runner-up for the goal, with reasons, \
                    applied rules and uncertainties.";
        wrapped_ui(ui, RichText::new(text).weak());
        return;
    };
    ui.set_width(ui.available_width());
    ui.weak(format!(
        "goal: {}",
        found.goal.name(&links.table.space).replace(['-', ':'], " ")
    ));
    match &found.winner {
        Some(winner) => winner_ui(ui, cx, winner, links),
        None => {
            ui.label(RichText::new("Nothing fits.").color(cx.theme.bad).strong());
        }
    }
    for sentence in &found.reasons {
        sentence_ui(ui, cx, sentence, links);
    }
    obeyed_ui(ui, found);
    if !found.uncertain.is_empty() {
        ui.add_space(4.0);
        ui.label(RichText::new("Uncertainties").size(SIZE).strong());
        for sentence in &found.uncertain {
            sentence_ui(ui, cx, sentence, links);
        }
    }
}

fn winner_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, winner: &Chosen, links: &mut Links<'_>) {
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(&winner.title).color(cx.theme.good).strong());
        let apply = ui.button("Apply this configuration");
        if apply
            .on_hover_text("Set options, dimensions and iterations in one step")
            .clicked()
        {
            cx.commands
                .push(Command::UseConfiguration(Box::new(winner.configuration.clone())));
        }
        let button = ui
            .button("Pin")
            .named(egui::Role::Button, || "pin the recommended configuration");
        if button.on_hover_text("Pin it as a lane to compare with").clicked() {
            *links.selected = Some(winner.point.idx);
            cx.commands.push(pin(&links.table.space, winner.point.idx));
        }
    });
}

fn sentence_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, sentence: &Sentence, links: &mut Links<'_>) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        for part in &sentence.parts {
            if part_ui(ui, part)
                && let Some(link) = &part.link
            {
                follow(cx, link, links);
            }
        }
    });
}

/// A piece of a sentence; returns whether it was clicked.
fn part_ui(ui: &mut egui::Ui, part: &Part) -> bool {
    let text = RichText::new(&part.text).size(SIZE);
    let Some(link) = &part.link else {
        ui.label(text);
        return false;
    };
    let response = ui
        .link(text)
        .named(egui::Role::Link, || format!("{}, {}", part.text, leads_to(link)));
    let hint = match &part.exact {
        Some(exact) => format!("{exact}\n{}", leads_to(link)),
        None => leads_to(link),
    };
    response.on_hover_text(hint).clicked()
}

/// The target of a link in words.
fn leads_to(link: &Link) -> String {
    match link {
        Link::Lane(of) => format!("shows {}", named(*of)),
        Link::Step { of, step } => format!("goes to step {step} of {}", named(*of)),
        Link::Tensor { of, .. } => format!("selects it in {}", named(*of)),
        Link::Option(key) => format!("goes to {key}"),
    }
}

const fn named(of: WhichChoice) -> &'static str {
    match of {
        WhichChoice::Winner => "the recommended configuration",
        WhichChoice::RunnerUp => "the runner-up",
        WhichChoice::Base => "the active configuration",
    }
}

/// Follows a link. A configuration without a lane is pinned first.
fn follow(cx: &mut PaneCx<'_>, link: &Link, links: &mut Links<'_>) {
    let (of, step, tensor) = match link {
        Link::Option(key) => {
            cx.option = Some(key.clone());
            return;
        }
        Link::Lane(of) => (*of, None, None),
        Link::Step { of, step } => (*of, Some(*step), None),
        Link::Tensor {
            of,
            step,
            graph,
            tensor,
        } => (*of, Some(*step), Some((*graph, *tensor))),
    };
    let found = links.table.recommendation.as_deref();
    let chosen = found.and_then(|found| match of {
        WhichChoice::Winner => found.winner.as_ref(),
        WhichChoice::RunnerUp => found.runner_up.as_ref(),
        WhichChoice::Base => None,
    });
    if let Some(chosen) = chosen {
        *links.selected = Some(chosen.point.idx);
    }
    let base = links.table.space.base();
    let configuration = chosen.map_or(base, |chosen| &chosen.configuration);
    let Some((lane, run)) = lane_of(cx.session, configuration, step) else {
        let name = chosen.map_or_else(|| "the tried configuration".to_owned(), |chosen| chosen.title.clone());
        cx.commands.push(Command::PinConfiguration {
            name,
            configuration: Box::new(configuration.clone()),
        });
        return;
    };
    if let Some(step) = step {
        links.lanes.pin(lane, step);
    }
    if let Some(((graph, tensor), run)) = tensor.zip(run) {
        cx.commands.push(Command::Select(Some(Selected { run, graph, tensor })));
    }
}

/// The lane of a configuration, and the run of a step. Lanes of the active configuration differ in their policy alone.
fn lane_of(session: &Session, wanted: &Configuration, step: Option<Step>) -> Option<(usize, Option<u32>)> {
    let (comparison, _) = session.answer()?;
    let mut own = session.configuration();
    let mut other = wanted.clone();
    for configuration in [&mut own, &mut other] {
        configuration.options.reset(keys::STATIC_MEMORY_POLICY);
        // An option at its default equals an unset one.
        let overrides = configuration.options.overrides();
        let set: Vec<&str> = overrides.map(|(key, _)| key).collect();
        for key in set {
            if !configuration.options.is_changed(key) {
                configuration.options.reset(key);
            }
        }
    }
    let known = comparison.workload.symbols();
    own.plan.dims.retain(|name, _| known.contains(name));
    if session.is_stale() {
        return None;
    }
    // A pinned lane whose steps are those of the axis.
    let is_pin = |lane: &highwater_analysis::Lane| {
        let pinned = lane.pinned.as_ref().filter(|_| !lane.shares_steps);
        pinned.is_some_and(|pinned| pinned.configuration == *wanted && pinned.fit.n_placed == pinned.fit.n_runs)
    };
    let policy = highwater_analysis::LaneId::Policy(wanted.policy());
    let of_options = comparison.position(policy);
    let of_options = of_options.filter(|_| own == other);
    let lane = of_options.or_else(|| comparison.lanes.iter().position(is_pin))?;
    let run = step
        .and_then(|step| comparison.axis.locate(step))
        .and_then(|(run, _)| u32::try_from(run).ok());
    Some((lane, run))
}

/// How much was tried, and which points do not qualify.
fn obeyed_ui(ui: &mut egui::Ui, found: &Recommendation) {
    let all = counted(found.searched.of, "configuration");
    ui.add_space(4.0);
    let tried = if found.searched.is_whole() {
        format!("All of {all} simulated.")
    } else {
        format!("{} of {all} simulated.", grouped(found.searched.tried))
    };
    ui.label(RichText::new(tried).size(SIZE).strong());
    for line in excluded(&found.rules, &found.left_out) {
        wrapped_ui(ui, RichText::new(line).size(SIZE).weak());
    }
}
