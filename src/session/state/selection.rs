//! The selected tensor, with a history.

use highwater_timeline::Selected;

const MOST: usize = 256;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Selection {
    now: Option<Selected>,
    past: Vec<Selected>,
    future: Vec<Selected>,
}

impl Selection {
    pub(super) const fn now(&self) -> Option<Selected> {
        self.now
    }

    /// Whether the history can go back, and forward.
    pub(super) const fn ways(&self) -> (bool, bool) {
        (!self.past.is_empty(), !self.future.is_empty())
    }

    /// Selects another tensor, or none. The history keeps the former one.
    pub(super) fn select(&mut self, to: Option<Selected>) {
        if self.now == to {
            return;
        }
        self.remember();
        if to.is_some() {
            // Deselecting and selecting the same again is no step.
            self.past.pop_if(|last| Some(*last) == to);
            self.future.clear();
        }
        self.now = to;
    }

    /// Goes back or forward.
    pub(super) fn step(&mut self, is_back: bool) {
        let (from, to) = if is_back {
            (&mut self.past, &mut self.future)
        } else {
            (&mut self.future, &mut self.past)
        };
        if let Some(next) = from.pop() {
            to.extend(self.now.replace(next));
        }
    }

    pub(super) fn retain(&mut self, exists: impl Fn(&Selected) -> bool) {
        self.now = self.now.filter(&exists);
        self.past.retain(&exists);
        self.future.retain(&exists);
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    fn remember(&mut self) {
        self.past.extend(self.now);
        if self.past.len() > MOST {
            self.past.remove(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST, Selected, Selection};
    use highwater_model::graph::TensorId;
    use highwater_model::workload::GraphIdx;

    fn tensor(number: u32) -> Selected {
        Selected {
            run: 0,
            graph: GraphIdx(0),
            tensor: TensorId(number),
        }
    }

    #[test]
    fn the_way_back_is_the_way_there() {
        let mut selection = Selection::default();
        for number in 0..400 {
            selection.select(Some(tensor(number)));
        }
        assert_eq!(selection.past.len(), MOST);
        selection.step(true);
        selection.step(true);
        assert_eq!(selection.now(), Some(tensor(397)));
        selection.step(false);
        assert_eq!(selection.now(), Some(tensor(398)));
        // Deselecting is no step, and keeps the steps forward.
        selection.select(None);
        assert_eq!(selection.ways(), (true, true));
        selection.step(true);
        assert_eq!(selection.now(), Some(tensor(398)));
        selection.select(Some(tensor(7)));
        assert_eq!(selection.ways(), (true, false));
        selection.step(true);
        assert_eq!(selection.now(), Some(tensor(398)));
        selection.retain(|selected| selected.tensor.0 != 398);
        assert_eq!(selection.now(), None);
        selection.step(true);
        assert_eq!(selection.now(), Some(tensor(397)));
    }
}
