//! The y-axis of a lane's map: addresses of the common view and display addresses of the lane.

use highwater_timeline::{View, Viewport};

/// A display address is `floor + common * reach`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LaneScale {
    /// The display address at 0 of the common view, in bytes: constant regions below it are outside the scale.
    pub(super) floor: f64,
    /// The height of the lane, as a share of that of the highest lane; 1 where lanes share one y-axis.
    pub(super) reach: f64,
}

impl LaneScale {
    /// Both count in the same bytes from 0.
    pub(super) const COMMON: Self = Self { floor: 0.0, reach: 1.0 };

    /// The common view, with display addresses of the lane.
    pub(super) fn view<'a>(self, common: &View<'a>) -> View<'a> {
        common.with(Viewport {
            a0: self.address(common.a0),
            a1: self.address(common.a1),
            ..common.viewport()
        })
    }

    pub(super) fn address(self, common: f64) -> f64 {
        self.floor + common * self.reach
    }

    /// Inverse of [`Self::address`].
    pub(super) fn common(self, address: f64) -> f64 {
        (address - self.floor) / self.reach
    }
}
