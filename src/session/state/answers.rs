//! The worker's answers, and what follows from each.

use std::path::PathBuf;
use std::sync::Arc;

use super::super::document::{Document, SourceSpec};
use super::super::jobs::{Answer, Loaded, ReadConfig};
use super::super::planner::BestPlan;
use super::super::samples::SAMPLES;
use super::{Busy, Notice, Session};
use highwater_analysis::Comparison;
use highwater_timeline::{ColorBy, Timeline};

impl Session {
    pub(super) fn take(&mut self, generation: u64, answer: Answer) {
        // The painter numbers its orders by itself: what it says is taken before numbers of jobs are looked at.
        let Some(answer) = self.take_painted(generation, answer) else {
            return;
        };
        let answer = self.take_file(generation, answer);
        let answer = answer.and_then(|answer| self.take_plans(generation, answer));
        let answer = answer.and_then(|answer| self.take_sweep(generation, answer));
        let answer = answer.and_then(|answer| self.take_space(generation, answer));
        let answer = answer.and_then(|answer| self.take_names(generation, answer));
        let answer = answer.and_then(|answer| self.take_look(generation, answer));
        let answer = answer.and_then(|answer| self.take_difference(generation, answer));
        let answer = answer.and_then(|answer| self.take_lane_changes(generation, answer));
        let answer = answer.and_then(|answer| self.take_content(generation, answer));
        let answer = answer.and_then(|answer| self.take_search(generation, answer));
        let answer = answer.and_then(|answer| self.take_table(generation, answer));
        let answer = answer.and_then(|answer| self.take_peak(generation, answer));
        let answer = answer.and_then(|answer| self.take_export(generation, answer));
        let Some(answer) = answer.and_then(|answer| self.take_device(generation, answer)) else {
            return;
        };
        let is_load = generation == self.load_generation;
        let is_compare = generation == self.compare_generation;
        match answer {
            Answer::Progress { stage, fraction } if is_load || is_compare => {
                self.busy = Some(Busy {
                    stage,
                    fraction,
                    is_loading: is_load,
                });
            }
            Answer::Loaded(loaded) if is_load => self.take_loaded(loaded),
            Answer::Preview(comparison, timeline) if is_compare => self.take_answer((comparison, timeline), true),
            Answer::Compared(comparison, timeline) if is_compare => {
                self.compare_generation = 0;
                self.busy = None;
                self.take_answer((comparison, timeline), false);
            }
            Answer::ProbedFiles(files) if generation == self.look_generation => {
                self.look_generation = 0;
                if *self.files != files {
                    self.files = Arc::new(files);
                    self.judge();
                    self.compare();
                }
            }
            Answer::Missing(paths) if generation == self.missing_generation => {
                self.missing_generation = 0;
                self.missing = paths;
            }
            Answer::Written(path) => self.notice = Some(Notice::Done(saved(path))),
            Answer::ConfigsRead(configs) if is_load => self.take_opened_configs(configs),
            Answer::ConfigsRead(configs) => self.take_configs(configs),
            Answer::Failed(message) => self.fail(generation, message),
            Answer::Cancelled if is_load => {
                self.restore_opened();
                self.stop();
            }
            Answer::Cancelled if is_compare => self.stop(),
            _ => {}
        }
    }

    fn take_answer(&mut self, answer: (Arc<Comparison>, Arc<Timeline>), is_preview: bool) {
        self.best_plan = BestPlan::of_answer(self.best_plan.take(), &answer.0);
        self.answer = Some(answer);
        self.n_answers += 1;
        self.is_preview = is_preview;
        self.drop_pictures();
        self.want_difference();
        if self.look_order().by != ColorBy::Tensor {
            self.want_look();
        }
        self.want_content();
        self.answered = Some(self.document.clone());
        self.answered_of.clone_from(&self.asked_of);
        self.drop_dead_selection();
        self.search_again();
    }

    fn take_loaded(&mut self, mut loaded: Loaded) {
        self.load_generation = 0;
        self.busy = None;
        self.opened = None;
        let before = self.before_sources.take();
        let has_new_sources = std::mem::take(&mut self.has_new_sources);
        if has_new_sources {
            self.history.clear();
        }
        if has_new_sources || before.is_some() {
            self.drop_sweep();
            self.drop_space();
            self.drop_names();
        }
        let configs = std::mem::take(&mut loaded.configs);
        self.document.sources.clone_from(&loaded.sources);
        if let Some(before) = before {
            self.history.record(*before, None);
        }
        self.follow_located(&loaded);
        self.loaded = Some(loaded);
        self.show_part();
        if configs.is_empty() {
            self.compare();
        } else {
            self.take_configs(configs);
        }
        self.settle_file();
    }

    /// Configurations were opened like graphs: the graphs stay.
    fn take_opened_configs(&mut self, configs: Vec<ReadConfig>) {
        self.restore_opened();
        self.stop();
        if self.loaded.is_none() {
            // Something has to stand for the graph that nobody named.
            self.open(vec![SourceSpec::Sample(&SAMPLES[0])]);
        }
        self.take_configs(configs);
        if self.busy.is_none() && (self.answer.is_none() || self.is_stale()) {
            self.compare();
        }
    }

    fn take_configs(&mut self, configs: Vec<ReadConfig>) {
        for config in configs {
            self.take_config(config);
        }
    }

    /// What was open before a load that brought nothing; settings stay as they are now.
    fn restore_opened(&mut self) -> bool {
        self.file.gives_way = false;
        let Some(opened) = self.opened.take() else {
            return false;
        };
        self.document.sources = opened.sources;
        self.document.plan = opened.plan;
        self.document.with_evaluation = opened.with_evaluation;
        self.document.strategies = opened.strategies;
        self.document.lanes = opened.lanes;
        self.document.bookmarks = opened.bookmarks;
        true
    }

    fn fail(&mut self, generation: u64, message: String) {
        if generation == self.load_generation && self.keeps_document(&message) {
            return;
        }
        if generation == self.load_generation && generation == self.restore_generation {
            self.show_sample_instead(&message);
            return;
        }
        if generation == self.load_generation {
            let is_back = self.restore_opened();
            self.stop();
            if is_back {
                self.not_opened = Some(message.clone());
                self.compare();
            } else {
                self.problem = Some(message.clone());
            }
        } else if generation == self.compare_generation {
            self.problem = Some(message.clone());
            self.stop();
        }
        self.notice = Some(Notice::Failed(message));
    }

    /// What was open last cannot be read any more.
    fn show_sample_instead(&mut self, message: &str) {
        self.stop();
        self.document = Document::new(vec![SourceSpec::Sample(&SAMPLES[0])]);
        self.check();
        self.load();
        self.notice = Some(Notice::Failed(format!(
            "what was open last cannot be opened again, so a sample is shown: {message}"
        )));
    }

    pub(super) fn stop(&mut self) {
        self.has_new_sources = false;
        self.before_sources = None;
        self.load_generation = 0;
        self.compare_generation = 0;
        self.busy = None;
    }

    /// A selection survives an edit where its run and tensor still exist.
    fn drop_dead_selection(&mut self) {
        let Some((comparison, _)) = &self.answer else {
            return;
        };
        self.selection.retain(|selected| {
            let run = comparison.axis.runs.get(selected.run as usize);
            run.is_some_and(|run| run.run.graph == selected.graph)
        });
    }
}

/// What a message says about a file that was written.
fn saved(path: PathBuf) -> String {
    let part = match path.extension().and_then(|extension| extension.to_str()) {
        Some("py") => " (options and variables; schedule and figures need .json)",
        Some("sh" | "bash" | "env") => " (the variables; options need .py or .json)",
        _ => "",
    };
    let place = std::path::absolute(&path).unwrap_or(path);
    format!("saved {}{part}", place.display())
}
