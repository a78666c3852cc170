//! The viewport: which steps and addresses are on screen, and pure moves of it.
//!
//! All arithmetic is in f64, so that positions stay exact to far below a pixel at every zoom.

/// The visible steps `t0..t1` and addresses `a0..a1` (bytes).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewport {
    /// First visible step.
    pub t0: f64,
    /// Last visible step, exclusive.
    pub t1: f64,
    /// Lowest visible address.
    pub a0: f64,
    /// Highest visible address.
    pub a1: f64,
}

/// The size of a picture in points; y grows downwards, addresses grow upwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Canvas {
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

/// No view is narrower than this many steps.
const MIN_STEPS: f64 = 2.0;
/// No view is lower than this many bytes.
const MIN_BYTES: f64 = 4096.0;

impl Viewport {
    /// Visible steps.
    pub fn steps(&self) -> f64 {
        self.t1 - self.t0
    }

    /// Visible bytes.
    pub fn bytes(&self) -> f64 {
        self.a1 - self.a0
    }

    /// Where a step lies, from the left edge of a picture of this width.
    pub fn x_from_step(&self, step: f64, width: f64) -> f64 {
        (step - self.t0) / self.steps() * width
    }

    /// Which step lies at a distance from the left edge.
    pub fn step_from_x(&self, x: f64, width: f64) -> f64 {
        self.t0 + x / width.max(1e-9) * self.steps()
    }

    /// Where an address lies, from the top edge of a picture of this height.
    pub fn y_from_address(&self, address: f64, height: f64) -> f64 {
        height - (address - self.a0) / self.bytes() * height
    }

    /// Which address lies at a distance from the top edge.
    pub fn address_from_y(&self, y: f64, height: f64) -> f64 {
        self.a0 + (height - y) / height.max(1e-9) * self.bytes()
    }

    /// Zooms the time axis: `factor` above 1 shows fewer steps; `step` keeps its place.
    #[must_use]
    pub fn zoom_steps(self, factor: f64, step: f64) -> Self {
        let factor = usable(factor).min(self.steps() / MIN_STEPS).max(f64::MIN_POSITIVE);
        Self {
            t0: step - (step - self.t0) / factor,
            t1: step + (self.t1 - step) / factor,
            ..self
        }
    }

    /// Zooms the address axis: `factor` above 1 shows fewer bytes; `address` keeps its place.
    #[must_use]
    pub fn zoom_addresses(self, factor: f64, address: f64) -> Self {
        let factor = usable(factor).min(self.bytes() / MIN_BYTES).max(f64::MIN_POSITIVE);
        Self {
            a0: address - (address - self.a0) / factor,
            a1: address + (self.a1 - address) / factor,
            ..self
        }
    }

    /// Moves the view by steps and bytes.
    #[must_use]
    pub fn pan(self, steps: f64, bytes: f64) -> Self {
        Self {
            t0: self.t0 + steps,
            t1: self.t1 + steps,
            a0: self.a0 + bytes,
            a1: self.a1 + bytes,
        }
    }

    /// The same addresses from one step to another, in either order.
    #[must_use]
    pub fn between(self, one: f64, other: f64) -> Self {
        let t0 = one.min(other);
        Self {
            t0,
            t1: one.max(other).max(t0 + MIN_STEPS),
            ..self
        }
    }

    /// Moves the view into `whole`, and shrinks it where it is larger.
    #[must_use]
    pub fn clamp(self, whole: Self) -> Self {
        let (t0, t1) = clamp_span((self.t0, self.t1), (whole.t0, whole.t1));
        let (a0, a1) = clamp_span((self.a0, self.a1), (whole.a0, whole.a1));
        Self { t0, t1, a0, a1 }
    }

    /// A view on the steps `start..end` and addresses `low..high` with room around them, within `whole`.
    #[must_use]
    pub fn focus(steps: (f64, f64), addresses: (f64, f64), whole: Self) -> Self {
        let (t0, t1) = with_room(steps, MIN_STEPS * 4.0);
        let (a0, a1) = with_room(addresses, MIN_BYTES * 4.0);
        Self { t0, t1, a0, a1 }.clamp(whole)
    }
}

/// A viewport's scale on a canvas, worked out once for many rectangles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    viewport: Viewport,
    height: f64,
    per_step: f64,
    per_byte: f64,
}

impl Scale {
    pub(super) fn new(viewport: &Viewport, canvas: Canvas) -> Self {
        Self {
            viewport: *viewport,
            height: canvas.height,
            per_step: canvas.width / viewport.steps(),
            per_byte: canvas.height / viewport.bytes(),
        }
    }

    pub(super) fn x(&self, step: u32) -> f64 {
        (f64::from(step) - self.viewport.t0) * self.per_step
    }

    #[expect(clippy::cast_precision_loss, reason = "a picture needs no more than 53 bits")]
    pub(super) fn y(&self, address: u64) -> f64 {
        self.height - (address as f64 - self.viewport.a0) * self.per_byte
    }
}

fn usable(factor: f64) -> f64 {
    if factor.is_finite() && factor > 0.0 {
        factor
    } else {
        1.0
    }
}

/// Half the length is added on both sides, and at least as much as makes `shortest`.
fn with_room((low, high): (f64, f64), shortest: f64) -> (f64, f64) {
    let room = ((high - low) * 0.5).max((shortest - (high - low)) / 2.0);
    (low - room, high + room)
}

fn clamp_span((low, high): (f64, f64), (least, most): (f64, f64)) -> (f64, f64) {
    if high - low >= most - least || !(high - low).is_finite() {
        (least, most)
    } else if low < least {
        (least, least + (high - low))
    } else if high > most {
        (most - (high - low), most)
    } else {
        (low, high)
    }
}
