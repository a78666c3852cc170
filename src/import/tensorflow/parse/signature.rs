//! Signatures of a meta graph: what a caller may run, by the names of what it returns.
//!
//! In: the entries of `signature_def`, and of `collection_def` those that name the ops of a training step. Out:
//! [`Signature`]s. Initializers are left out: a session runs them once, before anything else.

use super::{MAX_NAME, Parser};
use crate::ImportError;
use crate::tensorflow::fields::{Fields, Schema};

/// The price of a name of a result, besides its letters.
const FETCH_PRICE: u64 = 48;
/// The deepest nesting of composite tensors, such as ragged tensors of sparse ones.
const MAX_DEPTH: usize = 8;

const ENTRY: Schema = Schema {
    what: "a signature",
    fields: &[("key", 1), ("value", 2)],
};
const SIGNATURE: Schema = Schema {
    what: "a signature",
    fields: &[("outputs", 2)],
};
const OUTPUT: Schema = Schema {
    what: "an output of a signature",
    fields: &[("value", 2)],
};
const TENSOR: Schema = Schema {
    what: "an output of a signature",
    fields: &[("name", 1), ("coo_sparse", 4), ("composite_tensor", 5)],
};
const SPARSE: Schema = Schema {
    what: "a sparse output of a signature",
    fields: &[
        ("values_tensor_name", 1),
        ("indices_tensor_name", 2),
        ("dense_shape_tensor_name", 3),
    ],
};
const COMPOSITE: Schema = Schema {
    what: "a composite output of a signature",
    fields: &[("components", 2)],
};
const COLLECTION: Schema = Schema {
    what: "a collection",
    fields: &[("node_list", 1)],
};
const NODE_LIST: Schema = Schema {
    what: "the node list of a collection",
    fields: &[("value", 1)],
};

/// The initializer that `tf.saved_model.save` lists among the signatures.
const INITIALIZER: &str = "__saved_model_init_op";
/// Collections with the op of a training step; the first is that of `SavedModels`.
const TRAIN_OPS: &[&str] = &["saved_model_train_op", "train_op"];
/// The name of the signature of these collections, and its name in `SavedModels` of TensorFlow 1.14 and newer.
pub(in crate::tensorflow) const TRAIN_OP: &str = "train_op";
const SAVED_TRAIN_OP: &str = "__saved_model_train_op";

/// What a caller may run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::tensorflow) struct Signature {
    pub(in crate::tensorflow) key: String,
    /// Tensors or ops that it returns: `name:0`, or `name`.
    pub(in crate::tensorflow) fetches: Vec<String>,
}

impl Parser<'_> {
    /// An entry of `signature_def`; `None` where it returns nothing, and for the initializer.
    pub(super) fn signature_entry(&mut self, fields: &mut impl Fields) -> Result<Option<Signature>, ImportError> {
        let mut signature = Signature::default();
        while let Some(number) = fields.next(&ENTRY)? {
            if number == 1 {
                signature.key = fields.text(MAX_NAME)?.unwrap_or_default();
                self.budget
                    .charge(FETCH_PRICE + signature.key.len() as u64, fields.at())?;
                continue;
            }
            fields.enter()?;
            while fields.next(&SIGNATURE)?.is_some() {
                fields.enter()?;
                while fields.next(&OUTPUT)?.is_some() {
                    fields.enter()?;
                    self.fetched_tensor(fields, &mut signature.fetches, 0)?;
                }
            }
        }
        if signature.key == SAVED_TRAIN_OP {
            TRAIN_OP.clone_into(&mut signature.key);
        }
        let is_run = !signature.fetches.is_empty() && signature.key != INITIALIZER;
        Ok(is_run.then_some(signature))
    }

    /// The tensor information that was entered.
    fn fetched_tensor(
        &mut self,
        fields: &mut impl Fields,
        fetches: &mut Vec<String>,
        depth: usize,
    ) -> Result<(), ImportError> {
        while let Some(number) = fields.next(&TENSOR)? {
            match number {
                1 => self.fetch(fields, fetches)?,
                4 => {
                    fields.enter()?;
                    while fields.next(&SPARSE)?.is_some() {
                        self.fetch(fields, fetches)?;
                    }
                }
                _ => {
                    fields.enter()?;
                    while fields.next(&COMPOSITE)?.is_some() {
                        if depth == MAX_DEPTH {
                            return Err(ImportError::at_byte(
                                "an output of a signature is nested too deep",
                                fields.at(),
                            ));
                        }
                        fields.enter()?;
                        self.fetched_tensor(fields, fetches, depth + 1)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// An entry of `collection_def`; `None` where it is none of a training step.
    pub(super) fn collection_entry(&mut self, fields: &mut impl Fields) -> Result<Option<Signature>, ImportError> {
        let (mut is_train_op, mut fetches) = (false, Vec::new());
        while let Some(number) = fields.next(&ENTRY)? {
            if number == 1 {
                let key = fields.text(MAX_NAME)?.unwrap_or_default();
                is_train_op = TRAIN_OPS.contains(&key.as_str());
                continue;
            }
            fields.enter()?;
            while fields.next(&COLLECTION)?.is_some() {
                fields.enter()?;
                while fields.next(&NODE_LIST)?.is_some() {
                    self.fetch(fields, &mut fetches)?;
                }
            }
        }
        let is_run = is_train_op && !fetches.is_empty();
        Ok(is_run.then(|| Signature {
            key: TRAIN_OP.to_owned(),
            fetches,
        }))
    }

    fn fetch(&mut self, fields: &mut impl Fields, fetches: &mut Vec<String>) -> Result<(), ImportError> {
        let name = fields.text(MAX_NAME)?.unwrap_or_default();
        self.budget.charge(FETCH_PRICE + name.len() as u64, fields.at())?;
        fetches.extend((!name.is_empty()).then_some(name));
        Ok(())
    }
}
