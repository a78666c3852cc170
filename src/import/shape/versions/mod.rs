//! Versions of functions: one for each set of facts with which a function is called.
//!
//! In: calls, while shapes are inferred. Out: the version that each call runs, and a [`Layout`], by which the model gets a
//! graph for each version. Graphs have numbers: those of the file keep theirs, versions and the bodies within them are
//! numbered behind. Calls with equal facts share a version, and so do calls whose facts lead to the same types and shapes
//! everywhere inside. Work and memory are limited: calls beyond the limit share one more version, which keeps the facts
//! on which they all agree. A call that cannot be followed (recursion, no steps left) runs a version without facts.

mod layout;

pub(crate) use self::layout::Layout;

use std::collections::{BTreeMap, BTreeSet};

use super::attribute::{Attribute, GraphIdx};
use super::fact::Fact;
use super::sym::Sym;
use crate::names::NameIdx;
use highwater_model::progress::Cancelled;

/// The deepest nesting of graphs.
const MAX_DEPTH: usize = 40;
/// The most different signatures of one function that are followed.
const MAX_SIGNATURES: usize = 1024;
/// Nodes and names that versions may have in addition to as many as the file has.
const SPARE_WEIGHT: u64 = 50_000;

/// A place that runs a graph: a node of a graph by number, and the graph of the file that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Site {
    pub(crate) caller: GraphIdx,
    pub(crate) node: u32,
    pub(crate) callee: GraphIdx,
}

/// Everything on which the facts inside a function depend.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Signature<'m> {
    /// `None` where an optional input is left out.
    pub(crate) inputs: Vec<Option<Fact>>,
    pub(crate) attributes: Vec<(NameIdx, &'m Attribute)>,
}

#[derive(Debug)]
struct Known<'m> {
    signature: Signature<'m>,
    version: GraphIdx,
    results: Vec<Fact>,
}

#[derive(Debug)]
pub(crate) struct Versions<'m> {
    /// By number: the graph of the file.
    sources: Vec<GraphIdx>,
    /// By graph of the file: whether it is a function. Other bodies belong to one node.
    is_function: Vec<bool>,
    /// By graph of the file: its nodes and names, with those of its bodies.
    weights: Vec<u64>,
    room: u64,
    links: BTreeMap<Site, GraphIdx>,
    known: BTreeMap<GraphIdx, Vec<Known<'m>>>,
    /// By function: the version of calls that have none of their own facts.
    shared: BTreeMap<GraphIdx, GraphIdx>,
    /// Whether calls are inferred for the shared version alone.
    is_merging: bool,
    /// Whether calls leave no trace: those of functions that the main graph does not run.
    is_frozen: bool,
    /// By function: the number of calls beyond the limit.
    beyond: BTreeMap<GraphIdx, u64>,
    /// By function: the number of calls that are nested too deeply, or for which no steps were left.
    given_up: BTreeMap<GraphIdx, u64>,
}

/// An inference of shapes that follows calls.
pub(crate) trait Inference<'m> {
    fn versions(&mut self) -> &mut Versions<'m>;

    /// Numbers of the graphs being inferred, the innermost last.
    fn open(&self) -> &[GraphIdx];

    /// Takes the steps of a function; `false` where too few are left.
    fn pay(&mut self, function: GraphIdx) -> bool;

    /// Infers a function under a number; returns the facts of its results.
    fn infer(&mut self, number: GraphIdx, signature: &Signature<'m>) -> Result<Vec<Fact>, Cancelled>;

    /// The facts of all values of a graph.
    fn facts(&mut self, number: GraphIdx) -> &mut Vec<Fact>;

    /// Unknown facts of all values of a function.
    fn unknown(&self, function: GraphIdx) -> Vec<Fact>;

    /// Whether types and shapes of two versions are the same.
    fn is_same(&mut self, one: GraphIdx, other: GraphIdx) -> bool {
        let facts = std::mem::take(self.facts(one));
        let others = self.facts(other);
        let same = |(one, other): (&Fact, &Fact)| {
            one.dtype == other.dtype && one.shape == other.shape && one.handle == other.handle
        };
        let is_same = facts.len() == others.len() && facts.iter().zip(&*others).all(same);
        *self.facts(one) = facts;
        is_same
    }

    fn sym(&mut self) -> &mut Sym;
}

/// The facts of the results of a call; `None` where it cannot be followed.
pub(crate) fn call<'m, I: Inference<'m>>(
    infer: &mut I,
    site: Site,
    signature: Signature<'m>,
) -> Result<Option<Vec<Fact>>, Cancelled> {
    let function = site.callee;
    let versions = infer.versions();
    if let Some((version, results)) = versions.known(function, &signature) {
        versions.link(site, version);
        return Ok(Some(results));
    }
    let open = infer.open().to_vec();
    let versions = infer.versions();
    if let Some(number) = open.iter().find(|number| versions.source(**number) == function) {
        versions.link(site, *number);
        return Ok(None);
    }
    if open.len() > MAX_DEPTH || !infer.pay(function) {
        give_up(infer, site);
        return Ok(None);
    }
    let versions = infer.versions();
    let is_frozen = versions.is_frozen;
    let merges = versions.is_merging || !versions.has_room(function);
    let was_merging = std::mem::replace(&mut versions.is_merging, merges);
    let number = versions.add(function);
    let results = infer.infer(number, &signature);
    infer.versions().is_merging = was_merging;
    let results = results?;
    let version = if is_frozen {
        infer.facts(number).clear();
        number
    } else if merges {
        let shared = infer.versions().shared(function);
        merge(infer, shared, number);
        *infer.versions().beyond.entry(function).or_insert(0) += 1;
        shared
    } else {
        settle(infer, number, signature, &results)
    };
    infer.versions().link(site, version);
    Ok(Some(results))
}

/// Lets a call that cannot be followed run a version of which nothing is known.
fn give_up<'m, I: Inference<'m>>(infer: &mut I, site: Site) {
    if infer.versions().is_frozen {
        return;
    }
    let shared = infer.versions().shared(site.callee);
    infer.versions().link(site, shared);
    *infer.facts(shared) = infer.unknown(site.callee);
    *infer.versions().given_up.entry(site.callee).or_insert(0) += 1;
}

/// The version of a signature that was inferred under a number: an earlier one with the same facts, or a new one.
fn settle<'m, I: Inference<'m>>(
    infer: &mut I,
    number: GraphIdx,
    signature: Signature<'m>,
    results: &[Fact],
) -> GraphIdx {
    let function = infer.versions().source(number);
    let known = infer.versions().known.entry(function).or_default();
    let earlier: BTreeSet<GraphIdx> = known.iter().map(|known| known.version).collect();
    let same = earlier.into_iter().find(|other| is_same(infer, *other, number));
    let versions = infer.versions();
    let version = same.unwrap_or(number);
    if version == number {
        let weight = versions.weights.get(function.0).copied().unwrap_or(0);
        versions.room = versions.room.saturating_sub(weight);
    }
    versions.known.entry(function).or_default().push(Known {
        signature,
        version,
        results: results.to_vec(),
    });
    if version != number {
        infer.facts(number).clear();
    }
    version
}

/// Whether two versions agree in their facts, in the functions that they call, and in their bodies.
fn is_same<'m, I: Inference<'m>>(infer: &mut I, one: GraphIdx, other: GraphIdx) -> bool {
    let mut pairs = vec![(one, other)];
    while let Some((a, b)) = pairs.pop() {
        if !infer.is_same(a, b) {
            return false;
        }
        let versions = infer.versions();
        let (of_a, of_b) = (versions.links_of(a), versions.links_of(b));
        if of_a.len() != of_b.len() {
            return false;
        }
        for ((site, x), (other_site, y)) in of_a.into_iter().zip(of_b) {
            if (site.node, site.callee) != (other_site.node, other_site.callee) {
                return false;
            }
            let recurs = (x, y) == (one, other);
            if versions.is_function[site.callee.0] {
                if x != y && !recurs {
                    return false;
                }
            } else {
                // Bodies are a tree, so this ends.
                pairs.push((x, y));
            }
        }
    }
    true
}

/// Keeps what two versions of a function agree on, in the first of them, with their bodies.
fn merge<'m, I: Inference<'m>>(infer: &mut I, into: GraphIdx, from: GraphIdx) {
    let mut pairs = vec![(into, from)];
    while let Some((into, from)) = pairs.pop() {
        let found = std::mem::take(infer.facts(from));
        let mut kept = std::mem::take(infer.facts(into));
        if kept.is_empty() {
            kept = found;
        } else {
            for (one, other) in kept.iter_mut().zip(&found) {
                *one = one.merged(other, infer.sym());
            }
        }
        *infer.facts(into) = kept;
        let versions = infer.versions();
        for (site, callee) in versions.links_of(from) {
            let site = Site { caller: into, ..site };
            match versions.linked(site) {
                None if callee == from => versions.link(site, into),
                None => versions.link(site, callee),
                Some(kept) if !versions.is_function[site.callee.0] => pairs.push((kept, callee)),
                Some(_) => {}
            }
        }
    }
}

impl<'m> Versions<'m> {
    /// `weights` are the nodes and names of the file's graphs, each with those of its bodies.
    pub(crate) fn new(is_function: Vec<bool>, weights: Vec<u64>) -> Self {
        let sum = weights.iter().fold(0_u64, |sum, weight| sum.saturating_add(*weight));
        Self {
            sources: (0..weights.len()).map(GraphIdx).collect(),
            is_function,
            weights,
            room: sum.saturating_add(SPARE_WEIGHT),
            links: BTreeMap::new(),
            known: BTreeMap::new(),
            shared: BTreeMap::new(),
            is_merging: false,
            is_frozen: false,
            beyond: BTreeMap::new(),
            given_up: BTreeMap::new(),
        }
    }

    /// The graph of the file under a number.
    pub(crate) fn source(&self, number: GraphIdx) -> GraphIdx {
        self.sources.get(number.0).copied().unwrap_or(number)
    }

    /// From now on calls leave no trace.
    pub(crate) const fn freeze(&mut self) {
        self.is_frozen = true;
    }

    /// The number of a body at its node; a new one where it has none.
    pub(crate) fn body(&mut self, site: Site) -> GraphIdx {
        if let Some(number) = self.linked(site) {
            return number;
        }
        let number = self.add(site.callee);
        self.link(site, number);
        number
    }

    fn add(&mut self, source: GraphIdx) -> GraphIdx {
        self.sources.push(source);
        GraphIdx(self.sources.len() - 1)
    }

    fn known(&self, function: GraphIdx, signature: &Signature<'m>) -> Option<(GraphIdx, Vec<Fact>)> {
        let known = self.known.get(&function).filter(|_| !self.is_merging)?;
        let known = known.iter().find(|known| known.signature == *signature)?;
        Some((known.version, known.results.clone()))
    }

    fn has_room(&self, function: GraphIdx) -> bool {
        let count = self.known.get(&function).map_or(0, Vec::len);
        let weight = self.weights.get(function.0).copied().unwrap_or(0);
        count < MAX_SIGNATURES && weight <= self.room
    }

    fn shared(&mut self, function: GraphIdx) -> GraphIdx {
        if let Some(number) = self.shared.get(&function) {
            return *number;
        }
        let number = self.add(function);
        self.shared.insert(function, number);
        number
    }

    fn link(&mut self, site: Site, callee: GraphIdx) {
        if !self.is_frozen {
            self.links.insert(site, callee);
        }
    }

    fn linked(&self, site: Site) -> Option<GraphIdx> {
        self.links.get(&site).copied()
    }

    fn links_of(&self, caller: GraphIdx) -> Vec<(Site, GraphIdx)> {
        let none = GraphIdx(0);
        let start = Site {
            caller,
            node: 0,
            callee: none,
        };
        let end = Site {
            caller: GraphIdx(caller.0 + 1),
            ..start
        };
        self.links
            .range(start..end)
            .map(|(site, callee)| (*site, *callee))
            .collect()
    }
}
