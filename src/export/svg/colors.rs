//! The colours of a drawing as SVG texts. The window passes the colours of its theme; the command line has colours for paper.

use highwater_timeline::{CLASS_COLORS, DIMMED, GROUP_COLORS, PALETTE_LEN};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SvgColors {
    pub page: String,
    pub canvas: String,
    pub text: String,
    pub text_weak: String,
    pub grid: String,
    pub frame: String,
    pub reserved: String,
    pub reserved_fill: String,
    pub live: String,
    pub live_fill: String,
    pub physical: String,
    pub capacity: String,
    pub peak: String,
    /// Reserved, unused.
    pub region: String,
    pub region_outline: String,
    pub on_tensor: String,
    /// Alternating.
    pub runs: [String; 2],
    /// Forward, backward, optimizer.
    pub phases: [String; 3],
    /// By colour number of [`Coloring`](highwater_timeline::Coloring): tensors, groups, classes, then dimmed ones, which are drawn in
    /// full colour where they are missing.
    pub blocks: Vec<String>,
}

/// Distinct with the common kinds of colour blindness (after Paul Tol, and Okabe and Ito), on white.
const TENSORS: [&str; PALETTE_LEN as usize] = [
    "#77aadd", "#8fd3f2", "#62bd80", "#d9ca5f", "#ee8f9a", "#c583b4", "#a5bdf0", "#5fbfae", "#a6cf8c", "#b8b25c",
    "#eedd99", "#d98b9b", "#b09ad6", "#f0b95a", "#8cbfe0", "#e79d6c",
];

/// Groups, most bytes first; then all further groups, and blocks without a tensor.
const GROUPS: [&str; GROUP_COLORS as usize + 2] = [
    "#7cc4ee", "#f0b440", "#5fcfa8", "#db9cc0", "#e6d943", "#e88a4a", "#a6b0ff", "#b8b25c", "#c98fbf", "#74c4b4",
    "#e8dca8", "#d58a9c", "#9099a5", "#c4cad2",
];
/// Small to large, ordered by lightness.
const CLASSES: [&str; CLASS_COLORS as usize] = ["#f5e04a", "#bfe07a", "#86dcb4", "#7fcfd8", "#93b8ea", "#b29fe8"];

impl SvgColors {
    pub fn print() -> Self {
        let color = |text: &str| text.to_owned();
        Self {
            page: color("#ffffff"),
            canvas: color("#ffffff"),
            text: color("#1b2026"),
            text_weak: color("#59636e"),
            grid: color("#e6e9ed"),
            frame: color("#c4cad2"),
            reserved: color("#1f6fc4"),
            reserved_fill: color("#d3e5f8"),
            live: color("#008358"),
            live_fill: color("#b9e3d2"),
            physical: color("#7a3fb5"),
            capacity: color("#c62b1d"),
            peak: color("#b35c00"),
            region: color("#eef0f3"),
            region_outline: color("#9099a5"),
            on_tensor: color("#101418"),
            runs: [color("#e2e7ee"), color("#d3dae4")],
            phases: [color("#cfe2f5"), color("#f0d7e6"), color("#f1e6bf")],
            blocks: TENSORS
                .iter()
                .chain(&GROUPS)
                .chain(&CLASSES)
                .map(|text| color(text))
                .collect(),
        }
    }

    pub(crate) fn block(&self, number: u8) -> &str {
        let of = |number: u8| self.blocks.get(usize::from(number));
        let known = of(number).or_else(|| of(number & !DIMMED));
        known.map_or("#888888", |color| color)
    }

    /// The colours of blocks by number as opaque pixels; grey for a text other than `#rrggbb`.
    pub(super) fn block_pixels(&self) -> Vec<[u8; 4]> {
        let pixel = |number: u8| {
            let digits = self.block(number).strip_prefix('#').unwrap_or_default();
            let value = u32::from_str_radix(digits, 16).unwrap_or(0x0088_8888);
            let [_, red, green, blue] = value.to_be_bytes();
            [red, green, blue, u8::MAX]
        };
        (0..=u8::MAX).map(pixel).collect()
    }
}
