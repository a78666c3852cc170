//! `genai_config.json` of onnxruntime-genai beside a model: the sizes that it states, and whether past and present share
//! their memory.
//!
//! ```text
//! model.context_length, model.vocab_size              numbers: dimensions of that name
//! model.decoder.head_size, num_key_value_heads, ...   the same; and dimensions of the key-value cache
//! model.decoder.inputs.past_key_names                 "past_key_values.%d.key": inputs of the cache
//! model.decoder.outputs.present_key_names             "present.%d.key": the results that replace them
//! search.max_length, search.past_present_share_buffer the cache has room for so many tokens, and is written in place
//! ```
//!
//! In: the configuration, and the graphs of its folder. Out: the graphs with these dimensions as numbers, and a remark for
//! each with its source. What the configuration does not state stays open: the batch, and the lengths of a run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::super::files::input_of;
use highwater_import::{Imported, is_genai_config, text_where};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::{Bindings, Dim, DimExpr, Graph, TensorId};
use highwater_model::progress::Progress;
use highwater_model::units::counted;
use highwater_model::workload::{GraphEntry, Source};

/// Layers of a model, and then some.
const MOST_LAYERS: u64 = 10_000;

/// The position of the key-value heads, of the tokens and of a head's elements in a tensor of the cache.
const HEADS: usize = 1;
const TOKENS: usize = 2;
const ELEMENTS: usize = 3;

/// A number with the key that states it.
type Stated = (u64, &'static str);

#[derive(Debug)]
pub(super) struct GenaiConfig {
    path: PathBuf,
    /// By name of the key.
    numbers: BTreeMap<String, (u64, String)>,
    /// Patterns of past and present with `%d` for the layer.
    cache: Vec<(String, String)>,
    n_layers: u64,
    heads: Option<Stated>,
    elements: Option<Stated>,
    /// Where past and present are one buffer: the tokens that it has room for.
    tokens: Option<Stated>,
    shares: bool,
}

/// The configurations among the files of a folder.
pub(super) fn configurations(files: &[PathBuf], progress: &Progress<'_>) -> Vec<GenaiConfig> {
    let named = files
        .iter()
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"));
    let found = named.filter_map(|path| {
        let mut input = input_of(path, progress).ok()?.ok()?;
        let text = text_where(&mut input, is_genai_config, progress).ok()??;
        GenaiConfig::new(path, &serde_json::from_str(&text).ok()?)
    });
    found.collect()
}

impl GenaiConfig {
    fn new(path: &Path, config: &Value) -> Option<Self> {
        let (model, search) = (config.get("model")?.as_object()?, config.get("search")?.as_object()?);
        let empty = Map::new();
        let object = |of: &'_ Map<String, Value>, key: &str| of.get(key).and_then(Value::as_object).cloned();
        let decoder = object(model, "decoder").unwrap_or_default();
        let mut numbers = BTreeMap::new();
        for (part, place) in [(model, "model"), (&decoder, "model.decoder")] {
            for (key, value) in part.iter().filter(|(key, _)| !key.ends_with("_token_id")) {
                if let Some(number) = value.as_u64().filter(|number| *number > 0) {
                    numbers.insert(key.clone(), (number, format!("{place}.{key}")));
                }
            }
        }
        let number = |of: &Map<String, Value>, key: &str| of.get(key).and_then(Value::as_u64).filter(|n| *n > 0);
        let (inputs, outputs) = (object(&decoder, "inputs"), object(&decoder, "outputs"));
        let outputs = outputs.as_ref().unwrap_or(&empty);
        let pasts = inputs.iter().flatten().filter(|(key, _)| key.starts_with("past_"));
        let cache = pasts.filter_map(|(key, past)| {
            let present = outputs.get(&key.replacen("past_", "present_", 1))?;
            Some((past.as_str()?.to_owned(), present.as_str()?.to_owned()))
        });
        let tokens = number(search, "max_length").map(|tokens| (tokens, "search.max_length"));
        // With several beams the past is reordered into another buffer, except by whisper's decoder.
        let has_beams = number(search, "num_beams").is_some_and(|beams| beams > 1);
        let is_whisper = model.get("type").and_then(Value::as_str) == Some("whisper");
        let shares = search.get("past_present_share_buffer") == Some(&Value::Bool(true)) && (!has_beams || is_whisper);
        Some(Self {
            path: path.to_owned(),
            cache: cache.collect(),
            n_layers: number(&decoder, "num_hidden_layers").unwrap_or(0).min(MOST_LAYERS),
            heads: number(&decoder, "num_key_value_heads").map(|n| (n, "model.decoder.num_key_value_heads")),
            elements: number(&decoder, "head_size").map(|n| (n, "model.decoder.head_size")),
            tokens: tokens
                .or_else(|| number(model, "context_length").map(|tokens| (tokens, "model.context_length")))
                .filter(|_| shares),
            shares,
            numbers,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Applies the configuration to the graphs of a file in its folder.
    pub(super) fn apply(&self, file: &Path, imported: &mut Imported) {
        let Source::Graphs(entries) = &mut imported.source else {
            return;
        };
        if file.parent() != self.path.parent() {
            return;
        }
        for entry in entries {
            self.apply_to(entry, &mut imported.diagnostics);
        }
    }

    fn apply_to(&self, entry: &mut GraphEntry, diagnostics: &mut Diagnostics) {
        let cache = self.cache_of(&entry.graph);
        let bound = self.dims_of(&entry.graph, &cache);
        if !bound.is_empty() {
            for (name, (value, key)) in &bound {
                let message = format!("dimension \"{name}\" is {value}: {key} of genai_config.json");
                diagnostics.info(message, &entry.name);
            }
            let values: Bindings = bound.into_iter().map(|(name, (value, _))| (name, value)).collect();
            entry.graph = Arc::new(entry.graph.with_dims(&values));
            for body in &mut entry.bodies {
                *body = Arc::new(body.with_dims(&values));
            }
        }
        let pairs: Vec<(TensorId, TensorId)> = cache
            .iter()
            .filter_map(|(past, present)| Some(((*present)?, *past)))
            .collect();
        if self.shares && !pairs.is_empty() {
            let message = format!(
                "past and present of {} share their memory: search.past_present_share_buffer of genai_config.json",
                counted(pairs.len() as u64, "tensor")
            );
            diagnostics.info(message, &entry.name);
            entry.graph = Arc::new(entry.graph.with_shared_storages(&pairs));
        }
    }

    /// Inputs of the cache, each with the result that replaces it.
    fn cache_of(&self, graph: &Graph) -> Vec<(TensorId, Option<TensorId>)> {
        let tensors: BTreeMap<&str, TensorId> = graph
            .tensors()
            .ids()
            .map(|tensor| (graph.tensor_name(tensor), tensor))
            .collect();
        let named = |pattern: &str, layer: u64| tensors.get(&*pattern.replacen("%d", &layer.to_string(), 1)).copied();
        let layers = (0..self.n_layers).flat_map(|layer| self.cache.iter().map(move |pair| (layer, pair)));
        let found = layers.filter_map(|(layer, (past, present))| {
            let input = named(past, layer).filter(|input| graph.tensors()[*input].producer.is_none())?;
            let result = named(present, layer).filter(|result| graph.tensors()[*result].producer.is_some());
            Some((input, result))
        });
        found.collect()
    }

    /// Values of dimensions, each with the key that states it.
    fn dims_of(&self, graph: &Graph, cache: &[(TensorId, Option<TensorId>)]) -> BTreeMap<String, (u64, String)> {
        let symbols = graph.symbols();
        let named = symbols
            .iter()
            .filter_map(|symbol| Some((symbol.clone(), self.numbers.get(symbol)?.clone())));
        let mut bound: BTreeMap<String, (u64, String)> = named.collect();
        let places = [(HEADS, self.heads), (TOKENS, self.tokens), (ELEMENTS, self.elements)];
        for (past, _) in cache {
            let dims = graph.dims(*past).filter(|dims| dims.len() == 4).unwrap_or_default();
            for (place, stated) in places {
                let symbol = match (dims.get(place), stated) {
                    (Some(Dim::Expr(id)), Some(_)) => match graph.exprs().get(*id) {
                        Some(DimExpr::Symbol(position)) => symbols.get(position as usize),
                        _ => None,
                    },
                    _ => None,
                };
                if let (Some(symbol), Some((value, key))) = (symbol, stated) {
                    bound.entry(symbol.clone()).or_insert((value, key.to_owned()));
                }
            }
        }
        bound
    }
}
