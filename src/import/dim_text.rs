//! Texts of dimensions: a name (`batch`) or an expression over names (`2*seq - 1`, `(seq + 1)//2`, `Max(1, s0)`).
//!
//! In: a text. Out: an expression. A text that is no expression is a name as a whole, so that no file is refused
//! for it. `batch-size` without spaces is a name. Nesting is limited.

use highwater_model::graph::{DimExprs, DimOp, ExprId};

const MAX_DEPTH: u32 = 24;
const MAX_LENGTH: usize = 512;

/// The expression of a text. Where no new symbol may be made, `None` for texts that need one.
pub(super) fn parse(text: &str, exprs: &mut DimExprs, may_name: bool) -> Option<ExprId> {
    let text = text.trim();
    let tokens = if text.len() <= MAX_LENGTH { tokens(text) } else { None };
    let tokens = tokens.filter(|tokens| tokens.len() > 1 && shape_of(tokens).is_some());
    let names: Vec<&str> = match &tokens {
        Some(tokens) => tokens.iter().filter_map(Token::name).collect(),
        None => vec![text],
    };
    let is_known = |name: &&str| exprs.symbols().take(1000).any(|known| known == *name);
    if !may_name && !names.iter().all(is_known) {
        return None;
    }
    match tokens {
        Some(tokens) => {
            let mut parser = Parser {
                tokens: &tokens,
                at: 0,
                exprs: Some(exprs),
            };
            parser.sum(0)
        }
        None => match text.parse::<i64>() {
            Ok(number) => Some(exprs.constant(number)),
            Err(_) => Some(exprs.symbol(text)),
        },
    }
}

/// A dry run: whether all tokens make one expression.
fn shape_of(tokens: &[Token<'_>]) -> Option<()> {
    let mut parser = Parser {
        tokens,
        at: 0,
        exprs: None,
    };
    parser.sum(0)?;
    (parser.at == tokens.len()).then_some(())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    Name(&'a str),
    /// A name with a bracket behind it.
    Function(&'a str),
    Number(i64),
    Sign(&'a str),
}

impl<'a> Token<'a> {
    fn name(&self) -> Option<&'a str> {
        match self {
            Token::Name(name) => Some(name),
            _ => None,
        }
    }
}

fn tokens(text: &str) -> Option<Vec<Token<'_>>> {
    let is_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.' | ':' | '@' | '$');
    // A hyphen inside a word belongs to the word, where the word is all there is.
    let is_word = text.contains('-') && text.chars().all(|letter| is_name(letter) || letter == '-');
    if is_word
        && text
            .split('-')
            .skip(1)
            .all(|part| part.chars().next().is_some_and(char::is_alphabetic))
    {
        return None;
    }
    let mut list = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if is_name(first) {
            rest.find(|letter| !is_name(letter)).unwrap_or(rest.len())
        } else if rest.starts_with("//") || rest.starts_with("**") {
            2
        } else {
            first.len_utf8()
        };
        let (piece, behind) = rest.split_at(length);
        rest = behind.trim_start();
        list.push(match first {
            '0'..='9' => Token::Number(piece.parse().ok()?),
            '+' | '-' | '*' | '/' | '%' | '(' | ')' | ',' => Token::Sign(piece),
            _ if is_name(first) && rest.starts_with('(') => Token::Function(piece),
            _ if is_name(first) => Token::Name(piece),
            _ => return None,
        });
    }
    Some(list)
}

/// Recursive descent. Without `exprs` it only checks the form; ids are then meaningless.
struct Parser<'a, 'e> {
    tokens: &'a [Token<'a>],
    at: usize,
    exprs: Option<&'e mut DimExprs>,
}

impl Parser<'_, '_> {
    fn sign(&self) -> &str {
        match self.tokens.get(self.at) {
            Some(Token::Sign(sign)) => sign,
            _ => "",
        }
    }

    fn take(&mut self, sign: &str) -> Option<()> {
        let is_there = self.sign() == sign;
        self.at += usize::from(is_there);
        is_there.then_some(())
    }

    fn sum(&mut self, depth: u32) -> Option<ExprId> {
        let mut left = self.product(depth)?;
        loop {
            let op = match self.sign() {
                "+" => DimOp::Add,
                "-" => DimOp::Sub,
                _ => return Some(left),
            };
            self.at += 1;
            let right = self.product(depth)?;
            left = self.binary(op, left, right);
        }
    }

    fn product(&mut self, depth: u32) -> Option<ExprId> {
        let mut left = self.factor(depth)?;
        loop {
            let op = match self.sign() {
                "*" => DimOp::Mul,
                "/" | "//" => DimOp::FloorDiv,
                "%" => DimOp::Mod,
                _ => return Some(left),
            };
            self.at += 1;
            let right = self.factor(depth)?;
            left = self.binary(op, left, right);
        }
    }

    fn factor(&mut self, depth: u32) -> Option<ExprId> {
        if depth > MAX_DEPTH {
            return None;
        }
        if self.take("-").is_some() {
            let value = self.factor(depth + 1)?;
            let zero = self.number(0);
            return Some(self.binary(DimOp::Sub, zero, value));
        }
        let base = self.atom(depth)?;
        if self.take("**").is_none() {
            return Some(base);
        }
        let Some(Token::Number(exponent @ 1..=8)) = self.tokens.get(self.at).copied() else {
            return None;
        };
        self.at += 1;
        let mut power = base;
        for _ in 1..exponent {
            power = self.binary(DimOp::Mul, power, base);
        }
        Some(power)
    }

    fn atom(&mut self, depth: u32) -> Option<ExprId> {
        let token = self.tokens.get(self.at).copied()?;
        self.at += 1;
        match token {
            Token::Name(name) => Some(match &mut self.exprs {
                Some(exprs) => exprs.symbol(name),
                None => ExprId(0),
            }),
            Token::Number(number) => Some(self.number(number)),
            Token::Function(name) => self.function(name, depth),
            Token::Sign("(") => {
                let inner = self.sum(depth + 1)?;
                self.take(")")?;
                Some(inner)
            }
            Token::Sign(_) => None,
        }
    }

    fn function(&mut self, name: &str, depth: u32) -> Option<ExprId> {
        self.take("(")?;
        let mut arguments = vec![self.sum(depth + 1)?];
        while self.take(",").is_some() {
            arguments.push(self.sum(depth + 1)?);
        }
        self.take(")")?;
        let op = match name.to_ascii_lowercase().as_str() {
            "max" => DimOp::Max,
            "min" => DimOp::Min,
            "mod" | "pythonmod" => DimOp::Mod,
            "floordiv" | "cleandiv" => DimOp::FloorDiv,
            "ceildiv" => DimOp::CeilDiv,
            // Division inside rounds down already.
            "floor" | "identity" if arguments.len() == 1 => return arguments.pop(),
            _ => return None,
        };
        let mut arguments = arguments.into_iter();
        let first = arguments.next()?;
        let second = arguments.next()?;
        let pair = self.binary(op, first, second);
        let is_list = matches!(op, DimOp::Max | DimOp::Min);
        if !is_list && arguments.len() > 0 {
            return None;
        }
        Some(arguments.fold(pair, |left, right| self.binary(op, left, right)))
    }

    fn number(&mut self, value: i64) -> ExprId {
        match &mut self.exprs {
            Some(exprs) => exprs.constant(value),
            None => ExprId(0),
        }
    }

    fn binary(&mut self, op: DimOp, a: ExprId, b: ExprId) -> ExprId {
        match &mut self.exprs {
            Some(exprs) => exprs.binary(op, a, b),
            None => ExprId(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use highwater_model::graph::{Bindings, Id as _};

    fn value(text: &str) -> (Option<i64>, Vec<String>) {
        let mut exprs = DimExprs::default();
        let id = parse(text, &mut exprs, true).expect("any text is at least a name");
        let bindings = Bindings::from([("batch".to_owned(), 3), ("seq".to_owned(), 8)]);
        let names = exprs.symbols().map(str::to_owned).collect();
        (exprs.evaluate(&bindings)[id.idx()], names)
    }

    #[test]
    fn expressions_over_names_are_computed() {
        for (text, expected) in [
            ("batch", 3),
            ("batch*seq", 24),
            ("2*seq - 1", 15),
            ("(seq + 1)//2", 4),
            ("-batch + seq", 5),
            ("Max(1, batch, seq)", 8),
            ("Mod(seq, batch)", 2),
            ("seq**2 % 10", 4),
            ("floor(seq/3)", 2),
            ("17", 17),
        ] {
            assert_eq!(value(text).0, Some(expected), "{text}");
        }
    }

    #[test]
    fn other_texts_are_names() {
        for text in ["batch-size", "unk__12", "a b", "f(x", "Dim.0", "((((", "x^2", "seq +"] {
            assert_eq!(value(text).1, [text], "{text}");
        }
        let deep = format!("{}a{}", "(".repeat(200), ")".repeat(200));
        assert_eq!(value(&deep).1, [deep]);
    }
}
