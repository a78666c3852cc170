//! The grammar of forms: text -> [`Form`].

use highwater_model::graph::{DType, DimOp};

/// One alternative of a rule: what it demands of the node, and the outputs it then states.
#[derive(Debug, Default)]
pub(super) struct Form {
    pub(super) guards: Vec<Guard>,
    pub(super) patterns: Vec<Pattern>,
    pub(super) outputs: Vec<Output>,
}

#[derive(Debug)]
pub(super) struct Guard {
    /// Whether the subject must be missing.
    pub(super) is_not: bool,
    pub(super) subject: Subject,
}

#[derive(Debug)]
pub(super) enum Subject {
    Input(usize),
    /// It is given and not 0.
    Attribute(Attr),
}

/// An attribute's number, with its default where it has one.
#[derive(Debug)]
pub(super) struct Attr {
    pub(super) name: &'static str,
    /// The position in a list.
    pub(super) element: Option<usize>,
    pub(super) default: Option<i64>,
}

#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) input: usize,
    pub(super) is_optional: bool,
    pub(super) items: Vec<Item>,
}

/// One dimension of a pattern.
#[derive(Debug)]
pub(super) enum Item {
    /// Its size gets a name; the default counts where the input is left out.
    Name(&'static str, Option<i64>),
    /// Its size cannot be another one.
    Size(i64),
    Any,
    /// Any number of dimensions, which `*` of an output repeats.
    Rest,
    /// Any number of dimensions, of which nothing is kept.
    Ignored,
}

#[derive(Debug)]
pub(super) struct Output {
    pub(super) dtype: Type,
    pub(super) shape: Shape,
}

#[derive(Debug)]
pub(super) enum Type {
    /// That of the first of these inputs that is given.
    Inputs(Vec<usize>),
    Is(DType),
    /// The code in an attribute.
    Code(Attr),
    Unknown,
}

#[derive(Debug)]
pub(super) enum Shape {
    Unstated,
    Like(usize),
    /// The sizes that are an input's elements.
    Listed(usize),
    /// These inputs, broadcast against each other.
    Broadcast(Vec<usize>),
    Dims(Vec<Size>),
}

#[derive(Debug)]
pub(super) enum Size {
    /// The dimensions that `*` of a pattern holds.
    Rest,
    Is(Expr),
}

#[derive(Debug)]
pub(super) enum Expr {
    Unknown,
    Int(i64),
    Name(&'static str),
    Attribute(Attr),
    /// An element of an input.
    Element(usize, usize),
    /// The number of an input's elements.
    Count(usize),
    /// The number of an input's dimensions.
    Rank(usize),
    Op(DimOp, Box<Self>, Box<Self>),
}

pub(super) fn form(text: &'static str) -> Option<Form> {
    let (mut left, right) = match text.split_once("->") {
        Some((left, right)) => (left.trim(), right),
        None => ("", text),
    };
    let mut form = Form::default();
    let mut right = right.trim();
    let source = if left.is_empty() { &mut right } else { &mut left };
    while let Some(rest) = source.strip_prefix('{') {
        let (guard, rest) = rest.split_once('}')?;
        form.guards.push(self::guard(guard)?);
        *source = rest.trim_start();
    }
    while !left.is_empty() {
        let (head, rest) = left.split_once('[')?;
        let (items, rest) = rest.split_once(']')?;
        let input = head.trim();
        let index = input.strip_suffix('?');
        form.patterns.push(Pattern {
            input: index.unwrap_or(input).parse().ok()?,
            is_optional: index.is_some(),
            items: items.split_whitespace().map(item).collect::<Option<_>>()?,
        });
        left = rest.trim_start();
    }
    form.outputs = right
        .split(';')
        .map(|text| output(text.trim()))
        .collect::<Option<_>>()?;
    Some(form)
}

fn guard(text: &'static str) -> Option<Guard> {
    let (is_not, text) = text.strip_prefix('!').map_or((false, text), |rest| (true, rest));
    let subject = match text.strip_prefix('@') {
        Some(name) => Subject::Attribute(attr(name)?),
        None => Subject::Input(text.parse().ok()?),
    };
    Some(Guard { is_not, subject })
}

/// `name`, `name.2`, `name=1`.
fn attr(text: &'static str) -> Option<Attr> {
    let (text, default) = match text.split_once('=') {
        Some((name, default)) => (name, Some(default.parse().ok()?)),
        None => (text, None),
    };
    let (name, element) = match text.split_once('.') {
        Some((name, element)) => (name, Some(element.parse().ok()?)),
        None => (text, None),
    };
    (!name.is_empty()).then_some(Attr { name, element, default })
}

fn item(text: &'static str) -> Option<Item> {
    Some(match text {
        "_" => Item::Any,
        "*" => Item::Rest,
        ".." => Item::Ignored,
        _ => match (text.parse(), text.split_once('=')) {
            (Ok(size), _) => Item::Size(size),
            (_, Some((name, default))) => Item::Name(name, Some(default.parse().ok()?)),
            _ => Item::Name(text, None),
        },
    })
}

fn output(text: &'static str) -> Option<Output> {
    let split = text.find([':', '[', '<', '&']).unwrap_or(text.len());
    let (dtype, shape) = text.split_at(split);
    Some(Output {
        dtype: self::dtype(dtype.trim())?,
        shape: self::shape(shape)?,
    })
}

fn dtype(text: &'static str) -> Option<Type> {
    let inputs = text.strip_prefix('T').and_then(numbers);
    Some(match (text, inputs) {
        ("-", _) => Type::Unknown,
        (_, Some(inputs)) => Type::Inputs(inputs),
        _ => match text.strip_prefix('@') {
            Some(name) => Type::Code(attr(name)?),
            None => Type::Is(DType::from_name(text)?),
        },
    })
}

fn numbers(text: &str) -> Option<Vec<usize>> {
    text.split(',').map(|number| number.trim().parse().ok()).collect()
}

fn shape(text: &'static str) -> Option<Shape> {
    let Some(first) = text.chars().next() else {
        return Some(Shape::Unstated);
    };
    let inner = text.get(1..)?;
    Some(match first {
        ':' => Shape::Like(inner.trim().parse().ok()?),
        '&' => Shape::Broadcast(numbers(inner)?),
        '<' => Shape::Listed(inner.strip_suffix('>')?.parse().ok()?),
        _ => Shape::Dims(
            inner
                .strip_suffix(']')?
                .split_whitespace()
                .map(|text| match text {
                    "*" => Some(Size::Rest),
                    _ => expr(text).map(Size::Is),
                })
                .collect::<Option<_>>()?,
        ),
    })
}

fn expr(text: &'static str) -> Option<Expr> {
    let mut rest = text;
    let expr = sum(&mut rest)?;
    rest.is_empty().then_some(expr)
}

/// The operation of a sign at the start of the rest; the sign is taken off.
fn sign(rest: &mut &'static str, signs: &[(char, DimOp)]) -> Option<DimOp> {
    let (sign, op) = signs.iter().find(|(sign, _)| rest.starts_with(*sign))?;
    *rest = &rest[sign.len_utf8()..];
    Some(*op)
}

fn sum(rest: &mut &'static str) -> Option<Expr> {
    let mut left = product(rest)?;
    while let Some(op) = sign(rest, &[('+', DimOp::Add), ('-', DimOp::Sub)]) {
        left = Expr::Op(op, Box::new(left), Box::new(product(rest)?));
    }
    Some(left)
}

fn product(rest: &mut &'static str) -> Option<Expr> {
    let mut left = atom(rest)?;
    let signs = [('*', DimOp::Mul), ('/', DimOp::FloorDiv), ('~', DimOp::CeilDiv)];
    while let Some(op) = sign(rest, &signs) {
        left = Expr::Op(op, Box::new(left), Box::new(atom(rest)?));
    }
    Some(left)
}

fn atom(rest: &mut &'static str) -> Option<Expr> {
    if let Some(inner) = rest.strip_prefix('(') {
        *rest = inner;
        let expr = sum(rest)?;
        *rest = rest.strip_prefix(')')?;
        return Some(expr);
    }
    for (name, op) in [("max(", DimOp::Max), ("min(", DimOp::Min)] {
        if let Some(inner) = rest.strip_prefix(name) {
            *rest = inner;
            let left = sum(rest)?;
            *rest = rest.strip_prefix(',')?;
            let right = sum(rest)?;
            *rest = rest.strip_prefix(')')?;
            return Some(Expr::Op(op, Box::new(left), Box::new(right)));
        }
    }
    for name in ["size(", "rank("] {
        if let Some(inner) = rest.strip_prefix(name) {
            let (input, after) = inner.split_once(')')?;
            *rest = after;
            let input = input.parse().ok()?;
            return Some(if name == "size(" {
                Expr::Count(input)
            } else {
                Expr::Rank(input)
            });
        }
    }
    let end = rest
        .find(['+', '-', '*', '/', '~', '(', ')', ','])
        .unwrap_or(rest.len());
    let (word, after) = rest.split_at(end);
    *rest = after;
    Some(match (word, word.chars().next()?) {
        ("?", _) => Expr::Unknown,
        (_, '@') => Expr::Attribute(attr(&word[1..])?),
        (_, '#') => {
            let (input, element) = word[1..].split_once('.').unwrap_or((&word[1..], "0"));
            Expr::Element(input.parse().ok()?, element.parse().ok()?)
        }
        (_, '0'..='9') => Expr::Int(word.parse().ok()?),
        _ => Expr::Name(word),
    })
}

#[cfg(test)]
impl Form {
    /// The names of sizes that no pattern binds.
    pub(super) fn unbound(&self) -> Vec<&'static str> {
        let items = self.patterns.iter().flat_map(|pattern| &pattern.items);
        let mut bound: Vec<&str> = Vec::new();
        for item in items {
            match item {
                Item::Name(name, _) => bound.push(name),
                Item::Rest => bound.push("*"),
                _ => {}
            }
        }
        let mut found = Vec::new();
        for output in &self.outputs {
            let Shape::Dims(sizes) = &output.shape else { continue };
            for size in sizes {
                match size {
                    Size::Rest => found.push("*"),
                    Size::Is(expr) => expr.names(&mut found),
                }
            }
        }
        found.retain(|name| !bound.contains(name));
        found
    }
}

#[cfg(test)]
impl Expr {
    fn names(&self, found: &mut Vec<&'static str>) {
        match self {
            Self::Name(name) => found.push(name),
            Self::Op(_, left, right) => {
                left.names(found);
                right.names(found);
            }
            _ => {}
        }
    }
}
