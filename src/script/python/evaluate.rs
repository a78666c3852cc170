//! Values of expressions: literals, operations on them, and names that are bound to them.

use std::rc::Rc;

use ruff_python_ast::{
    BoolOp, CmpOp, Expr, ExprBinOp, ExprBoolOp, ExprCompare, ExprDict, ExprFString, ExprNumberLiteral, ExprUnaryOp,
    FStringPart, InterpolatedStringElement, Number, UnaryOp,
};
use ruff_text_size::Ranged as _;

use highwater_options::{Float, Value};

use super::arithmetic::{Outcome, binary, compare, unary};
use super::arms::Path;
use super::datum::{Datum, Fact, Field, Fields, MAX_ITEMS, MAX_TEXT, count};
use super::folding::text_of;
use super::reader::Reader;

/// The largest depth of nested expressions.
const MAX_DEPTH: u32 = 48;

/// The largest number of declarations of attributes and flags behind one another.
const MAX_HOPS: u32 = 2;

pub(super) const COMPUTED: &str = "is computed when the script runs";

const TOO_LARGE: &str = "is a number beyond 64 bits";

#[derive(Clone, Copy, Default)]
pub(super) struct Depth {
    /// The number of expressions around.
    depth: u32,
    /// The number of declarations; from the first on, names are looked up in the module.
    pub(super) hops: u32,
}

impl Depth {
    const fn deeper(self) -> Self {
        Self {
            depth: self.depth + 1,
            hops: self.hops,
        }
    }

    /// At a declaration.
    pub(super) const fn elsewhere(self) -> Self {
        Self {
            depth: self.depth + 1,
            hops: self.hops + 1,
        }
    }
}

/// `x is None` of an object or a module.
fn is_none(left: &Fact, op: CmpOp, right: &Fact) -> Option<bool> {
    let is_unset = |fact: &Fact| fact.as_value() == Some(&Value::Unset);
    let is_there = |fact: &Fact| fact.as_value().is_none() && fact.truth() == Some(true);
    let is_one = is_unset(left) && is_there(right) || is_unset(right) && is_there(left);
    match op {
        CmpOp::Is | CmpOp::Eq if is_one => Some(false),
        CmpOp::IsNot | CmpOp::NotEq if is_one => Some(true),
        _ => None,
    }
}

impl<'a> Reader<'a> {
    /// The value of an expression at this point of the script.
    pub(super) fn evaluate(&self, expr: &'a Expr) -> Fact {
        self.look(expr, Depth::default())
    }

    pub(super) fn look(&self, expr: &'a Expr, look: Depth) -> Fact {
        if look.depth > MAX_DEPTH || look.hops > MAX_HOPS {
            return self.computed(expr);
        }
        let look = look.deeper();
        match expr {
            Expr::StringLiteral(literal) => Fact::value(literal.value.to_str()),
            Expr::BytesLiteral(literal) => match String::from_utf8(literal.value.bytes().collect()) {
                Ok(text) => Fact::value(Value::Text(text)),
                Err(_) => self.computed(expr),
            },
            Expr::FString(text) => self.f_string(expr, text, look),
            Expr::NumberLiteral(number) => self.number(expr, number),
            Expr::BooleanLiteral(literal) => Fact::value(literal.value),
            Expr::NoneLiteral(_) => Fact::value(Value::Unset),
            Expr::List(list) => self.items(expr, &list.elts, Value::List, look),
            Expr::Set(set) => self.items(expr, &set.elts, Value::Set, look),
            Expr::Tuple(tuple) => self.items(expr, &tuple.elts, Value::Tuple, look),
            Expr::Dict(dict) => self.dict(dict, look),
            Expr::Name(name) => self.name(expr, name, look),
            Expr::Attribute(attribute) => self.attribute(expr, attribute, look),
            Expr::Subscript(subscript) => self.subscript(expr, subscript, look),
            Expr::Call(call) => match self.results.get(&self.made(expr.start())) {
                Some(result) => result.clone(),
                None => self.call(expr, call, look),
            },
            Expr::ListComp(_) | Expr::SetComp(_) | Expr::DictComp(_) | Expr::Generator(_) => {
                match self.results.get(&self.made(expr.start())) {
                    Some(result) => result.clone(),
                    None => self.computed(expr),
                }
            }
            Expr::BinOp(operation) => self.operation(expr, operation, look),
            Expr::UnaryOp(operation) => self.unary_operation(expr, operation, look),
            Expr::BoolOp(operation) => self.bool_operation(expr, operation, look),
            Expr::Compare(comparison) => self.comparison(expr, comparison, look),
            Expr::If(choice) => {
                let test = self.look(&choice.test, look);
                match test.truth() {
                    Some(true) => self.look(&choice.body, look).with_note(test.note.as_ref()),
                    Some(false) => self.look(&choice.orelse, look).with_note(test.note.as_ref()),
                    None => self.computed(expr),
                }
            }
            Expr::Named(named) => self.look(&named.value, look),
            _ => self.computed(expr),
        }
    }

    /// A value known only at run time.
    pub(super) fn computed(&self, expr: &Expr) -> Fact {
        let text = self.source.shown(expr.range());
        Fact::unknown(&format!("{COMPUTED} ({text})"))
    }

    /// The same, or the more specific reason of an operand.
    pub(super) fn computed_from(&self, expr: &Expr, operands: &[&Fact]) -> Fact {
        let better = operands.iter().find_map(|operand| match &operand.datum {
            Datum::Unknown(why) if !why.starts_with(COMPUTED) => Some((*operand).clone()),
            _ => None,
        });
        better.unwrap_or_else(|| self.computed(expr))
    }

    pub(super) fn outcome(&self, expr: &Expr, outcome: Outcome, operands: &[&Fact]) -> Fact {
        let fact = match outcome {
            Outcome::Value(value) => Fact::value(value),
            Outcome::TooLarge => Fact::unknown(TOO_LARGE),
            Outcome::Unknown => return self.computed_from(expr, operands),
        };
        let note = operands.iter().find_map(|operand| operand.note.as_ref());
        fact.with_note(note)
    }

    fn number(&self, expr: &Expr, literal: &ExprNumberLiteral) -> Fact {
        match &literal.value {
            Number::Int(number) => match number.as_i64() {
                Some(number) => Fact::value(number),
                None => Fact::unknown(TOO_LARGE),
            },
            Number::Float(number) => match Float::new(*number) {
                Some(number) => Fact::value(Value::Float(number)),
                None => self.computed(expr),
            },
            Number::Complex { .. } => self.computed(expr),
        }
    }

    fn f_string(&self, expr: &'a Expr, literal: &'a ExprFString, look: Depth) -> Fact {
        let mut text = String::new();
        let mut note: Option<Rc<str>> = None;
        for part in literal.value.as_slice() {
            let part = match part {
                FStringPart::Literal(part) => {
                    text.push_str(part.as_str());
                    continue;
                }
                FStringPart::FString(part) => part,
            };
            for element in &part.elements {
                match element {
                    InterpolatedStringElement::Literal(part) => text.push_str(&part.value),
                    InterpolatedStringElement::Interpolation(hole) => {
                        let fact = self.look(&hole.expression, look);
                        let is_plain = hole.format_spec.is_none()
                            && hole.debug_text.is_none()
                            && hole.conversion.to_byte().is_none();
                        let Some(part) = fact.as_value().filter(|_| is_plain).and_then(text_of) else {
                            return self.computed_from(expr, &[&fact]);
                        };
                        text.push_str(&part);
                        note = note.or(fact.note);
                    }
                }
            }
        }
        if text.len() > MAX_TEXT {
            return self.computed(expr);
        }
        Fact::value(Value::Text(text)).with_note(note.as_ref())
    }

    pub(super) fn items(&self, expr: &Expr, items: &'a [Expr], wrap: fn(Vec<Value>) -> Value, look: Depth) -> Fact {
        if items.len() > MAX_ITEMS || items.iter().any(Expr::is_starred_expr) {
            return self.computed(expr);
        }
        let facts = items.iter().map(|item| self.look(item, look)).collect();
        self.list_of(expr, facts, wrap)
    }

    /// A list or tuple of known items.
    pub(super) fn list_of(&self, expr: &Expr, facts: Vec<Fact>, wrap: fn(Vec<Value>) -> Value) -> Fact {
        let is_object = |fact: &Fact| {
            let datum = &fact.datum;
            matches!(
                datum,
                Datum::Object(_) | Datum::Message(_) | Datum::Dict(_) | Datum::Items(_)
            )
        };
        if facts.iter().any(is_object) {
            return Fact::plain(Datum::Items(facts.into_iter().map(Fact::held).collect())).held();
        }
        let mut values = Vec::with_capacity(facts.len());
        let mut n_values = 0;
        let mut note = None;
        for fact in facts {
            let Datum::Value(value) = fact.datum else {
                return self.computed_from(expr, &[&fact]);
            };
            n_values += count(&value);
            if n_values > MAX_ITEMS {
                return self.computed(expr);
            }
            note = note.or(fact.note);
            values.push(value);
        }
        Fact::value(wrap(values)).held().with_note(note.as_ref())
    }

    /// A dictionary with texts as keys; other keys make it partial.
    fn dict(&self, dict: &'a ExprDict, look: Depth) -> Fact {
        let mut fields = Fields::default();
        for item in dict.items.iter().take(MAX_ITEMS) {
            let value = self.look(&item.value, look);
            let Some(key) = &item.key else {
                match value.datum {
                    Datum::Dict(inner) => {
                        fields.fields.extend(inner.fields.iter().cloned());
                        fields.is_partial |= inner.is_partial;
                    }
                    _ => fields.is_partial = true,
                }
                continue;
            };
            match self.look(key, look).datum {
                Datum::Value(Value::Text(name)) => fields.fields.push(Field {
                    name,
                    fact: value.held(),
                    range: item.value.range(),
                    path: Path::new(),
                }),
                _ => fields.is_partial = true,
            }
        }
        fields.is_partial |= dict.items.len() > MAX_ITEMS || fields.fields.len() > MAX_ITEMS;
        fields.fields.truncate(MAX_ITEMS);
        Fact::plain(Datum::Dict(Rc::new(fields))).held()
    }

    fn operation(&self, expr: &'a Expr, operation: &'a ExprBinOp, look: Depth) -> Fact {
        let left = self.look(&operation.left, look);
        let right = self.look(&operation.right, look);
        let outcome = match (left.as_value(), right.as_value()) {
            (Some(a), Some(b)) => binary(a, operation.op, b),
            _ => Outcome::Unknown,
        };
        self.outcome(expr, outcome, &[&left, &right]).held()
    }

    fn unary_operation(&self, expr: &'a Expr, operation: &'a ExprUnaryOp, look: Depth) -> Fact {
        // The smallest integer is the negative of a literal beyond 64 bits.
        if let (UnaryOp::USub, Expr::NumberLiteral(literal)) = (operation.op, &*operation.operand)
            && let Number::Int(number) = &literal.value
            && number.as_u64() == Some(i64::MIN.unsigned_abs())
        {
            return Fact::value(i64::MIN);
        }
        let operand = self.look(&operation.operand, look);
        if operation.op == UnaryOp::Not {
            return match operand.truth() {
                Some(is_true) => Fact::value(!is_true).with_note(operand.note.as_ref()),
                None => self.computed_from(expr, &[&operand]),
            };
        }
        let outcome = operand
            .as_value()
            .map_or(Outcome::Unknown, |value| unary(operation.op, value));
        self.outcome(expr, outcome, &[&operand])
    }

    /// The deciding operand of `a and b` or `a or b`.
    fn bool_operation(&self, expr: &'a Expr, operation: &'a ExprBoolOp, look: Depth) -> Fact {
        let mut note: Option<Rc<str>> = None;
        let mut last = None;
        for operand in &operation.values {
            let fact = self.look(operand, look);
            note = note.or_else(|| fact.note.clone());
            let decides = match fact.truth() {
                None => return self.computed_from(expr, &[&fact]),
                Some(is_true) => is_true == (operation.op == BoolOp::Or),
            };
            last = Some(fact);
            if decides {
                break;
            }
        }
        last.map_or_else(|| self.computed(expr), |fact| fact.with_note(note.as_ref()))
    }

    fn comparison(&self, expr: &'a Expr, comparison: &'a ExprCompare, look: Depth) -> Fact {
        let mut left = self.look(&comparison.left, look);
        let mut note = left.note.clone();
        for (op, right) in comparison.ops.iter().zip(&comparison.comparators) {
            let right = self.look(right, look);
            note = note.or_else(|| right.note.clone());
            let holds = match (left.as_value(), right.as_value()) {
                (Some(a), Some(b)) => compare(a, *op, b),
                _ => is_none(&left, *op, &right),
            };
            match holds {
                Some(true) => left = right,
                Some(false) => return Fact::value(false).with_note(note.as_ref()),
                None => return self.computed_from(expr, &[&left, &right]),
            }
        }
        Fact::value(true).with_note(note.as_ref())
    }
}
