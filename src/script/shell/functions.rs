//! Functions of a shell script: where their bodies end, and who calls them.

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
