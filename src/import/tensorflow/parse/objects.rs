//! The object graph of a `SavedModel`: its functions, which need no signature, with what they take.
//!
//! In: `object_graph_def`. Out: [`Objects`]: the functions that the saved object has as members, shapes of their
//! arguments, and the variables that they capture.

use indexmap::IndexMap;

use super::{MAX_NAME, Parser};
use crate::ImportError;
use crate::tensorflow::fields::{Fields, List, Schema};
use crate::tensorflow::model::RawShape;
use highwater_model::graph::DType;

/// The price of an object, a name or a specification, in bytes, besides its letters.
const PRICE: u64 = 64;
/// The deepest nesting of arguments that is read.
const MAX_DEPTH: usize = 16;
/// The most captured objects of a function.
const MAX_CAPTURES: usize = 1 << 20;

const GRAPH: Schema = Schema {
    what: "the object graph",
    fields: &[("nodes", 1), ("concrete_functions", 2)],
};
const OBJECT: Schema = Schema {
    what: "a saved object",
    fields: &[
        ("children", 1),
        ("function", 6),
        ("variable", 7),
        ("bare_concrete_function", 8),
    ],
};
const CHILD: Schema = Schema {
    what: "a member of a saved object",
    fields: &[("node_id", 1), ("local_name", 2)],
};
const FUNCTION: Schema = Schema {
    what: "a saved function",
    fields: &[("concrete_functions", 1)],
};
const BARE: Schema = Schema {
    what: "a saved function",
    fields: &[("concrete_function_name", 1)],
};
const VARIABLE: Schema = Schema {
    what: "a saved variable",
    fields: &[("dtype", 1), ("shape", 2)],
};
const ENTRY: Schema = Schema {
    what: "a saved function",
    fields: &[("key", 1), ("value", 2)],
};
const CONCRETE: Schema = Schema {
    what: "a saved function",
    fields: &[("bound_inputs", 2), ("canonicalized_input_signature", 3)],
};
const VALUE: Schema = Schema {
    what: "an argument of a saved function",
    fields: &[
        ("tensor_spec_value", 33),
        ("bounded_tensor_spec_value", 35),
        ("list_value", 51),
        ("tuple_value", 52),
        ("dict_value", 53),
        ("named_tuple_value", 54),
    ],
};
const LIST: Schema = Schema {
    what: "a list of arguments of a saved function",
    fields: &[("values", 1)],
};
const DICT: Schema = Schema {
    what: "a list of arguments of a saved function",
    fields: &[("fields", 1)],
};
const NAMED: Schema = Schema {
    what: "a list of arguments of a saved function",
    fields: &[("values", 2)],
};
const SPEC: Schema = Schema {
    what: "an argument of a saved function",
    fields: &[("shape", 2), ("dtype", 3)],
};

/// Type and shape of an argument or a variable.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::tensorflow) struct TensorSpec {
    pub(in crate::tensorflow) dtype: DType,
    pub(in crate::tensorflow) shape: RawShape,
}

/// A traced function.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::tensorflow) struct Concrete {
    /// Objects that its last arguments are, by position.
    pub(in crate::tensorflow) captures: Vec<i64>,
    /// Its other arguments, in order.
    pub(in crate::tensorflow) arguments: Vec<TensorSpec>,
}

#[derive(Clone, Debug, PartialEq)]
pub(in crate::tensorflow) enum Object {
    /// Names of its traced functions.
    Function(Vec<String>),
    Variable(TensorSpec),
    Other,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::tensorflow) struct Objects {
    /// Members of the saved object by name, as positions.
    pub(in crate::tensorflow) members: Vec<(String, i64)>,
    pub(in crate::tensorflow) all: Vec<Object>,
    pub(in crate::tensorflow) functions: IndexMap<String, Concrete>,
}

impl Parser<'_> {
    /// The object graph that was entered.
    pub(super) fn object_graph(&mut self, fields: &mut impl Fields) -> Result<Objects, ImportError> {
        let mut objects = Objects::default();
        while let Some(number) = fields.next(&GRAPH)? {
            fields.enter()?;
            self.budget.charge(PRICE, fields.at())?;
            if number == 1 {
                self.object(fields, &mut objects)?;
                continue;
            }
            let (mut name, mut concrete) = (String::new(), Concrete::default());
            while let Some(number) = fields.next(&ENTRY)? {
                if number == 1 {
                    name = self.member_name(fields)?;
                } else {
                    fields.enter()?;
                    self.concrete(fields, &mut concrete)?;
                }
            }
            objects.functions.insert(name, concrete);
        }
        Ok(objects)
    }

    fn member_name(&mut self, fields: &mut impl Fields) -> Result<String, ImportError> {
        let name = fields.text(MAX_NAME)?.unwrap_or_default();
        self.budget.charge(PRICE + name.len() as u64, fields.at())?;
        Ok(name)
    }

    /// The object that was entered; the first one is the saved object.
    fn object(&mut self, fields: &mut impl Fields, objects: &mut Objects) -> Result<(), ImportError> {
        let is_root = objects.all.is_empty();
        let mut object = Object::Other;
        while let Some(number) = fields.next(&OBJECT)? {
            match number {
                1 if !is_root => {}
                1 => {
                    let (mut name, mut position) = (String::new(), 0);
                    fields.enter()?;
                    while let Some(number) = fields.next(&CHILD)? {
                        match number {
                            1 => position = fields.int()?,
                            _ => name = self.member_name(fields)?,
                        }
                    }
                    objects.members.push((name, position));
                }
                7 => {
                    fields.enter()?;
                    object = Object::Variable(self.tensor_spec(fields, &VARIABLE)?);
                }
                _ => {
                    let schema = if number == 6 { &FUNCTION } else { &BARE };
                    let mut names = Vec::new();
                    fields.enter()?;
                    while fields.next(schema)?.is_some() {
                        names.push(self.member_name(fields)?);
                    }
                    object = Object::Function(names);
                }
            }
        }
        objects.all.push(object);
        Ok(())
    }

    /// The type and the shape of the message that was entered: a variable has them in another order.
    fn tensor_spec(&mut self, fields: &mut impl Fields, schema: &'static Schema) -> Result<TensorSpec, ImportError> {
        let mut spec = TensorSpec {
            dtype: DType::Unknown,
            shape: None,
        };
        self.budget.charge(PRICE, fields.at())?;
        while let Some(number) = fields.next(schema)? {
            if number == 2 {
                spec.shape = self.shape(fields)?;
            } else {
                let code = fields.dtype()?;
                spec.dtype = self.element_type(code);
            }
        }
        Ok(spec)
    }

    fn concrete(&mut self, fields: &mut impl Fields, concrete: &mut Concrete) -> Result<(), ImportError> {
        let mut captures = List::new(MAX_CAPTURES);
        while let Some(number) = fields.next(&CONCRETE)? {
            if number == 2 {
                fields.ints(&mut captures)?;
            } else {
                fields.enter()?;
                self.arguments(fields, &mut concrete.arguments, 0)?;
            }
        }
        self.budget.charge(captures.items.len() as u64 * 8, fields.at())?;
        concrete.captures = captures.items;
        Ok(())
    }

    /// The tensors of the value that was entered, in the order in which TensorFlow flattens it.
    fn arguments(
        &mut self,
        fields: &mut impl Fields,
        found: &mut Vec<TensorSpec>,
        depth: usize,
    ) -> Result<(), ImportError> {
        while let Some(number) = fields.next(&VALUE)? {
            if depth == MAX_DEPTH {
                continue;
            }
            fields.enter()?;
            match number {
                33 | 35 => found.push(self.tensor_spec(fields, &SPEC)?),
                51 | 52 => {
                    while fields.next(&LIST)?.is_some() {
                        fields.enter()?;
                        self.arguments(fields, found, depth + 1)?;
                    }
                }
                _ => {
                    let (schema, is_sorted) = if number == 53 { (&DICT, true) } else { (&NAMED, false) };
                    let mut entries = Vec::new();
                    while fields.next(schema)?.is_some() {
                        fields.enter()?;
                        entries.push(self.argument_of_name(fields, depth)?);
                    }
                    if is_sorted {
                        entries.sort_by(|a, b| a.0.cmp(&b.0));
                    }
                    found.extend(entries.into_iter().flat_map(|(_, specs)| specs));
                }
            }
        }
        Ok(())
    }

    fn argument_of_name(
        &mut self,
        fields: &mut impl Fields,
        depth: usize,
    ) -> Result<(String, Vec<TensorSpec>), ImportError> {
        let (mut name, mut specs) = (String::new(), Vec::new());
        while let Some(number) = fields.next(&ENTRY)? {
            if number == 1 {
                name = self.member_name(fields)?;
            } else {
                fields.enter()?;
                self.arguments(fields, &mut specs, depth + 1)?;
            }
        }
        Ok((name, specs))
    }
}
