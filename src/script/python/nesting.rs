//! The nesting depth of a script, before it is parsed.
//!
//! The tree of a parser is as deep as the script, and walking or freeing it needs as much stack. The tokens give an upper bound of the
//! depth without recursion: brackets count, and every operator since the last comma between the same brackets.

use ruff_python_ast::token::TokenKind;
use ruff_python_parser::Mode;
use ruff_python_parser::lexer::lex;

pub(super) const MAX_DEPTH: usize = 400;

/// Nested blocks; Python has the same limit.
const MAX_INDENTS: usize = 100;

/// The first line, from 1, that is nested too deep.
pub(super) fn too_deep(source: &str, mode: Mode) -> Option<usize> {
    if !is_too_deep(source, mode) {
        return None;
    }
    // A longer prefix is at least as deep, so a binary search finds the line.
    let ends: Vec<usize> = source.match_indices('\n').map(|(at, _)| at + 1).collect();
    Some(ends.partition_point(|end| !is_too_deep(&source[..*end], mode)) + 1)
}

#[derive(Clone, Copy, Default)]
struct Level {
    /// Operators since the last comma.
    operators: usize,
    /// Commas of lambdas separate parameters.
    lambdas: usize,
}

fn is_too_deep(source: &str, mode: Mode) -> bool {
    let mut lexer = lex(source, mode);
    let mut levels = vec![Level::default()];
    let mut depth = 0;
    let mut indents: usize = 0;
    loop {
        let kind = lexer.next_token();
        match kind {
            TokenKind::EndOfFile => return false,
            TokenKind::Indent => indents += 1,
            TokenKind::Dedent => indents = indents.saturating_sub(1),
            _ => {}
        }
        if starts_statement(kind) {
            levels.clear();
            levels.push(Level::default());
            depth = 0;
        }
        let Some(top) = levels.last_mut() else {
            levels.push(Level::default());
            continue;
        };
        match kind {
            TokenKind::Comma => {
                depth -= top.operators;
                top.operators = 0;
            }
            TokenKind::Lambda => {
                top.lambdas += 1;
                depth += 1;
            }
            TokenKind::Lpar
            | TokenKind::Lsqb
            | TokenKind::Lbrace
            | TokenKind::FStringStart
            | TokenKind::TStringStart => {
                top.operators += 1;
                depth += 1;
                levels.push(Level::default());
            }
            TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace | TokenKind::FStringEnd | TokenKind::TStringEnd => {
                if levels.len() > 1 {
                    let closed = levels.pop().unwrap_or_default();
                    depth -= closed.operators + closed.lambdas;
                }
            }
            _ if is_flat(kind) => {}
            _ => {
                top.operators += 1;
                depth += 1;
            }
        }
        if depth > MAX_DEPTH || indents > MAX_INDENTS {
            return true;
        }
    }
}

/// Tokens that do not add depth.
const fn is_flat(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Name
            | TokenKind::Int
            | TokenKind::Float
            | TokenKind::Complex
            | TokenKind::String
            | TokenKind::FStringMiddle
            | TokenKind::TStringMiddle
            | TokenKind::Comment
            | TokenKind::NonLogicalNewline
            | TokenKind::Indent
            | TokenKind::Dedent
            | TokenKind::True
            | TokenKind::False
            | TokenKind::None
    )
}

/// Tokens at which the parser has left every expression, perhaps with an error.
const fn starts_statement(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Newline
            | TokenKind::Semi
            | TokenKind::Def
            | TokenKind::Class
            | TokenKind::Import
            | TokenKind::While
            | TokenKind::Try
            | TokenKind::Return
            | TokenKind::Raise
            | TokenKind::Del
            | TokenKind::Global
            | TokenKind::Pass
    )
}
