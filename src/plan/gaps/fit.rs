//! The offset of one shape among placed ones: the lowest gap that fits, or the tightest.

use super::Placed;
use crate::field::Field;

/// The gap for a shape. Where none fits, it goes above all its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    /// The lowest one.
    First,
    /// The smallest one; the lowest on a tie.
    Best,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    pub(crate) offset: u64,
    /// Whether it is above all neighbours.
    pub(crate) is_top: bool,
}

/// Reused memory.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    forbidden: Vec<(i64, i64)>,
}

impl Scratch {
    /// The gap for a shape among `near`, sorted by offset; shapes that it does not overlap are skipped.
    pub(crate) fn gap(&mut self, field: &Field<'_>, idx: u32, near: &[Placed], fit: Fit) -> Gap {
        if field.shapes.is_plain {
            plain(field, idx, near, fit)
        } else {
            self.true_shapes(field, idx, near, fit)
        }
    }

    /// For shapes of several pieces: every neighbour excludes an open interval of offsets.
    fn true_shapes(&mut self, field: &Field<'_>, idx: u32, near: &[Placed], fit: Fit) -> Gap {
        self.forbidden.clear();
        let (lower, upper) = (field.lower[idx as usize], field.upper[idx as usize]);
        for other in near.iter().filter(|other| other.lower < upper && lower < other.upper) {
            let below = field.shapes.separation(idx, other.item);
            let above = field.shapes.separation(other.item, idx);
            if below > 0 && above > 0 {
                let offset = signed(other.offset);
                self.forbidden.push((offset - signed(below), offset + signed(above)));
            }
        }
        self.forbidden.sort_unstable();
        let align = Align(field.items()[idx as usize].alignment);
        let (mut end, mut best) = (0_i64, None);
        for (from, to) in &self.forbidden {
            let offset = align.up(end.unsigned_abs());
            let room = *from - end;
            if signed(offset) <= *from && best.is_none_or(|(smallest, _)| room < smallest) {
                best = Some((room, offset));
                if fit == Fit::First {
                    break;
                }
            }
            end = end.max(*to);
        }
        match best {
            Some((_, offset)) => Gap { offset, is_top: false },
            None => Gap {
                offset: align.up(end.unsigned_abs()),
                is_top: true,
            },
        }
    }
}

/// For rectangles: a gap is between the highest end so far and the next offset.
fn plain(field: &Field<'_>, idx: u32, near: &[Placed], fit: Fit) -> Gap {
    let item = &field.items()[idx as usize];
    let (lower, upper) = (field.lower[idx as usize], field.upper[idx as usize]);
    let align = Align(item.alignment);
    // `need` is the lowest offset of a neighbour that leaves room above `end`.
    let (mut end, mut need) = (0_u64, item.size);
    let mut best: Option<(u64, u64)> = None;
    for other in near {
        if other.lower >= upper || lower >= other.upper {
            continue;
        }
        if other.offset >= need {
            let room = other.offset - end;
            if best.is_none_or(|(smallest, _)| room < smallest) {
                best = Some((room, need - item.size));
                if fit == Fit::First {
                    break;
                }
            }
        }
        if other.end > end {
            end = other.end;
            need = align.up(end) + item.size;
        }
    }
    match best {
        Some((_, offset)) => Gap { offset, is_top: false },
        None => Gap {
            offset: need - item.size,
            is_top: true,
        },
    }
}

/// Rounds offsets up to a divisor; cheap for powers of two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Align(pub(crate) u64);

impl Align {
    /// Valid problems stay far below 2^63.
    pub(crate) fn up(self, offset: u64) -> u64 {
        if self.0.is_power_of_two() {
            (offset + self.0 - 1) & !(self.0 - 1)
        } else {
            offset.next_multiple_of(self.0)
        }
    }
}

/// Valid problems stay below 2^62.
pub(crate) fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
