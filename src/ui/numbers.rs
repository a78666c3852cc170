//! Casts that lose digits, each with the reason why the loss is invisible.

use highwater_model::units::Step;

/// A place on the screen: points fit f32.
#[expect(clippy::cast_possible_truncation, reason = "points on a screen fit f32")]
pub(crate) const fn to_points(place: f64) -> f32 {
    place as f32
}

/// Bytes or addresses on a scale: a picture needs no more than 53 bits.
#[expect(clippy::cast_precision_loss, reason = "a picture needs no more than 53 bits")]
pub(crate) const fn to_f64(number: u64) -> f64 {
    number as f64
}

/// A difference of bytes on a scale, likewise.
#[expect(clippy::cast_precision_loss, reason = "a picture needs no more than 53 bits")]
pub(crate) const fn signed_to_f64(number: i64) -> f64 {
    number as f64
}

/// A count as a factor of points.
#[expect(clippy::cast_precision_loss, reason = "rows and columns of a screen")]
pub(crate) const fn count_f32(number: usize) -> f32 {
    number as f32
}

/// The whole number below; 0 for negative ones.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "casts of floats saturate"
)]
pub(crate) const fn to_whole(number: f64) -> u64 {
    number as u64
}

/// The step at a place of the axis; the first one left of it.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "casts of floats saturate"
)]
pub(crate) const fn to_step(place: f64) -> Step {
    Step(place as u32)
}

/// How many whole ones, at least 1.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "casts of floats saturate"
)]
pub(crate) const fn at_least_one(number: f32) -> u32 {
    number.max(1.0) as u32
}

/// A part of a whole, from 0 to 1 where it is one; of nothing it is a part of 1.
pub(crate) fn part_of(part: u64, whole: u64) -> f64 {
    to_f64(part) / to_f64(whole.max(1))
}
