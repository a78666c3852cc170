//! The windows of all tests: the whole program on a session, and the lanes alone on a comparison.

use std::sync::Arc;

use eframe::egui::{self, Key, Modifiers, Rect, Role};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use highwater_analysis::{Comparison, LaneId};
use highwater_session::{Command, ContentOrder, Session, SourceSpec};
use highwater_sim::StaticMemoryPolicy;
use highwater_timeline::{Coloring, ColoringRequest, LaneRows, Selected, Timeline};
use highwater_ui::app::App;
use highwater_ui::lanes::{Drawn, LanesCx, LanesInput, LanesState, lanes_ui};
use highwater_ui::theme::Theme;

use crate::sessions::session;

pub(crate) type Window = Harness<'static, App>;

pub(crate) type LanesWindow = Harness<'static, LanesApp>;

pub(crate) fn window_of_app(app: App, size: [f32; 2]) -> Window {
    let ui = |ui: &mut egui::Ui, app: &mut App| app.show(ui);
    let builder = Harness::builder().with_size(size).with_max_steps(12);
    let mut window = builder.build_ui_state(ui, app);
    window.run_steps(4);
    window
}

pub(crate) fn window_of_session(session: Session, height: f32) -> Window {
    window_of_app(App::new(session).with_typed_paths(), [1280.0, height])
}

pub(crate) fn window_of(sample: &str, height: f32) -> Window {
    let sample = highwater_session::sample(sample).expect("a sample");
    window_of_session(session(vec![SourceSpec::Sample(sample)]), height)
}

/// Lets the worker finish and draws its answer.
pub(crate) fn settle(window: &mut Window) {
    window.run_steps(2);
    window.state_mut().settle();
    window.run_steps(2);
}

/// Settles where an answer leads to further requests.
pub(crate) fn settle_chain(window: &mut Window) {
    settle(window);
    for _ in 0..2 {
        window.state_mut().settle();
        window.run_steps(2);
    }
}

pub(crate) fn set_option(window: &mut Window, key: &str, text: &str) {
    apply(window, Command::set_option(key, text));
}

/// Presses a key; without a focused widget, in the drawing.
pub(crate) fn press<S>(window: &mut Harness<'_, S>, modifiers: Modifiers, key: Key) {
    let is_focused = window.ctx.memory(egui::Memory::focused).is_some();
    let canvas = window.query_all_by_role(Role::Canvas).next();
    if let Some(canvas) = canvas.filter(|_| !is_focused) {
        canvas.focus();
        window.run_steps(1);
    }
    window.key_press_modifiers(modifiers, key);
    window.run_steps(3);
}

pub(crate) fn press_and_settle(window: &mut Window, modifiers: Modifiers, key: Key) {
    press(window, modifiers, key);
    settle_chain(window);
}

pub(crate) fn apply(window: &mut Window, command: Command) {
    window.state_mut().apply(command);
    settle_chain(window);
}

/// A click whose answer comes from no worker.
pub(crate) fn push<S>(window: &mut Harness<'_, S>, role: Role, label: &str) {
    window.get_by_role_and_label(role, label).click();
    window.run_steps(3);
}

/// As [`push`], whatever the role.
pub(crate) fn push_label<S>(window: &mut Harness<'_, S>, label: &str) {
    window.get_by_label(label).click();
    window.run_steps(3);
}

pub(crate) fn click_label(window: &mut Window, label: &str) {
    push_label(window, label);
    settle_chain(window);
}

pub(crate) fn click(window: &mut Window, role: Role, label: &str) {
    window.get_by_role_and_label(role, label).click();
    settle_chain(window);
}

/// The lanes of a comparison without panes around them.
pub(crate) struct LanesApp {
    pub(crate) comparison: Comparison,
    pub(crate) timeline: Timeline,
    pub(crate) lanes: LanesState,
    pub(crate) selected: Option<Selected>,
    pub(crate) is_stale: bool,
    pub(crate) colors: Option<(Coloring, ColoringRequest)>,
    pub(crate) commands: Vec<Command>,
    content: ContentOrder,
    rows: Option<Arc<LaneRows>>,
}

impl LanesApp {
    pub(crate) fn new(comparison: Comparison) -> Self {
        Self {
            timeline: Timeline::new(&comparison),
            comparison,
            lanes: LanesState::default(),
            selected: None,
            is_stale: false,
            colors: None,
            commands: Vec::new(),
            content: ContentOrder::default(),
            rows: None,
        }
    }

    pub(crate) fn ui(&mut self, ui: &mut egui::Ui) {
        let theme = Theme::of(ui.visuals());
        let input = LanesInput {
            drawn: Drawn {
                look: self.colors.as_ref().map(|(look, _)| look),
                order: self.colors.as_ref().map(|(_, order)| order),
                lifetimes: self.rows.as_ref(),
                content: self.content,
                ..Drawn::default()
            },
            comparison: &self.comparison,
            timeline: &self.timeline,
            selected: self.selected,
            matches: None,
            baseline: None,
            is_stale: self.is_stale,
            theme: &theme,
        };
        let mut commands = Vec::new();
        let mut cx = LanesCx {
            input: &input,
            state: &mut self.lanes,
            commands: &mut commands,
            window_commands: &mut Vec::new(),
        };
        lanes_ui(ui, &mut cx);
        for command in &commands {
            if let Command::Select(selected) = command {
                self.selected = *selected;
            } else if let Command::ShowContent(order) = command {
                self.content = *order;
                if let ContentOrder::Lifetimes { lane, by } = order {
                    let rows = LaneRows::new(&self.comparison, &self.timeline, *lane, *by);
                    self.rows = Some(Arc::new(rows));
                }
            }
        }
        self.commands.extend(commands);
    }
}

pub(crate) fn lanes_window(lanes: LanesApp, size: [f32; 2]) -> LanesWindow {
    let ui = |ui: &mut egui::Ui, lanes: &mut LanesApp| lanes.ui(ui);
    let mut window = Harness::builder().with_size(size).build_ui_state(ui, lanes);
    window.run();
    window
}

/// The memory map of a policy's lane.
pub(crate) fn lane_map(window: &Window, policy: u8) -> Rect {
    window.get_by_label(&format!("lane policy {policy} memory map")).rect()
}

/// The row of a policy's lane in the table.
pub(crate) fn lane_row(window: &Window, policy: u8) -> Rect {
    let rows = window.query_all_by_role(Role::RadioButton);
    let mut rows = rows.filter(|node| {
        let label = node.accesskit_node().label().unwrap_or_default();
        label.starts_with(&format!("policy {policy}")) && label.contains("peak reserved")
    });
    rows.next().expect("a row").rect()
}

pub(crate) fn policy_lane(number: u8) -> LaneId {
    LaneId::Policy(StaticMemoryPolicy::from_number(number).expect("a policy"))
}

pub(crate) fn is_in_front(harness: &Window, tab: &str) -> bool {
    let tabs: Vec<_> = harness.query_all_by_role_and_label(Role::Tab, tab).collect();
    tabs.iter()
        .any(|tab| tab.accesskit_node().data().toggled() == Some(egui::accesskit::Toggled::True))
}

/// The text that a click on a button copies.
pub(crate) fn copied_text(harness: &mut Window, button: &str) -> Option<String> {
    harness.get_by_role_and_label(Role::Button, button).click();
    harness.run_steps(1);
    let mut commands = harness.output().platform_output.commands.iter();
    commands.find_map(|command| match command {
        egui::OutputCommand::CopyText(text) => Some(text.clone()),
        _ => None,
    })
}
