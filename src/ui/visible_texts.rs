//! Hidden characters become visible in every text that the window shows, hands to assistive technology or has as its title.
//!
//! A hook on the output of each frame: no label can forget it. The clipboard gets texts unchanged.

use std::borrow::Cow;
use std::sync::Arc;

use eframe::egui::epaint::{Shape, TextShape};
use eframe::egui::text::{ByteIndex, LayoutJob};
use eframe::egui::{Context, FullOutput, Plugin, Role, ViewportCommand, accesskit};

use highwater_model::visible::{is_hidden, visible};

#[derive(Debug, Default)]
pub(crate) struct VisibleTexts;

impl Plugin for VisibleTexts {
    fn debug_name(&self) -> &'static str {
        "visible texts"
    }

    fn output_hook(&mut self, ctx: &Context, output: &mut FullOutput) {
        for clipped in &mut output.shapes {
            clean_shape(ctx, &mut clipped.shape);
        }
        let nodes = output.platform_output.accesskit_update.iter_mut();
        for (_, node) in nodes.flat_map(|update| &mut update.nodes) {
            clean_node(node);
        }
        for viewport in output.viewport_output.values_mut() {
            for command in &mut viewport.commands {
                if let ViewportCommand::Title(title) = command {
                    *title = visible(title).replace(['\n', '\t'], " ");
                }
            }
        }
    }
}

fn clean_shape(ctx: &Context, shape: &mut Shape) {
    match shape {
        Shape::Vec(shapes) => shapes.iter_mut().for_each(|shape| clean_shape(ctx, shape)),
        Shape::Text(text) => clean_text(ctx, text),
        _ => {}
    }
}

fn clean_text(ctx: &Context, text: &mut TextShape) {
    if text.galley.text().contains(is_hidden) {
        let job = clean_job(&text.galley.job);
        text.galley = ctx.fonts_mut(|fonts| fonts.layout_job(job));
    }
}

/// The job with its formats, on visible text.
fn clean_job(job: &Arc<LayoutJob>) -> LayoutJob {
    let mut clean = LayoutJob::clone(job);
    clean.text.clear();
    for section in &mut clean.sections {
        let old = section.byte_range.start.0..section.byte_range.end.0;
        section.byte_range.start = ByteIndex(clean.text.len());
        clean.text.push_str(&visible(&job.text[old]));
        section.byte_range.end = ByteIndex(clean.text.len());
    }
    clean
}

fn clean_node(node: &mut accesskit::Node) {
    if let Some(Cow::Owned(label)) = node.label().map(visible) {
        node.set_label(label);
    }
    if let Some(Cow::Owned(description)) = node.description().map(visible) {
        node.set_description(description);
    }
    let Some(value) = node.value().filter(|value| value.contains(is_hidden)) else {
        return;
    };
    let value = if node.role() == Role::TextRun {
        same_lengths(value)
    } else {
        visible(value).into_owned()
    };
    node.set_value(value);
}

/// A run of text lists the bytes of its characters, so each stays as long as it was.
fn same_lengths(text: &str) -> String {
    let replaced = |letter: char| match (is_hidden(letter), letter.len_utf8()) {
        (false, _) => letter,
        (true, 1) => '?',
        (true, 2) => '¿',
        (true, _) => '\u{fffd}',
    };
    text.chars().map(replaced).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_follow_their_text() {
        use eframe::egui::{Color32, FontId, TextFormat};
        let mut job = LayoutJob::default();
        for (text, color) in [
            ("a\u{1b}b", Color32::RED),
            ("plain", Color32::BLUE),
            ("\u{202e}", Color32::RED),
        ] {
            job.append(text, 0.0, TextFormat::simple(FontId::default(), color));
        }
        let clean = clean_job(&Arc::new(job));
        let sections: Vec<&str> = clean
            .sections
            .iter()
            .map(|section| &clean.text[section.byte_range.start.0..section.byte_range.end.0])
            .collect();
        assert_eq!(sections, ["a\\x1bb", "plain", "\\u{202e}"]);
    }

    #[test]
    fn runs_keep_the_lengths_of_their_characters() {
        let text = "a\u{1b}\u{85}\u{202e}é";
        let clean = same_lengths(text);
        assert!(!clean.contains(is_hidden));
        let lengths = |text: &str| text.chars().map(char::len_utf8).collect::<Vec<_>>();
        assert_eq!(lengths(&clean), lengths(text));
    }
}
