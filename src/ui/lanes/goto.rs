//! The field for a step to go to.

use eframe::egui::{self, Rect, RichText, Ui, pos2};

use super::popup_field::PopupField;
use super::{LanesInput, LanesState};
use highwater_model::units::Step;
use highwater_timeline::op_text;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Goto {
    text: String,
    wants_focus: bool,
}

impl LanesState {
    pub fn begin_goto(&mut self) {
        self.goto = Some(Goto {
            text: String::new(),
            wants_focus: true,
        });
    }

    /// Pins a step of the current lane by its number there, at most the last one.
    pub fn go_to(&mut self, step: u32, input: &LanesInput<'_>) {
        let Some(spot) = self.spot_in(input) else { return };
        let last = input.comparison.n_shown_steps(spot.lane).saturating_sub(1);
        if let Some(step) = input.comparison.axis_step(spot.lane, Step(step.min(last))) {
            self.pin(spot.lane, step);
        }
    }
}

/// Parses a step: a number (with grouped digits) or an offset (`+100`, `-100`), at most the last step; `None` where it
/// is no number.
fn step_in(text: &str, from: Step, n_steps: u32) -> Option<Step> {
    let is_apart = |c: char| c.is_whitespace() || matches!(c, '\u{a0}' | '\u{202f}' | ',' | '_' | '\'');
    let digits: String = text.chars().filter(|c| !is_apart(*c)).collect();
    let last = n_steps.checked_sub(1)?;
    let (sign, digits) = match digits.strip_prefix('+') {
        Some(rest) => (1_i64, rest),
        None => match digits.strip_prefix(['-', '\u{2212}']) {
            Some(rest) => (-1, rest),
            None => (0, &*digits),
        },
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_ascii_digit()) {
        return None;
    }
    let number = digits.parse::<i64>().unwrap_or(i64::MAX);
    let step = match sign {
        0 => number,
        sign => i64::from(from.0).saturating_add(number.saturating_mul(sign)),
    };
    Some(Step(u32::try_from(step.clamp(0, i64::from(last))).unwrap_or(last)))
}

/// Enter pins the step in all lanes.
pub(super) fn goto_ui(ui: &Ui, area: Rect, input: &LanesInput<'_>, state: &mut LanesState) {
    let Some(mut goto) = state.goto.take() else { return };
    let Some(spot) = state.spot_in(input) else { return };
    let n_steps = input.comparison.n_shown_steps(spot.lane);
    let Some(last) = n_steps.checked_sub(1) else { return };
    let from = input.comparison.shown_step(spot.lane, spot.step);
    let of_lane = if input.comparison.has_common_axis() {
        format!(" of {}", input.comparison.title_of(spot.lane))
    } else {
        String::new()
    };
    let word = input.comparison.axis_word();
    let (mut is_open, mut is_entered) = (true, false);
    let mut meant = None;
    let field = PopupField {
        id: "go to step",
        place: pos2(area.center().x - 130.0, area.top() + 4.0),
        width: 260.0,
        label: format!("Go to {word}{of_lane} (0 to {})", Step(last)),
        hint: "1234, or +100 and -100",
    };
    field.ui(ui, &mut goto.text, &mut goto.wants_focus, |ui, text, keys| {
        meant = step_in(text, from, n_steps);
        let words = match meant {
            _ if text.trim().is_empty() => format!("pinned: {from}"),
            None => "write a whole number".to_owned(),
            Some(step) => {
                let op = op_text(input.comparison, step);
                let op = if op.is_empty() { op } else { format!(" · {op}") };
                format!("{word} {step}{op}")
            }
        };
        ui.add(egui::Label::new(RichText::new(words).small()).truncate());
        is_entered = keys.is_entered;
        ui.horizontal(|ui| {
            is_entered |= ui.add_enabled(meant.is_some(), egui::Button::new("Go")).clicked();
            is_open &= !ui.button("Close").clicked();
        });
        is_open &= !keys.is_left;
    });
    let meant = meant.and_then(|shown| input.comparison.axis_step(spot.lane, shown));
    match meant.filter(|_| is_entered) {
        Some(step) => {
            state.pin(spot.lane, step);
            ui.ctx().request_repaint();
        }
        // Keeps a text that cannot be parsed.
        None if is_open => {
            goto.wants_focus |= is_entered;
            state.goto = Some(goto);
        }
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::step_in;
    use highwater_model::units::Step;

    #[test]
    fn steps_are_read_as_people_write_them() {
        let cases = [
            ("1234", Some(1234)),
            (" 1\u{a0}234 ", Some(1234)),
            ("1,234", Some(1234)),
            ("1_2'34", Some(1234)),
            ("+100", Some(150)),
            ("-20", Some(30)),
            ("\u{2212}20", Some(30)),
            ("-100", Some(0)),
            ("99999999999999999999999", Some(4999)),
            ("+99999999999999999999999", Some(4999)),
            ("-99999999999999999999999", Some(0)),
            ("", None),
            ("+", None),
            ("-", None),
            ("x", None),
            ("12x", None),
            ("12.5", None),
            ("1-2", None),
        ];
        for (text, expected) in cases {
            assert_eq!(step_in(text, Step(50), 5000), expected.map(Step), "{text:?}");
        }
        assert_eq!(step_in("0", Step(0), 0), None, "no such step");
    }
}
