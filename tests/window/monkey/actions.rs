//! What a hand can do to a window, drawn from a seed.

use eframe::egui::{
    Event, Key, Modifiers, MouseWheelSource, MouseWheelUnit, PointerButton, Pos2, TouchPhase, Vec2, pos2, vec2,
};
use egui_kittest::kittest::NodeT as _;
use highwater_ui::panes::PANES;

use crate::harness::Window;

/// Numbers of splitmix64.
#[derive(Debug)]
pub(super) struct Draw(u64);

impl Draw {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// From 0 to 1.
    fn part(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1_u64 << 24) as f32
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

/// Texts of fields: numbers, sizes, paths in the folder of the session, searches, and nonsense.
const TEXTS: &[&str] = &[
    "0",
    "1",
    "3",
    "-1",
    "64",
    "1e9",
    "99999999999999999999",
    "nan",
    "0.5",
    "16MiB",
    "4 GiB",
    "conv",
    "op:relu",
    "size:>1MiB",
    "at:model.py:1",
    "(",
    "\"",
    "a\u{202e}b",
    "日本",
    "\u{1b}[31m",
    "policy",
    "expandable_segments:True",
    "out.json",
    "out.svg",
    "out.png",
    "out.md",
    "out.csv",
    "work.highwater",
    "a.onnx",
    "b.csv",
    "c.plog",
    "none/there",
    ".",
    "",
    "seq=1..4",
    "peak",
    "x",
];

/// Words of commands, for the palette.
const COMMANDS: &[&str] = &[
    "undo",
    "redo",
    "export",
    "save",
    "open",
    "close",
    "fit",
    "zoom",
    "stacked",
    "areas",
    "lifetimes",
    "memory map",
    "color",
    "theme",
    "pin",
    "difference",
    "budgets",
    "sweep",
    "reset",
    "default layout",
    "device",
    "help",
    "axis",
    "bookmark",
    "note",
    "select",
    "next",
    "previous",
    "maximize",
    "copy",
    "picture",
    "report",
    "sample",
    "hide",
    "overlay",
    "iterations",
    "step 3",
];

const KEYS: &[Key] = &[
    Key::Escape,
    Key::Enter,
    Key::Tab,
    Key::Space,
    Key::Delete,
    Key::Backspace,
    Key::ArrowLeft,
    Key::ArrowRight,
    Key::ArrowUp,
    Key::ArrowDown,
    Key::Home,
    Key::End,
    Key::PageUp,
    Key::PageDown,
    Key::Slash,
    Key::Questionmark,
    Key::Plus,
    Key::Minus,
    Key::Comma,
    Key::Period,
    Key::Num0,
    Key::Num1,
    Key::Num2,
    Key::A,
    Key::B,
    Key::C,
    Key::D,
    Key::E,
    Key::F,
    Key::G,
    Key::H,
    Key::L,
    Key::M,
    Key::N,
    Key::O,
    Key::P,
    Key::R,
    Key::S,
    Key::T,
    Key::W,
    Key::Y,
    Key::Z,
    Key::F1,
    Key::F2,
    Key::F6,
    Key::F11,
];

const MODIFIERS: &[Modifiers] = &[
    Modifiers::NONE,
    Modifiers::NONE,
    Modifiers::NONE,
    Modifiers::COMMAND,
    Modifiers::SHIFT,
    Modifiers::ALT,
    Modifiers {
        shift: true,
        ..Modifiers::COMMAND
    },
];

#[derive(Clone, Debug)]
pub(super) enum Action {
    Click(Pos2, PointerButton, Modifiers),
    DoubleClick(Pos2),
    Drag(Pos2, Pos2, Modifiers),
    Wheel(Pos2, Vec2, Modifiers),
    Key(Key, Modifiers),
    Type(&'static str),
    Resize(Vec2),
    /// Runs the first command that matches.
    Palette(String),
    Frames(usize),
}

impl Action {
    pub(super) fn draw(draw: &mut Draw, window: &Window) -> Self {
        match draw.below(100) {
            0..30 => Self::Click(place(draw, window), button(draw), draw.of(MODIFIERS)),
            30..34 => Self::DoubleClick(place(draw, window)),
            34..50 => Self::Drag(place(draw, window), place(draw, window), draw.of(MODIFIERS)),
            50..60 => {
                let delta = vec2(draw.part() - 0.5, draw.part() - 0.5) * 800.0;
                Self::Wheel(place(draw, window), delta, draw.of(MODIFIERS))
            }
            60..76 => Self::Key(draw.of(KEYS), draw.of(MODIFIERS)),
            76..88 => Self::Type(draw.of(TEXTS)),
            88..92 => Self::Resize(size(draw)),
            92..98 if draw.below(2) == 0 => {
                let pane = &PANES[draw.below(PANES.len())];
                Self::Palette(format!("go to pane {}", pane.title))
            }
            92..98 => Self::Palette(draw.of(COMMANDS).to_owned()),
            _ => Self::Frames(1 + draw.below(8)),
        }
    }

    pub(super) fn run(&self, window: &mut Window) {
        match self {
            Self::Click(at, button, modifiers) => click(window, *at, *button, *modifiers),
            Self::DoubleClick(at) => {
                click(window, *at, PointerButton::Primary, Modifiers::NONE);
                click(window, *at, PointerButton::Primary, Modifiers::NONE);
            }
            Self::Drag(from, to, modifiers) => drag(window, *from, *to, *modifiers),
            Self::Wheel(at, delta, modifiers) => {
                window.event(Event::PointerMoved(*at));
                window.event_modifiers(
                    Event::MouseWheel {
                        unit: MouseWheelUnit::Point,
                        delta: *delta,
                        phase: TouchPhase::Move,
                        source: MouseWheelSource::Wheel,
                        modifiers: *modifiers,
                    },
                    *modifiers,
                );
            }
            Self::Key(key, modifiers) => window.key_press_modifiers(*modifiers, *key),
            Self::Type(text) => window.event(Event::Text((*text).to_owned())),
            Self::Resize(size) => {
                window.set_size(*size);
            }
            Self::Palette(text) => palette(window, text),
            Self::Frames(count) => window.run_steps(*count),
        }
        window.run_steps(1);
    }
}

fn button(draw: &mut Draw) -> PointerButton {
    match draw.below(12) {
        0 | 1 => PointerButton::Secondary,
        2 => PointerButton::Middle,
        _ => PointerButton::Primary,
    }
}

/// Mostly usual sizes, so that most actions meet a whole window.
fn size(draw: &mut Draw) -> Vec2 {
    match draw.below(4) {
        0 => vec2(1.0 + draw.part() * 300.0, 1.0 + draw.part() * 300.0),
        1 => vec2(1.0 + draw.part() * 4000.0, 1.0 + draw.part() * 2500.0),
        _ => draw.of(&[vec2(1280.0, 800.0), vec2(1600.0, 900.0), vec2(1920.0, 1080.0)]),
    }
}

/// The middle or an edge of a widget, where dividers and handles are, or anywhere.
fn place(draw: &mut Draw, window: &Window) -> Pos2 {
    let screen = window.ctx.content_rect();
    let anywhere = pos2(draw.part() * screen.width(), draw.part() * screen.height());
    if draw.below(4) == 0 {
        return anywhere;
    }
    let widgets: Vec<_> = window.root().children_recursive().collect();
    let Some(widget) = widgets.get(draw.below(widgets.len())) else {
        return anywhere;
    };
    let bounds = widget.accesskit_node().raw_bounds();
    let rect = bounds.map_or(screen, |_| widget.rect());
    let at = match draw.below(6) {
        0 => rect.left_center() - vec2(3.0, 0.0),
        1 => rect.center_top() - vec2(0.0, 3.0),
        2 => rect.right_center(),
        _ => rect.center(),
    };
    if screen.expand(4.0).contains(at) { at } else { anywhere }
}

fn press(window: &Window, at: Pos2, button: PointerButton, pressed: bool, modifiers: Modifiers) {
    let event = Event::PointerButton {
        pos: at,
        button,
        pressed,
        modifiers,
    };
    window.event_modifiers(event, modifiers);
}

fn click(window: &mut Window, at: Pos2, button: PointerButton, modifiers: Modifiers) {
    window.event(Event::PointerMoved(at));
    window.run_steps(1);
    press(window, at, button, true, modifiers);
    press(window, at, button, false, modifiers);
    window.run_steps(1);
}

fn drag(window: &mut Window, from: Pos2, to: Pos2, modifiers: Modifiers) {
    window.event(Event::PointerMoved(from));
    press(window, from, PointerButton::Primary, true, modifiers);
    window.run_steps(1);
    for part in [0.3, 0.7, 1.0] {
        window.event(Event::PointerMoved(from + (to - from) * part));
        window.run_steps(1);
    }
    press(window, to, PointerButton::Primary, false, modifiers);
}

fn palette(window: &mut Window, text: &str) {
    window.key_press_modifiers(Modifiers::COMMAND | Modifiers::SHIFT, Key::P);
    window.run_steps(2);
    window.event(Event::Text(text.to_owned()));
    window.run_steps(1);
    window.key_press_modifiers(Modifiers::NONE, Key::Enter);
    window.run_steps(1);
}
