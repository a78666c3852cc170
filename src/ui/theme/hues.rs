//! The colour values, for dark and light themes.

#![expect(clippy::unreadable_literal, reason = "colours read best as six digits")]

use eframe::egui::Color32;

use super::{Theme, rgb};
use highwater_timeline::{CLASS_COLORS, GROUP_COLORS, PALETTE_LEN};

/// Distinct under the common kinds of colour blindness (after Paul Tol, and Okabe and Ito), on dark.
pub(super) const TENSORS_DARK: [u32; PALETTE_LEN as usize] = [
    0x4f83b8, 0x63b9d6, 0x3a9a5b, 0xc9b84a, 0xd9717f, 0xa8528f, 0x86a8e0, 0x45a596, 0x7fb069, 0x9a9440, 0xdcc983,
    0xc0677a, 0x8c6bb8, 0xe0a13a, 0x5f9fc9, 0xd27d45,
];
/// Heuristics, after Okabe and Ito, on dark and on light; markers differ too.
pub(super) const HEURISTICS_DARK: [u32; 9] = [
    0xe6e9ed, 0x56b4e9, 0xe69f00, 0x2fc79a, 0xf0e442, 0xcc79a7, 0xff7f3f, 0x9a8cff, 0xa0a0a0,
];
pub(super) const HEURISTICS_LIGHT: [u32; 9] = [
    0x1b2026, 0x0072b2, 0xb87700, 0x007a5a, 0x857a00, 0xb0508a, 0xd55e00, 0x5b4bc4, 0x7d7d7d,
];
/// Groups of tensors, most bytes first, after Okabe and Ito and Paul Tol, on dark and on light.
pub(super) const GROUPS_DARK: [u32; GROUP_COLORS as usize] = [
    0x56b4e9, 0xe69f00, 0x2fc79a, 0xcc79a7, 0xf0e442, 0xd55e00, 0x8a97ff, 0x999933, 0xaa5599, 0x44aa99, 0xddcc99,
    0xb0506a,
];
pub(super) const GROUPS_LIGHT: [u32; GROUP_COLORS as usize] = [
    0x7cc4ee, 0xf0b440, 0x5fcfa8, 0xdb9cc0, 0xe6d943, 0xe88a4a, 0xa6b0ff, 0xb8b25c, 0xc98fbf, 0x74c4b4, 0xe8dca8,
    0xd58a9c,
];
/// Classes, small to large, ordered by lightness (after viridis).
pub(super) const CLASSES_DARK: [u32; CLASS_COLORS as usize] =
    [0x6a5acd, 0x4f7fc4, 0x35a0b4, 0x2fbf8f, 0x9ed33f, 0xfde725];
pub(super) const CLASSES_LIGHT: [u32; CLASS_COLORS as usize] =
    [0xf5e04a, 0xbfe07a, 0x86dcb4, 0x7fcfd8, 0x93b8ea, 0xb29fe8];
/// Graph pools, after Okabe and Ito; repeats from the seventh graph on.
pub(super) const POOLS: [u32; 6] = [0x56b4e9, 0xe69f00, 0xcc79a7, 0xd55e00, 0x009e73, 0xf0e442];
/// Hues of the dark theme, lighter, so that dark text is readable.
pub(super) const TENSORS_LIGHT: [u32; PALETTE_LEN as usize] = [
    0x77aadd, 0x8fd3f2, 0x62bd80, 0xd9ca5f, 0xee8f9a, 0xc583b4, 0xa5bdf0, 0x5fbfae, 0xa6cf8c, 0xb8b25c, 0xeedd99,
    0xd98b9b, 0xb09ad6, 0xf0b95a, 0x8cbfe0, 0xe79d6c,
];
/// Text on the colours of tensors.
pub(super) const ON_TENSOR: u32 = 0x101418;

impl Theme {
    pub fn dark() -> Self {
        Self {
            is_dark: true,
            canvas: rgb(0x14171b),
            panel: rgb(0x1b1e23),
            grid: rgb(0x2a2f36),
            frame: rgb(0x3a4048),
            text: rgb(0xe6e9ed),
            text_weak: rgb(0x9aa3ad),
            reserved: rgb(0x6cb2ff),
            reserved_fill: rgb(0x223a55),
            live: rgb(0x56d6a0),
            live_fill: rgb(0x224f45),
            capacity: rgb(0xff6b5e),
            peak: rgb(0xffc857),
            best: (rgb(0x1f7a55), rgb(0xffffff)),
            good: rgb(0x5fd39a),
            bad: rgb(0xff8075),
            selection: rgb(0xffc857),
            found: rgb(0xdfe8f2),
            hover: rgb(0xffffff),
            cursor: rgb(0xc8ced6),
            cursor_tag: (rgb(0xe6e9ed), rgb(0x14171b)),
            region_outline: rgb(0x667080),
            region_free: rgb(0x23282f),
            range: rgb(0x171a1f),
            granted: rgb(0x5a6472),
            stitched: (Color32::TRANSPARENT, rgb(0x9fb4c9)),
            physical: rgb(0xd1a8ff),
            hole: (rgb(0x1d2026), rgb(0x59616d)),
            edge: rgb(0x8fd0ff),
            remat: [rgb(0xff9f45), rgb(0x5cc8f2)],
            gap: (rgb(0x14171b), rgb(0xa06a35)),
            usage: rgb(0xf2a0d4),
            budget: rgb(0xff70c0),
            runs: [rgb(0x2c343f), rgb(0x384150)],
            phases: [rgb(0x274a6b), rgb(0x603a56), rgb(0x5a4b1e)],
            tensors: TENSORS_DARK.map(rgb),
        }
    }

    pub fn light() -> Self {
        Self {
            is_dark: false,
            canvas: rgb(0xffffff),
            panel: rgb(0xf6f7f9),
            grid: rgb(0xe6e9ed),
            frame: rgb(0xc4cad2),
            text: rgb(0x1b2026),
            text_weak: rgb(0x59636e),
            reserved: rgb(0x1f6fc4),
            reserved_fill: rgb(0xd3e5f8),
            live: rgb(0x008358),
            live_fill: rgb(0xb9e3d2),
            capacity: rgb(0xc62b1d),
            peak: rgb(0xb35c00),
            best: (rgb(0x007a50), rgb(0xffffff)),
            good: rgb(0x007348),
            bad: rgb(0xc02a1c),
            selection: rgb(0xb33c00),
            found: rgb(0x202830),
            hover: rgb(0x000000),
            cursor: rgb(0x46505a),
            cursor_tag: (rgb(0x1b2026), rgb(0xffffff)),
            region_outline: rgb(0x9099a5),
            region_free: rgb(0xeef0f3),
            range: rgb(0xf9fafb),
            granted: rgb(0xa3adb9),
            stitched: (Color32::TRANSPARENT, rgb(0x5b6b7c)),
            physical: rgb(0x7a3fb5),
            hole: (rgb(0xfafbfc), rgb(0xb4bcc6)),
            edge: rgb(0x0b4f94),
            remat: [rgb(0xc25700), rgb(0x0070a8)],
            gap: (rgb(0xffffff), rgb(0xd79a62)),
            usage: rgb(0xb0307f),
            budget: rgb(0x8f0f60),
            runs: [rgb(0xe2e7ee), rgb(0xd3dae4)],
            phases: [rgb(0xcfe2f5), rgb(0xf0d7e6), rgb(0xf1e6bf)],
            tensors: TENSORS_LIGHT.map(rgb),
        }
    }
}
