//! `--verify`: checks every plan and simulation of an answer before it is printed or written.

use clap::Args;

use super::say;
use highwater_analysis::{Comparison, Verification, Verified};
use highwater_model::progress::Progress;

/// Whether answers are verified.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct Verifying {
    /// Verify plans and simulations independently; exit 1 if one fails
    #[arg(long)]
    pub verify: bool,
}

impl Verifying {
    /// Whether the comparison holds, or is not verified; a line on standard error says which.
    pub(crate) fn holds(self, comparison: &Comparison, progress: &Progress<'_>) -> anyhow::Result<bool> {
        Ok(!self.verify || told(comparison.verify(progress)?))
    }
}

/// Says what was found, on standard error; whether it holds.
pub(crate) fn told(found: Verification) -> bool {
    match found {
        Ok(verified) => {
            say_verified(verified);
            true
        }
        Err(defect) => {
            say(&format!("--verify: {defect}"));
            false
        }
    }
}

/// What was verified, on standard error.
pub(crate) fn say_verified(verified: Verified) {
    if verified.simulations == 0 && verified.plans == 0 {
        return say("--verify: nothing to verify: the answer has no simulation and no plan");
    }
    let counted = |count: usize, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
    let simulations = counted(verified.simulations, "simulation");
    say(&format!("verified: {simulations}, {}", counted(verified.plans, "plan")));
}
