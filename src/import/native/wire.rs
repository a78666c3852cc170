//! The text of the native format as private wire types, read as a stream.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::assemble::{Context, Draft};
use crate::each::each;

/// Most items of a list inside one node; real ops have a few.
const MAX_LIST: usize = 1_000_000;

const MAX_GRAPHS: usize = 4096;

/// A text that is borrowed from the file where it has no escapes.
#[derive(Deserialize, Clone, Debug)]
#[serde(transparent)]
pub(super) struct Text<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

/// A list with an upper bound, so that a hostile file cannot make small text into large memory.
#[derive(Debug)]
pub(super) struct Limited<T>(pub(super) Vec<T>);

impl<T> Default for Limited<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Limited<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for List<T> {
            type Value = Limited<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Limited<T>, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element()? {
                    if items.len() == MAX_LIST {
                        return Err(A::Error::custom("a list of more than a million items in one node"));
                    }
                    items.push(item);
                }
                Ok(Limited(items))
            }
        }
        deserializer.deserialize_seq(List(PhantomData))
    }
}

/// A dimension: a number, or a text such as `batch`.
#[derive(Deserialize, Debug)]
#[serde(untagged)]
pub(super) enum WireDim<'a> {
    /// A number of elements; negative means unknown.
    Number(i64),
    /// A symbol or an expression over symbols.
    Symbol(#[serde(borrow)] Cow<'a, str>),
    Unknown(()),
}

#[derive(Deserialize, Debug)]
pub(super) struct WireNode<'a> {
    #[serde(borrow, default)]
    pub(super) name: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) op: Text<'a>,
    #[serde(borrow, default)]
    pub(super) inputs: Limited<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) outputs: Limited<WireTensor<'a>>,
    #[serde(default)]
    pub(super) flops: Option<f64>,
    #[serde(default)]
    pub(super) time_ns: Option<u64>,
    #[serde(borrow, default)]
    pub(super) phase: Option<Text<'a>>,
    #[serde(default)]
    pub(super) is_backward: bool,
    #[serde(default)]
    pub(super) workspace_bytes: u64,
}

/// A tensor, as a result or as an input of the graph.
#[derive(Deserialize, Debug)]
pub(super) struct WireTensor<'a> {
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow, default)]
    pub(super) name: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) shape: Option<Limited<WireDim<'a>>>,
    #[serde(borrow, default)]
    pub(super) dtype: Option<Text<'a>>,
    #[serde(default)]
    pub(super) bytes: Option<u64>,
    #[serde(default)]
    pub(super) storage_bytes: Option<u64>,
    #[serde(borrow, default)]
    pub(super) alias_of: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) role: Option<Text<'a>>,
    #[serde(default)]
    pub(super) atomic: bool,
}

#[derive(Deserialize, Debug)]
struct WireMeta<'a> {
    #[serde(borrow, default)]
    model: Option<Text<'a>>,
}

/// Reads the text; drafts are finished by the caller.
pub(super) fn read(bytes: &[u8], context: &mut Context<'_>) -> Result<Vec<Draft>, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let mut drafts = Vec::new();
    DocumentSeed {
        context,
        drafts: &mut drafts,
        is_nested: false,
    }
    .deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(drafts)
}

/// One graph object, or an object with a list of them.
struct DocumentSeed<'c, 'p> {
    context: &'c mut Context<'p>,
    drafts: &'c mut Vec<Draft>,
    is_nested: bool,
}

impl<'de> DeserializeSeed<'de> for DocumentSeed<'_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for DocumentSeed<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a graph object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut draft = Draft::new();
        let mut has_graph = false;
        while let Some(Text(key)) = map.next_key::<Text<'de>>()? {
            match &*key {
                "highwater_graph" => check_version(map.next_value()?)?,
                "meta" => draft.set_default_name(map.next_value::<WireMeta<'de>>()?.model.map(|text| text.0)),
                "name" => draft.set_name(&map.next_value::<Text<'de>>()?.0),
                "nodes" => {
                    has_graph = true;
                    map.next_value_seed(each(|node: WireNode<'de>| self.context.node(&mut draft, node)))?;
                }
                "inputs" => {
                    map.next_value_seed(each(|input: WireTensor<'de>| self.context.input(&mut draft, input)))?;
                }
                "outputs" => {
                    map.next_value_seed(each(|id: Text<'de>| self.context.output(&mut draft, &id.0)))?;
                }
                "graphs" if !self.is_nested => {
                    has_graph = true;
                    map.next_value_seed(Graphs {
                        context: self.context,
                        drafts: self.drafts,
                    })?;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        if !has_graph {
            return Err(A::Error::custom("the object has no \"nodes\" and no \"graphs\""));
        }
        if !draft.is_empty() {
            if self.drafts.len() == MAX_GRAPHS {
                return Err(A::Error::custom(format!("more than {MAX_GRAPHS} graphs in one file")));
            }
            self.drafts.push(draft);
        }
        Ok(())
    }
}

fn check_version<E: serde::de::Error>(version: u64) -> Result<(), E> {
    if version == 0 || version > super::VERSION {
        return Err(E::custom(format!(
            "format version {version} is not known, this program reads up to version {}",
            super::VERSION
        )));
    }
    Ok(())
}

struct Graphs<'c, 'p> {
    context: &'c mut Context<'p>,
    drafts: &'c mut Vec<Draft>,
}

impl<'de> DeserializeSeed<'de> for Graphs<'_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Graphs<'_, '_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of graph objects")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        loop {
            let seed = DocumentSeed {
                context: self.context,
                drafts: self.drafts,
                is_nested: true,
            };
            if seq.next_element_seed(seed)?.is_none() {
                return Ok(());
            }
        }
    }
}
