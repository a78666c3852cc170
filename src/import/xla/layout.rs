//! Layouts of arrays: the bytes that an array takes with its padding, and the memory in which it lies.
//!
//! ```text
//! {1,0:T(8,128)(2,1)E(4)S(5)}    dimensions from minor to major; tiles, outermost first; bits per element; memory space
//! ```
//!
//! Dimensions in the order of memory (major first) are cut into tiles from the most minor one on, each rounded up to whole
//! tiles; the next tile cuts the result (`*` joins a dimension with the next). `L(n)` rounds the elements up to a multiple.
//! Source: XLA's documentation of tiled layouts.

use std::collections::BTreeMap;
use std::convert::Infallible;

use super::cursor::Cursor;
use super::forwarded::forwarded;
use super::model::Module;
use super::shape::Shape;

/// Where an array lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Space(pub(super) u8);

impl Space {
    /// The memory of the device itself, such as HBM.
    pub(super) const DEVICE: Self = Self(0);

    /// What a space is called by people.
    pub(super) fn label(self) -> String {
        match self.0 {
            0 => "device memory".to_owned(),
            1 => "memory on the chip, S(1)".to_owned(),
            5 => "host memory, S(5)".to_owned(),
            other => format!("memory space S({other})"),
        }
    }
}

/// A tile's size in a dimension; `None` joins the dimension with the next more minor one.
pub(super) type TileSize = Option<u64>;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Layout {
    /// Dimensions from minor to major; empty where it is not stated.
    pub(super) order: Vec<u64>,
    pub(super) tiles: Vec<Vec<TileSize>>,
    /// Elements are rounded up to a multiple of it; 0 and 1 mean none.
    pub(super) tail: u64,
    /// Bits per element; 0 where they follow from the type.
    pub(super) bits: u64,
    pub(super) space: Space,
}

/// Tiles and dimensions beyond it are not followed.
const MANY: usize = 64;

impl Layout {
    /// Reads the text between the braces. What is not understood is passed over.
    pub(super) fn parse(text: &str) -> Self {
        let mut layout = Self::default();
        let (order, properties) = text.split_once(':').unwrap_or((text, ""));
        let number = |text: &str| text.trim().parse::<u64>().ok();
        layout.order = order.split(',').filter_map(number).take(MANY).collect();
        let mut cursor = Cursor::new(properties);
        let mut property = ' ';
        loop {
            cursor.skip_blanks();
            match cursor.peek() {
                None => return layout,
                Some('(') => {
                    let Some(value) = cursor.balanced() else { return layout };
                    match property {
                        'T' if layout.tiles.len() < MANY => layout.tiles.push(tile(value)),
                        'L' => layout.tail = number(value).unwrap_or(0),
                        'E' => layout.bits = number(value).unwrap_or(0),
                        'S' => layout.space = Space(value.trim().parse().unwrap_or(u8::MAX)),
                        _ => {}
                    }
                }
                Some(letter) => {
                    property = letter;
                    cursor.eat(letter);
                }
            }
        }
    }

    pub(super) fn is_tiled(&self) -> bool {
        !self.tiles.is_empty() || self.tail > 1
    }

    /// The elements of an array of these sizes with all padding. Saturates; O(tiles * dimensions).
    pub(super) fn elements(&self, sizes: &[u64]) -> u64 {
        let mut dims: Vec<u64> = self
            .order
            .iter()
            .rev()
            .filter_map(|dimension| sizes.get(usize::try_from(*dimension).ok()?).copied())
            .collect();
        if dims.len() != sizes.len() {
            dims = sizes.to_vec();
        }
        for tile in &self.tiles {
            cut(&mut dims, tile);
        }
        let elements = dims.into_iter().fold(1, u64::saturating_mul);
        match self.tail {
            0 | 1 => elements,
            tail => elements.div_ceil(tail).saturating_mul(tail),
        }
    }
}

fn tile(text: &str) -> Vec<TileSize> {
    let sizes = text.split(',').take(MANY);
    sizes
        .map(|size| size.trim().parse().ok().filter(|size| *size > 0))
        .collect()
}

/// Cuts the most minor dimensions into tiles: their numbers of tiles, then the sizes of one tile.
fn cut(dims: &mut Vec<u64>, tile: &[TileSize]) {
    if dims.len() < tile.len() {
        dims.splice(..0, std::iter::repeat_n(1, tile.len() - dims.len()));
    }
    let cut = dims.split_off(dims.len() - tile.len());
    let (mut inner, mut joined) = (Vec::with_capacity(tile.len()), 1_u64);
    for (size, tile) in cut.into_iter().zip(tile) {
        let size = joined.saturating_mul(size);
        joined = 1;
        match tile {
            Some(tile) => {
                dims.push(size.div_ceil(*tile));
                inner.push(*tile);
            }
            None => joined = size,
        }
    }
    dims.push(joined);
    dims.extend(inner);
}

/// Bytes of the values that a module makes in other memories than the device's, by memory.
pub(super) fn elsewhere(module: &Module) -> BTreeMap<Space, u64> {
    let mut bytes = BTreeMap::new();
    for computation in &module.computations {
        for instruction in &computation.instructions {
            let sources = forwarded(computation, instruction).into_iter();
            let mut is_new = sources.map(|source| source.is_none());
            let visited = instruction
                .shape
                .visit(&mut |_: &[u32], shape: &Shape| -> Result<(), Infallible> {
                    if let (Some(true), Shape::Array(array)) = (is_new.next(), shape)
                        && array.space != Space::DEVICE
                    {
                        let sum: &mut u64 = bytes.entry(array.space).or_default();
                        *sum = sum.saturating_add(array.bytes().unwrap_or(0));
                    }
                    Ok(())
                });
            match visited {
                Ok(()) => {}
                Err(never) => match never {},
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_round_dimensions_up_in_the_order_of_memory() {
        for (layout, sizes, elements) in [
            ("1,0", &[3, 5][..], 15),
            ("1,0:T(8,128)", &[8, 4], 1024),
            ("0,1:T(8,128)", &[8, 4], 1024),
            ("0,1:T(4,128)", &[1024, 4], 4096),
            ("0,2,1:T(4,128)", &[8_388_608, 8, 4], 268_435_456),
            ("2,1,0:T(8,128)", &[8_388_608, 8, 4], 8_589_934_592),
            ("2,1,0:T(8,128)(2,1)", &[3, 9, 129], 3 * 16 * 256),
            ("0:T(1024)", &[1], 1024),
            (":T(128)", &[], 128),
            ("1,0:T(8,128)", &[5], 1024),
            ("1,0:T(*,128)", &[3, 100], 384),
            ("0:L(16)", &[17], 32),
            ("1,0:T(0)x(3)", &[2, 2], 4),
            ("9:T(2)", &[3], 4),
        ] {
            assert_eq!(Layout::parse(layout).elements(sizes), elements, "{layout} {sizes:?}");
        }
        let all = Layout::parse("1,0:T(8,128)(4,1)E(4)S(5)");
        assert_eq!((all.bits, all.space, all.tiles.len()), (4, Space(5), 2));
        assert_eq!(Layout::parse("0:S(900)").space, Space(255));
    }
}
