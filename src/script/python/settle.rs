//! The document of the records: the last setting wins, and contradictions become warnings.

use std::collections::{BTreeMap, BTreeSet};

use ruff_text_size::TextSize;

use highwater_model::diagnostics::{Diagnostics, Severity};
use highwater_model::units::first_of;
use highwater_options::{Condition, Origin, Value};

use super::super::reading::Reading;
use super::arms::{Arm, condition, open_condition};
use super::constructors::{RUN_CONFIG, refusal};
use super::datum::Made;
use super::reader::Reader;
use super::records::{Owner, PARAMETER_MAP, Records, Remark, Run, Setting, Variable, VariableText};
use super::training::disagreements;
use crate::config::unknown_option;
use crate::json_value::json_of;
use crate::neighbours::{remarks, remarks_on_written};

/// Further remarks are only counted.
const MAX_REMARKS: usize = 100;

/// Further names of a sentence are only counted.
const MAX_NAMES: usize = 8;

impl Reader<'_> {
    /// `of` chooses a configuration by name.
    pub(super) fn settle(mut self, of: Option<&str>) -> Reading {
        let drops_by_assumption = self.drops_by_assumption;
        let loose = self.loose_settings();
        self.drop_idle_sessions();
        self.drop_idle_optimizers();
        let framework = self.records.framework();
        let runs_elsewhere = self.runs_elsewhere();
        let records = self.records;
        let mut settled = Settled::default();
        let mut settings: Vec<(u8, Setting)> = loose.into_iter().map(|setting| (0, setting)).collect();
        settings.extend(records.settings.iter().cloned().map(|setting| (1, setting)));
        settings.sort_by_key(|(rank, setting)| (*rank, setting.at));
        let mut settings: Vec<Setting> = settings.into_iter().map(|(_, setting)| setting).collect();
        settled.remarks.clone_from(&records.remarks);
        let taken = settled.runs(&records, &settings, of);
        settings.retain(|setting| setting.run.is_none_or(|run| taken.contains(&run)));
        let settings = settled.on_one_path(settings);
        settled.settings(&settings, &records);
        settled.variables(&records);
        for (severity, line, message) in records.pin.remarks(&settled.reading.document.environment) {
            settled.remark(severity, line, message);
        }
        for (line, message) in disagreements(&records, &settled.reading.document.options) {
            settled.remark(Severity::Warning, line, message);
        }
        settled.conditions();
        settled.texts(&records.text_lines);
        let is_found = !settings.is_empty()
            || !records.runs.is_empty()
            || !records.variables.is_empty()
            || !records.objects.is_empty()
            || framework.is_some()
            || records.has_neighbours;
        settled.reading.is_found = is_found;
        settled.reading.drops_by_assumption = drops_by_assumption;
        let document = &mut settled.reading.document;
        document.script.not_followed = records.not_followed;
        for name in &self.survey.control_flow {
            document.options.add_call(name);
        }
        document.schedule = records.session.schedule;
        document.device = records.session.device;
        document.evaluation = records.session.evaluation;
        document.script.runs_elsewhere = runs_elsewhere && framework.is_none();
        document.script.unread = records.unread;
        document.options.set_framework(framework);
        settled.reading.warnings = told(settled.remarks);
        settled.reading
    }

    /// The options of optimizers in session configurations that the script makes and passes to nothing.
    fn drop_idle_sessions(&mut self) {
        let Records {
            sessions,
            runs,
            settings,
            remarks,
            ..
        } = &mut self.records;
        let session_of = |setting: &Setting| setting.run.and_then(|run| runs[run].config);
        let set: BTreeSet<Made> = settings.iter().filter_map(session_of).collect();
        let mut dropped: BTreeSet<Made> = BTreeSet::new();
        for (made, session) in sessions
            .iter()
            .filter(|(_, session)| session.is_idle && self.survey.trains)
        {
            let is_read = session
                .name
                .as_deref()
                .is_none_or(|name| self.survey.used_names.contains(name));
            if is_read || !set.contains(made) {
                continue;
            }
            dropped.insert(*made);
            let name = session.name.as_deref().unwrap_or("this ConfigProto");
            remarks.push(Remark {
                severity: Severity::Warning,
                line: session.line,
                message: format!("{name} is passed to nothing, so that its parameter_map sets nothing"),
            });
        }
        settings.retain(|setting| session_of(setting).is_none_or(|session| !dropped.contains(&session)));
    }

    /// Settings of objects that no known call of `NPURunConfig` takes.
    fn loose_settings(&mut self) -> Vec<Setting> {
        let before = self.records.settings.len();
        let mut passed: BTreeSet<TextSize> = self.records.passed.keys().map(|made| made.at).collect();
        let calls = || self.records.runs.iter().filter(|run| run.class == RUN_CONFIG.class);
        let is_called = calls().next().is_some();
        // By group whether a call has another object of it, and whether one may take any.
        let mut groups: BTreeMap<&'static str, (bool, bool)> = BTreeMap::new();
        for (object, _) in &self.records.objects {
            let key = object.group.key;
            groups.entry(key).or_insert_with(|| {
                let is_replaced = self.records.runs.iter().any(|run| run.groups.contains(key));
                (is_replaced, calls().any(|run| run.is_partial || run.open.contains(key)))
            });
        }
        for (object, path) in std::mem::take(&mut self.records.objects) {
            // Of the objects of a loop some may be passed.
            let is_passed = passed.contains(&object.range.start());
            let (is_replaced, may_be_taken) = groups.get(object.group.key).copied().unwrap_or_default();
            let line = self.source.line(object.range.start());
            let class = object.group.class;
            if !is_passed && (is_replaced || is_called && !may_be_taken) {
                let message = format!("this {class}(...) is not passed to NPURunConfig, so that it sets nothing");
                self.records.warn(line, message);
                for refused in object
                    .fields
                    .fields
                    .iter()
                    .filter_map(|field| refusal(object.group, &field.name))
                {
                    self.records.remark(Severity::Error, line, refused);
                }
            } else if !is_passed {
                if is_called {
                    let message =
                        format!("this {class}(...) is not seen to be passed to NPURunConfig; it is taken as if");
                    self.records.info(line, message);
                }
                let around = std::mem::replace(&mut self.path, path.clone());
                let n_passed = self.records.passed.len();
                self.take_fields(&object, None);
                if self.records.passed.len() > n_passed {
                    passed.extend(self.records.passed.keys().map(|made| made.at));
                }
                self.path = around;
            }
            self.records.objects.push((object, path));
        }
        self.records.settings.split_off(before)
    }
}

#[derive(Default)]
struct Settled {
    reading: Reading,
    remarks: Vec<Remark>,
    /// Keys and variables by the line of the condition around them.
    conditional: BTreeMap<usize, BTreeSet<String>>,
}

impl Settled {
    fn remark(&mut self, severity: Severity, line: usize, message: String) {
        self.remarks.push(Remark {
            severity,
            line,
            message,
        });
    }

    /// The chosen configuration, and the last of each other class, which are taken whole; the others are reported. A mixture of several
    /// calls would be a configuration that no call has.
    fn runs(&mut self, records: &Records, settings: &[Setting], of: Option<&str>) -> BTreeSet<usize> {
        let mut order: Vec<usize> = (0..records.runs.len())
            .filter(|run| !records.runs[*run].is_idle)
            .collect();
        order.sort_by_key(|run| records.runs[*run].line);
        let values = |run: usize| -> BTreeMap<&str, &Value> {
            let of_run = settings.iter().filter(|setting| setting.run == Some(run));
            of_run.map(|setting| (setting.key.as_str(), &setting.value)).collect()
        };
        let mut last_of: BTreeMap<&str, usize> = order.iter().map(|run| (records.runs[*run].class, *run)).collect();
        // The one that an estimator takes, not one that follows it by chance.
        let is_used =
            |run: &&usize| matches!(records.runs[**run].owner, Owner::Call(made) if records.used.contains(&made));
        if let Some(used) = order.iter().rfind(is_used) {
            last_of.insert(records.runs[*used].class, *used);
        }
        let names = names_of(records);
        if let Some(chosen) = chosen(of, &names, &records.runs) {
            last_of.insert(records.runs[chosen].class, chosen);
        }
        let script = &mut self.reading.document.script;
        script.configurations = order.iter().filter_map(|run| names[*run].clone()).collect();
        script.aliases = records.runs.iter().filter_map(|run| run.alias.clone()).collect();
        let configurations = order.iter().filter(|run| names[**run].is_some());
        self.reading.places = configurations.map(|run| records.runs[*run].place()).collect();
        let is_left_out = |run: &&usize| last_of[records.runs[**run].class] != **run;
        script.left_out = order
            .iter()
            .filter(is_left_out)
            .filter_map(|run| names[*run].clone())
            .collect();
        let others = order.iter().filter(|run| last_of[records.runs[**run].class] != **run);
        for (other, run) in others.take(MAX_REMARKS).map(|run| (*run, &records.runs[*run])) {
            let last = last_of[run.class];
            let (here, there) = (values(other), values(last));
            let line = records.runs[last].line;
            let is_same_line = line == run.line;
            let keys: BTreeSet<&str> = here.keys().chain(there.keys()).copied().collect();
            let differing: Vec<&str> = keys.into_iter().filter(|key| here.get(key) != there.get(key)).collect();
            let name = |run: usize| names[run].as_deref().unwrap_or("another one");
            if is_same_line && !differing.is_empty() {
                let message = format!(
                    "{} is ignored: {} is taken, and they differ in {}",
                    name(other),
                    name(last),
                    first_of(differing.iter(), MAX_NAMES, ", ")
                );
                self.remark(Severity::Warning, run.line, message);
            } else if differing.is_empty() {
                let message = format!("{} equals the one in line {line}", run.shown());
                self.remark(Severity::Info, run.line, message);
            } else {
                let message = format!(
                    "{} is ignored: the one in line {line} is taken, and they differ in {}",
                    run.shown(),
                    first_of(differing.iter(), MAX_NAMES, ", ")
                );
                self.remark(Severity::Warning, run.line, message);
            }
        }
        last_of.into_values().collect()
    }

    /// The settings of one path through the script: arms that exclude a later one are left out.
    fn on_one_path(&mut self, settings: Vec<Setting>) -> Vec<Setting> {
        let mut taken: BTreeMap<TextSize, Arm> = BTreeMap::new();
        let mut left_out = Vec::new();
        let mut kept = Vec::new();
        for setting in settings.into_iter().rev() {
            let excluding = setting
                .path
                .iter()
                .find_map(|arm| taken.get(&arm.choice).filter(|other| other.excludes(arm)));
            if let Some(other) = excluding {
                let line = other.line;
                left_out.push((setting, line));
                continue;
            }
            for arm in &setting.path {
                let entry = taken.entry(arm.choice).or_insert_with(|| arm.clone());
                entry.arms &= arm.arms;
            }
            kept.push(setting);
        }
        kept.reverse();
        let last: BTreeMap<&str, &Setting> = kept.iter().map(|other| (other.key.as_str(), other)).collect();
        for (setting, line) in left_out {
            let same = last.get(setting.key.as_str()).copied();
            let message = match same {
                Some(other) if other.value == setting.value => continue,
                Some(_) => format!(
                    "{} is {} in another branch, in line {}; the value here is taken",
                    setting.key,
                    setting.value.quoted(),
                    setting.line,
                ),
                None => format!(
                    "{} is ignored: it is set in a branch that excludes the one of line {line}, which is taken",
                    setting.key
                ),
            };
            let at = same.map_or(setting.line, |other| other.line);
            self.remark(Severity::Warning, at, message);
        }
        kept
    }

    /// Options: the last setting of each wins.
    fn settings(&mut self, settings: &[Setting], records: &Records) {
        let is_call = |run: usize| records.runs[run].class != PARAMETER_MAP;
        let mut winners: BTreeMap<&str, &Setting> = BTreeMap::new();
        let mut is_certain: BTreeSet<&str> = BTreeSet::new();
        for setting in settings {
            if condition(&setting.path).is_none() {
                is_certain.insert(&setting.key);
            }
            if let Some(before) = winners.insert(&setting.key, setting)
                && before.value != setting.value
                && !(before.run == setting.run && before.path == setting.path && setting.run.is_some_and(is_call))
            {
                let message = format!(
                    "{} is {} here and {} in line {}; the value here is taken",
                    setting.key,
                    setting.value.quoted(),
                    before.value.quoted(),
                    before.line
                );
                self.remark(Severity::Warning, setting.line, message);
            }
        }
        for (key, setting) in winners {
            let under = condition(&setting.path);
            if let Some(arm) = under.filter(|_| !is_certain.contains(key)) {
                self.conditional.entry(arm.line).or_default().insert(key.to_owned());
            }
            let document = &mut self.reading.document;
            if document.options.set(key, setting.value.clone()).is_ok() {
                if let Some(origin) = origin(&setting.path, setting.note.as_deref()) {
                    document.options.set_origin(key, origin);
                }
            } else {
                let json = setting.json.clone().unwrap_or_else(|| json_of(&setting.value));
                document.unknown_options.insert(key.to_owned(), json);
                if !setting.is_unread {
                    let (severity, message) = unknown_option(key);
                    self.remark(severity, setting.line, message);
                }
            }
        }
    }

    /// Variables: the last assignment of each wins.
    fn variables(&mut self, records: &Records) {
        for variable in &records.variables {
            let environment = &mut self.reading.document.environment;
            let before = environment.get(&variable.name).map(str::to_owned);
            match &variable.text {
                VariableText::Removed => environment.remove(&variable.name),
                VariableText::Known(text) => environment.set(&variable.name, text),
                VariableText::Unread => environment.set_unread(&variable.name),
            }
            if let (Some(before), VariableText::Known(text)) = (before, &variable.text)
                && before != *text
            {
                let message = format!("{} is set again, from \"{before}\" to \"{text}\"", variable.name);
                self.remark(Severity::Info, variable.line, message);
            }
            if variable.text != VariableText::Removed {
                self.set_variable(variable, records.is_written);
            }
            if let Some(arm) = condition(&variable.path) {
                self.conditional
                    .entry(arm.line)
                    .or_default()
                    .insert(variable.name.clone());
            }
        }
    }

    /// What is said of a variable that is set, and what the script leaves open about it.
    fn set_variable(&mut self, variable: &Variable, is_written: bool) {
        let text = match &variable.text {
            VariableText::Known(text) => Some(text.as_str()),
            VariableText::Unread | VariableText::Removed => None,
        };
        let remarks = match text {
            Some(text) if is_written => remarks_on_written(&variable.name, text),
            text => remarks(&variable.name, text),
        };
        for (severity, said) in remarks {
            self.remark(severity, variable.line, said);
        }
        if let Some(origin) = origin(&variable.path, variable.note.as_deref()) {
            self.reading.document.environment.set_origin(&variable.name, origin);
        }
    }

    /// Texts in fields of bytes: right in Python 2 alone.
    fn texts(&mut self, lines: &BTreeSet<usize>) {
        let Some(first) = lines.first() else {
            return;
        };
        let others = match lines.len() - 1 {
            0 => String::new(),
            1 => " (and one further line)".to_owned(),
            n_others => format!(" (and {n_others} further lines)"),
        };
        let message = format!(
            "the field .s takes bytes, for which protobuf raises a TypeError on a text in Python 3{others}: write b\"...\" or \
             tf.compat.as_bytes(...)"
        );
        self.remark(Severity::Warning, *first, message);
    }

    fn conditions(&mut self) {
        for (line, names) in std::mem::take(&mut self.conditional) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let (verb, they) = if names.len() == 1 {
                ("is", "it is")
            } else {
                ("are", "they are")
            };
            let message = format!(
                "{} {verb} set only where this condition holds; {they} taken as set",
                first_of(names.iter(), MAX_NAMES, ", ")
            );
            self.remark(Severity::Warning, line, message);
        }
    }
}

/// The configuration with a name, else the only one whose optimizer has it.
fn chosen(of: Option<&str>, names: &[Option<String>], runs: &[Run]) -> Option<usize> {
    let of = of?;
    let by_name = names.iter().position(|name| name.as_deref() == Some(of));
    let mut aliases = (0..runs.len()).filter(|run| runs[*run].alias.as_deref() == Some(of));
    by_name.or_else(|| aliases.next().filter(|_| aliases.next().is_none()))
}

/// The names of configurations, which are unique; `None` of other objects.
fn names_of(records: &Records) -> Vec<Option<String>> {
    let bound = |run: &Run| records.name_of(run).unwrap_or_else(|| format!("line {}", run.line));
    let bound = |run: &Run| run.is_configuration().then(|| bound(run));
    let names: Vec<Option<String>> = records.runs.iter().map(bound).collect();
    let mut of_name: BTreeMap<&str, usize> = BTreeMap::new();
    let mut of_line: BTreeMap<(&str, usize), (usize, usize)> = BTreeMap::new();
    let known = names
        .iter()
        .zip(&records.runs)
        .filter_map(|(name, run)| Some((name.as_deref()?, run)));
    for (name, run) in known {
        *of_name.entry(name).or_default() += 1;
        of_line.entry((name, run.line)).or_default().0 += 1;
    }
    let all = names.iter().zip(&records.runs);
    let unique = all.map(|(name, run)| {
        let name = name.as_deref()?;
        let (n_alike, number) = of_line.get_mut(&(name, run.line))?;
        *number += 1;
        Some(match (of_name.get(name)?, n_alike) {
            (1, _) => name.to_owned(),
            (_, 1) => format!("{name} (line {})", run.line),
            _ => format!("{name} (line {}, number {number})", run.line),
        })
    });
    unique.collect()
}

/// The uncertainty of a setting; `None` if it is certain.
fn origin(path: &[Arm], note: Option<&str>) -> Option<Origin> {
    let condition = open_condition(path).map(|arm| Condition {
        line: arm.line,
        text: arm.text.to_string(),
    });
    let assumption = note.map(str::to_owned);
    (condition.is_some() || assumption.is_some()).then_some(Origin { condition, assumption })
}

/// Remarks in the order of their lines; of very many the most severe.
fn told(mut remarks: Vec<Remark>) -> Diagnostics {
    remarks.sort_by_key(|remark| remark.line);
    // Every round of a loop has the same remarks.
    let mut told = BTreeSet::new();
    remarks.retain(|remark| told.insert((remark.line, remark.message.clone())));
    let n_left = remarks.len().saturating_sub(MAX_REMARKS);
    if n_left > 0 {
        remarks.sort_by_key(|remark| remark.severity);
        remarks.truncate(MAX_REMARKS);
        remarks.sort_by_key(|remark| remark.line);
    }
    let mut diagnostics = Diagnostics::new();
    for Remark {
        severity,
        line,
        message,
    } in remarks
    {
        let place = format!("line {line}");
        let message = format!("{place}: {message}");
        match severity {
            Severity::Error => diagnostics.error(message, &place),
            Severity::Warning => diagnostics.warning(message, &place),
            Severity::Info => diagnostics.info(message, &place),
        }
    }
    if n_left > 0 {
        diagnostics.warning(format!("{n_left} more remarks are not listed"), "");
    }
    diagnostics
}
