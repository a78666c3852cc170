//! The viewport: the visible steps and addresses, and pure moves of it.
//!
//! A [`View`] maps the viewport's steps to places along a [`TimeAxis`], or to equally wide ones. Arithmetic is in f64,
//! so that positions are exact to far below a pixel at every zoom.

use std::ops::Deref;

use super::axis::TimeAxis;

/// The visible steps `t0..t1` and addresses `a0..a1` (bytes).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewport {
    pub t0: f64,
    pub t1: f64,
    pub a0: f64,
    pub a1: f64,
}

/// The size of a picture in points; y grows downwards, addresses grow upwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Canvas {
    pub width: f64,
    pub height: f64,
}

const MIN_STEPS: f64 = 2.0;
const MIN_BYTES: f64 = 4096.0;

impl Viewport {
    pub fn steps(&self) -> f64 {
        self.t1 - self.t0
    }

    pub fn bytes(&self) -> f64 {
        self.a1 - self.a0
    }

    /// Distance of an address from the top edge of a picture of this height.
    pub fn y_from_address(&self, address: f64, height: f64) -> f64 {
        height - (address - self.a0) / self.bytes() * height
    }

    /// Inverse of [`Self::y_from_address`].
    pub fn address_from_y(&self, y: f64, height: f64) -> f64 {
        self.a0 + (height - y) / height.max(1e-9) * self.bytes()
    }

    /// `factor` above 1 shows fewer bytes; `address` keeps its place.
    #[must_use]
    pub fn zoom_addresses(self, factor: f64, address: f64) -> Self {
        let factor = usable(factor).min(self.bytes() / MIN_BYTES).max(f64::MIN_POSITIVE);
        Self {
            a0: address - (address - self.a0) / factor,
            a1: address + (self.a1 - address) / factor,
            ..self
        }
    }

    #[must_use]
    pub fn up_by(self, bytes: f64) -> Self {
        Self {
            a0: self.a0 + bytes,
            a1: self.a1 + bytes,
            ..self
        }
    }

    /// Moves the view into `whole`, and shrinks it if it is larger.
    #[must_use]
    pub fn clamp(self, whole: Self) -> Self {
        let (t0, t1) = clamp_span(self.t0, self.t1, whole.t0, whole.t1);
        let (a0, a1) = clamp_span(self.a0, self.a1, whole.a0, whole.a1);
        Self { t0, t1, a0, a1 }
    }
}

/// A viewport along an axis. Moves along time keep the step under the pointer in place, however wide steps are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View<'a> {
    viewport: Viewport,
    /// `None`: all steps are equally wide.
    axis: Option<&'a TimeAxis>,
    /// Places of both ends of the viewport on the axis.
    from: f64,
    to: f64,
}

impl Deref for View<'_> {
    type Target = Viewport;

    fn deref(&self) -> &Viewport {
        &self.viewport
    }
}

impl From<Viewport> for View<'_> {
    fn from(viewport: Viewport) -> Self {
        Self::new(viewport, None)
    }
}

impl From<&Viewport> for View<'_> {
    fn from(viewport: &Viewport) -> Self {
        Self::new(*viewport, None)
    }
}

impl From<&Self> for View<'_> {
    fn from(view: &Self) -> Self {
        *view
    }
}

impl<'a> View<'a> {
    /// O(1).
    pub fn new(viewport: Viewport, axis: Option<&'a TimeAxis>) -> Self {
        let mut view = Self {
            viewport,
            axis,
            from: 0.0,
            to: 0.0,
        };
        view.from = view.place(viewport.t0);
        view.to = view.place(viewport.t1);
        view
    }

    pub const fn viewport(&self) -> Viewport {
        self.viewport
    }

    /// `None`: all steps are equally wide.
    pub const fn axis(&self) -> Option<&'a TimeAxis> {
        self.axis
    }

    #[must_use]
    pub fn with(&self, viewport: Viewport) -> Self {
        Self::new(viewport, self.axis)
    }

    /// Distance of a step from the left edge of a picture of this width.
    pub fn x_from_step(&self, step: f64, width: f64) -> f64 {
        (self.place(step) - self.from) / self.span() * width
    }

    /// Inverse of [`Self::x_from_step`]. O(1), at worst O(log steps).
    pub fn step_from_x(&self, x: f64, width: f64) -> f64 {
        self.step(self.from + x / width.max(1e-9) * self.span())
    }

    /// The steps between two distances from the left edge.
    pub fn steps_between(&self, from: f64, to: f64, width: f64) -> (f64, f64) {
        (self.step_from_x(from, width), self.step_from_x(to, width))
    }

    /// The length of a range of steps, in the unit of the axis.
    pub fn length(&self, from: f64, to: f64) -> f64 {
        self.place(to) - self.place(from)
    }

    /// `factor` above 1 shows fewer steps; `step` keeps its place.
    #[must_use]
    pub fn zoom_steps(&self, factor: f64, step: f64) -> Viewport {
        let factor = usable(factor).min(self.span() / self.least()).max(f64::MIN_POSITIVE);
        let place = self.place(step);
        self.seen(place - (place - self.from) / factor, place + (self.to - place) / factor)
    }

    /// Moves by shares of the visible time, and by bytes.
    #[must_use]
    pub fn pan(&self, shares: f64, bytes: f64) -> Viewport {
        self.starting_at(self.from + shares * self.span()).up_by(bytes)
    }

    #[must_use]
    pub fn centred(&self, step: f64) -> Viewport {
        self.starting_at(self.place(step) - self.span() / 2.0)
    }

    /// Moves the start to `length` before a step, in the unit of the axis.
    #[must_use]
    pub fn starting_before(&self, step: f64, length: f64) -> Viewport {
        self.starting_at(self.place(step) - length)
    }

    /// Shows the steps between two, in either order, at the same addresses.
    #[must_use]
    pub fn between(&self, one: f64, other: f64) -> Viewport {
        let (one, other) = (self.place(one), self.place(other));
        let from = one.min(other);
        self.seen(from, one.max(other).max(from + self.least()))
    }

    /// Shows the steps at the same addresses; at least the minimum width, centred.
    #[must_use]
    pub fn over(&self, start: f64, end: f64) -> Viewport {
        let (from, to) = (self.place(start), self.place(end));
        let room = ((self.least() - (to - from)) / 2.0).max(0.0);
        self.seen(from - room, to + room)
    }

    /// Shows the steps and addresses with a margin, within `whole`.
    #[must_use]
    pub fn focus(&self, steps: (f64, f64), addresses: (f64, f64), whole: Viewport) -> Viewport {
        let (from, to) = with_room(self.place(steps.0), self.place(steps.1), self.least() * 4.0);
        let (a0, a1) = with_room(addresses.0, addresses.1, MIN_BYTES * 4.0);
        let seen = Viewport {
            a0,
            a1,
            ..self.seen(from, to)
        };
        self.with(seen).clamp(whole)
    }

    /// Adds `shares` of the width on both sides.
    #[must_use]
    pub fn widened(&self, shares: f64) -> Viewport {
        let more = self.span() * shares;
        self.seen(self.from - more, self.to + more)
    }

    /// Moves the view into `whole`, and shrinks it if it is larger.
    #[must_use]
    pub fn clamp(&self, whole: Viewport) -> Viewport {
        let most = self.with(whole);
        let (from, to) = clamp_span(self.from, self.to, most.from, most.to);
        let (a0, a1) = clamp_span(self.a0, self.a1, whole.a0, whole.a1);
        // Unchanged ends must be equal to the last bit, or a view would never come to rest.
        let step = |place: f64| match place {
            _ if place.to_bits() == self.from.to_bits() => self.t0,
            _ if place.to_bits() == self.to.to_bits() => self.t1,
            _ if place.to_bits() == most.from.to_bits() => whole.t0,
            _ if place.to_bits() == most.to.to_bits() => whole.t1,
            _ => self.step(place),
        };
        Viewport {
            t0: step(from),
            t1: step(to),
            a0,
            a1,
        }
    }

    fn starting_at(&self, from: f64) -> Viewport {
        self.seen(from, from + self.span())
    }

    fn seen(&self, from: f64, to: f64) -> Viewport {
        Viewport {
            t0: self.step(from),
            t1: self.step(to),
            ..self.viewport
        }
    }

    fn span(&self) -> f64 {
        self.to - self.from
    }

    fn place(&self, step: f64) -> f64 {
        self.axis.map_or(step, |axis| axis.place(step))
    }

    fn step(&self, place: f64) -> f64 {
        self.axis.map_or(place, |axis| axis.step(place))
    }

    /// Minimum width, in the unit of the axis.
    fn least(&self) -> f64 {
        MIN_STEPS * self.axis.map_or(1.0, TimeAxis::least)
    }
}

/// A view's scale on a canvas, computed once for many rectangles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale<'a> {
    view: View<'a>,
    height: f64,
    per_place: f64,
    per_byte: f64,
}

impl<'a> Scale<'a> {
    pub(super) fn new(view: View<'a>, canvas: Canvas) -> Self {
        Self {
            view,
            height: canvas.height,
            per_place: canvas.width / view.span(),
            per_byte: canvas.height / view.bytes(),
        }
    }

    #[inline]
    pub(super) fn x(&self, step: u32) -> f64 {
        let place = self.view.axis.map_or(f64::from(step), |axis| axis.place_at(step));
        (place - self.view.from) * self.per_place
    }

    #[expect(clippy::cast_precision_loss, reason = "a picture needs no more than 53 bits")]
    pub(super) fn y(&self, address: u64) -> f64 {
        self.height - (address as f64 - self.view.a0) * self.per_byte
    }
}

fn usable(factor: f64) -> f64 {
    if factor.is_finite() && factor > 0.0 {
        factor
    } else {
        1.0
    }
}

/// Adds half the length on both sides, and at least as much as makes `shortest`.
fn with_room(low: f64, high: f64, shortest: f64) -> (f64, f64) {
    let room = ((high - low) * 0.5).max((shortest - (high - low)) / 2.0);
    (low - room, high + room)
}

fn clamp_span(low: f64, high: f64, least: f64, most: f64) -> (f64, f64) {
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
