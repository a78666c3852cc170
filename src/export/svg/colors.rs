//! The colours of a drawing, as texts that SVG takes. The window passes those of its theme; the command line, which has no
//! theme, those for paper.

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
    /// Tensors, by colour index.
    pub tensors: Vec<String>,
}

/// Hues told apart with the common kinds of colour blindness (after Paul Tol, and Okabe and Ito), on white.
const TENSORS: [&str; 16] = [
    "#77aadd", "#8fd3f2", "#62bd80", "#d9ca5f", "#ee8f9a", "#c583b4", "#a5bdf0", "#5fbfae", "#a6cf8c", "#b8b25c",
    "#eedd99", "#d98b9b", "#b09ad6", "#f0b95a", "#8cbfe0", "#e79d6c",
];

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
            tensors: TENSORS.map(color).to_vec(),
        }
    }

    /// The colour of a tensor's index.
    pub(super) fn tensor(&self, index: u8) -> &str {
        let known = usize::from(index).checked_rem(self.tensors.len());
        known.map_or("#888888", |index| &self.tensors[index])
    }
}
