//! The colours of a drawing, as texts that SVG takes. The window passes those of its theme; the command line, which has no
//! theme, those for paper.

use highwater_timeline::{CLASS_COLORS, DIMMED, GROUP_COLORS, PALETTE_LEN};

/// Colours by meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SvgColors {
    /// Behind everything.
    pub page: String,
    /// Behind curve and map.
    pub canvas: String,
    /// Names and figures.
    pub text: String,
    /// Axis marks.
    pub text_weak: String,
    /// Lines at axis marks.
    pub grid: String,
    /// Frames.
    pub frame: String,
    /// The reserved curve and what is below it.
    pub reserved: String,
    /// Below the reserved curve.
    pub reserved_fill: String,
    /// The live curve.
    pub live: String,
    /// Below the live curve.
    pub live_fill: String,
    /// The physical curve.
    pub physical: String,
    /// The capacity of the device.
    pub capacity: String,
    /// The mark at the peak.
    pub peak: String,
    /// Reserved and free.
    pub region: String,
    /// Outlines of regions.
    pub region_outline: String,
    /// Words on a tensor.
    pub on_tensor: String,
    /// Runs and iterations, alternately.
    pub runs: [String; 2],
    /// Forward, backward, optimizer.
    pub phases: [String; 3],
    /// Blocks by colour number, as [`Coloring`](highwater_timeline::Coloring) gives it: tensors, groups, classes; those that step back
    /// too, or they look as if they did not.
    pub blocks: Vec<String>,
}

/// Hues told apart with the common kinds of colour blindness (after Paul Tol, and Okabe and Ito), on white.
const TENSORS: [&str; PALETTE_LEN as usize] = [
    "#77aadd", "#8fd3f2", "#62bd80", "#d9ca5f", "#ee8f9a", "#c583b4", "#a5bdf0", "#5fbfae", "#a6cf8c", "#b8b25c",
    "#eedd99", "#d98b9b", "#b09ad6", "#f0b95a", "#8cbfe0", "#e79d6c",
];

/// Groups, most bytes first; then all further groups, and what is no tensor's.
const GROUPS: [&str; GROUP_COLORS as usize + 2] = [
    "#7cc4ee", "#f0b440", "#5fcfa8", "#db9cc0", "#e6d943", "#e88a4a", "#a6b0ff", "#b8b25c", "#c98fbf", "#74c4b4",
    "#e8dca8", "#d58a9c", "#9099a5", "#c4cad2",
];
/// Classes, small to large, in one order of lightness.
const CLASSES: [&str; CLASS_COLORS as usize] = ["#f5e04a", "#bfe07a", "#86dcb4", "#7fcfd8", "#93b8ea", "#b29fe8"];

impl SvgColors {
    /// For paper.
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

    /// The colour of a block's number.
    pub(crate) fn block(&self, number: u8) -> &str {
        let of = |number: u8| self.blocks.get(usize::from(number));
        let known = of(number).or_else(|| of(number & !DIMMED));
        known.map_or("#888888", |color| color)
    }

    /// The colours of blocks by number as pixels, opaque. Grey for what is no `#rrggbb`.
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
