//! Texts of symbolic dimensions: `batch`, `2*seq`, `(seq - 1)//2 + 1`, `max(1, n)`.
//!
//! In: a text and the graph's expressions. Out: a dimension. A text that is no expression over names and
//! numbers is one symbol as a whole, so nothing is ever lost. Precedence: `* / // %` before `+ -`; `/` and `//`
//! round down, as exporters mean it.

use crate::graph::{Dim, DimExprs, DimOp, ExprId};

/// Longest text that is read as an expression, and deepest nesting.
const MAX_LEN: usize = 1000;
const MAX_DEPTH: u32 = 32;

/// The dimension that a text stands for.
pub(super) fn parse(text: &str, exprs: &mut DimExprs) -> Dim {
    let trimmed = text.trim();
    if trimmed.is_empty() || trimmed == "?" {
        return Dim::Unknown;
    }
    // Tried on a scratch table first, so that a text that is no expression leaves no symbols behind.
    let is_expression = trimmed.len() <= MAX_LEN && whole(trimmed, &mut DimExprs::default()).is_some();
    let id = match is_expression.then(|| whole(trimmed, exprs)).flatten() {
        Some(id) => id,
        None => exprs.symbol(trimmed),
    };
    exprs.dim(id)
}

/// The expression, if all of the text is one.
fn whole(text: &str, exprs: &mut DimExprs) -> Option<ExprId> {
    let mut parser = Parser {
        rest: text,
        exprs,
        depth: 0,
    };
    let id = parser.sum()?;
    parser.rest.trim().is_empty().then_some(id)
}

struct Parser<'a, 'e> {
    rest: &'a str,
    exprs: &'e mut DimExprs,
    depth: u32,
}

impl Parser<'_, '_> {
    fn sum(&mut self) -> Option<ExprId> {
        let mut left = self.product()?;
        loop {
            let op = match () {
                () if self.take("+") => DimOp::Add,
                () if self.take("-") => DimOp::Sub,
                () => return Some(left),
            };
            let right = self.product()?;
            left = self.exprs.binary(op, left, right);
        }
    }

    fn product(&mut self) -> Option<ExprId> {
        let mut left = self.atom()?;
        loop {
            let op = match () {
                () if self.take("*") => DimOp::Mul,
                () if self.take("//") || self.take("/") => DimOp::FloorDiv,
                () if self.take("%") => DimOp::Mod,
                () => return Some(left),
            };
            let right = self.atom()?;
            left = self.exprs.binary(op, left, right);
        }
    }

    fn atom(&mut self) -> Option<ExprId> {
        self.depth += 1;
        let atom = if self.depth > MAX_DEPTH {
            None
        } else {
            self.atom_inside()
        };
        self.depth -= 1;
        atom
    }

    fn atom_inside(&mut self) -> Option<ExprId> {
        if self.take("(") {
            let inner = self.sum()?;
            return self.take(")").then_some(inner);
        }
        if self.take("-") {
            let zero = self.exprs.constant(0);
            let value = self.atom()?;
            return Some(self.exprs.binary(DimOp::Sub, zero, value));
        }
        let word = self.word()?;
        if let Ok(number) = word.parse::<i64>() {
            return Some(self.exprs.constant(number));
        }
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        if self.take("(") {
            return self.call(word);
        }
        Some(self.exprs.symbol(word))
    }

    fn call(&mut self, name: &str) -> Option<ExprId> {
        let first = self.sum()?;
        if self.take(")") {
            // Integer division rounds down by itself.
            return matches!(name, "floor" | "int").then_some(first);
        }
        let op = match name {
            "max" | "Max" => DimOp::Max,
            "min" | "Min" => DimOp::Min,
            "Mod" => DimOp::Mod,
            "FloorDiv" => DimOp::FloorDiv,
            "CeilDiv" => DimOp::CeilDiv,
            _ => return None,
        };
        let mut result = first;
        while self.take(",") {
            let next = self.sum()?;
            result = self.exprs.binary(op, result, next);
        }
        self.take(")").then_some(result)
    }
}

impl<'a> Parser<'a, '_> {
    fn take(&mut self, sign: &str) -> bool {
        let rest = self.rest.trim_start();
        match rest.strip_prefix(sign) {
            Some(after) => {
                self.rest = after;
                true
            }
            None => false,
        }
    }

    fn word(&mut self) -> Option<&'a str> {
        let rest = self.rest.trim_start();
        let end = rest
            .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | '$' | '@')))
            .unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        self.rest = after;
        (!word.is_empty()).then_some(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Bindings, Id as _};

    #[track_caller]
    fn check(text: &str, expected: Option<i64>) {
        let mut exprs = DimExprs::default();
        let bindings = Bindings::from([("batch".to_owned(), 4), ("seq".to_owned(), 7)]);
        let value = match parse(text, &mut exprs) {
            Dim::Known(n) => i64::try_from(n).ok(),
            Dim::Expr(id) => exprs.evaluate(&bindings)[id.idx()],
            Dim::Unknown => None,
        };
        assert_eq!(value, expected, "{text}");
    }

    #[test]
    fn expressions_are_read() {
        check("batch*seq", Some(28));
        check("2*seq - 1", Some(13));
        check("(seq - 1)//2 + 1", Some(4));
        check("max(batch, seq)", Some(7));
        check("floor(seq/2)", Some(3));
        check("12", Some(12));
        check("-3", None);
        check("?", None);
    }

    #[test]
    fn other_texts_are_one_symbol() {
        for text in ["unk__123", "past seq len", "batch +", "3x", &"(".repeat(500)] {
            let mut exprs = DimExprs::default();
            assert!(matches!(parse(text, &mut exprs), Dim::Expr(_)), "{text}");
            assert_eq!(exprs.symbols().collect::<Vec<_>>(), [text], "{text}");
        }
    }
}
