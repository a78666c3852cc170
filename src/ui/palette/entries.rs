//! The entries of the palette: a row of every table.

use eframe::egui;

use super::fuzzy::{self, Match};
use crate::commands::{COMMANDS, UiCommand, also};
use crate::help::keys_text;
use crate::keys::why_not;
use crate::panes::{PANES, Pane};
use crate::recent::{missing_text, opened_text};
use highwater_options::{ENVIRONMENT, TABLE, find_group};
use highwater_session::{Recents, SAMPLES, Sample, Session};

/// Matches in explanations come after all matches in names.
const BEHIND_NAMES: i32 = -1000;

#[derive(Clone, Debug)]
pub enum Choice {
    Command(UiCommand),
    Pane(Pane),
    Sample(&'static Sample),
    /// Recent files by position.
    Recent(usize),
    /// An option or variable whose field gets the keyboard.
    Option(&'static str),
    /// A step to pin.
    Step(u32),
}

impl Choice {
    /// The words before the name.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Command(_) | Self::Step(_) => "",
            Self::Pane(_) => "go to pane",
            Self::Sample(_) => "open sample",
            Self::Recent(_) => "open again",
            Self::Option(_) => "go to option",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Entry {
    /// Unique, and the same in every run of the program.
    pub key: String,
    pub title: String,
    /// One sentence.
    pub tooltip: String,
    /// Further search words in lower case.
    pub also: &'static str,
    /// The state of a toggle, or the shortcut.
    pub now: String,
    pub shortcut: String,
    /// Why it is disabled, if it is.
    pub why_not: Option<String>,
    pub choice: Choice,
}

impl Entry {
    fn new(key: String, title: &str, choice: Choice) -> Self {
        Self {
            key,
            title: title.to_owned(),
            tooltip: String::new(),
            also: "",
            now: String::new(),
            shortcut: String::new(),
            why_not: None,
            choice,
        }
    }

    /// The score of typed letters.
    pub fn matches(&self, typed: &str) -> Option<Match> {
        let behind_kind = || {
            // "go to pane lanes" matches too.
            let kind = self.choice.kind();
            let found = fuzzy::find(typed, &format!("{kind} {}", self.title))?;
            let own = kind.chars().count() + 1;
            let places = found.places.iter().filter_map(|place| place.checked_sub(own));
            Some(Match {
                score: found.score - 1,
                places: places.collect(),
            })
        };
        let in_explanation = || {
            let typed = typed.trim().to_lowercase();
            let is_in = typed.chars().count() > 2 && self.tooltip.to_lowercase().contains(&typed);
            is_in.then(|| Match {
                score: BEHIND_NAMES,
                places: Vec::new(),
            })
        };
        let named = fuzzy::find(typed, &self.title).map(|found| Match {
            score: found.score + self.beginning(typed) - self.hiding(&found),
            ..found
        });
        let known = named.or_else(behind_kind).or_else(in_explanation);
        let also = self.in_further_words(typed);
        if known.as_ref().map(|known| known.score) < also.as_ref().map(|also| also.score) {
            also
        } else {
            known
        }
    }

    /// A prefix of a further word counts as much as one of the name, and more than a word in the name of an option.
    fn in_further_words(&self, typed: &str) -> Option<Match> {
        let typed = typed.trim().to_lowercase();
        let is_word = typed.chars().count() > 2 && format!(" {}", self.also).contains(&format!(" {typed}"));
        let found = fuzzy::find(&typed, self.also).filter(|_| is_word)?;
        Some(Match {
            score: found.score + 50,
            places: Vec::new(),
        })
    }

    /// Options are many, and scattered letters match some of them: such matches do not hide matches in explanations.
    fn hiding(&self, found: &Match) -> i32 {
        let is_option = matches!(self.choice, Choice::Option(_));
        if is_option && fuzzy::is_scattered(found, &self.title) {
            -2 * BEHIND_NAMES
        } else {
            0
        }
    }

    /// Prefixes of the name score higher, and the whole name highest.
    fn beginning(&self, typed: &str) -> i32 {
        let (typed, title) = (typed.trim().to_lowercase(), self.title.to_lowercase());
        if typed.is_empty() || !title.starts_with(&typed) {
            0
        } else if title == typed {
            200
        } else {
            100
        }
    }

    pub fn right_text(&self) -> String {
        match (self.now.is_empty(), self.shortcut.is_empty()) {
            (true, _) => self.shortcut.clone(),
            (false, true) => self.now.clone(),
            (false, false) => format!("{}   {}", self.now, self.shortcut),
        }
    }

    /// The name for assistive technology.
    pub fn spoken(&self) -> String {
        let kind = self.choice.kind();
        let space = if kind.is_empty() { "" } else { " " };
        let why = self
            .why_not
            .as_ref()
            .map_or_else(String::new, |why| format!(" ({why})"));
        format!("{kind}{space}{}{why}", self.title)
    }
}

/// Input of the entries.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    pub session: &'a Session,
    pub recents: &'a Recents,
    /// Seconds since 1970.
    pub clock: u64,
    /// States of toggles.
    pub now: &'a dyn Fn(UiCommand) -> Option<&'static str>,
}

/// In the order of the tables.
pub fn entries(known: &Known<'_>, ctx: &egui::Context) -> Vec<Entry> {
    let commands = COMMANDS.iter().filter(|row| row.command != UiCommand::OpenPalette);
    let commands = commands.map(|row| Entry {
        tooltip: row.tooltip.to_owned(),
        also: also(row.command),
        now: (known.now)(row.command).map_or_else(String::new, |now| format!("current: {now}")),
        shortcut: row.shortcut.map_or_else(String::new, |keys| keys_text(keys, ctx)),
        why_not: why_not(row.command, known.session).map(str::to_owned),
        ..Entry::new(
            format!("command:{:?}", row.command),
            row.text,
            Choice::Command(row.command),
        )
    });
    let panes = PANES.iter().map(|row| Entry {
        tooltip: row.what.to_owned(),
        why_not: row.pane.why_not(known.session).map(str::to_owned),
        ..Entry::new(format!("pane:{}", row.name), row.title, Choice::Pane(row.pane))
    });
    let recents = known.recents.list.iter().enumerate().map(|(position, recent)| Entry {
        tooltip: recent
            .paths()
            .map(|path| path.display().to_string())
            .collect::<Vec<_>>()
            .join("\n"),
        now: opened_text(recent.opened, known.clock),
        why_not: missing_text(recent, known.session),
        ..Entry::new(
            format!("recent:{}", recent.title()),
            &recent.title(),
            Choice::Recent(position),
        )
    });
    let samples = SAMPLES
        .iter()
        .map(|sample| Entry::new(format!("sample:{}", sample.name), sample.title, Choice::Sample(sample)));
    // Objects whose fields are options have no field.
    let rows = TABLE.iter().filter(|row| find_group(row.key).is_none());
    let options = rows.map(|row| Entry {
        tooltip: row.summary.to_owned(),
        ..Entry::new(format!("option:{}", row.key), row.key, Choice::Option(row.key))
    });
    let variables = ENVIRONMENT.iter().map(|row| Entry {
        tooltip: row.summary.to_owned(),
        ..Entry::new(format!("option:{}", row.name), row.name, Choice::Option(row.name))
    });
    let all = commands.chain(panes).chain(recents).chain(samples).chain(options);
    all.chain(variables).collect()
}

/// A step by its number: "step 350", "go 350".
pub(super) fn step_entry(typed: &str, session: &Session) -> Option<Entry> {
    let typed = typed.trim().to_lowercase();
    let split = typed.find(|letter: char| letter.is_ascii_digit())?;
    let (words, digits) = typed.split_at(split);
    let step: u32 = digits.parse().ok()?;
    let is_meant = ["step", "go", "goto", "go to", "go to step", "pin step"].contains(&words.trim());
    let (_, timeline) = session.answer()?;
    let last = timeline.n_steps.checked_sub(1)?;
    let title = format!("Go to step {}", step.min(last));
    is_meant.then(|| Entry {
        tooltip: format!("pin the step in all lanes; there are steps 0 to {last}"),
        ..Entry::new("step".to_owned(), &title, Choice::Step(step.min(last)))
    })
}
