//! `peak --tree`, `--format folded` and `--format svg`: live bytes by call stack.

use anyhow::bail;

use crate::args::{Format, PeakArgs};
use highwater_export::{FlameAnswer, SvgColors, flame_svg, flame_text, folded_stacks};
use highwater_timeline::{FlameRequest, PeakRequest};

/// # Errors
/// The format does not suit the answer.
pub(super) fn check_forms(args: &PeakArgs) -> anyhow::Result<()> {
    use Format::{Csv, Folded, Json, Markdown, Svg, Text};
    args.format.check(&[Text, Json, Csv, Markdown, Folded, Svg])?;
    if args.stacks.tree && matches!(args.format, Csv | Markdown) {
        bail!("--tree is written as text, json, folded or svg");
    }
    if (args.segments || args.growth.is_some() || args.events.is_some()) && has_tree(args) {
        bail!("--segments, --events and --growth are written as text, markdown, json or csv");
    }
    if (args.stacks.inverse || args.stacks.cpp_frames) && !has_tree(args) {
        bail!("--inverse and --cpp-frames are for --tree, --format folded and --format svg");
    }
    Ok(())
}

/// Whether the answer is or has a tree of call stacks.
pub(super) fn has_tree(args: &PeakArgs) -> bool {
    args.stacks.tree || matches!(args.format, Format::Folded | Format::Svg)
}

pub(super) const fn tree_request(args: &PeakArgs, ask: PeakRequest) -> FlameRequest {
    FlameRequest {
        lane: ask.lane,
        at: ask.at,
        is_inverse: args.stacks.inverse,
        keeps_native: args.stacks.cpp_frames,
    }
}

/// The whole answer, where the tree is that.
pub(super) fn tree_text(format: Format, tree: &FlameAnswer<'_>) -> Option<String> {
    match format {
        Format::Text => Some(flame_text(tree)),
        Format::Folded => Some(folded_stacks(tree.graph)),
        Format::Svg => Some(flame_svg(tree, &SvgColors::print())),
        Format::Json | Format::Csv | Format::Markdown | Format::Schema | Format::DocumentSchema => None,
    }
}
