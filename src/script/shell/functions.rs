//! Functions of a shell script: where their bodies end, and who calls them.

use std::collections::BTreeSet;

use super::word::{Command, Step, Word};

/// Words in front of a command that do not change its assignments.
pub(super) const LEADING: &[&str] = &[
    "if", "then", "else", "elif", "do", "while", "until", "{", "}", "!", "time", "case", "exec",
];

/// The first word of a command behind control words and assignments.
pub(super) fn called(command: &Command) -> Option<&str> {
    let mut words = command.words.iter();
    let word =
        words.find(|word| word.assignment().is_none() && word.plain().is_none_or(|text| !LEADING.contains(&text)));
    word.and_then(Word::plain)
}

/// Functions of these steps that nothing outside of their bodies names. None where there are no other commands: such a file is read by
/// others, which call them.
pub(super) fn idle(steps: &[Step]) -> BTreeSet<&str> {
    let mut idle = BTreeSet::new();
    let mut named = BTreeSet::new();
    let mut is_run = false;
    let mut inside: Vec<(&str, usize)> = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        inside.retain(|(_, end)| *end > at);
        match step {
            Step::Define(name) => {
                if let Some(length) = body_length(&steps[at + 1..]) {
                    idle.insert(name.as_str());
                    inside.push((name, at + 1 + length));
                }
            }
            Step::Run(command) => {
                is_run |= inside.is_empty();
                let words = command.words.iter();
                // A computed word may name any of them.
                if words.clone().next().is_some_and(|first| first.plain().is_none()) {
                    return BTreeSet::new();
                }
                let own = inside.last().map(|(name, _)| *name);
                let texts = words.filter_map(Word::plain).flat_map(str::split_whitespace);
                named.extend(
                    texts
                        .map(|text| text.trim_end_matches(')'))
                        .filter(|text| Some(*text) != own),
                );
            }
            Step::Open | Step::Close => {}
        }
    }
    idle.retain(|name| is_run && !named.contains(name));
    idle
}

/// The number of steps of a function's body in braces; `None` for another one.
pub(super) fn body_length(steps: &[Step]) -> Option<usize> {
    let mut open = 0_usize;
    for (position, step) in steps.iter().enumerate() {
        let Step::Run(command) = step else { continue };
        for word in command.words.iter().map_while(Word::plain) {
            match word {
                "{" => open += 1,
                "}" => open = open.checked_sub(1)?,
                word if LEADING.contains(&word) => {}
                _ => break,
            }
        }
        if open == 0 {
            return (position > 0 || command.words.len() > 1).then_some(position + 1);
        }
    }
    None
}
