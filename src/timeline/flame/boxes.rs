//! Where a flame graph draws its nodes: rows from the root downwards, widths by weight.
//!
//! ```text
//! all                     row 0    callers of the zoomed node fill the width
//! step                    row 1    the zoomed node
//! forward      | loss     row 2    its children from the left; its own weight is the empty part on the right
//! ```

use super::FlameGraph;

/// A node in a drawing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlameBox {
    pub node: u32,
    /// The depth of the node.
    pub row: u32,
    /// Both ends, from 0 to 1 of the drawing's width.
    pub ends: (f64, f64),
    /// Whether the zoomed node is below it.
    pub is_caller: bool,
}

impl FlameGraph {
    /// The boxes of the callers of a node, of the node, and of all below it that are at least `least` of the width.
    /// O(boxes + children of boxes).
    pub fn boxes(&self, zoomed: u32, least: f64) -> Vec<FlameBox> {
        let whole = |node: u32, is_caller: bool| FlameBox {
            node,
            row: self.node(node).depth,
            ends: (0.0, 1.0),
            is_caller,
        };
        let mut path = self.path(zoomed);
        let top = path.pop().unwrap_or(Self::ROOT);
        let mut boxes = Vec::new();
        if top != Self::ROOT {
            boxes.push(whole(Self::ROOT, true));
        }
        boxes.extend(path.into_iter().map(|node| whole(node, true)));
        let mut next = boxes.len();
        boxes.push(whole(top, false));
        while let Some(parent) = boxes.get(next).copied() {
            next += 1;
            self.add_children(parent, least, &mut boxes);
        }
        boxes
    }

    #[expect(clippy::cast_precision_loss, reason = "shares of a width")]
    fn add_children(&self, parent: FlameBox, least: f64, boxes: &mut Vec<FlameBox>) {
        let (left, right) = parent.ends;
        let per_weight = (right - left) / self.node(parent.node).total.max(1) as f64;
        let mut weight = 0_u128;
        for child in self.children(parent.node) {
            let start = left + weight as f64 * per_weight;
            weight += self.node(child).total;
            let end = left + weight as f64 * per_weight;
            if end - start < least {
                // Children are sorted: the others are as narrow.
                return;
            }
            boxes.push(FlameBox {
                node: child,
                row: self.node(child).depth,
                ends: (start, end),
                is_caller: false,
            });
        }
    }
}
