//! Commands of a shell script and their words.

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    /// `$NAME`, `${NAME}`, or with a default `${NAME:-words}`.
    Variable(String, Option<Vec<Self>>),
    /// An expansion that only a running shell knows, as text.
    Computed(String),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    /// Empty for `''`.
    pub(super) pieces: Vec<Piece>,
}

impl Word {
    /// The text of a word that has no expansions.
    pub(super) fn plain(&self) -> Option<&str> {
        match &self.pieces[..] {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// `NAME=value` as name and value; the value of `NAME+=value` starts with the variable.
    pub(super) fn assignment(&self) -> Option<(String, Self)> {
        let Some(Piece::Text(first)) = self.pieces.first() else {
            return None;
        };
        let (name, start) = first.split_once('=')?;
        let appended_to = name.strip_suffix('+');
        let name = appended_to.unwrap_or(name);
        if !is_name(name) {
            return None;
        }
        let mut value = Self::default();
        if appended_to.is_some() {
            value.pieces.push(Piece::Variable(name.to_owned(), None));
        }
        if !start.is_empty() {
            value.pieces.push(Piece::Text(start.to_owned()));
        }
        value.pieces.extend(self.pieces[1..].iter().cloned());
        Some((name.to_owned(), value))
    }
}

/// The words between two separators.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Command {
    /// From 1.
    pub(super) line: usize,
    pub(super) words: Vec<Word>,
    /// `&` or `|` of `&&` or `||` in front.
    pub(super) operator: Option<char>,
    /// Whether it is a part of a pipeline, which runs in a subshell.
    pub(super) is_piped: bool,
    /// Whether a `|` is in front.
    pub(super) is_behind_pipe: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Run(Command),
    /// `(`: a subshell starts, which has a copy of the variables.
    Open,
    Close,
    /// `name()`: the body follows.
    Define(String),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cut {
    pub(super) steps: Vec<Step>,
    /// The line of an unclosed quote.
    pub(super) open_quote: Option<usize>,
}

/// Whether a text can name a variable.
pub(in super::super) fn is_name(text: &str) -> bool {
    !text.starts_with(|c: char| c.is_ascii_digit())
        && !text.is_empty()
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
