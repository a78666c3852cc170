//! The kind of lanes: policies, runs under memory budgets, or name reuse; and the open budgets.

use eframe::egui::{self, RichText};

use crate::combo::ShowChoices as _;
use crate::panels::{PaneCx, width_of};
use crate::widgets::Named as _;
use highwater_analysis::{LaneChoice, LaneSet, RematLane, study_of};
use highwater_model::units::Bytes;
use highwater_options::keys;
use highwater_rewrite::remat::{Budget, DEFAULT_HEURISTIC, HEURISTICS, find_heuristic};
use highwater_session::{Command, Session};

/// Budgets to restore when lanes are compared for budgets again.
#[derive(Clone, Debug, Default)]
pub struct LaneSetState {
    budgets: Vec<RematLane>,
}

/// The kind without its budgets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Policies,
    Budgets,
    NameReuse,
}

/// In the order of the variants.
const KINDS: [(Kind, &str); 3] = [
    (Kind::Policies, "policies"),
    (Kind::Budgets, "budgets"),
    (Kind::NameReuse, "variable reuse"),
];

impl Kind {
    fn of(lanes: &LaneSet) -> Self {
        match lanes {
            LaneSet::Policies => Self::Policies,
            LaneSet::Remat(_) => Self::Budgets,
            LaneSet::NameReuse => Self::NameReuse,
        }
    }
}

/// The active kind; `None` where there is no choice.
pub fn kind_words(session: &Session) -> Option<&'static str> {
    let loaded = session.loaded()?;
    if study_of(&loaded.workload).lane_choice() != LaneChoice::Any {
        return None;
    }
    let (_, words) = KINDS[Kind::of(&session.document().lanes) as usize];
    Some(words)
}

/// The command that switches to the next kind.
pub fn next_lanes(session: &Session, state: &mut LaneSetState) -> Option<Command> {
    kind_words(session)?;
    let now = Kind::of(&session.document().lanes) as usize;
    let (next, _) = KINDS[(now + 1) % KINDS.len()];
    Some(set(session, state, next))
}

/// Whether the lanes are others than policies, so that [`lane_set_ui`] says more than the choice.
pub fn has_lane_set(session: &Session) -> bool {
    let choice = session.loaded().map(|loaded| study_of(&loaded.workload).lane_choice());
    match choice {
        None | Some(LaneChoice::Fixed) => false,
        Some(LaneChoice::Any) => matches!(session.document().lanes, LaneSet::Remat(_)),
        Some(LaneChoice::Budgets | LaneChoice::NameReuse) => true,
    }
}

/// Of a tab, and the room that the search beside the tabs needs, in points.
const TAB_PADDING: f32 = 16.0;
const BESIDE_TABS: f32 = 420.0;

/// The choice of the kind of lanes; nothing where there is none.
pub fn kind_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, state: &mut LaneSetState) {
    if kind_words(cx.session).is_none() {
        return;
    }
    let before = Kind::of(&cx.session.document().lanes);
    let mut chosen = before;
    // Tabs where they have room, else a list.
    let size = egui::TextStyle::Button.resolve(ui.style()).size;
    let widths = KINDS.iter().map(|(_, words)| width_of(ui, words, size) + TAB_PADDING);
    if ui.available_width() >= widths.sum::<f32>() + BESIDE_TABS {
        for (kind, words) in KINDS {
            let is_chosen = kind == chosen;
            let tab = ui.selectable_label(is_chosen, words);
            let tab = tab.named_choice(egui::Role::RadioButton, is_chosen, || format!("compare {words}"));
            if tab.on_hover_text("What the lanes compare").clicked() {
                chosen = kind;
            }
        }
    } else {
        let list = egui::ComboBox::from_id_salt("kind of lanes").width(92.0);
        let kinds = KINDS.map(|(kind, _)| kind);
        list.show_values(ui, "compare ", &mut chosen, kinds, |kind| {
            KINDS[*kind as usize].1.to_owned()
        })
        .on_hover_text("What the lanes compare");
    }
    if chosen != before {
        let command = set(cx.session, state, chosen);
        cx.commands.push(command);
    }
}

/// The open budgets, or what lanes that leave no choice show; returns whether the budget sweep was requested.
pub fn lane_set_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, state: &mut LaneSetState) -> bool {
    let Some(loaded) = cx.session.loaded() else {
        return false;
    };
    let is_tape = match study_of(&loaded.workload).lane_choice() {
        LaneChoice::Any => false,
        LaneChoice::Budgets => true,
        LaneChoice::NameReuse => {
            ui.label("Compare: variable reuse").on_hover_text(
                "A program of blocks has no device session: its lanes are always levels of variable reuse",
            );
            return false;
        }
        LaneChoice::Fixed => return false,
    };
    let lanes = &cx.session.document().lanes;
    let mut wants_sweep = false;
    let spacing = std::mem::replace(&mut ui.spacing_mut().item_spacing, egui::vec2(4.0, 2.0));
    if is_tape {
        ui.label("Compare: budgets")
            .on_hover_text("A recorded log has no policies: its lanes are always budgets");
    } else {
        ui.label("Budgets:");
    }
    if let LaneSet::Remat(open) = lanes {
        state.budgets.clone_from(open);
        open_ui(ui, open, cx.commands);
        if is_tape && ui.small_button("Restore the default budgets").clicked() {
            cx.commands.push(Command::SetLanes(LaneSet::Policies));
        }
    }
    if is_tape || matches!(lanes, LaneSet::Remat(_)) {
        let more = ui
            .small_button("More…")
            .named(egui::Role::Button, || "open the budget sweep");
        wants_sweep = more
            .on_hover_text("Open the sweep over many budgets; click a point to open a lane")
            .clicked();
    }
    ui.spacing_mut().item_spacing = spacing;
    wants_sweep
}

/// Open lanes, each with a button that closes it.
fn open_ui(ui: &mut egui::Ui, open: &[RematLane], commands: &mut Vec<Command>) {
    for (position, lane) in open.iter().enumerate() {
        let title = lane.title();
        let button = ui
            .add(egui::Button::new(RichText::new(format!("{title} ×")).small()).small())
            .named(egui::Role::Button, || format!("close the lane of {title}"));
        let words = format!("close the lane of {title}: {}", lane.heuristic.summary);
        if button.on_hover_text(words).clicked() {
            commands.push(Command::RemoveRematLane(position));
        }
    }
}

/// The command that switches to a kind. Budgets are those that were open last, else the configured one, else 60 % of
/// the peak.
fn set(session: &Session, state: &LaneSetState, kind: Kind) -> Command {
    Command::SetLanes(match kind {
        Kind::Policies => LaneSet::Policies,
        Kind::NameReuse => LaneSet::NameReuse,
        Kind::Budgets if state.budgets.is_empty() => LaneSet::Remat(vec![configured(session)]),
        Kind::Budgets => LaneSet::Remat(state.budgets.clone()),
    })
}

/// The run under the options' budget.
fn configured(session: &Session) -> RematLane {
    let options = &session.document().options;
    let text = |key: &str| options.get(key).map(ToString::to_string);
    let name = text(keys::REMAT_HEURISTIC).unwrap_or_else(|| DEFAULT_HEURISTIC.to_owned());
    let threshold = text(keys::EVICTION_THRESHOLD).and_then(|text| Bytes::parse(&text).ok());
    let threshold = threshold.filter(|bytes| *bytes > Bytes::ZERO);
    RematLane {
        heuristic: find_heuristic(&name).unwrap_or(&HEURISTICS[0]),
        budget: threshold.map_or(Budget::Ratio(0.6), Budget::Bytes),
    }
}
