//! A JSON reader that keeps line numbers and recovers from small mistakes: `//` and `/* */` comments, a trailing comma,
//! and a missing comma between items (reported, since strict readers refuse it). Nesting is bounded.

use super::{FileError, quoted};

const MAX_DEPTH: usize = 32;

/// A value and the line on which it starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) line: usize,
    pub(super) node: Node,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    Text(String),
    List(Vec<Item>),
    /// Line, name and value of each member, in order.
    Object(Vec<(usize, String, Item)>),
    /// A number or a word, verbatim.
    Word(String),
}

/// Reads a text; trailing commas are errors, because the reader on the device refuses them.
pub(super) fn read_strictly(text: &str, problems: &mut Vec<FileError>) -> Option<Item> {
    read_as(text, true, problems)
}

/// Reads a text; `None` where it ends in an error, which is the last one reported.
pub(super) fn read(text: &str, problems: &mut Vec<FileError>) -> Option<Item> {
    read_as(text, false, problems)
}

fn read_as(text: &str, is_strict: bool, problems: &mut Vec<FileError>) -> Option<Item> {
    let mut reader = Reader {
        rest: text,
        line: 1,
        is_strict,
        problems,
    };
    let read = reader.item(0).and_then(|item| {
        reader.skip_blanks();
        if reader.rest.is_empty() {
            Ok(item)
        } else {
            Err(reader.problem("text after the end: remove it"))
        }
    });
    match read {
        Ok(item) => Some(item),
        Err(problem) => {
            problems.push(problem);
            None
        }
    }
}

struct Reader<'a, 'b> {
    rest: &'a str,
    line: usize,
    is_strict: bool,
    problems: &'b mut Vec<FileError>,
}

impl Reader<'_, '_> {
    fn problem(&self, message: &str) -> FileError {
        FileError::new(self.line, message)
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn skip(&mut self, bytes: usize) {
        let (skipped, rest) = self.rest.split_at(bytes);
        self.line += skipped.matches('\n').count();
        self.rest = rest;
    }

    fn take(&mut self, letter: char) -> bool {
        let is_there = self.peek() == Some(letter);
        if is_there {
            self.skip(letter.len_utf8());
        }
        is_there
    }

    fn skip_blanks(&mut self) {
        loop {
            let blanks = self.rest.len() - self.rest.trim_start().len();
            self.skip(blanks);
            if self.rest.starts_with("//") {
                self.skip(self.rest.find('\n').unwrap_or(self.rest.len()));
            } else if self.rest.starts_with("/*") {
                self.skip(self.rest.find("*/").map_or(self.rest.len(), |end| end + 2));
            } else if blanks == 0 {
                return;
            }
        }
    }

    fn item(&mut self, depth: usize) -> Result<Item, FileError> {
        self.skip_blanks();
        if depth > MAX_DEPTH {
            return Err(self.problem("lists and objects are nested too deeply"));
        }
        let line = self.line;
        let node = match self.peek() {
            Some('{') => self.object(depth)?,
            Some('[') => self.list(depth)?,
            Some('"') => Node::Text(self.text()?),
            Some(letter) if letter.is_alphanumeric() || letter == '-' => self.word(),
            Some(_) => return Err(self.problem("expected a JSON value: a text in double quotes, [ or {")),
            None => return Err(self.problem("the file ends too early: expected a JSON value")),
        };
        Ok(Item { line, node })
    }

    fn word(&mut self) -> Node {
        let is_inside = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '+' | '.' | '_');
        let end = self.rest.find(|letter| !is_inside(letter)).unwrap_or(self.rest.len());
        let word = self.rest[..end].to_owned();
        self.skip(end);
        Node::Word(word)
    }

    fn list(&mut self, depth: usize) -> Result<Node, FileError> {
        let mut items = Vec::new();
        self.take('[');
        while !self.is_closed(']', items.is_empty())? {
            items.push(self.item(depth + 1)?);
        }
        Ok(Node::List(items))
    }

    fn object(&mut self, depth: usize) -> Result<Node, FileError> {
        let mut members = Vec::new();
        self.take('{');
        while !self.is_closed('}', members.is_empty())? {
            let line = self.line;
            if self.peek() != Some('"') {
                return Err(self.problem("expected a name in double quotes"));
            }
            let name = self.text()?;
            self.skip_blanks();
            if !self.take(':') {
                return Err(self.problem(&format!("expected \":\" after {}", quoted(&name))));
            }
            members.push((line, name, self.item(depth + 1)?));
        }
        Ok(Node::Object(members))
    }

    /// Takes the closing character, or the comma before the next item.
    fn is_closed(&mut self, end: char, is_first: bool) -> Result<bool, FileError> {
        // A missing comma belongs to the end of the line before, not to the next item.
        let line = self.line;
        self.skip_blanks();
        let has_comma = !is_first && self.take(',');
        self.skip_blanks();
        if self.take(end) {
            if has_comma && self.is_strict {
                self.problems
                    .push(FileError::new(line, "comma after the last item: remove it"));
            }
            return Ok(true);
        }
        if self.rest.is_empty() {
            return Err(self.problem(&format!("the file ends too early: \"{end}\" is missing")));
        }
        if !is_first && !has_comma {
            if !matches!(self.peek(), Some('"' | '{' | '[')) {
                return Err(self.problem(&format!("expected \",\" or \"{end}\"")));
            }
            self.problems.push(FileError::new(
                line,
                "a comma is missing at the end of this item: add it",
            ));
        }
        Ok(false)
    }

    fn text(&mut self) -> Result<String, FileError> {
        self.take('"');
        let mut text = String::new();
        loop {
            let Some(letter) = self.peek().filter(|letter| *letter != '\n') else {
                return Err(self.problem("unterminated text: add the closing quote"));
            };
            self.skip(letter.len_utf8());
            match letter {
                '"' => return Ok(text),
                '\\' => {
                    let escaped = self.peek().unwrap_or('\\');
                    self.skip(escaped.len_utf8().min(self.rest.len()));
                    text.push(match escaped {
                        'n' => '\n',
                        't' => '\t',
                        'r' => '\r',
                        'u' => self.unicode(),
                        other => other,
                    });
                }
                _ => text.push(letter),
            }
        }
    }

    fn unicode(&mut self) -> char {
        let code = self
            .rest
            .get(..4)
            .and_then(|digits| u32::from_str_radix(digits, 16).ok());
        if code.is_some() {
            self.skip(4);
        }
        code.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER)
    }
}

/// The members of an object; anything else is an error.
pub(super) fn members<'a>(item: &'a Item, what: &str, problems: &mut Vec<FileError>) -> &'a [(usize, String, Item)] {
    if let Node::Object(members) = &item.node {
        return members;
    }
    problems.push(FileError::new(
        item.line,
        format!("{what} must be an object: {{ ... }}"),
    ));
    &[]
}

/// The texts of a list; anything else is an error.
pub(super) fn texts(item: &Item, what: &str, problems: &mut Vec<FileError>) -> Vec<(usize, String)> {
    let mut texts = Vec::new();
    let mut is_right = true;
    if let Node::List(items) = &item.node {
        for item in items {
            match &item.node {
                Node::Text(text) => texts.push((item.line, text.clone())),
                _ => is_right = false,
            }
        }
    } else {
        is_right = false;
    }
    if !is_right {
        problems.push(FileError::new(
            item.line,
            format!("{what} must be a list of texts, e.g. [\"Add\", \"Mul\"]"),
        ));
    }
    texts
}
