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
    pub fn new(is_dark: bool) -> Self {
        // On dark and on light.
        let hue = |dark: u32, light: u32| rgb(if is_dark { dark } else { light });
        Self {
            is_dark,
            canvas: hue(0x14171b, 0xffffff),
            panel: hue(0x1b1e23, 0xf6f7f9),
            grid: hue(0x2a2f36, 0xe6e9ed),
            frame: hue(0x3a4048, 0xc4cad2),
            text: hue(0xe6e9ed, 0x1b2026),
            text_weak: hue(0x9aa3ad, 0x59636e),
            reserved: hue(0x6cb2ff, 0x1f6fc4),
            reserved_fill: hue(0x223a55, 0xd3e5f8),
            live: hue(0x56d6a0, 0x008358),
            live_fill: hue(0x224f45, 0xb9e3d2),
            capacity: hue(0xff6b5e, 0xc62b1d),
            peak: hue(0xffc857, 0xb35c00),
            best: (hue(0x1f7a55, 0x007a50), hue(0xffffff, 0xffffff)),
            good: hue(0x5fd39a, 0x007348),
            bad: hue(0xff8075, 0xc02a1c),
            selection: hue(0xffc857, 0xb33c00),
            found: hue(0xdfe8f2, 0x202830),
            hover: hue(0xffffff, 0x000000),
            cursor: hue(0xc8ced6, 0x46505a),
            cursor_tag: (hue(0xe6e9ed, 0x1b2026), hue(0x14171b, 0xffffff)),
            region_outline: hue(0x667080, 0x9099a5),
            region_free: hue(0x23282f, 0xeef0f3),
            range: hue(0x171a1f, 0xf9fafb),
            granted: hue(0x5a6472, 0xa3adb9),
            stitched: (Color32::TRANSPARENT, hue(0x9fb4c9, 0x5b6b7c)),
            physical: hue(0xd1a8ff, 0x7a3fb5),
            hole: (hue(0x1d2026, 0xfafbfc), hue(0x59616d, 0xb4bcc6)),
            edge: hue(0x8fd0ff, 0x0b4f94),
            remat: [hue(0xff9f45, 0xc25700), hue(0x5cc8f2, 0x0070a8)],
            gap: (hue(0x14171b, 0xffffff), hue(0xa06a35, 0xd79a62)),
            usage: hue(0xf2a0d4, 0xb0307f),
            budget: hue(0xff70c0, 0x8f0f60),
            runs: [hue(0x2c343f, 0xe2e7ee), hue(0x384150, 0xd3dae4)],
            phases: [
                hue(0x274a6b, 0xcfe2f5),
                hue(0x603a56, 0xf0d7e6),
                hue(0x5a4b1e, 0xf1e6bf),
            ],
            tensors: if is_dark { TENSORS_DARK } else { TENSORS_LIGHT }.map(rgb),
        }
    }
}
