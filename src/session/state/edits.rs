//! Edits of the settings: from commands, from undo and redo, from configuration files.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use super::super::config::apply_config;
use super::super::document::Document;
use super::super::document_file::AllowedOutside;
use super::super::files::look_at;
use super::super::history::{BASELINE, BOOKMARKS, GOAL};
use super::super::loaded::ReadConfig;
use super::super::name_reuse::NamesTask;
use super::super::opened_config::{OpenedConfig, StartConfigs};
use super::super::opening::read_config_file;
use super::super::task::{Failure, TaskKind};
use super::{Notice, Session};
use highwater_analysis::{Comparison, Lane, LaneSet, RematLane};
use highwater_model::units::Bytes;
use highwater_rewrite::remat::Budget;

impl Session {
    pub fn can_undo_redo(&self) -> (bool, bool) {
        self.history.can()
    }

    /// Changes the settings as one step of the history. Edits with the same `typing` in a row are one step.
    pub(super) fn edit(&mut self, typing: Option<String>, change: impl FnOnce(&mut Self)) {
        self.try_edit(typing, |session| {
            change(session);
            Ok(None)
        });
    }

    /// [`Self::edit`] for a change that may fail, or has a message.
    pub(super) fn try_edit(
        &mut self,
        typing: Option<String>,
        change: impl FnOnce(&mut Self) -> Result<Option<String>, Failure>,
    ) {
        let before = self.document.clone();
        let told = change(self);
        if self.document != before {
            self.history.record(before.clone(), typing);
            self.settle_edit(before);
        }
        self.notice = match told {
            Ok(done) => done.map(Notice::Done),
            Err(Failure(why)) => Some(Notice::Failed(why)),
        };
    }

    pub(super) fn set_dim(&mut self, name: String, values: Vec<u64>) {
        let values = Some(values).filter(|values| !values.is_empty());
        match values.or_else(|| self.document.presets().remove(&name)) {
            Some(values) => drop(self.document.plan.dims.insert(name, values)),
            None => drop(self.document.plan.dims.remove(&name)),
        }
    }

    /// Shows a graph under another name, with the lowest free number where another graph has it.
    pub(super) fn rename_graph(&mut self, own: String, name: &str) {
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

    /// Changes the budget of a lane. The lanes that a tape opens with become lanes of the document.
    pub(super) fn set_budget(&mut self, lane: usize, budget: Bytes) {
        if !matches!(self.document.lanes, LaneSet::Remat(_)) {
            let lanes = self.answers.comparison().map(|comparison| budget_lanes(comparison));
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

    /// Undoes or redoes a step.
    pub(super) fn step(&mut self, is_back: bool) {
        let Some((document, names)) = self.history.step(self.document.clone(), is_back) else {
            let what = if is_back { "undo" } else { "redo" };
            self.notice = Some(Notice::Done(format!("nothing to {what}")));
            return;
        };
        let is_mark = |name: &String| [BASELINE, BOOKMARKS, GOAL].contains(&name.as_str());
        if !names.is_empty() && names.iter().all(is_mark) {
            // The answer stays.
            self.document.take_marks(&document);
            self.keep_marks();
        } else {
            self.stepped = names.first().cloned();
            let before = std::mem::replace(&mut self.document, document);
            if self.document != before {
                self.settle_edit(before);
            }
        }
        let verb = if is_back { "undone" } else { "redone" };
        self.notice = Some(Notice::Done(format!("{verb}: {}", first_three(&names))));
    }

    /// Follows changed settings: findings, states of files, a new answer.
    pub(super) fn settle_edit(&mut self, before: Document) {
        // A reload follows what it read, and looks for the part, at its end.
        let is_same =
            self.document.with_evaluation == before.with_evaluation && self.document.sources == before.sources;
        if is_same {
            self.follow_loaded();
        }
        self.check();
        if self.document.part != before.part && is_same {
            self.show_part();
        }
        if self.document.sources != before.sources {
            self.drop_what_is_of_sources();
            self.search.matches = None;
        }
        if is_same {
            self.compare();
        } else {
            if self.loaded.is_some() && !self.is_loading() {
                self.change.remember(before);
            }
            self.load();
        }
    }

    /// The document follows what was read of its sources.
    pub(super) fn follow_loaded(&mut self) {
        if let Some(loaded) = self.loaded.as_ref().filter(|_| !self.is_loading())
            && loaded.sources == self.document.sources
        {
            self.document.follow(loaded);
        }
    }

    fn drop_what_is_of_sources(&mut self) {
        self.drop_sweeps();
        self.forget::<NamesTask>();
        self.selection.clear();
    }

    /// Shows the part that the document names.
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
            self.drop_what_is_of_sources();
        }
    }

    /// Updates findings and effective values, and requests the states of files that options name.
    pub(super) fn check(&mut self) {
        self.judged.judge(&self.document);
        if let Some(named) = self.judged.paths_to_probe(&self.document, self.history.is_typing()) {
            self.run(
                TaskKind::ProbeFiles,
                move |_| Ok(look_at(&named)),
                |session, files| {
                    if session.judged.take_files(files, &session.document) {
                        session.compare();
                    }
                },
            );
        }
    }

    /// Does what a command asks for; a failure becomes a notice.
    pub(super) fn attempt(&mut self, action: impl FnOnce(&mut Self) -> Result<(), Failure>) {
        if let Err(Failure(why)) = action(self) {
            self.notice = Some(Notice::Failed(why));
        }
    }

    fn note_settings_file(&mut self, path: PathBuf) {
        let files = &mut self.settings_files.configurations;
        if !files.contains(&path) {
            files.push(path);
        }
    }

    pub(super) fn import_config(&mut self, path: PathBuf, of: Option<String>) {
        self.note_settings_file(path.clone());
        self.run(
            TaskKind::ReadConfig,
            move |progress| Ok(read_config_file(&path, of.as_deref(), progress)?),
            Self::take_config,
        );
    }

    /// Reads the last script again, with another one of its configurations.
    pub(super) fn choose_configuration(&mut self, name: String) {
        if let Some(path) = self.script().map(|script| script.path.clone()) {
            self.import_config(path, Some(name));
        }
    }

    pub(super) fn take_config(&mut self, read: ReadConfig) {
        let ReadConfig {
            path,
            name,
            config,
            remarks,
        } = read;
        self.note_settings_file(path);
        self.try_edit(None, |session| {
            apply_config(&config, &mut session.document);
            let n_set = config.options.overrides().count() + config.environment.iter().count();
            let noun = if n_set == 1 { "setting" } else { "settings" };
            let odd = match remarks.entries().len() {
                0 => String::new(),
                1 => "; 1 remark, see Problems".to_owned(),
                count => format!("; {count} remarks, see Problems"),
            };
            Ok(Some(format!("read {n_set} {noun} from {name}{odd}")))
        });
        let configuration = self.document.configuration();
        self.opened_config = Some(OpenedConfig::new(name.clone(), &config.script, configuration));
        self.note_config(name, remarks);
    }

    /// Notes the configuration files that the settings of the start come from.
    pub fn note_start(&mut self, configs: StartConfigs) {
        for (name, remarks) in configs.remarks {
            self.note_config(name, remarks);
        }
        self.opened_config = configs.opened;
        self.settings_files = configs.files;
        self.allow_outside(&AllowedOutside::all_if(configs.allows_outside));
    }
}

/// The lanes of an answer with budgets, behind the first without one.
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

fn first_three(names: &[String]) -> String {
    let text = names.iter().take(3).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(3) {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}
