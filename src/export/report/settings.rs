//! The whole configuration, and the commands that give the same figures.

use super::Report;
use super::page::{Page, Table, bytes};
use crate::svg::text::escaped;
use highwater_model::units::{Bytes, grouped};
use highwater_model::workload::{DeviceFigure, FigureUnit};
use highwater_options::find;

impl Report<'_> {
    /// Options, environment, schedule, device.
    pub(super) fn configuration(&self, page: &mut Page) {
        let configuration = &self.subject.about.configuration;
        let mut options = Table::new(
            "Options that are set; all others have their defaults",
            &["option", "value", "what it is"],
        );
        for (key, value) in configuration.options.overrides() {
            let summary = find(key).map_or("", |row| row.summary);
            options.row(vec![
                format!("<code>{}</code>", escaped(key)),
                format!("<code>{}</code>", escaped(&value.to_string())),
                escaped(summary),
            ]);
        }
        for (key, value) in &configuration.unknown_options {
            options.row(vec![
                format!("<code>{}</code>", escaped(key)),
                format!("<code>{}</code>", escaped(&value.to_string())),
                "not known to this version; it changes nothing here".to_owned(),
            ]);
        }
        let is_plain = configuration.options.overrides().next().is_none() && configuration.unknown_options.is_empty();
        if is_plain {
            page.line("p", "No option is set: all have their defaults.");
        }
        page.table(&options);
        let mut environment = Table::new("Variables of the environment", &["variable", "value"]);
        for (name, value) in configuration.environment.iter() {
            environment.row(vec![
                format!("<code>{}</code>", escaped(name)),
                format!("<code>{}</code>", escaped(value)),
            ]);
        }
        if configuration.environment.is_empty() {
            page.line("p", "No variable of the environment is set.");
        }
        page.table(&environment);
        if !self.comparison.is_measured() && !self.comparison.is_problem() {
            page.table(&self.schedule());
            page.table(&self.device());
        }
    }

    fn schedule(&self) -> Table {
        let configuration = &self.subject.about.configuration;
        let mut table = Table::new("Schedule", &["what", "value"]);
        if let Some(schedule) = &configuration.schedule {
            table.row(vec!["iterations".to_owned(), grouped(u64::from(schedule.iterations))]);
            for (name, values) in &schedule.dims {
                let values: Vec<String> = values.iter().map(|value| grouped(*value)).collect();
                table.row(vec![format!("dimension {}", escaped(name)), values.join(", ")]);
            }
        }
        for (position, entry) in configuration.schedule.iter().flat_map(|plan| &plan.entries).enumerate() {
            table.row(vec![
                format!("entry {}", position + 1),
                format!("<code>{}</code>", escaped(&entry.to_string())),
            ]);
        }
        let evaluation = if configuration.evaluation { "yes" } else { "no" };
        table.row(vec!["evaluation beside training".to_owned(), evaluation.to_owned()]);
        table.row(vec!["runs".to_owned(), grouped(self.comparison.axis.runs.len() as u64)]);
        table
    }

    /// The device with its figures; those that are estimates say so.
    fn device(&self) -> Table {
        let device = &self.comparison.device;
        let mut table = Table::new("Device", &["what", "value", "basis"]);
        table.row(vec![
            "profile".to_owned(),
            escaped(&device.name),
            escaped(&device.summary),
        ]);
        for figure in DeviceFigure::ALL {
            let value = match figure.unit() {
                FigureUnit::Bytes => bytes(Bytes(device.figure(figure))),
                FigureUnit::BytesPerSecond => format!("{}/s", bytes(Bytes(device.figure(figure)))),
                unit @ (FigureUnit::Nanoseconds | FigureUnit::OperationsPerSecond) => unit.text(device.figure(figure)),
            };
            let basis = device.basis(figure);
            let mark = basis.mark().map_or_else(String::new, |mark| format!(" ({mark})"));
            table.row(vec![
                format!("{}{mark}", figure.label()),
                value,
                escaped(&basis.sentence()),
            ]);
        }
        table
    }

    /// Commands, and what they do not say.
    pub(super) fn reproduce(&self, page: &mut Page) {
        let about = &self.subject.about;
        if about.commands.is_empty() {
            page.line("p", "No command line gives these figures.");
        }
        for (what, command) in &about.commands {
            page.line("p", what);
            page.command(command);
        }
        let beside: Vec<String> = about.beside.iter().map(|text| escaped(text)).collect();
        page.list(&beside);
        page.line(
            "p",
            "The same files, options and version of highwater give the same bytes: this page has no date.",
        );
    }
}
