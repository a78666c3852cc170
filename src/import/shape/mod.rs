//! What shape inference of any format needs: symbolic arithmetic, small values, sizes of results.
//!
//! In: dimensions, numbers and elements as an importer's rules read them from its nodes. Out: the same of their
//! results, over expressions that a graph takes over. Deliberately not here: ops, attributes and names of any
//! format; those are tables of the importers.

pub(super) mod arith;
pub(super) mod fact;
pub(super) mod products;
pub(super) mod sizes;
pub(super) mod slide;
pub(super) mod sym;
pub(super) mod value;
