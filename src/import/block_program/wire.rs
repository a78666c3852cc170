//! The text of a program as private wire types. Unknown keys are skipped.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};

/// The object: a program, or something that holds one.
#[derive(Deserialize)]
pub(super) struct Document {
    #[serde(default)]
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) blocks: Option<Vec<WireBlock>>,
    #[serde(default)]
    pub(super) program: Option<WireProgram>,
}

#[derive(Deserialize)]
pub(super) struct WireProgram {
    #[serde(default)]
    pub(super) name: Option<String>,
    pub(super) blocks: Vec<WireBlock>,
}

#[derive(Deserialize)]
pub(super) struct WireBlock {
    #[serde(default)]
    pub(super) idx: Option<i64>,
    #[serde(default)]
    pub(super) parent_idx: Option<i64>,
    #[serde(default)]
    pub(super) forward_block_idx: Option<i64>,
    #[serde(default)]
    pub(super) vars: Vec<WireVariable>,
    #[serde(default)]
    pub(super) ops: Vec<WireOp>,
}

#[derive(Deserialize)]
pub(super) struct WireVariable {
    pub(super) name: Box<str>,
    #[serde(default)]
    pub(super) shape: Option<Vec<i64>>,
    #[serde(default)]
    pub(super) dtype: Option<Box<str>>,
    #[serde(default)]
    pub(super) persistable: bool,
    #[serde(default, rename = "type")]
    pub(super) kind: Option<Box<str>>,
}

#[derive(Deserialize)]
pub(super) struct WireOp {
    #[serde(rename = "type")]
    pub(super) kind: Box<str>,
    #[serde(default)]
    pub(super) inputs: Pairs<Vec<Box<str>>>,
    #[serde(default)]
    pub(super) outputs: Pairs<Vec<Box<str>>>,
    #[serde(default)]
    pub(super) attrs: Option<WireAttributes>,
}

#[derive(Deserialize, Default)]
pub(super) struct WireAttributes {
    #[serde(default)]
    pub(super) op_role: Option<i64>,
    #[serde(default)]
    pub(super) op_role_var: Option<Vec<Box<str>>>,
    #[serde(default)]
    pub(super) sub_block: Option<i64>,
    #[serde(default)]
    pub(super) force_cpu: Option<bool>,
}

/// An object as pairs in file order; a repeated key is an error.
pub(super) struct Pairs<T>(pub(super) Vec<(Box<str>, T)>);

impl<T> Default for Pairs<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Pairs<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Object<T> {
            type Value = Pairs<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of slots with lists of names")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<T>, A::Error> {
                let mut pairs: Vec<(Box<str>, T)> = Vec::new();
                let mut seen = std::collections::BTreeSet::new();
                while let Some((key, value)) = map.next_entry::<Box<str>, T>()? {
                    if !seen.insert(key.clone()) {
                        return Err(A::Error::custom(format!("the slot \"{key}\" occurs twice in one op")));
                    }
                    pairs.push((key, value));
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Object(PhantomData))
    }
}
