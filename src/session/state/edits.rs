//! Edits of the settings: from commands, from undo and redo, from configuration files.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use super::super::commands::Command;
use super::super::config::{apply_config, config_from_document};
use super::super::document::Document;
use super::super::files::all_paths;
use super::super::history::{BASELINE, BOOKMARKS, Settings};
use super::super::jobs::{Drawing, Job, LaneInView, ReadConfig};
use super::{Notice, Session};
use highwater_analysis::{Comparison, Lane, LaneId, LaneSet, LaneStrategies, RematLane};
use highwater_export::{WRITTEN_FORMS, writer_of};
use highwater_model::units::Bytes;
use highwater_options::{Environment, OptionError, Options, SeenFiles, check_scheduled, effective_values};
use highwater_rewrite::remat::Budget;

impl Session {
    /// Whether there is a step to undo, and one to do again.
    pub fn can_undo_redo(&self) -> (bool, bool) {
        self.history.can()
    }

    /// Commands that change the settings.
    pub(super) fn edit(&mut self, command: Command) {
        let before = self.document.clone();
        let settings = Settings::of(&before, &self.assumed);
        let typing = match &command {
            Command::TypeOption { key: name, .. }
            | Command::TypeEnvironment { name, .. }
            | Command::SetDim { name, .. } => Some(name.clone()),
            Command::SetIterations(_) => Some("iterations".to_owned()),
            Command::SetEntries { field, .. } => field.clone(),
            Command::SetRematBudget { lane, .. } => Some(format!("budget of lane {lane}")),
            _ => None,
        };
        self.notice = None;
        if let Err(error) = self.change(command) {
            self.notice = Some(Notice::Failed(error.to_string()));
        }
        if self.document != before {
            self.history.record(settings, typing);
            self.settle_edit(before);
        }
    }

    /// Applies one edit to the document.
    fn change(&mut self, command: Command) -> Result<(), OptionError> {
        let Document {
            options, environment, ..
        } = &mut self.document;
        match command {
            Command::SetOption { key, text } | Command::TypeOption { key, text } => options.set_text(&key, &text)?,
            Command::SetValue { key, value } => options.set(&key, value)?,
            Command::UseSettings(settings) => {
                options.extend(&settings.options);
                for (name, text) in settings.environment.iter() {
                    environment.set(name, text);
                }
            }
            Command::RemoveUnknown(key) => {
                self.document.unknown_options.shift_remove(&key);
            }
            Command::ApplyFix(fix) => fix.apply(options, environment),
            Command::ResetOption(key) => options.reset(&key),
            Command::ResetAll => {
                *options = Options::default();
                *environment = Environment::default();
                self.document.unknown_options.clear();
                self.remarks.clear();
            }
            Command::SetEnvironment { name, value } => match value {
                Some(value) => environment.set(&name, &value),
                None => environment.remove(&name),
            },
            Command::TypeEnvironment { name, text } if text.is_empty() => environment.remove(&name),
            Command::TypeEnvironment { name, text } => environment.set(&name, &text),
            Command::SetDim { name, values } if values.is_empty() => {
                self.document.plan.dims.remove(&name);
            }
            Command::SetDim { name, values } => {
                self.assumed.remove(&name);
                self.document.plan.dims.insert(name, values);
            }
            Command::SetIterations(iterations) => self.document.plan.iterations = iterations.max(1),
            Command::SetEntries { entries, .. } => self.document.plan.entries = entries,
            Command::RenameGraph { own, name } => {
                self.rename_graph(own, &name);
                return Ok(());
            }
            Command::SetStrategy { lane, strategy } => {
                self.choose_strategy(lane, strategy);
                return Ok(());
            }
            Command::SetRematBudget { lane, budget } => {
                self.set_budget(lane, budget);
                return Ok(());
            }
            Command::ShowPart(part) => {
                // Lanes and choices of before were of something else.
                self.document.part = part;
                self.document.lanes = LaneSet::default();
                self.document.strategies = LaneStrategies::default();
            }
            Command::UseConfiguration(configuration) => self.use_configuration(*configuration),
            Command::SetLanes(lanes) => self.document.lanes = lanes,
            Command::AddRematLane(lane) => self.add_remat_lane(lane),
            Command::RemoveRematLane(position) => self.remove_remat_lane(position),
            Command::SetEvaluation(is_on) => self.document.with_evaluation = is_on,
            _ => {}
        }
        Ok(())
    }

    /// Gives a graph another name; one that another graph has gets the lowest number that makes it new.
    fn rename_graph(&mut self, own: String, name: &str) {
        let plan = &mut self.document.plan;
        let graphs = self.loaded.as_ref().map(|loaded| loaded.whole.scheduled_graphs());
        let others = graphs.unwrap_or_default().into_iter().filter(|graph| graph.name != own);
        let taken: BTreeSet<String> = others.map(|graph| plan.shown_name(&graph.name).to_owned()).collect();
        let name = name.trim();
        let wanted = if name.is_empty() { own.as_str() } else { name };
        let numbered = (2..).map(|number: u32| format!("{wanted} ({number})"));
        let mut names = std::iter::once(wanted.to_owned()).chain(numbered);
        let Some(free) = names.find(|name| !taken.contains(name)) else {
            return;
        };
        if free == own {
            plan.names.remove(&own);
        } else {
            plan.names.insert(own, free);
        }
    }

    /// Gives a lane another budget. Where the lanes on the screen are those that a tape opens with, they are kept as
    /// they are from then on.
    fn set_budget(&mut self, lane: usize, budget: Bytes) {
        if !matches!(self.document.lanes, LaneSet::Remat(_)) {
            let lanes = self.answer.as_ref().map(|(comparison, _)| budget_lanes(comparison));
            let Some(lanes) = lanes.filter(|lanes| lane < lanes.len()) else {
                return;
            };
            self.document.lanes = LaneSet::Remat(lanes);
        }
        if let LaneSet::Remat(lanes) = &mut self.document.lanes
            && let Some(lane) = lanes.get_mut(lane)
        {
            lane.budget = Budget::Bytes(budget);
        }
    }

    /// Takes the settings one step back or forth.
    pub(super) fn step(&mut self, is_back: bool) {
        let before = self.document.clone();
        let verb = if is_back { "undone" } else { "done again" };
        let stepped = self.history.step(&mut self.document, &self.assumed, is_back);
        let only_marks = |names: &&Vec<String>| {
            !names.is_empty() && names.iter().all(|name| [BASELINE, BOOKMARKS].contains(&name.as_str()))
        };
        if let Some(names) = stepped.as_ref().filter(only_marks) {
            // Nothing else changed: what was assumed stays, and so does the answer.
            let bookmarks = std::mem::take(&mut self.document.bookmarks);
            let baseline = self.document.baseline;
            self.document = Document {
                bookmarks,
                baseline,
                ..before
            };
            self.keep_marks();
            self.notice = Some(Notice::Done(format!("{verb}: {}", first_three(names))));
            return;
        }
        let Some(names) = stepped else {
            let what = if is_back { "undo" } else { "do again" };
            self.notice = Some(Notice::Done(format!("there is nothing to {what}")));
            return;
        };
        self.stepped = names.first().cloned();
        self.notice = Some(Notice::Done(format!("{verb}: {}", first_three(&names))));
        // The settings that are back hold no value that was only assumed.
        self.assumed.clear();
        if self.document != before {
            let notice = self.notice.take();
            self.settle_edit(before);
            self.notice = notice;
        }
    }

    /// Everything that follows from changed settings: findings, files to look at, a new answer.
    pub(super) fn settle_edit(&mut self, before: Document) {
        self.check();
        // What is read again has other parts; the answer of the reading looks for this one.
        let is_same =
            self.document.with_evaluation == before.with_evaluation && self.document.sources == before.sources;
        if self.document.part != before.part && is_same {
            self.show_part();
        }
        if self.document.sources != before.sources {
            self.stop_sweep();
            self.drop_sweep();
            self.drop_space();
            self.drop_names();
            self.selection.clear();
            self.drop_matches();
        }
        if is_same {
            self.compare();
        } else {
            if self.loaded.is_some() && self.load_generation == 0 {
                self.opened = Some(before);
            }
            self.load();
        }
    }

    /// Looks at the part that the document names. What was selected or swept was of something else.
    pub(super) fn show_part(&mut self) {
        let Some(loaded) = &mut self.loaded else { return };
        let known = Arc::clone(&loaded.workload);
        if let Some(part) = &mut self.document.part {
            *part = loaded.name_of(part).to_owned();
        }
        if !loaded.show(self.document.part.as_deref()) && !loaded.lacks_a_source() {
            // The files changed, or the evaluation graph is gone.
            self.document.part = None;
        }
        if !Arc::ptr_eq(&known, &loaded.workload) {
            self.stop_sweep();
            self.drop_sweep();
            self.drop_space();
            self.drop_names();
            self.selection.clear();
        }
    }

    /// Findings and acting values, with the files as they were seen last; asks the worker to look again where
    /// options name files.
    pub(super) fn check(&mut self) {
        self.judge();
        let Document {
            options,
            environment,
            pins,
            ..
        } = &self.document;
        let paths = all_paths(options, environment, pins);
        // Nothing is read again for each letter that is typed into another field.
        let is_news = paths != self.looked_at || !self.history.is_typing();
        if is_news && (!paths.is_empty() || *self.files != SeenFiles::default()) {
            self.looked_at.clone_from(&paths);
            self.look_generation = self.worker.send(Job::ProbeFiles(paths));
        }
    }

    /// Findings and acting values.
    pub(super) fn judge(&mut self) {
        let Document {
            options,
            environment,
            plan,
            ..
        } = &self.document;
        self.findings = check_scheduled(options, environment, &*self.files, plan);
        self.effective = effective_values(options, environment, &*self.files)
            .into_iter()
            .collect();
    }

    pub(super) fn export_config(&mut self, path: PathBuf) {
        let comparison = self.answer.as_ref().filter(|_| !self.is_stale()).map(|(c, _)| &**c);
        let mut chosen = self.document.clone();
        chosen.plan.dims.retain(|name, _| !self.assumed.contains(name));
        let config = config_from_document(&chosen, comparison);
        let Some(write) = writer_of(&path.display().to_string()) else {
            self.notice = Some(Notice::Failed(format!("{}: {WRITTEN_FORMS}", path.display())));
            return;
        };
        let text = write(&config);
        self.send_write(Job::Write {
            path,
            bytes: text.into_bytes(),
        });
    }

    pub(super) fn draw_lane(&mut self, path: PathBuf, lane: LaneId, view: LaneInView) {
        let shown = self.answer.as_ref();
        let drawing = shown.and_then(|(comparison, timeline)| {
            let lane = comparison.lanes.iter().position(|known| known.id == lane)?;
            Some(Drawing {
                path,
                comparison: Arc::clone(comparison),
                timeline: Arc::clone(timeline),
                lane,
                view,
                look: self.look(),
            })
        });
        match drawing {
            Some(drawing) => {
                self.send_write(Job::WriteDrawing(Box::new(drawing)));
            }
            None => self.notice = Some(Notice::Failed("there is no such lane to draw".to_owned())),
        }
    }

    pub(super) fn take_config(&mut self, read: ReadConfig) {
        let ReadConfig { name, config, remarks } = read;
        let before = self.document.clone();
        let settings = Settings::of(&before, &self.assumed);
        // Values that were only assumed must not turn into the user's.
        let assumed = std::mem::take(&mut self.assumed);
        self.document.plan.dims.retain(|name, _| !assumed.contains(name));
        apply_config(&config, &mut self.document);
        if self.document != before {
            self.history.record(settings, None);
            self.settle_edit(before);
        }
        let n_set = config.options.overrides().count() + config.environment.iter().count();
        let noun = if n_set == 1 { "setting" } else { "settings" };
        let odd = match remarks.entries().len() {
            0 => String::new(),
            1 => "; 1 remark, see Problems".to_owned(),
            count => format!("; {count} remarks, see Problems"),
        };
        self.notice = Some(Notice::Done(format!("read {n_set} {noun} from {name}{odd}")));
        self.note_config(name, remarks);
    }
}

/// The lanes of an answer that run under budgets, behind the one without.
fn budget_lanes(comparison: &Comparison) -> Vec<RematLane> {
    let lanes = comparison.lanes.iter().skip(1);
    let of_lane = |lane: &Lane| {
        let run = lane.rewrite.as_ref()?.remat.iter().flatten().next()?;
        Some(RematLane {
            heuristic: run.answer.heuristic,
            budget: run.answer.budget.map_or(Budget::Unlimited, Budget::Bytes),
        })
    };
    lanes.filter_map(of_lane).collect()
}

/// A list of names, the first three in full.
fn first_three(names: &[String]) -> String {
    let text = names.iter().take(3).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(3) {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}
