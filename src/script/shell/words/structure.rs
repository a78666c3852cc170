//! Subshells, functions, patterns of `case`, pipelines, redirections and here-documents.

use super::super::word::{Command, Piece, Step, Word};
use super::{CONTROL, Cutter};

impl Cutter<'_> {
    /// The pattern of a `case`, up to its bracket.
    pub(super) fn skip_pattern(&mut self) {
        if self.cases.last() != Some(&true) || self.word.is_some() {
            return;
        }
        while let Some(letter) = self.peek().filter(|letter| letter.is_whitespace() || *letter == '#') {
            if letter == '#' {
                self.skip_line();
                continue;
            }
            self.skip();
            if letter == '\n' {
                self.skip_documents();
            }
        }
        let at = self.at();
        if let Some(behind) = self.text[at..].strip_prefix("esac")
            && !behind.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_')
        {
            self.cases.pop();
            return;
        }
        let mut quote = None;
        while let Some(letter) = self.next() {
            match (quote, letter) {
                (Some(end), _) if letter == end => quote = None,
                (None, '\\') => self.skip(),
                (None, '\'' | '"') => quote = Some(letter),
                (None, ')') => break,
                _ => {}
            }
        }
        if let Some(expects) = self.cases.last_mut() {
            *expects = false;
        }
    }

    /// Whether a command has no more than control words so far.
    pub(super) fn is_at_start(&self) -> bool {
        let is_control = |word: &Word| word.plain().is_some_and(|text| CONTROL.contains(&text));
        self.word.is_none() && self.current.words.iter().all(is_control)
    }

    /// `(`: a subshell, `name()`, `name=(...)`, `((...))`, or a bracket of a pattern.
    pub(super) fn open_bracket(&mut self) {
        if self.is_at_start() {
            if self.peek() == Some('(') {
                return self.skip_balanced(1);
            }
            self.end_command();
            self.steps.push(Step::Open);
            self.n_subshells += 1;
            return;
        }
        let glued = self.word.as_ref().and_then(Word::plain);
        if glued.is_some_and(|text| text.ends_with('=')) {
            let start = self.at();
            self.skip_balanced(1);
            let end = self.at();
            let items = format!("({}", &self.text[start..end]);
            return self.push_pieces(vec![Piece::Computed(items)]);
        }
        let is_one = self.current.words.len() + usize::from(self.word.is_some()) == 1;
        let is_function = self.current.words.first().and_then(Word::plain) == Some("function");
        if self.peek() == Some(')') && (is_one || is_function) {
            self.skip();
            self.end_word();
            let name = self.current.words.last().and_then(Word::plain).unwrap_or_default();
            self.steps.push(Step::Define(name.to_owned()));
            self.current = Command::default();
            return;
        }
        self.end_command();
    }

    pub(super) fn close_bracket(&mut self) {
        self.end_command();
        if self.n_subshells > 0 {
            self.n_subshells -= 1;
            self.steps.push(Step::Close);
        }
    }

    /// After a `>`: a file, or a copied descriptor.
    pub(super) fn output(&mut self) {
        let descriptor = self.word.as_ref().and_then(Word::plain);
        if descriptor.is_some_and(|text| text.chars().all(|letter| letter.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        while matches!(self.peek(), Some('>' | '&' | '|')) {
            self.skip();
        }
        if self.peek() == Some('(') {
            return self.skip_balanced(0);
        }
        self.is_redirected = true;
    }

    /// A command; a loop, branch or group behind a `|` is a subshell.
    pub(super) fn push_command(&mut self, mut command: Command) {
        let mut is_piped = command.is_behind_pipe;
        let mut n_closed = 0;
        for word in command.words.iter().map_while(Word::plain) {
            match word {
                "if" | "case" | "for" | "while" | "until" | "select" | "{" => {
                    self.compounds.push(is_piped);
                    if std::mem::take(&mut is_piped) {
                        self.steps.push(Step::Open);
                        command.is_piped = false;
                    }
                }
                "fi" | "esac" | "done" | "}" => n_closed += usize::from(self.compounds.pop().unwrap_or_default()),
                word if CONTROL.contains(&word) => {}
                _ => break,
            }
        }
        self.steps.push(Step::Run(command));
        self.steps.extend(std::iter::repeat_n(Step::Close, n_closed));
    }

    /// After a `<`: a file, or the end of a here-document.
    pub(super) fn redirection(&mut self) {
        self.end_word();
        self.is_redirected = true;
        if self.peek() == Some('(') {
            self.is_redirected = false;
            return self.skip_balanced(0);
        }
        if self.peek() != Some('<') {
            return;
        }
        self.skip();
        if self.peek() == Some('<') {
            self.skip();
            return;
        }
        let rest = &self.text[self.at()..];
        let line = rest.lines().next().unwrap_or("").trim_start_matches('-').trim_start();
        let end: String = line
            .chars()
            .take_while(|c| !c.is_whitespace() && !";&|<>)".contains(*c))
            .filter(|c| !"'\"\\".contains(*c))
            .collect();
        if !end.is_empty() {
            self.documents.push(end);
        }
        if self.peek() == Some('-') {
            self.skip();
        }
    }

    pub(super) fn skip_documents(&mut self) {
        for end in std::mem::take(&mut self.documents) {
            while self.peek().is_some() {
                let at = self.at();
                let line = self.text[at..].split('\n').next().unwrap_or("");
                self.skip_line();
                self.skip();
                if line.trim() == end {
                    break;
                }
            }
        }
    }

    /// Skips balanced brackets, of which some are open already; brackets in quotes do not count.
    pub(super) fn skip_balanced(&mut self, mut open: usize) {
        let mut quote = None;
        while let Some(letter) = self.next() {
            match (quote, letter) {
                (Some(end), _) if letter == end => quote = None,
                (Some('\''), _) => {}
                (_, '\\') => self.skip(),
                (None, '\'' | '"') => quote = Some(letter),
                (None, '(') => open += 1,
                (None, ')') => open = open.saturating_sub(1),
                _ => {}
            }
            if open == 0 {
                break;
            }
        }
    }
}
