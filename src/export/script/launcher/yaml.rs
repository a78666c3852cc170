//! Environment variables of launchers' YAML, line by line.

use super::super::reading::Reading;
use super::{Collector, is_environment};

/// Reads the variables of a file.
pub(in super::super) fn from_yaml(text: &str) -> Reading {
    let mut walk = Walk {
        lines: text.lines().collect(),
        at: 0,
        environment: None,
        pair: (None, None),
        collector: Collector::default(),
    };
    while walk.at < walk.lines.len() {
        walk.line();
    }
    walk.collector.reading
}

struct Walk<'t> {
    lines: Vec<&'t str>,
    /// The next line.
    at: usize,
    /// Columns of the key whose value is an environment.
    environment: Option<usize>,
    /// `name` and `value` of an item of a list; the value with its line.
    pair: (Option<String>, Option<(String, usize)>),
    collector: Collector,
}

impl<'t> Walk<'t> {
    fn line(&mut self) {
        let text = self.lines[self.at];
        let number = self.at + 1;
        self.at += 1;
        let mut rest = text.trim_start();
        let mut column = text.len() - rest.len();
        if rest.is_empty() || rest.starts_with(['#', '%']) || rest.starts_with("---") {
            return;
        }
        let is_item = rest == "-" || rest.starts_with("- ");
        if let Some(key) = self.environment
            && (column < key || column == key && !is_item)
        {
            self.environment = None;
        }
        while let Some(item) = rest.strip_prefix("- ") {
            self.pair = (None, None);
            rest = item.trim_start();
            column = text.len() - rest.len();
        }
        self.collector.is_inside = self.environment.is_some();
        if let Some((key, value)) = key_of(rest) {
            self.entry(&key, value, column, number);
        } else {
            let value = self.scalar(rest, column, is_item);
            self.text(&value, number);
        }
    }

    fn text(&mut self, value: &str, line: usize) {
        if !self.collector.assignment(value, line) {
            self.collector.script(value, line);
        }
    }

    fn entry(&mut self, key: &str, value: &'t str, column: usize, line: usize) {
        let value = without_anchor(value);
        if is_environment(key) && value.is_empty() {
            self.environment = Some(column);
            return;
        }
        if value.starts_with(['{', '[']) {
            let outside = self.collector.is_inside;
            self.collector.is_inside |= is_environment(key);
            self.flow(value, line);
            self.collector.is_inside = outside;
            return;
        }
        let is_block = value.starts_with(['|', '>']);
        let text = self.scalar(value, column, true);
        match key {
            "name" => self.pair.0 = Some(text),
            "value" => self.pair.1 = Some((text, line)),
            _ if is_block && !super::is_variable(key) => self.collector.script(&text, line + 1),
            _ => {
                self.collector.variable(key, &text, line);
                self.text(&text, line);
            }
        }
        if let (Some(name), Some((value, line))) = &self.pair {
            let (name, value, line) = (name.clone(), value.clone(), *line);
            self.pair = (None, None);
            self.collector.variable(&name, &value, line);
        }
    }

    /// A value with the lines that continue it: those that are indented further.
    fn scalar(&mut self, first: &str, column: usize, continues: bool) -> String {
        let first = without_anchor(first);
        let is_literal = first.starts_with('|');
        let is_block = is_literal || first.starts_with('>');
        let quote = first.chars().next().filter(|letter| matches!(letter, '"' | '\''));
        let is_open = |text: &str| quote.is_some_and(|quote| !is_closed(text, quote));
        let mut text = match (is_block, quote) {
            (true, _) => String::new(),
            (false, Some(_)) => first.trim_end().to_owned(),
            (false, None) => without_comment(first).trim_end().to_owned(),
        };
        while let Some(next) = self.lines.get(self.at).filter(|_| continues || is_open(&text)) {
            let trimmed = next.trim();
            let is_deeper = next.len() - next.trim_start().len() > column;
            let is_more = is_block && (trimmed.is_empty() || is_deeper)
                || is_open(&text)
                || is_deeper && quote.is_none() && key_of(trimmed).is_none() && !trimmed.starts_with(['-', '#']);
            if !is_more {
                break;
            }
            self.at += 1;
            if !text.is_empty() {
                text.push(if is_literal { '\n' } else { ' ' });
            }
            text.push_str(trimmed);
        }
        if is_block {
            text.trim_end().to_owned()
        } else {
            unquoted(&text)
        }
    }

    /// `{A: b, C: d}` or `[A=b, C=d]` on one line.
    fn flow(&mut self, value: &str, line: usize) {
        let inner = without_comment(value).trim_end();
        let Some(inner) = inner
            .strip_prefix(['{', '['])
            .and_then(|inner| inner.strip_suffix(['}', ']']))
        else {
            self.collector.unread_flow(value, line);
            return;
        };
        for part in parts(inner) {
            let part = part.trim();
            if part.starts_with(['{', '[']) {
                self.flow(part, line);
                continue;
            }
            match key_of(part) {
                Some((key, value)) if value.starts_with(['{', '[']) => {
                    let outside = self.collector.is_inside;
                    self.collector.is_inside |= is_environment(&key);
                    self.flow(value, line);
                    self.collector.is_inside = outside;
                }
                Some((key, value)) => self.collector.variable(&key, &unquoted(value), line),
                None => self.text(&unquoted(part), line),
            }
        }
    }
}

/// `key: value`, the key without quotes.
fn key_of(text: &str) -> Option<(String, &str)> {
    let end = match text.chars().next()? {
        quote @ ('"' | '\'') => text[1..].find(quote)? + 2,
        _ => text.find(": ").or_else(|| text.strip_suffix(':').map(str::len))?,
    };
    let value = text.get(end..)?.trim_start().strip_prefix(':')?;
    let key = &text[..end];
    let is_plain = !key.contains(['{', '[', '#']) && (value.is_empty() || value.starts_with([' ', '\t']));
    is_plain.then(|| (unquoted(key.trim_end()), without_comment(value).trim()))
}

/// Without the name of an anchor and the type of a value.
fn without_anchor(text: &str) -> &str {
    let mut rest = text.trim_start();
    while rest.starts_with(['&', '!']) {
        rest = rest
            .split_once(char::is_whitespace)
            .map_or("", |(_, rest)| rest)
            .trim_start();
    }
    rest
}

fn is_closed(text: &str, quote: char) -> bool {
    let inner = text.strip_prefix(quote).unwrap_or(text);
    let mut letters = inner.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if quote == '"' => {
                letters.next();
            }
            '\'' if quote == '\'' && letters.peek() == Some(&'\'') => {
                letters.next();
            }
            letter if letter == quote => return true,
            _ => {}
        }
    }
    false
}

/// The text between quotes; another text as it is.
fn unquoted(text: &str) -> String {
    let text = text.trim();
    let between = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    match (between('"'), between('\'')) {
        (Some(inner), _) => inner.replace("\\\"", "\"").replace("\\\\", "\\"),
        (None, Some(inner)) => inner.replace("''", "'"),
        (None, None) => text.to_owned(),
    }
}

/// Without a comment, which follows a blank outside of quotes.
fn without_comment(text: &str) -> &str {
    let mut quote = None;
    let mut last = ' ';
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (None, '"' | '\'') if last.is_whitespace() || matches!(last, '{' | '[' | ',' | ':') => quote = Some(letter),
            (Some(open), letter) if open == letter && last != '\\' => quote = None,
            (None, '#') if last.is_whitespace() => return &text[..at],
            _ => {}
        }
        last = letter;
    }
    text
}

/// Between commas outside of brackets and quotes.
fn parts(text: &str) -> Vec<&str> {
    let mut depth = 0_i64;
    let mut quote = None;
    let is_comma = |letter: char| {
        match (quote, letter) {
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth -= 1,
            _ => {}
        }
        letter == ',' && depth == 0 && quote.is_none()
    };
    text.split(is_comma).collect()
}

#[cfg(test)]
mod tests;
