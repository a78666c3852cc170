//! Narrow windows: columns beside the lanes that have no room are hidden until the window is wider, or until one of their
//! panes is opened.

use super::{Pane, Panes};

/// Widths of windows, in points, below which the inspector and its neighbours, and the options, have no room.
const DETAILS: f32 = 1000.0;
const OPTIONS: f32 = 720.0;

#[derive(Clone, Debug, Default)]
pub(super) struct Narrow {
    /// Whether the details, and the options, were hidden.
    is_hiding: [bool; 2],
    /// Panes that come back where there is room.
    pub(super) hidden: Vec<Pane>,
}

impl Panes {
    /// The panes of the columns that give way, in the order of [`Narrow::is_hiding`].
    fn columns(&self) -> [Vec<Pane>; 2] {
        [self.details(), vec![Pane::Configuration]]
    }

    /// Hides columns, or brings them back, where the width of the window passes a threshold.
    pub(super) fn fit_width(&mut self, width: f32) {
        let wanted = [width < DETAILS, width < OPTIONS];
        let columns = self.columns();
        for (column, panes) in columns.iter().enumerate() {
            if self.narrow.is_hiding[column] == wanted[column] || panes.contains(&Pane::Policies) {
                continue;
            }
            self.narrow.is_hiding[column] = wanted[column];
            for pane in panes {
                if wanted[column] && self.is_open(*pane) {
                    self.narrow.hidden.push(*pane);
                    self.set_visible(*pane, false);
                } else if !wanted[column] && self.narrow.hidden.contains(pane) {
                    self.set_visible(*pane, true);
                }
            }
            if !wanted[column] {
                self.narrow.hidden.retain(|pane| !panes.contains(pane));
            }
        }
    }

    /// Whether the column of a closed pane is hidden, so that the pane has to wait.
    pub(super) fn is_crowded_out(&self, pane: Pane) -> bool {
        let columns = self.columns().into_iter().zip(self.narrow.is_hiding);
        let mut hidden = columns.filter(|(_, is_hiding)| *is_hiding);
        hidden.any(|(panes, _)| panes.contains(&pane) && panes.iter().all(|one| !self.is_open(*one)))
    }
}
