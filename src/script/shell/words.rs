//! A shell script cut into commands of words, with quotes resolved and expansions marked.
//!
//! This is the part of the shell's grammar that assignments need. Control words are ordinary words, operators end a command, subshells and
//! functions are steps, redirections and here-documents are skipped.

mod structure;

use std::iter::Peekable;
use std::str::CharIndices;

use super::word::{Command, Cut, Piece, Step, Word, is_name};

/// The depth of expansions in defaults of expansions.
const MAX_DEPTH: u32 = 16;

/// Words in front of a command, behind which a subshell may start.
const CONTROL: &[&str] = &["if", "then", "else", "elif", "do", "while", "until", "{", "!", "time"];

/// Never fails: an open quote ends with the text. `line` is that of its start.
pub(super) fn steps(text: &str, line: usize) -> Cut {
    let mut cutter = Cutter {
        text,
        rest: text.char_indices().peekable(),
        line,
        steps: Vec::new(),
        current: Command::default(),
        word: None,
        documents: Vec::new(),
        open_quote: None,
        is_cut: false,
        is_redirected: false,
        n_subshells: 0,
        cases: Vec::new(),
        compounds: Vec::new(),
    };
    cutter.run();
    Cut {
        steps: cutter.steps,
        open_quote: cutter.open_quote,
    }
}

struct Cutter<'a> {
    text: &'a str,
    rest: Peekable<CharIndices<'a>>,
    line: usize,
    steps: Vec<Step>,
    current: Command,
    /// `None` between words.
    word: Option<Word>,
    /// The ends of the here-documents after this line.
    documents: Vec<String>,
    open_quote: Option<usize>,
    /// Whether the text ended before a quote did.
    is_cut: bool,
    /// Whether the next word is the file of a redirection.
    is_redirected: bool,
    /// The number of open subshells.
    n_subshells: usize,
    /// Of each open `case` whether a pattern comes next.
    cases: Vec<bool>,
    /// Of each open loop, branch or group whether it is a part of a pipeline, which is a subshell.
    compounds: Vec<bool>,
}

impl Cutter<'_> {
    fn run(&mut self) {
        loop {
            self.skip_pattern();
            let Some(letter) = self.next() else { break };
            match letter {
                '\n' => {
                    self.end_command();
                    self.skip_documents();
                }
                ' ' | '\t' | '\r' => self.end_word(),
                '&' | '|' if self.peek() == Some(letter) => {
                    self.skip();
                    self.end_command();
                    self.current.operator = Some(letter);
                }
                '&' if self.peek() == Some('>') => self.end_word(),
                '|' => {
                    self.end_word();
                    self.current.is_piped = true;
                    self.end_command();
                    self.current.is_piped = true;
                    self.current.is_behind_pipe = true;
                }
                ';' if matches!(self.peek(), Some(';' | '&')) => {
                    self.skip();
                    self.end_command();
                    if let Some(expects) = self.cases.last_mut() {
                        *expects = true;
                    }
                }
                ';' | '&' => self.end_command(),
                '(' => self.open_bracket(),
                ')' => self.close_bracket(),
                '>' => self.output(),
                '<' => self.redirection(),
                '#' if self.word.is_none() => self.skip_line(),
                '\\' => match self.next() {
                    None | Some('\n') => {}
                    Some('\r') if self.peek() == Some('\n') => self.skip(),
                    Some(escaped) => self.push(escaped),
                },
                '\'' => {
                    let line = self.line;
                    let quoted = self.until('\'');
                    self.note_open_quote(line);
                    self.push_text(&quoted);
                }
                '~' if self.starts_value() => self.push_pieces(vec![Piece::Variable("HOME".to_owned(), None)]),
                '"' => {
                    let line = self.line;
                    let pieces = self.pieces_until('"', 0);
                    self.note_open_quote(line);
                    self.push_pieces(pieces);
                }
                '$' if self.peek() == Some('\'') => {
                    self.skip();
                    let text = self.escaped_text();
                    self.push_text(&text);
                }
                '$' => {
                    let piece = self.expansion(0);
                    self.push_pieces(vec![piece]);
                }
                '`' => {
                    let command = self.until('`');
                    self.push_pieces(vec![Piece::Computed(format!("`{command}`"))]);
                }
                other => self.push(other),
            }
        }
        self.end_command();
    }

    /// Records a quote that started in a line and is not closed.
    fn note_open_quote(&mut self, line: usize) {
        if self.is_cut {
            self.open_quote.get_or_insert(line);
        }
    }

    /// Whether this is the start of a variable's value, where a tilde is the home directory.
    fn starts_value(&self) -> bool {
        matches!(self.word.as_ref().map(|word| &word.pieces[..]),
            Some([Piece::Text(text)]) if text.strip_suffix('=').is_some_and(is_name))
    }

    fn next(&mut self) -> Option<char> {
        let (_, letter) = self.rest.next()?;
        self.line += usize::from(letter == '\n');
        Some(letter)
    }

    /// The next letter, unless it is `end`.
    fn before(&mut self, end: char) -> Option<char> {
        let letter = self.next();
        self.is_cut |= letter.is_none();
        letter.filter(|letter| *letter != end)
    }

    fn skip(&mut self) {
        self.next();
    }

    fn peek(&mut self) -> Option<char> {
        self.rest.peek().map(|(_, letter)| *letter)
    }

    fn at(&mut self) -> usize {
        self.rest.peek().map_or(self.text.len(), |(at, _)| *at)
    }

    fn open_word(&mut self) -> &mut Word {
        if self.current.words.is_empty() && self.word.is_none() {
            self.current.line = self.line;
        }
        self.word.get_or_insert_default()
    }

    fn push(&mut self, letter: char) {
        self.push_text(letter.encode_utf8(&mut [0; 4]));
    }

    fn push_text(&mut self, text: &str) {
        push_text(&mut self.open_word().pieces, text);
    }

    fn push_pieces(&mut self, pieces: Vec<Piece>) {
        let word = self.open_word();
        for piece in pieces {
            match piece {
                Piece::Text(text) => push_text(&mut word.pieces, &text),
                other => word.pieces.push(other),
            }
        }
    }

    fn end_word(&mut self) {
        let word = self.word.take();
        if word.is_some() && std::mem::take(&mut self.is_redirected) {
            return;
        }
        let is_in = word.as_ref().and_then(Word::plain) == Some("in");
        self.current.words.extend(word);
        let mut words = self.current.words.iter().filter_map(Word::plain);
        if is_in && words.find(|word| !CONTROL.contains(word)) == Some("case") {
            self.end_command();
            self.cases.push(true);
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.is_redirected = false;
        let command = std::mem::take(&mut self.current);
        if command.words.is_empty() {
            self.current.operator = command.operator;
            return;
        }
        self.push_command(command);
    }

    fn skip_line(&mut self) {
        while self.peek().is_some_and(|letter| letter != '\n') {
            self.skip();
        }
    }

    /// The letters before the next `end`, which is skipped.
    fn until(&mut self, end: char) -> String {
        let mut text = String::new();
        while let Some(letter) = self.before(end) {
            text.push(letter);
        }
        text
    }

    /// Pieces as between double quotes, before the next `end`.
    fn pieces_until(&mut self, end: char, depth: u32) -> Vec<Piece> {
        let mut pieces = Vec::new();
        while let Some(letter) = self.before(end) {
            match letter {
                '\\' => match self.next() {
                    None | Some('\n') => {}
                    Some(escaped) if "$`\"\\".contains(escaped) || escaped == end => {
                        push_text(&mut pieces, escaped.encode_utf8(&mut [0; 4]));
                    }
                    Some(kept) => push_text(&mut pieces, &format!("\\{kept}")),
                },
                '$' => pieces.push(self.expansion(depth)),
                '`' => {
                    let command = self.until('`');
                    pieces.push(Piece::Computed(format!("`{command}`")));
                }
                '"' if end == '}' => pieces.extend(self.pieces_until('"', depth)),
                '\'' if end == '}' => {
                    let quoted = self.until('\'');
                    push_text(&mut pieces, &quoted);
                }
                other => push_text(&mut pieces, other.encode_utf8(&mut [0; 4])),
            }
        }
        pieces
    }

    fn expansion(&mut self, depth: u32) -> Piece {
        match self.peek() {
            Some(first) if first.is_ascii_alphabetic() || first == '_' => Piece::Variable(self.name(), None),
            Some('{') => {
                self.skip();
                self.braced(depth + 1)
            }
            Some('(') => {
                let start = self.at();
                self.skip_balanced(0);
                let end = self.at();
                Piece::Computed(format!("${}", &self.text[start..end]))
            }
            Some(special) if special.is_ascii_digit() || "@*#?$!-".contains(special) => {
                self.skip();
                Piece::Computed(format!("${special}"))
            }
            _ => Piece::Text("$".to_owned()),
        }
    }

    fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(letter) = self.peek().filter(|c| c.is_ascii_alphanumeric() || *c == '_') {
            name.push(letter);
            self.skip();
        }
        name
    }

    /// `NAME}`, `NAME:-default}` and the like, behind the opening brace.
    fn braced(&mut self, depth: u32) -> Piece {
        let start = self.at();
        let name = self.name();
        if self.peek() == Some('}') && is_name(&name) {
            self.skip();
            return Piece::Variable(name, None);
        }
        let rest = &self.text[self.at()..];
        let operator = [":-", ":=", "-", "="].into_iter().find(|sign| rest.starts_with(sign));
        if let Some(operator) = operator.filter(|_| is_name(&name) && depth < MAX_DEPTH) {
            for _ in operator.chars() {
                self.skip();
            }
            return Piece::Variable(name, Some(self.pieces_until('}', depth)));
        }
        let mut open = 1;
        while let Some(letter) = self.next() {
            match letter {
                '{' => open += 1,
                '}' => open -= 1,
                _ => {}
            }
            if open == 0 {
                break;
            }
        }
        let end = self.at();
        Piece::Computed(format!("${{{}", &self.text[start..end]))
    }

    fn escaped_text(&mut self) -> String {
        let mut text = String::new();
        while let Some(letter) = self.next().filter(|letter| *letter != '\'') {
            match letter {
                '\\' => match self.next() {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some('r') => text.push('\r'),
                    Some(other) => text.push(other),
                    None => {}
                },
                other => text.push(other),
            }
        }
        text
    }
}

fn push_text(pieces: &mut Vec<Piece>, text: &str) {
    match pieces.last_mut() {
        Some(Piece::Text(last)) => last.push_str(text),
        _ => pieces.push(Piece::Text(text.to_owned())),
    }
}
