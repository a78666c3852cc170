//! The graphs that a model needs once its calls are known: those of the file, and further versions of its functions.

use std::collections::{BTreeMap, BTreeSet};

use super::{Site, Versions};
use crate::shape::attribute::GraphIdx;
use highwater_model::diagnostics::{Diagnostics, Severity};

impl Versions<'_> {
    /// The numbers that the graphs in `starts` run, themselves among them. Nodes whose calls were not followed are linked: `callees` lists the
    /// nodes of a graph of the file that run graphs.
    pub(crate) fn reached(
        &mut self,
        starts: impl IntoIterator<Item = GraphIdx>,
        callees: impl Fn(GraphIdx) -> Vec<(u32, GraphIdx)>,
    ) -> BTreeSet<GraphIdx> {
        let mut stack: Vec<GraphIdx> = starts.into_iter().collect();
        let mut reached: BTreeSet<GraphIdx> = stack.iter().copied().collect();
        while let Some(caller) = stack.pop() {
            for (node, callee) in callees(self.source(caller)) {
                let site = Site { caller, node, callee };
                let number = match self.linked(site) {
                    Some(number) => number,
                    None if self.is_function[callee.0] => self.shared(callee),
                    None => self.add(callee),
                };
                self.links.insert(site, number);
                if reached.insert(number) {
                    stack.push(number);
                }
            }
        }
        reached
    }

    /// The graphs that the model needs: of those that were reached.
    pub(crate) fn layout(self, reached: &BTreeSet<GraphIdx>) -> Layout {
        let n_graphs = self.weights.len();
        let mut layout = Layout {
            numbers: (0..n_graphs).map(GraphIdx).collect(),
            copies: Vec::new(),
            moved: Vec::new(),
            beyond: self.beyond,
            given_up: self.given_up,
        };
        let mut new_numbers: BTreeMap<GraphIdx, GraphIdx> = BTreeMap::new();
        let mut has_first = vec![false; n_graphs];
        for number in reached {
            let source = self.sources[number.0];
            let new = if std::mem::replace(&mut has_first[source.0], true) {
                layout.copies.push(source);
                layout.numbers.push(*number);
                GraphIdx(layout.numbers.len() - 1)
            } else {
                layout.numbers[source.0] = *number;
                source
            };
            new_numbers.insert(*number, new);
        }
        for (site, callee) in &self.links {
            if let (Some(caller), Some(callee)) = (new_numbers.get(&site.caller), new_numbers.get(callee))
                && *callee != site.callee
            {
                let site = Site {
                    caller: *caller,
                    ..*site
                };
                layout.moved.push((site, *callee));
            }
        }
        layout
    }
}

/// The graphs of a model with the versions of its functions. The first version of a graph has the number that the graph has
/// in the file.
#[derive(Debug)]
pub(crate) struct Layout {
    /// By number from now on: the number during inference.
    numbers: Vec<GraphIdx>,
    /// Graphs of the file of which there are further versions, in order of their numbers.
    pub(crate) copies: Vec<GraphIdx>,
    /// Nodes that run another graph than the one that the file names.
    pub(crate) moved: Vec<(Site, GraphIdx)>,
    /// By function: the number of calls beyond the limit.
    beyond: BTreeMap<GraphIdx, u64>,
    /// By function: the number of calls that were not followed.
    given_up: BTreeMap<GraphIdx, u64>,
}

impl Layout {
    /// Reports functions with calls beyond the limits.
    pub(crate) fn report<'n>(&self, name_of: impl Fn(GraphIdx) -> &'n str, diagnostics: &mut Diagnostics) {
        for (function, count) in &self.beyond {
            diagnostics.counted(
                Severity::Warning,
                "a function is called with more different shapes than are followed: for the other calls its tensors have \
                 the sizes on which those calls agree, and count 0 bytes where they do not agree",
                name_of(*function),
                *count,
            );
        }
        for (function, count) in &self.given_up {
            diagnostics.counted(
                Severity::Warning,
                "a call of a function is not followed, because calls are nested more than 40 levels deep or take more steps \
                 than those of any real model; its tensors count 0 bytes",
                name_of(*function),
                *count,
            );
        }
    }

    /// Tables by number from now on.
    pub(crate) fn arranged<T: Default>(&self, mut tables: Vec<T>) -> Vec<T> {
        let take = |number: &GraphIdx| tables.get_mut(number.0).map(std::mem::take).unwrap_or_default();
        self.numbers.iter().map(take).collect()
    }

    /// Rows of a table by number during inference under the numbers from now on; those of other graphs are dropped.
    pub(crate) fn renumbered<K: Ord, T>(&self, rows: BTreeMap<(GraphIdx, K), T>) -> BTreeMap<(GraphIdx, K), T> {
        let numbers = (0..).map(GraphIdx).zip(&self.numbers);
        let new_numbers: BTreeMap<GraphIdx, GraphIdx> = numbers.map(|(new, old)| (*old, new)).collect();
        let rows = rows.into_iter();
        rows.filter_map(|((old, key), row)| Some(((*new_numbers.get(&old)?, key), row)))
            .collect()
    }

    /// The names of the further versions: `name (version 2)`, where `name_of` gives those of the file's graphs.
    pub(crate) fn names(&self, name_of: impl Fn(GraphIdx) -> String) -> Vec<String> {
        let mut counts: BTreeMap<GraphIdx, u64> = BTreeMap::new();
        let named = self.copies.iter().map(|source| {
            let count = counts.entry(*source).or_insert(1);
            *count += 1;
            format!("{} (version {count})", name_of(*source))
        });
        named.collect()
    }
}
