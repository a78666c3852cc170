//! The answer of `learn`: the settings that recordings of a workload teach.

use serde::Serialize;
use serde_json::json;

use super::answer::{Answer, Page, diagnostics_blocks};
use super::blocks::{Block, paragraph, text};
use super::json_parts::diagnostics_json;
use super::record::{Record, Rows};
use highwater_analysis::{Calibration, LearnedSetting};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::units::counted;
use highwater_options::Options;

#[derive(Clone, Copy, Debug)]
pub struct LearnAnswer<'a> {
    pub workload: &'a str,
    pub learned: &'a [Calibration],
    /// Those that are set already.
    pub options: &'a Options,
    /// The importer's diagnostics.
    pub import: &'a Diagnostics,
}

impl Answer for LearnAnswer<'_> {
    fn page(&self) -> Page {
        let mut blocks: Vec<Block> = self.learned.iter().map(|one| self.block(one)).collect();
        if self.learned.is_empty() {
            let words = "Nothing was learned: the recordings hold neither blocks nor measured ops.";
            blocks.push(paragraph(words));
        }
        blocks.extend(diagnostics_blocks(self.import));
        Page(blocks)
    }

    fn json(&self) -> impl Serialize {
        let learned = Rows::new(self.learned, |one| {
            let settings = Rows::new(&one.settings, |setting| {
                Record::new()
                    .key("key", setting.key)
                    .key("now", &setting.now)
                    .key("learned", &setting.learned)
                    .key("from", &setting.from)
                    .key("poor_fit", setting.poor_fit.as_ref())
            });
            Record::new()
                .key("recording", &one.recording)
                .key("graph", one.graph.as_ref())
                .key("settings", settings)
                .key("notes", json!(one.notes))
        });
        Record::new()
            .key("workload", self.workload)
            .key("learned", learned)
            .key("diagnostics", diagnostics_json(self.import))
    }
}

impl LearnAnswer<'_> {
    fn block(&self, one: &Calibration) -> Block {
        let of = one
            .graph
            .as_ref()
            .map_or_else(String::new, |graph| format!(" (ops of {graph})"));
        let count = counted(one.settings.len() as u64, "setting");
        let mut items = vec![(0, format!("{}{of}: {count}", one.recording))];
        for setting in &one.settings {
            let is_set = if self.is_set(setting) { " (set already)" } else { "" };
            items.push((1, format!("{}={}{is_set}", setting.key, shortened(&setting.learned))));
            items.push((2, format!("now {}", shortened(&setting.now))));
            items.push((2, setting.from.clone()));
            items.extend(setting.poor_fit.iter().map(|why| (2, why.clone())));
        }
        items.extend(one.notes.iter().map(|note| (1, note.clone())));
        let items = items.into_iter().map(|(depth, words)| (depth, text(words)));
        Block::Lines(items.collect())
    }

    fn is_set(&self, setting: &LearnedSetting) -> bool {
        let value = self.options.get(setting.key);
        value.is_some_and(|value| value.to_string() == setting.learned)
    }
}

/// A value cut to one line of a terminal; JSON and the configuration have all of it.
fn shortened(text: &str) -> String {
    const MOST: usize = 160;
    if text.chars().count() <= MOST {
        return text.to_owned();
    }
    let head: String = text.chars().take(MOST).collect();
    format!("{head}... ({} letters; --format json has all)", text.chars().count())
}
