//! The dispatch of commands, one arm for each.

use std::sync::Arc;

use super::super::budget_sweep::BudgetSweepTable;
use super::super::commands::Command;
use super::super::editor::open_in_editor;
use super::super::name_reuse::NamesTask;
use super::super::planner::PlannerTable;
use super::super::task::TaskKind;
use super::Session;
use super::requests::{ChangesTask, DeviceTask, DifferenceTask, FlameTask, PeakTask, TableTask};
use super::settings_search::FoundSettings;
use highwater_analysis::{BatchSearch, LaneSet, LaneStrategies};
use highwater_export::png;
use highwater_model::diagnostics::Diagnostics;
use highwater_options::{Environment, Options};

impl Session {
    /// Applies one command.
    pub fn apply(&mut self, command: Command) {
        self.dispatch(command);
        self.list_problems();
    }

    #[expect(clippy::too_many_lines, reason = "one arm per command")]
    fn dispatch(&mut self, command: Command) {
        match command {
            // Sources and the document's file.
            Command::Open(sources) => self.open(sources),
            Command::Add(sources) => {
                let mut all = self.document.sources.clone();
                all.extend(sources);
                self.add_or_remove(all);
            }
            Command::OpenAs { position, format } => self.open_as(position, format),
            Command::Remove(position) => self.remove_source(position),
            Command::SaveDocument { path, view } => self.attempt(|session| session.save_document(path, view, false)),
            Command::OverwriteDocument { path, view } => {
                self.attempt(|session| session.save_document(path, view, true));
            }
            Command::Locate { position, path } => self.locate(position, path),
            Command::Recover(kept) => self.attempt(|session| session.recover(&kept)),
            Command::DecideOutside(is_allowed) => self.decide_outside(is_allowed),
            Command::FindMissing(paths) => self.find_missing(paths),

            // Settings.
            Command::SetOption { key, text } => self.try_edit(None, |session| {
                session.document.options.set_text(&key, &text)?;
                Ok(None)
            }),
            Command::TypeOption { key, text } => self.try_edit(Some(key.clone()), |session| {
                session.document.options.set_text(&key, &text)?;
                Ok(None)
            }),
            Command::SetValue { key, value } => self.try_edit(None, |session| {
                session.document.options.set(&key, value)?;
                Ok(None)
            }),
            Command::UseSettings(settings) => self.edit(None, |session| {
                session.document.options.extend(&settings.options);
                session.document.environment.extend(&settings.environment);
            }),
            Command::RemoveUnknown(key) => self.edit(None, |session| {
                session.document.unknown_options.shift_remove(&key);
            }),
            Command::ApplyFix(fix) => self.edit(None, |session| {
                fix.apply(&mut session.document.options, &mut session.document.environment);
            }),
            Command::ResetOption(key) => self.edit(None, |session| session.document.options.reset(&key)),
            Command::ResetAll => self.edit(None, |session| {
                session.document.options = Options::default();
                session.document.environment = Environment::default();
                session.document.unknown_options.clear();
                session.remarks = Arc::default();
            }),
            Command::SetEnvironment { name, value } => self.edit(None, |session| match value {
                Some(value) => session.document.environment.set(&name, &value),
                None => session.document.environment.remove(&name),
            }),
            Command::TypeEnvironment { name, text } => self.edit(Some(name.clone()), |session| {
                if text.is_empty() {
                    session.document.environment.remove(&name);
                } else {
                    session.document.environment.set(&name, &text);
                }
            }),
            Command::SetDim { name, values } => self.edit(Some(name.clone()), |session| session.set_dim(name, values)),
            Command::SetIterations(iterations) => self.edit(Some("iterations".to_owned()), |session| {
                session.document.plan.iterations = iterations.max(1);
            }),
            Command::SetEntries { entries, field } => {
                self.edit(field, |session| session.document.plan.entries = entries);
            }
            Command::RenameGraph { own, name } => self.edit(None, |session| session.rename_graph(own, &name)),
            Command::SetEvaluation(is_on) => self.edit(None, |session| session.document.with_evaluation = is_on),
            Command::UseConfiguration(configuration) => {
                self.edit(None, |session| session.use_configuration(*configuration));
            }
            Command::EndTyping => self.history.end_typing(),
            Command::Undo => self.step(true),
            Command::Redo => self.step(false),
            Command::ImportConfig(path) => self.import_config(path, None),
            Command::ChooseConfiguration(name) => self.choose_configuration(name),
            Command::ForgetRemarks(name) => self.note_config(name, Diagnostics::new()),

            // Lanes.
            Command::ShowPart(part) => self.edit(None, |session| {
                // Lanes and choices belong to the replaced sources.
                session.document.part = part;
                session.document.lanes = LaneSet::default();
                session.document.strategies = LaneStrategies::default();
            }),
            Command::SetStrategy { lane, strategy } => {
                self.edit(None, |session| session.choose_strategy(lane, strategy));
            }
            Command::SetLanes(lanes) => self.edit(None, |session| session.document.lanes = lanes),
            Command::SetRematBudget { lane, budget } => {
                let typing = format!("budget of lane {lane}");
                self.edit(Some(typing), |session| session.set_budget(lane, budget));
            }
            Command::AddRematLane(lane) => self.edit(None, |session| session.add_remat_lane(lane)),
            Command::RemoveRematLane(position) => self.edit(None, |session| session.remove_remat_lane(position)),
            Command::PinConfiguration { name, configuration } => {
                self.try_edit(None, |session| session.pin(&name, *configuration));
            }
            Command::RenamePin { position, name } => {
                let typing = format!("name of pin {position}");
                self.try_edit(Some(typing), |session| session.rename_pin(position, &name));
            }
            Command::MovePin { position, to } => self.edit(None, |session| session.move_pin(position, to)),
            Command::DuplicatePin(position) => self.try_edit(None, |session| session.duplicate_pin(position)),
            Command::RemovePin(position) => self.try_edit(None, |session| Ok(session.remove_pin(position))),
            Command::UsePin(position) => self.try_edit(None, |session| Ok(session.use_pin(position))),
            Command::SetBaseline(lane) => self.set_baseline(lane),
            Command::SetGoal(goal) => self.set_goal(goal),
            Command::SetDifference(Some(lanes)) => self.ask::<DifferenceTask>(lanes),
            Command::SetDifference(None) => self.forget::<DifferenceTask>(),
            Command::CompareLanes(first, second) => self.ask::<ChangesTask>((first, second)),

            // Sweeps, plans and names.
            Command::StartBudgetSweep(graph) => self.attempt(|session| session.start::<BudgetSweepTable>(graph)),
            Command::StopBudgetSweep => self.discard(TaskKind::BudgetSweep),
            Command::StartSweep(order) => self.attempt(|session| session.start_sweep(*order, None)),
            Command::Recommend(order, goal) => self.attempt(|session| session.start_sweep(*order, Some(goal))),
            Command::StopSweep => self.discard(TaskKind::Sweep),
            Command::ListPlans(graph) => {
                let order = (self.answers.revision(), graph);
                self.attempt(|session| session.start::<PlannerTable>(order));
            }
            Command::StopPlans => self.stop_plans(),
            Command::RestartSearches => self.restart_searches(),
            Command::ReuseNames(graph) => self.ask::<NamesTask>(graph),
            Command::FindSettings(device) => self.attempt(|session| session.start::<FoundSettings>(device)),
            Command::FindLargestBatch(symbol) => self.attempt(|session| session.start::<BatchSearch>(symbol)),
            Command::AddSettings(conf) => self.try_edit(None, |session| session.add_settings(&conf)),
            Command::RemoveSettings(conf) => self.edit(None, |session| session.remove_settings(&conf)),

            // Views and selections.
            Command::PictureDevice(lane, step) => self.ask::<DeviceTask>((lane, step)),
            Command::ExplainPeak(ask) => self.ask::<PeakTask>(ask),
            Command::DrawFlame(ask) => self.ask::<FlameTask>(ask),
            Command::ListRows(spec) => {
                let key = self.table_key(*spec);
                self.ask::<TableTask>(key);
            }
            Command::Search { text, lane } => self.search_for(text, lane),
            Command::ShowContent(order) => self.show_content(order),
            Command::SetLook(order) => self.set_look(order),
            Command::Paint(order) => self.paint(order),
            Command::OpenInEditor { command, file, line } => {
                self.attempt(|_| Ok(open_in_editor(&command, &file, line)?));
            }
            Command::Select(selected) => self.selection.select(selected),
            Command::StepSelection { is_back } => self.selection.step(is_back),
            Command::AddBookmark(bookmark) => self.add_bookmark(bookmark),
            Command::RestoreBookmarks(bookmarks) => {
                self.document.bookmarks = bookmarks;
                self.keep_marks();
            }
            Command::NoteBookmark { position, note } => self.note_bookmark(position, note),
            Command::RemoveBookmark(position) => self.remove_bookmark(position),

            // Exports of views.
            Command::Export { form, path, lanes } => {
                self.attempt(|session| session.export(form, path, lanes.as_deref()));
            }
            Command::ExportTable(path) => self.attempt(|session| session.export_table(path)),
            Command::ExportConfig { path, confirmed } => {
                self.attempt(|session| session.export_config(&path, &confirmed));
            }
            Command::ExportPeak(path) => self.attempt(|session| session.export_peak(path)),
            Command::ExportFlame(path) => self.attempt(|session| session.export_flame(path)),
            Command::WritePicture { path, picture } => {
                self.write(path, move |out, _| Ok(out.write_all(&png(&picture)?)?));
            }
            Command::DrawLane { path, lane, view } => self.attempt(|session| session.draw_lane(path, lane, *view)),

            Command::Cancel => self.stop_tasks(),
            Command::DismissNotice => self.dismiss_notice(),
        }
    }
}
