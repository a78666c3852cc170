//! Shape inference for every format: symbolic arithmetic, small values, and the bodies of shape rules.
//!
//! Importers keep the tables of their ops and read attributes; where frameworks differ on purpose, a rule takes the
//! difference as a parameter.

pub(super) mod arith;
pub(super) mod attribute;
pub(super) mod call;
pub(super) mod constant;
pub(super) mod elementwise;
pub(super) mod fact;
pub(super) mod generate;
pub(super) mod layout;
pub(super) mod order;
pub(super) mod pick;
pub(super) mod products;
pub(super) mod reduce;
pub(super) mod sizes;
pub(super) mod sym;
pub(super) mod value;
pub(super) mod versions;
pub(super) mod window;
