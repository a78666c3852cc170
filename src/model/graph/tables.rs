//! Text and shape tables: all texts in one string, each distinct shape once.

use indexmap::IndexSet;

use super::dim::Dim;
use super::ids::{Id as _, NameId, ShapeId};

/// Texts of one graph, concatenated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    text: String,
    ends: Vec<u32>,
}

impl Names {
    /// `None` once all texts together exceed 4 GiB.
    pub fn push(&mut self, text: &str) -> Option<NameId> {
        let end = u32::try_from(self.text.len() + text.len()).ok()?;
        self.text.push_str(text);
        self.ends.push(end);
        Some(NameId::from_idx(self.ends.len() - 1))
    }

    /// Empty for an id of another graph.
    pub fn text(&self, id: NameId) -> &str {
        let start = match id.idx().checked_sub(1) {
            Some(before) => self.ends.get(before).copied().unwrap_or(0) as usize,
            None => 0,
        };
        let end = self.ends.get(id.idx()).copied().unwrap_or(0) as usize;
        self.text.get(start..end).unwrap_or("")
    }

    /// Frees spare capacity.
    pub fn shrink(&mut self) {
        self.text.shrink_to_fit();
        self.ends.shrink_to_fit();
    }
}

/// Distinct shapes of one graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shapes {
    shapes: IndexSet<Box<[Dim]>>,
}

impl Shapes {
    /// Equal shapes get equal ids.
    pub fn intern(&mut self, dims: &[Dim]) -> ShapeId {
        if let Some(position) = self.shapes.get_index_of(dims) {
            return ShapeId::from_idx(position);
        }
        ShapeId::from_idx(self.shapes.insert_full(dims.into()).0)
    }

    /// Empty for an id of another graph.
    pub fn dims(&self, id: ShapeId) -> &[Dim] {
        self.shapes.get_index(id.idx()).map_or(&[], |dims| dims)
    }
}
