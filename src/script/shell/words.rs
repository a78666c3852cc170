//! A shell script cut into commands of words, with quotes resolved and expansions marked.
//!
//! This is the part of the shell's grammar that assignments need. Control words are ordinary words, redirections and operators end a
//! command, and here-documents are skipped.

use std::iter::Peekable;
use std::str::CharIndices;

use super::word::{Command, Cut, Piece, Word, is_name};

/// The depth of expansions in defaults of expansions.
const MAX_DEPTH: u32 = 16;

/// Never fails: an open quote ends with the text.
pub(super) fn commands(text: &str) -> Cut {
    let mut cutter = Cutter {
        text,
        rest: text.char_indices().peekable(),
        line: 1,
        commands: Vec::new(),
        current: Command::default(),
        word: None,
        documents: Vec::new(),
        open_quote: None,
        is_cut: false,
    };
    cutter.run();
    Cut {
        commands: cutter.commands,
        open_quote: cutter.open_quote,
    }
}

struct Cutter<'a> {
    text: &'a str,
    rest: Peekable<CharIndices<'a>>,
    line: usize,
    commands: Vec<Command>,
    current: Command,
    /// `None` between words.
    word: Option<Word>,
    /// The ends of the here-documents after this line.
    documents: Vec<String>,
    open_quote: Option<usize>,
    /// Whether the text ended before a quote did.
    is_cut: bool,
}

impl Cutter<'_> {
    fn run(&mut self) {
        while let Some(letter) = self.next() {
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
                ';' | '&' | '|' | '(' | ')' | '>' => self.end_command(),
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
        self.current.words.extend(self.word.take());
    }

    fn end_command(&mut self) {
        self.end_word();
        let command = std::mem::take(&mut self.current);
        if command.words.is_empty() {
            self.current.operator = command.operator;
        } else {
            self.commands.push(command);
        }
    }

    fn skip_line(&mut self) {
        while self.peek().is_some_and(|letter| letter != '\n') {
            self.skip();
        }
    }

    /// After a `<`: a file, or the end of a here-document.
    fn redirection(&mut self) {
        self.end_word();
        if self.peek() != Some('<') {
            return self.end_command();
        }
        self.skip();
        if self.peek() == Some('<') {
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
        self.end_command();
    }

    fn skip_documents(&mut self) {
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
                self.skip_balanced('(', ')');
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

    /// Skips balanced brackets; brackets in quotes do not count.
    fn skip_balanced(&mut self, opening: char, closing: char) {
        let mut open = 0;
        let mut quote = None;
        while let Some(letter) = self.next() {
            match (quote, letter) {
                (Some(end), _) if letter == end => quote = None,
                (Some('\''), _) => {}
                (_, '\\') => self.skip(),
                (None, '\'' | '"') => quote = Some(letter),
                (None, _) if letter == opening => open += 1,
                (None, _) if letter == closing => open -= 1,
                _ => {}
            }
            if open == 0 {
                break;
            }
        }
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
