//! The whole configuration, and the commands that give the same figures.

use super::Report;
use crate::blocks::{Block, Table, code, paragraph, text};
use crate::device::device_table;
use highwater_model::units::grouped;
use highwater_options::find;

impl Report<'_> {
    /// Options, environment, schedule and device.
    pub(super) fn configuration_part(&self) -> Vec<Block> {
        let configuration = &self.subject.about.configuration;
        let caption = "Set options (others have defaults)";
        let mut options = Table::captioned(caption, &["option", "value", "what it is"]);
        for (key, value) in configuration.options.overrides() {
            let summary = find(key).map_or("", |row| row.summary);
            options.cells(vec![code(key), code(value), text(summary)]);
        }
        for (key, value) in &configuration.unknown_options {
            let unknown = text("unknown to this version; no effect");
            options.cells(vec![code(key), code(value), unknown]);
        }
        let mut environment = Table::captioned("Environment variables", &["variable", "value"]);
        for (name, value) in configuration.environment.iter() {
            environment.cells(vec![code(name), code(value)]);
        }
        let mut blocks = Vec::new();
        if options.is_empty() {
            blocks.push(paragraph("No option is set."));
        }
        blocks.push(options.into());
        if configuration.environment.is_empty() {
            blocks.push(paragraph("No environment variable is set."));
        }
        blocks.push(environment.into());
        if self.comparison.study().is_simulated() {
            blocks.extend([self.schedule().into(), device_table(&self.comparison.device).into()]);
        }
        blocks
    }

    fn schedule(&self) -> Table {
        let configuration = &self.subject.about.configuration;
        let mut table = Table::captioned("Schedule", &["what", "value"]);
        if let Some(schedule) = &configuration.schedule {
            table.row(&[&"iterations", &grouped(u64::from(schedule.iterations))]);
            for (name, values) in &schedule.dims {
                let values: Vec<String> = values.iter().map(|value| grouped(*value)).collect();
                table.row(&[&format!("dimension {name}"), &values.join(", ")]);
            }
            for (position, entry) in schedule.entries.iter().enumerate() {
                table.cells(vec![text(format!("entry {}", position + 1)), code(entry)]);
            }
        }
        let evaluation = if configuration.evaluation { "yes" } else { "no" };
        table.row(&[&"evaluation in addition to training", &evaluation]);
        table.row(&[&"runs", &grouped(self.comparison.axis.runs.len() as u64)]);
        table
    }

    /// Commands with the same figures, and what the commands leave out.
    pub(super) fn reproduction_part(&self) -> Vec<Block> {
        let about = &self.subject.about;
        let mut blocks = Vec::new();
        if about.commands.is_empty() {
            blocks.push(paragraph("No command line reproduces these figures."));
        }
        for (what, command) in &about.commands {
            blocks.extend([paragraph(what), Block::Command(command.clone())]);
        }
        blocks.push(Block::List(about.beside.iter().map(|words| (0, text(words))).collect()));
        blocks.push(paragraph(
            "The page has no date: the same files, options and version of highwater give the same page.",
        ));
        blocks
    }
}
