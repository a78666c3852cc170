//! Tokens of ONNX's own syntax: names, numbers, texts in quotes, and single signs.

use crate::ImportError;

const DAMAGED: &str = "the text is damaged or of another format, export it again";

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'t> {
    /// A name, also one with dots.
    Word(&'t str),
    /// A number as written.
    Number(&'t str),
    Text(String),
    /// `=>`.
    Arrow,
    Sign(char),
    End,
}

/// A text with the next token.
#[derive(Clone)]
pub(super) struct Tokens<'t> {
    rest: &'t str,
    pub(super) next: Token<'t>,
    /// The line of the next token, from 1.
    pub(super) line: u64,
    line_behind: u64,
}

impl<'t> Tokens<'t> {
    pub(super) fn new(text: &'t str) -> Result<Self, ImportError> {
        let mut tokens = Self {
            rest: text,
            next: Token::End,
            line: 1,
            line_behind: 1,
        };
        tokens.take()?;
        Ok(tokens)
    }

    /// Takes the next token.
    pub(super) fn take(&mut self) -> Result<Token<'t>, ImportError> {
        self.blank();
        self.line = self.line_behind;
        let next = self.read()?;
        Ok(std::mem::replace(&mut self.next, next))
    }

    /// Takes the next token if it is this sign.
    pub(super) fn accept(&mut self, sign: char) -> Result<bool, ImportError> {
        let is_next = self.next == Token::Sign(sign);
        if is_next {
            self.take()?;
        }
        Ok(is_next)
    }

    pub(super) fn expect(&mut self, sign: char) -> Result<(), ImportError> {
        if self.accept(sign)? {
            return Ok(());
        }
        Err(self.unexpected(&format!("'{sign}'")))
    }

    /// Takes a name, or a text in quotes in its place.
    pub(super) fn name(&mut self) -> Result<String, ImportError> {
        match self.next {
            Token::Word(_) | Token::Text(_) => {}
            _ => return Err(self.unexpected("a name")),
        }
        Ok(match self.take()? {
            Token::Word(word) => word.to_owned(),
            Token::Text(text) => text,
            _ => String::new(),
        })
    }

    pub(super) fn is_name(&self) -> bool {
        matches!(self.next, Token::Word(_) | Token::Text(_))
    }

    /// The sign behind the next token.
    pub(super) fn second(&self) -> Option<char> {
        self.rest.trim_start().chars().next()
    }

    pub(super) fn unexpected(&self, expected: &str) -> ImportError {
        let found = match &self.next {
            Token::Word(word) | Token::Number(word) => format!("\"{word}\""),
            Token::Text(_) => "a text".to_owned(),
            Token::Arrow => "'=>'".to_owned(),
            Token::Sign(sign) => format!("'{}'", sign.escape_default()),
            Token::End => "the end".to_owned(),
        };
        ImportError::at(
            format!("{found} found where {expected} is expected"),
            format!("line {}", self.line),
            DAMAGED,
        )
    }

    fn blank(&mut self) {
        loop {
            let behind = self.rest.trim_start();
            let skipped = &self.rest[..self.rest.len() - behind.len()];
            self.line_behind += skipped.matches('\n').count() as u64;
            self.rest = behind;
            if !behind.starts_with('#') {
                return;
            }
            let end = behind.find('\n').unwrap_or(behind.len());
            self.rest = &behind[end..];
        }
    }

    fn read(&mut self) -> Result<Token<'t>, ImportError> {
        let Some(first) = self.rest.chars().next() else {
            return Ok(Token::End);
        };
        if self.rest.starts_with("=>") {
            self.rest = &self.rest[2..];
            return Ok(Token::Arrow);
        }
        if first == '"' {
            return self.quoted().map(Token::Text);
        }
        let is_word = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.');
        if first.is_alphabetic() || first == '_' {
            return Ok(Token::Word(self.while_in(|_, letter| is_word(letter))));
        }
        if first.is_ascii_digit() || matches!(first, '-' | '+' | '.') {
            // A sign belongs to the number's start or to its exponent.
            let digits = self.while_in(|before, letter| {
                letter.is_ascii_alphanumeric()
                    || letter == '.'
                    || (matches!(letter, '-' | '+') && matches!(before.chars().last(), None | Some('e' | 'E')))
            });
            return Ok(Token::Number(digits));
        }
        self.rest = &self.rest[first.len_utf8()..];
        Ok(Token::Sign(first))
    }

    fn while_in(&mut self, belongs: impl Fn(&str, char) -> bool) -> &'t str {
        let end = self
            .rest
            .char_indices()
            .find(|(at, letter)| !belongs(&self.rest[..*at], *letter))
            .map_or(self.rest.len(), |(at, _)| at);
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    /// A text in quotes; a backslash keeps the letter behind it.
    fn quoted(&mut self) -> Result<String, ImportError> {
        let mut text = String::new();
        let mut letters = self.rest.char_indices().skip(1);
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.line_behind += self.rest[..at].matches('\n').count() as u64;
                    self.rest = &self.rest[at + 1..];
                    return Ok(text);
                }
                '\\' => text.extend(letters.next().map(|(_, letter)| letter)),
                letter => text.push(letter),
            }
        }
        Err(ImportError::at(
            "a text in quotes does not end",
            format!("line {}", self.line_behind),
            DAMAGED,
        ))
    }
}
