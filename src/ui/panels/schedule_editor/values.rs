//! Values of a dimension within an entry: generator, text, preview.

use std::collections::BTreeMap;

use eframe::egui::{self, ComboBox, RichText, Role};

use super::Shown;
use crate::combo::ShowChoices as _;
use crate::widgets::Named as _;
use highwater_model::units::grouped;
use highwater_model::workload::Generator;
use highwater_session::Command;

/// Values listed by a preview.
const PREVIEWED: usize = 6;

#[derive(Clone, Copy, PartialEq, Eq)]
enum From {
    Session,
    List,
    Range,
    LogUniform,
    ShapeRange,
}

impl From {
    const ALL: [Self; 5] = [
        Self::Session,
        Self::List,
        Self::Range,
        Self::LogUniform,
        Self::ShapeRange,
    ];

    const fn of(generator: Option<&Generator>) -> Self {
        match generator {
            None => Self::Session,
            Some(Generator::List(_)) => Self::List,
            Some(Generator::Range { .. }) => Self::Range,
            Some(Generator::LogUniform { .. }) => Self::LogUniform,
            Some(Generator::ShapeRange { .. }) => Self::ShapeRange,
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Session => "same as session",
            Self::List => "list",
            Self::Range => "range",
            Self::LogUniform => "log-uniform",
            Self::ShapeRange => "shape range",
        }
    }

    const fn explanation(self) -> &'static str {
        match self {
            Self::Session => "values of this dimension from the session, an option or a sample",
            Self::List => "values one by one: 8,16,32",
            Self::Range => "from one value to another by a step: 8..64 step 8",
            Self::LogUniform => "a log-uniform random sample with a fixed seed: 8..1024 log 5 seed 7",
            Self::ShapeRange => "a dimension of dynamic_inputs_shape_range: 8~1024 samples 4, evenly spread by ratio",
        }
    }

    /// A generator of this kind near the earlier values.
    fn generator(self, values: &[u64]) -> Option<Generator> {
        let min = values.iter().copied().min().unwrap_or(8);
        let max = values.iter().copied().max().unwrap_or(64);
        let max = if max > min { max } else { min.max(1).saturating_mul(8) };
        match self {
            Self::Session => None,
            Self::List => Some(Generator::List(values.iter().copied().take(64).collect())),
            Self::Range => Some(Generator::Range {
                first: min,
                last: max,
                step: ((max - min) / 4).max(1),
            }),
            Self::LogUniform => Some(Generator::LogUniform {
                min: min.max(1),
                max,
                count: 4,
                seed: 0,
            }),
            Self::ShapeRange => Some(Generator::ShapeRange { min, max, samples: 4 }),
        }
    }
}

pub(super) fn values_ui(
    ui: &mut egui::Ui,
    shown: Shown<'_>,
    position: usize,
    dim: &String,
    texts: &mut BTreeMap<(usize, String), (String, String)>,
    commands: &mut Vec<Command>,
) {
    let Some(entry) = shown.plan.entries.get(position) else {
        return;
    };
    let generator = entry.dims.get(dim);
    let session = shown.session;
    let of_session = session.scheduled().dims.get(dim);
    let values = match generator {
        Some(generator) => generator.values(),
        None => of_session.cloned().unwrap_or_default(),
    };
    let mut problem = None;
    ui.horizontal_wrapped(|ui| {
        ui.add_space(22.0);
        ui.label(dim.as_str());
        from_ui(ui, shown, position, dim, From::of(generator), &values, commands);
        match generator {
            Some(generator) => problem = text_ui(ui, shown, position, dim, generator, texts, commands),
            None => drop(texts.remove(&(position, dim.clone()))),
        }
        ui.weak(preview(&values));
    });
    if let Some(problem) = problem {
        ui.label(RichText::new(format!("     {problem}")).small().color(shown.theme.bad));
    }
}

fn preview(values: &[u64]) -> String {
    let listed: Vec<String> = values.iter().take(PREVIEWED).map(u64::to_string).collect();
    match values.len() {
        0 => "no value yet".to_owned(),
        1 => format!("= {}", listed[0]),
        count if count > PREVIEWED => format!("= {}, … ({} values)", listed.join(", "), grouped(count as u64)),
        _ => format!("= {}", listed.join(", ")),
    }
}

fn from_ui(
    ui: &mut egui::Ui,
    shown: Shown<'_>,
    position: usize,
    dim: &String,
    from: From,
    values: &[u64],
    commands: &mut Vec<Command>,
) {
    ComboBox::from_id_salt("from")
        .selected_text(from.words())
        .width(92.0)
        .show_choices(ui, |ui| {
            for kind in From::ALL {
                let choice = ui.selectable_label(kind == from, kind.words());
                if choice.on_hover_text(kind.explanation()).clicked() && kind != from {
                    let generator = kind.generator(values);
                    commands.push(shown.edited(
                        |entries| {
                            let dims = &mut entries[position].dims;
                            match generator {
                                Some(generator) => drop(dims.insert(dim.clone(), generator)),
                                None => drop(dims.remove(dim)),
                            }
                        },
                        None,
                    ));
                }
            }
        })
        .named(Role::ComboBox, || {
            format!(
                "entry {}: where values of {dim} come from, {}",
                position + 1,
                from.words()
            )
        });
}

/// The field with the generator's text; returns what is wrong with it.
fn text_ui(
    ui: &mut egui::Ui,
    shown: Shown<'_>,
    position: usize,
    dim: &String,
    generator: &Generator,
    texts: &mut BTreeMap<(usize, String), (String, String)>,
    commands: &mut Vec<Command>,
) -> Option<String> {
    let current = generator.to_string();
    let fresh = || (current.clone(), current.clone());
    let (text, known) = texts.entry((position, dim.clone())).or_insert_with(fresh);
    let words = format!("entry {}: values of {dim}", position + 1);
    let response = ui.add(egui::TextEdit::singleline(text).desired_width(150.0));
    let response = response.named_field(text, || &words);
    let parsed = text.parse::<Generator>();
    if response.changed() {
        if let Ok(generator) = &parsed {
            known.clone_from(&generator.to_string());
            let generator = generator.clone();
            let change = |entries: &mut Vec<highwater_model::workload::ScheduleEntry>| {
                entries[position].dims.insert(dim.clone(), generator);
            };
            commands.push(shown.edited(change, Some(words)));
        }
    } else if !response.has_focus() || *known != current {
        text.clone_from(&current);
        known.clone_from(&current);
    }
    if response.lost_focus() {
        commands.push(Command::EndTyping);
    }
    parsed
        .err()
        .filter(|_| response.has_focus())
        .map(|error| error.to_string())
}
