//! The views that were looked at, to go back to and forth between.
//!
//! A drag or a turn of the wheel is one view: what is passed on the way is not kept.

use eframe::egui::Ui;

use super::LanesState;
use highwater_timeline::Viewport;

/// Most views that are kept.
const MOST: usize = 256;

/// The views before and behind the one on the screen.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Views {
    past: Vec<Viewport>,
    future: Vec<Viewport>,
    /// The last view that stood still.
    now: Option<Viewport>,
}

impl Views {
    /// Takes the view of a frame; it is kept once it stands still.
    fn note(&mut self, view: Viewport, is_moving: bool) {
        let Some(now) = self.now else {
            self.now = Some(view);
            return;
        };
        if now == view || is_moving {
            return;
        }
        self.past.push(now);
        if self.past.len() > MOST {
            self.past.remove(0);
        }
        self.future.clear();
        self.now = Some(view);
    }

    /// The view before the one on the screen, or the one behind it.
    fn step(&mut self, is_back: bool) -> Option<Viewport> {
        let (from, to) = if is_back {
            (&mut self.past, &mut self.future)
        } else {
            (&mut self.future, &mut self.past)
        };
        let view = from.pop()?;
        to.extend(self.now.replace(view));
        Some(view)
    }
}

/// Keeps the view where it stands still. Views of another axis are forgotten.
pub(super) fn note(ui: &Ui, state: &mut LanesState, has_new_axis: bool) {
    if has_new_axis {
        state.views = Views::default();
    }
    let is_moving = ui.input(|i| {
        let is_zooming = (i.zoom_delta() - 1.0).abs() > f32::EPSILON;
        i.pointer.any_down() || is_zooming || i.smooth_scroll_delta().length() > 0.01
    });
    if let Some(view) = state.viewport {
        state.views.note(view, is_moving);
    }
}

impl LanesState {
    /// Goes back to the view before, or forth again.
    pub(super) fn step_view(&mut self, is_back: bool) {
        if let Some(view) = self.viewport {
            // What is on the screen can be come back to, whatever is still moving.
            self.views.note(view, false);
        }
        let Some(view) = self.views.step(is_back) else { return };
        self.change_view(|_| view);
        self.views.now = self.viewport;
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST, Views};
    use highwater_timeline::Viewport;

    fn view(t0: f64) -> Viewport {
        Viewport {
            t0,
            t1: t0 + 10.0,
            a0: 0.0,
            a1: 1.0,
        }
    }

    #[test]
    fn views_are_gone_through_in_order_and_a_new_one_ends_the_way_forth() {
        let mut views = Views::default();
        for step in 0..400 {
            // What is passed while the hand moves is not kept.
            views.note(view(f64::from(step) + 0.5), step > 0);
            views.note(view(f64::from(step)), false);
        }
        assert_eq!(views.past.len(), MOST);
        assert_eq!(views.step(true), Some(view(398.0)));
        assert_eq!(views.step(true), Some(view(397.0)));
        assert_eq!(views.step(false), Some(view(398.0)));
        views.note(view(5.0), false);
        assert_eq!(views.step(false), None);
        assert_eq!(views.step(true), Some(view(398.0)));
    }
}
