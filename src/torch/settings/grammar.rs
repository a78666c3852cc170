//! Tokens of a settings text: blanks are dropped anywhere, `,` `:` `[` `]` are tokens. From torch 2.10 on, what separates
//! a key from its value or a pair from the next one is skipped whatever it is.

use super::error::SettingsError;
use super::number;
use crate::version::{Blanks, Separators, Version};

/// The pairs of a text: it is cut at commas outside of brackets.
pub(super) fn pairs(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    let pairs = text.split(move |letter: char| {
        match letter {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0
    });
    pairs.filter(|pair| !pair.trim().is_empty())
}

/// The tokens and the place of reading.
#[derive(Debug)]
pub(super) struct Tokens {
    list: Vec<String>,
    at: usize,
    separators: Separators,
}

impl Tokens {
    pub(super) fn of(text: &str, version: Version) -> Self {
        let rules = version.rules();
        let is_blank = |letter: char| match rules.blanks {
            Blanks::Space => letter == ' ',
            Blanks::All => letter.is_ascii_whitespace() || letter == '\x0b',
        };
        let mut list = Vec::new();
        let mut word = String::new();
        for letter in text.chars() {
            if matches!(letter, ',' | ':' | '[' | ']') {
                if !word.is_empty() {
                    list.push(std::mem::take(&mut word));
                }
                list.push(letter.to_string());
            } else if !is_blank(letter) {
                word.push(letter);
            }
        }
        if !word.is_empty() {
            list.push(word);
        }
        Self {
            list,
            at: 0,
            separators: rules.separators,
        }
    }

    fn next(&mut self) -> Option<String> {
        let token = self.list.get(self.at).cloned();
        self.at += 1;
        token
    }

    /// The next key; none: the end.
    pub(super) fn key(&mut self) -> Option<String> {
        self.next()
    }

    /// Passes one token, if there is one.
    ///
    /// # Errors
    /// The version wants this separator and finds another token.
    pub(super) fn separator(&mut self, wanted: char) -> Result<(), SettingsError> {
        let got = self.next();
        let is_wanted = got.as_deref().is_some_and(|token| token.chars().eq([wanted]));
        if self.separators == Separators::Any || is_wanted {
            return Ok(());
        }
        Err(SettingsError::Separator {
            wanted,
            got: got.unwrap_or_else(|| "the end".to_owned()),
        })
    }

    pub(super) fn separator_unless_end(&mut self, wanted: char) -> Result<(), SettingsError> {
        if self.at < self.list.len() {
            return self.separator(wanted);
        }
        Ok(())
    }

    pub(super) fn value(&mut self, key: &'static str) -> Result<String, SettingsError> {
        self.next().ok_or(SettingsError::MissingValue { key })
    }

    pub(super) fn count(&mut self, key: &'static str) -> Result<u64, SettingsError> {
        let got = self.value(key)?;
        number::unsigned(&got).ok_or(SettingsError::NotACount { key, got })
    }

    /// The number and its text.
    pub(super) fn real(&mut self, key: &'static str) -> Result<(f64, String), SettingsError> {
        let got = self.value(key)?;
        match number::real(&got) {
            Some(real) => Ok((real, got)),
            None => Err(SettingsError::NotAReal { key, got }),
        }
    }

    pub(super) fn flag(&mut self, key: &'static str) -> Result<bool, SettingsError> {
        let got = self.value(key)?;
        match got.as_str() {
            "True" => Ok(true),
            "False" => Ok(false),
            _ => Err(SettingsError::NotAFlag { key, got }),
        }
    }

    /// Passes a value of any form, a list with its brackets too.
    pub(super) fn any(&mut self, key: &'static str) -> Result<(), SettingsError> {
        if self.opens_list(key)? {
            while self.item().is_some() {}
            return self.close_list();
        }
        self.value(key).map(drop)
    }

    /// Whether the value is a list; passes its bracket.
    pub(super) fn opens_list(&mut self, key: &'static str) -> Result<bool, SettingsError> {
        let first = self.list.get(self.at).ok_or(SettingsError::MissingValue { key })?;
        let is_list = first == "[";
        self.at += usize::from(is_list);
        Ok(is_list)
    }

    /// The next token of a list; none: its closing bracket or the end of the text.
    pub(super) fn item(&mut self) -> Option<String> {
        let token = self.list.get(self.at)?;
        if token == "]" {
            return None;
        }
        self.next()
    }

    /// Passes what separates two pairs of a list.
    pub(super) fn separator_unless_closing(&mut self, wanted: char) -> Result<(), SettingsError> {
        if self.list.get(self.at).is_some_and(|token| token == "]") {
            return Ok(());
        }
        self.separator_unless_end(wanted)
    }

    pub(super) fn close_list(&mut self) -> Result<(), SettingsError> {
        match self.next() {
            Some(_) => Ok(()),
            None => Err(SettingsError::ListNotClosed),
        }
    }
}
