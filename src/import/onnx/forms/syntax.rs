//! A model in ONNX's own syntax (`onnx.save("model.onnxtxt")`, `onnx.printer`) -> the binary form.
//!
//! ```text
//! < ir_version: 10, opset_import: ["" : 21] >
//! name (float[batch, 4] x) => (float[batch, 2] y) < float[4, 2] w = {...} > { y = MatMul <...> (x, w) }
//! ```
//!
//! Functions come behind the graph, each with its own head. Field numbers are those of `schema`. Source: the grammar of
//! onnx.parser (onnx 1.23.2).

use super::encoder::Encoder;
use super::proto_text::position;
use super::schema::ATTRIBUTE_TYPES;
use super::tokens::{Token, Tokens};
use crate::ImportError;
use crate::element_types::ONNX;
use crate::shape::fact::is_integer;
use highwater_model::graph::DType;

const MAX_DEPTH: u32 = 32;
/// Elements that are kept of a tensor.
const MAX_ELEMENTS: usize = 8192;

/// Reads a model up to the end of the text.
pub(super) fn model(text: &str, out: &mut Encoder) -> Result<(), ImportError> {
    let mut parser = Parser {
        tokens: Tokens::new(text)?,
        out,
        depth: 0,
    };
    if parser.tokens.next == Token::Sign('<') {
        parser.head(&[("ir_version", 1), ("producer_name", 2)], 8)?;
    }
    parser.message(7, |parser| {
        let name = parser.tokens.name()?;
        parser.graph(&name)
    })?;
    while parser.tokens.next != Token::End {
        parser.message(25, Parser::function)?;
    }
    Ok(())
}

struct Parser<'t, 'o> {
    tokens: Tokens<'t>,
    out: &'o mut Encoder,
    depth: u32,
}

/// Where a list of typed names is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    Inputs,
    Outputs,
    /// Initializers, and types of other values.
    Values,
}

impl Parser<'_, '_> {
    fn message(
        &mut self,
        number: u64,
        content: impl FnOnce(&mut Self) -> Result<(), ImportError>,
    ) -> Result<(), ImportError> {
        let open = self.out.open(number, self.tokens.line);
        self.depth += 1;
        if self.depth > MAX_DEPTH * 4 {
            return Err(self.tokens.unexpected("less nesting"));
        }
        content(self)?;
        self.depth -= 1;
        self.out.close(open);
        Ok(())
    }

    /// Items between two signs, with commas between them.
    fn list(
        &mut self,
        open: char,
        close: char,
        mut item: impl FnMut(&mut Self) -> Result<(), ImportError>,
    ) -> Result<(), ImportError> {
        self.tokens.expect(open)?;
        while !self.tokens.accept(close)? {
            item(self)?;
            if !self.tokens.accept(',')? && self.tokens.next != Token::Sign(close) {
                return Err(self.tokens.unexpected(&format!("',' or '{close}'")));
            }
        }
        Ok(())
    }

    /// Keys with values: numbers and texts of these fields, and operator sets.
    fn head(&mut self, fields: &[(&str, u64)], operator_sets: u64) -> Result<(), ImportError> {
        self.list('<', '>', |parser| {
            let key = parser.tokens.name()?;
            parser.tokens.expect(':')?;
            let field = fields.iter().find(|row| row.0 == key).map(|row| row.1);
            if parser.tokens.next == Token::Sign('[') {
                let is_sets = key == "opset_import";
                return parser.list('[', ']', |parser| parser.pair(is_sets.then_some(operator_sets)));
            }
            match (field, parser.tokens.take()?) {
                (Some(number), Token::Number(digits)) => {
                    let value = digits.parse().ok();
                    let value = value.ok_or_else(|| parser.tokens.unexpected("a whole number"))?;
                    parser.out.number(number, value);
                }
                (Some(number), Token::Text(text)) => parser.out.bytes(number, text.as_bytes()),
                _ => {}
            }
            Ok(())
        })
    }

    /// `"domain" : 21`, or any other pair.
    fn pair(&mut self, operator_sets: Option<u64>) -> Result<(), ImportError> {
        let key = self.tokens.name()?;
        self.tokens.expect(':')?;
        let value = self.tokens.take()?;
        if let (Some(number), Token::Number(digits)) = (operator_sets, value) {
            let version = digits.parse().unwrap_or(0);
            return self.message(number, |parser| {
                parser.out.bytes(1, key.as_bytes());
                parser.out.number(2, version);
                Ok(())
            });
        }
        Ok(())
    }

    /// A graph behind its name.
    fn graph(&mut self, name: &str) -> Result<(), ImportError> {
        self.out.bytes(2, name.as_bytes());
        self.list('(', ')', |parser| parser.value(List::Inputs))?;
        self.arrow()?;
        self.list('(', ')', |parser| parser.value(List::Outputs))?;
        if self.tokens.next == Token::Sign('<') {
            self.list('<', '>', |parser| parser.value(List::Values))?;
        }
        self.nodes(1)
    }

    fn arrow(&mut self) -> Result<(), ImportError> {
        match self.tokens.next {
            Token::Arrow => self.tokens.take().map(drop),
            _ => Err(self.tokens.unexpected("'=>'")),
        }
    }

    fn nodes(&mut self, number: u64) -> Result<(), ImportError> {
        self.tokens.expect('{')?;
        while !self.tokens.accept('}')? {
            self.message(number, Self::node)?;
            self.tokens.accept(';')?;
        }
        Ok(())
    }

    fn function(&mut self) -> Result<(), ImportError> {
        if self.tokens.next == Token::Sign('<') {
            self.head(&[("domain", 10), ("overload", 13)], 9)?;
        }
        let name = self.tokens.name()?;
        self.out.bytes(1, name.as_bytes());
        if self.tokens.next == Token::Sign('<') {
            self.list('<', '>', |parser| {
                if matches!(parser.tokens.second(), Some(',' | '>')) {
                    let name = parser.tokens.name()?;
                    parser.out.bytes(6, name.as_bytes());
                    return Ok(());
                }
                parser.message(11, Self::attribute)
            })?;
        }
        self.list('(', ')', |parser| parser.listed_name(4))?;
        self.arrow()?;
        self.list('(', ')', |parser| parser.listed_name(5))?;
        if self.tokens.next == Token::Sign('<') {
            self.list('<', '>', |parser| {
                parser.message(12, |parser| {
                    parser.message(2, Self::any_type)?;
                    parser.listed_name(1)
                })
            })?;
        }
        self.nodes(7)
    }

    fn listed_name(&mut self, number: u64) -> Result<(), ImportError> {
        let name = self.tokens.name()?;
        self.out.bytes(number, name.as_bytes());
        Ok(())
    }

    fn node(&mut self) -> Result<(), ImportError> {
        if self.tokens.accept('[')? {
            self.listed_name(3)?;
            self.tokens.expect(']')?;
        }
        while self.tokens.is_name() {
            self.listed_name(2)?;
            if !self.tokens.accept(',')? {
                break;
            }
        }
        self.tokens.expect('=')?;
        let name = self.tokens.name()?;
        let (domain, kind) = name.rsplit_once('.').unwrap_or(("", &name));
        self.out.bytes(4, kind.as_bytes());
        self.out.bytes(7, domain.as_bytes());
        if self.tokens.accept(':')? {
            self.listed_name(8)?;
        }
        self.attributes()?;
        self.list('(', ')', |parser| parser.listed_name(1))?;
        self.attributes()
    }

    fn attributes(&mut self) -> Result<(), ImportError> {
        if self.tokens.next == Token::Sign('<') {
            self.list('<', '>', |parser| parser.message(5, Self::attribute))?;
        }
        Ok(())
    }

    /// `name: type = value`, where the type may be left out.
    fn attribute(&mut self) -> Result<(), ImportError> {
        self.listed_name(1)?;
        let mut kind = None;
        if self.tokens.accept(':')? {
            let word = self.tokens.name()?.to_ascii_uppercase();
            kind = position(ATTRIBUTE_TYPES, &word);
        }
        self.tokens.expect('=')?;
        if let Some(kind) = kind {
            self.out.number(20, kind);
        }
        let is_float = is_float(kind).map_or_else(|| self.has_float(), Ok)?;
        if self.tokens.next == Token::Sign('[') {
            return self.list('[', ']', |parser| parser.attribute_value(true, is_float));
        }
        let is_type = kind == position(ATTRIBUTE_TYPES, "TYPE_PROTO");
        if is_type && self.tokens.next != Token::Sign('@') {
            return self.message(14, Self::any_type);
        }
        self.attribute_value(false, is_float)
    }

    /// Whether a number, or one of a list of them, is no whole number: without a stated type, all are floats then.
    fn has_float(&self) -> Result<bool, ImportError> {
        let mut tokens = self.tokens.clone();
        let is_list = tokens.accept('[')?;
        loop {
            match tokens.take()? {
                Token::Number(digits) if digits.parse::<i64>().is_err() => return Ok(true),
                // Such as inf and nan.
                Token::Word(word) if code_of(word).is_none() && word.parse::<f64>().is_ok() => return Ok(true),
                Token::Number(_) | Token::Sign(',') if is_list => {}
                _ => return Ok(false),
            }
        }
    }

    fn attribute_value(&mut self, is_item: bool, is_float: bool) -> Result<(), ImportError> {
        let number = |single: u64, list: u64| if is_item { list } else { single };
        if self.tokens.accept('@')? {
            return self.listed_name(21);
        }
        match self.tokens.next {
            Token::Number(digits) => {
                if is_float {
                    let value = digits.parse().map_err(|_error| self.tokens.unexpected("a number"))?;
                    self.out.float(number(2, 7), value);
                } else {
                    let value = digits.parse();
                    let value = value.map_err(|_error| self.tokens.unexpected("a whole number"))?;
                    self.out.number(number(3, 8), value);
                }
                self.tokens.take().map(drop)
            }
            Token::Text(_) => self.listed_name(number(4, 9)),
            Token::Word(word) if code_of(word).is_some() => self.message(number(5, 10), Self::tensor),
            Token::Word(word) if self.tokens.second() == Some('(') => {
                self.tokens.take()?;
                self.message(number(6, 11), |parser| parser.graph(word))
            }
            // Such as inf and nan.
            Token::Word(word) => {
                let value = word.parse().map_err(|_error| self.tokens.unexpected("a value"))?;
                self.out.float(number(2, 7), value);
                self.tokens.take().map(drop)
            }
            _ => Err(self.tokens.unexpected("a value")),
        }
    }

    /// A typed name of a graph, perhaps with its elements. Graphs within others may leave types out.
    fn value(&mut self, list: List) -> Result<(), ImportError> {
        let is_typed =
            matches!(self.tokens.next, Token::Word(_)) && !matches!(self.tokens.second(), Some(',' | ')' | '>' | '='));
        let mut tensor = TensorType::default();
        let number = match list {
            List::Inputs => 11,
            List::Outputs => 12,
            List::Values => 13,
        };
        let open = self.out.open(number, self.tokens.line);
        if is_typed {
            self.message(2, |parser| {
                tensor = parser.typed()?;
                Ok(())
            })?;
        }
        let name = self.tokens.name()?;
        self.out.bytes(1, name.as_bytes());
        self.out.close(open);
        if list == List::Outputs || !self.tokens.accept('=')? {
            return Ok(());
        }
        self.message(5, |parser| {
            parser.out.bytes(8, name.as_bytes());
            parser.elements(&tensor)
        })
    }

    /// A tensor in the place of a value: `int64[2] {1, 2}`, perhaps with a name and `=`.
    fn tensor(&mut self) -> Result<(), ImportError> {
        let word = self.tokens.name()?;
        let tensor = self.tensor_type(code_of(&word).unwrap_or(0))?;
        if self.tokens.is_name() {
            self.listed_name(8)?;
        }
        self.tokens.accept('=')?;
        self.elements(&tensor)
    }

    /// Type, dimensions and elements of a tensor; elements in another file are pairs that say where.
    fn elements(&mut self, tensor: &TensorType) -> Result<(), ImportError> {
        self.out.number(2, tensor.code);
        for dim in &tensor.dims {
            let size = dim
                .parse()
                .map_err(|_error| self.tokens.unexpected("a tensor with known sizes"))?;
            self.out.number(1, size);
        }
        if self.tokens.next == Token::Sign('[') {
            self.out.number(14, 1);
            return self.list('[', ']', |parser| parser.pair(None));
        }
        let dtype = ONNX.of_code(tensor.code);
        let mut count = 0;
        self.list('{', '}', |parser| {
            count += 1;
            let token = parser.tokens.take()?;
            let (Token::Number(digits) | Token::Word(digits)) = token else {
                return Ok(());
            };
            if count > MAX_ELEMENTS {
                return Ok(());
            }
            if is_integer(dtype) {
                let value = match digits {
                    "true" => Some(1),
                    "false" => Some(0),
                    digits => digits.parse().ok(),
                };
                if let Some(value) = value {
                    parser.out.number(7, value);
                }
            } else if let (DType::Float32 | DType::Float64, Ok(value)) = (dtype, digits.parse()) {
                match dtype {
                    DType::Float32 => parser.out.float(4, value),
                    _ => parser.out.double(10, value),
                }
            }
            Ok(())
        })
    }

    fn any_type(&mut self) -> Result<(), ImportError> {
        self.typed().map(drop)
    }

    /// A type, into a message of one; what a tensor type is, for the elements behind it.
    fn typed(&mut self) -> Result<TensorType, ImportError> {
        let word = self.tokens.name()?;
        let Some(code) = code_of(&word) else {
            return self.other_type(&word).map(|()| TensorType::default());
        };
        let mut tensor = TensorType::default();
        self.message(1, |parser| {
            tensor = parser.tensor_type(code)?;
            parser.out.number(1, code);
            if !tensor.has_shape {
                return Ok(());
            }
            let dims = &tensor.dims;
            parser.message(2, |parser| dims.iter().try_for_each(|dim| parser.dim(dim)))
        })?;
        Ok(tensor)
    }

    fn dim(&mut self, dim: &str) -> Result<(), ImportError> {
        self.message(1, |parser| {
            match (dim, dim.parse()) {
                ("?", _) => {}
                (_, Ok(size)) => parser.out.number(1, size),
                (name, Err(_)) => parser.out.bytes(2, name.as_bytes()),
            }
            Ok(())
        })
    }

    /// Sequences, optionals and maps.
    fn other_type(&mut self, word: &str) -> Result<(), ImportError> {
        let number = match word {
            "seq" => 4,
            "optional" => 9,
            "map" => 5,
            "sparse_tensor" => 8,
            _ => return Err(self.tokens.unexpected("a name behind a type that onnx knows")),
        };
        self.message(number, |parser| {
            parser.list('(', ')', |parser| match (word, parser.tokens.next.clone()) {
                // The key of a map, and the elements of a sparse tensor, are of a plain type.
                ("map", Token::Word(word)) if code_of(word).is_some() && parser.tokens.second() == Some(',') => {
                    parser.tokens.take().map(drop)
                }
                ("sparse_tensor", Token::Word(word)) => {
                    parser.tokens.take()?;
                    let code = code_of(word).unwrap_or(0);
                    parser.out.number(1, code);
                    parser.tensor_type(code).map(drop)
                }
                _ => parser.message(if word == "map" { 2 } else { 1 }, Self::any_type),
            })
        })
    }

    /// The dimensions behind an element type: `[2, n, ?]`; none are a scalar, and `[]` leaves their number open.
    fn tensor_type(&mut self, code: i64) -> Result<TensorType, ImportError> {
        let mut tensor = TensorType {
            code,
            has_shape: true,
            dims: Vec::new(),
        };
        if self.tokens.next == Token::Sign('[') {
            self.list('[', ']', |parser| {
                tensor.dims.push(match parser.tokens.take()? {
                    Token::Word(word) | Token::Number(word) => word.to_owned(),
                    Token::Text(text) => text,
                    _ => "?".to_owned(),
                });
                Ok(())
            })?;
            tensor.has_shape = !tensor.dims.is_empty();
        }
        Ok(tensor)
    }
}

/// An element type and dimensions as written.
#[derive(Default)]
struct TensorType {
    code: i64,
    has_shape: bool,
    dims: Vec<String>,
}

/// Whether a stated type of an attribute is of floats; `None` where it says nothing of numbers.
fn is_float(kind: Option<i64>) -> Option<bool> {
    let is = |words: [&str; 2]| words.iter().any(|word| kind == position(ATTRIBUTE_TYPES, word));
    if is(["FLOAT", "FLOATS"]) {
        return Some(true);
    }
    is(["INT", "INTS"]).then_some(false)
}

fn code_of(word: &str) -> Option<i64> {
    ONNX.code(&word.to_ascii_uppercase())
}
