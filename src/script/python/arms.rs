//! Arms of `if` and `match` whose conditions are known only at run time.

use std::rc::Rc;

use ruff_text_size::TextSize;

/// The possible arms of a statement at a point of the flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Arm {
    /// The start of the statement.
    pub(super) choice: TextSize,
    /// A bit per arm; arms from the 63rd on share one.
    pub(super) arms: u64,
    /// The line of the condition.
    pub(super) line: usize,
    /// The condition, for messages.
    pub(super) text: Rc<str>,
    pub(super) basis: Basis,
}

/// Why a place is in an arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Basis {
    /// It is in the arm, whose condition is unknown.
    Unknown,
    /// It is in the arm, which an assumption chooses, such as the default of a flag.
    Assumed,
    /// It follows the statement, and the flow ends in the other arms.
    Implied,
}

/// All arms around a place, outermost first.
pub(super) type Path = Vec<Arm>;

pub(super) const fn bit(arm: usize) -> u64 {
    1 << if arm < 63 { arm } else { 63 }
}

impl Arm {
    /// Whether no run of the script takes both.
    pub(super) const fn excludes(&self, other: &Self) -> bool {
        self.choice.to_u32() == other.choice.to_u32() && self.arms & other.arms == 0
    }
}

/// The innermost condition that nothing is known about. What follows a guard is no condition to report.
pub(super) fn condition(path: &[Arm]) -> Option<&Arm> {
    path.iter().rev().find(|arm| arm.basis == Basis::Unknown)
}

/// The innermost condition that another run of the script may not fulfil.
pub(super) fn open_condition(path: &[Arm]) -> Option<&Arm> {
    path.iter().rev().find(|arm| arm.basis != Basis::Implied)
}
