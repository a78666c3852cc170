//! Environment variables of launchers' YAML.

use std::borrow::Cow;
use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError};

use super::super::reading::Reading;
use super::{Collector, is_environment, is_variable};
use highwater_options::ENVIRONMENT;

/// The number of lines that are no YAML and are left out; what follows a further one is missing.
const MOST_LEFT_OUT: usize = 16;

/// The most bytes of a scalar that aliases repeat: a file of aliases of a long one would take too long.
const MOST_ALIASED: usize = 4096;

/// Reads the variables of a file. A line that is no YAML, such as one of a template, is left out and reported.
pub(in super::super) fn from_yaml(text: &str) -> Reading {
    let mut lines: Vec<&str> = text.lines().collect();
    let mut left_out = Vec::new();
    for (at, line) in lines.iter_mut().enumerate() {
        if ["{{", "{%"].iter().any(|start| line.trim_start().starts_with(start)) {
            left_out.push((at, std::mem::take(line), "is of a template"));
        }
    }
    let n_of_templates = left_out.len();
    let mut text = if left_out.is_empty() {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(lines.join("\n"))
    };
    loop {
        let (mut collector, error) = read(&text);
        let at = error.as_ref().map(|error| error.marker().line().saturating_sub(1));
        let line = at
            .and_then(|at| lines.get_mut(at))
            .filter(|line| !line.trim().is_empty());
        if let (Some(at), Some(line)) = (at, line)
            && left_out.len() < n_of_templates + MOST_LEFT_OUT
        {
            left_out.push((at, std::mem::take(line), "is no YAML"));
            text = Cow::Owned(lines.join("\n"));
            continue;
        }
        left_out.sort_unstable();
        for (at, line, why) in left_out {
            collector.left_out(line, at + 1, why);
        }
        if let Some(at) = at {
            for row in ENVIRONMENT {
                let line = lines.iter().position(|line| line.contains(row.name));
                if let Some(line) = line.filter(|_| !collector.seen.contains_key(row.name)) {
                    collector.unread(row.name, line + 1, "is in a file that is not read to its end");
                }
            }
            if collector.reading.is_found {
                collector.warn(at + 1, "", "this cannot be read; what follows may be missing");
            }
        }
        return collector.reading;
    }
}

/// What is read before an error, and the error.
fn read(text: &str) -> (Collector, Option<ScanError>) {
    let mut walk = Walk::default();
    for event in Parser::new_from_str(text) {
        match event {
            Ok((event, span)) => walk.event(event, span.start.line()),
            Err(error) => return (walk.collector, Some(error)),
        }
    }
    (walk.collector, None)
}

/// A map or list that is open.
#[derive(Default)]
struct Level {
    is_map: bool,
    /// Whether it is itself a key of the map around it.
    is_key: bool,
    /// Whether it is below a key such as `env`.
    is_inside: bool,
    /// The key whose value comes next.
    key: Option<String>,
    /// The texts of `name` and `value`; the value with its line.
    pair: (Option<String>, Option<(String, usize)>),
}

#[derive(Default)]
struct Walk {
    open: Vec<Level>,
    /// Scalars with an anchor.
    anchors: BTreeMap<usize, String>,
    collector: Collector,
}

impl Walk {
    fn event(&mut self, event: Event<'_>, line: usize) {
        match event {
            Event::Scalar(text, style, anchor, _) => {
                if anchor > 0 && text.len() <= MOST_ALIASED {
                    self.anchors.insert(anchor, text.to_string());
                }
                self.scalar(&text, style, line);
            }
            Event::Alias(anchor) => {
                if let Some(text) = self.anchors.get(&anchor).cloned() {
                    self.scalar(&text, ScalarStyle::DoubleQuoted, line);
                } else {
                    self.unread_value(line);
                }
            }
            Event::MappingStart(..) => self.start(true, line),
            Event::SequenceStart(..) => self.start(false, line),
            Event::MappingEnd | Event::SequenceEnd => {
                let is_key = self.open.pop().is_some_and(|level| level.is_key);
                if let Some(around) = self.open.last_mut().filter(|_| is_key) {
                    around.key = Some(String::new());
                }
            }
            _ => {}
        }
    }

    /// A value that is not read, of the key before it.
    fn unread_value(&mut self, line: usize) {
        let key = self.open.last_mut().and_then(|level| level.key.take());
        if let Some(name) = key.filter(|key| is_variable(key)) {
            self.collector.unread(&name, line, "has a value that is not read");
        }
    }

    fn start(&mut self, is_map: bool, line: usize) {
        let mut level = Level {
            is_map,
            ..Level::default()
        };
        if let Some(around) = self.open.last_mut() {
            let key = around.key.take();
            level.is_key = around.is_map && key.is_none();
            level.is_inside = around.is_inside || key.as_deref().is_some_and(is_environment);
            if let Some(name) = key.filter(|key| is_variable(key)) {
                self.collector.unread(&name, line, "has a value that is no text");
            }
        }
        self.open.push(level);
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, line: usize) {
        let Some(level) = self.open.last_mut() else {
            return self.collector.text(text, line);
        };
        self.collector.is_inside = level.is_inside;
        if !level.is_map {
            return self.collector.text(text, line);
        }
        let Some(key) = level.key.take() else {
            level.key = Some(text.to_owned());
            return;
        };
        let is_block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
        let text = if is_block { text.trim_end() } else { text };
        match &*key {
            "name" => level.pair.0 = Some(text.to_owned()),
            "value" => level.pair.1 = Some((text.to_owned(), line)),
            key if is_block && !is_variable(key) => self.collector.script(text, line + 1),
            _ if style == ScalarStyle::Plain && matches!(text, "null" | "~") => {}
            key => {
                self.collector.variable(key, text, line);
                self.collector.text(text, line);
            }
        }
        if let (Some(name), Some((value, line))) = &level.pair {
            self.collector.variable(name, value, *line);
            level.pair = (None, None);
        }
    }
}
