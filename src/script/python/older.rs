//! Python 2: number literals such as `0777` and `1800L`, and statements that only Python 2 runs.

use ruff_python_ast::visitor::{Visitor, walk_except_handler};
use ruff_python_ast::{ExceptHandler, Expr, ModModule};
use ruff_python_parser::{Mode, ParseOptions, Parsed, parse_unchecked};
use ruff_text_size::TextSize;

use super::nesting;

/// Every pass replaces at least one number of each statement.
const MAX_PASSES: usize = 8;

/// The script with literals of Python 3 in their place; `None` without such literals. Line numbers stay the same.
pub(super) fn modern(text: &str) -> Option<String> {
    let mut newer: Option<String> = None;
    for _ in 0..MAX_PASSES {
        match mended(newer.as_deref().unwrap_or(text)) {
            Some(mended) => newer = Some(mended),
            None => break,
        }
    }
    newer
}

/// Replaces the literals at the parser's errors; `None` where there are none.
fn mended(text: &str) -> Option<String> {
    let has_candidates = text
        .as_bytes()
        .windows(2)
        .any(|pair| pair[0].is_ascii_digit() && (matches!(pair[1], b'l' | b'L') || pair[0] == b'0'));
    if !has_candidates || nesting::too_deep(text, Mode::Module).is_some() {
        return None;
    }
    let parsed = parse_unchecked(text, ParseOptions::from(Mode::Module));
    let mut edits: Vec<(usize, usize, &str)> = Vec::new();
    for error in parsed.errors() {
        let (start, end) = (error.location.start(), error.location.end());
        edits.extend(edit_at(text, start).or_else(|| edit_at(text, end)));
    }
    edits.sort_unstable();
    edits.dedup();
    let mut mended = String::with_capacity(text.len());
    let mut from = 0;
    for (at, n_dropped, put) in &edits {
        mended.push_str(text.get(from..*at)?);
        mended.push_str(put);
        from = at + n_dropped;
    }
    mended.push_str(text.get(from..)?);
    (!edits.is_empty()).then_some(mended)
}

/// Whether a script has statements that only Python 2 runs: `print` and `exec` without brackets, `except X, e`, `raise X, "text"`.
pub(super) fn is_python_2(text: &str, parsed: &Parsed<ModModule>) -> bool {
    let mut finder = Handlers { has_pair: false };
    finder.visit_body(&parsed.syntax().body);
    finder.has_pair || has_older_line(text, parsed)
}

/// Whether a line with an error is of Python 2. O(text and errors).
fn has_older_line(text: &str, parsed: &Parsed<ModModule>) -> bool {
    let mut places: Vec<usize> = parsed
        .errors()
        .iter()
        .map(|error| error.location.start().to_usize())
        .collect();
    places.sort_unstable();
    let mut places = places.into_iter().peekable();
    let mut start = 0;
    text.split('\n').any(|line| {
        let end = start + line.len();
        start = end + 1;
        let mut has_error = false;
        while places.next_if(|at| *at <= end).is_some() {
            has_error = true;
        }
        has_error && is_older(line.trim())
    })
}

fn is_older(line: &str) -> bool {
    // Behind the colon of a statement on the same line.
    let statement = line.rsplit(": ").next().unwrap_or(line);
    let is_statement = |word: &str| {
        let rest = statement.strip_prefix(word).unwrap_or("");
        rest.starts_with([' ', '\t']) && !rest.trim_start().starts_with(['=', '('])
    };
    let is_pair = |word: &str| line.starts_with(word) && line.contains(',') && !line.contains('(');
    is_statement("print") || is_statement("exec") || is_pair("except ") || is_pair("raise ")
}

/// Finds `except X, e`, which newer versions of Python 3 read as two classes.
struct Handlers {
    has_pair: bool,
}

impl<'a> Visitor<'a> for Handlers {
    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(clause) = handler;
        if let Some(Expr::Tuple(pair)) = clause.type_.as_deref() {
            let is_value =
                |expr: &Expr| matches!(expr, Expr::Name(name) if name.id.starts_with(|c: char| c.is_ascii_lowercase()));
            self.has_pair |= !pair.parenthesized && pair.elts.len() == 2 && is_value(&pair.elts[1]);
        }
        walk_except_handler(self, handler);
    }
}

/// Position, number of dropped bytes, and replacement.
fn edit_at(text: &str, at: TextSize) -> Option<(usize, usize, &'static str)> {
    let bytes = text.as_bytes();
    let at = at.to_usize();
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let start = (0..at.min(bytes.len())).rev().find(|before| !is_part(&bytes[*before]));
    let start = start.map_or(0, |before| before + 1);
    let n_digits = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let length = bytes[start..].iter().take_while(|byte| is_part(byte)).count();
    let digits = &bytes[start..start + n_digits];
    let is_long = length == n_digits + 1 && matches!(bytes[start + n_digits], b'l' | b'L');
    let is_octal = n_digits > 1 && digits[0] == b'0' && digits.iter().all(|digit| *digit < b'8');
    match (is_octal, is_long) {
        (true, _) if length == n_digits || is_long => Some((start, 1, "0o")),
        (_, true) if n_digits > 0 => Some((start + n_digits, 1, "")),
        _ => None,
    }
}
