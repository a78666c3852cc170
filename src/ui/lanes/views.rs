//! The history of views.
//!
//! A drag or a turn of the wheel is one entry; views passed on the way are not kept.

use eframe::egui::Ui;

use super::LanesState;
use highwater_timeline::Viewport;

/// Entries kept.
const MOST: usize = 256;

/// Views before and after the current one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Views {
    past: Vec<Viewport>,
    future: Vec<Viewport>,
    /// The last view at rest.
    now: Option<Viewport>,
}

impl Views {
    /// Keeps a view once it is at rest.
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

    /// The view before the current one, or after it.
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

/// Keeps a view at rest. Another axis clears the history.
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
    pub(super) fn step_view(&mut self, is_back: bool) {
        if let Some(view) = self.viewport {
            // The current view can be returned to, even while it moves.
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
            // Views passed while moving are not kept.
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
