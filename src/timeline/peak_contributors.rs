//! Contributors to a peak of a lane by name: tensors, and the rest of the reserved bytes.
//!
//! In: a lane. Out: the largest tensors, the sum of the others, the rest. They add up to the reserved bytes of the
//! step, unless tensors share a place.

use indexmap::IndexMap;

use super::Attribute;
use super::peak::{LiveMember, LiveSet, peak_step, tensor_label};
use super::reserved_rest::rest_by_graph;
use highwater_analysis::Comparison;
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{RecordedBlock, Recording};

/// A tensor by graph and name, or another part of the reserved bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContributorName {
    /// Empty for parts that belong to no graph.
    pub graph: String,
    /// The tensor, or a label.
    pub name: String,
    /// Of a recorded block, whose recording is no part of its name: the same code may run in any.
    pub site: Option<SiteName>,
}

/// A call site in parts that other runs of the same code have as well.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SiteName {
    /// Empty for nodes of the autograd graph, operators, and what else is no line of Python.
    pub file: String,
    pub function: String,
    /// 0 where there is none.
    pub line: u32,
    /// The class of its size.
    pub class: String,
}

impl ContributorName {
    pub(super) fn of_member(comparison: &Comparison, member: &LiveMember) -> Self {
        let tensor = member.tensor;
        if let Some((recording, block)) = comparison.recorded_block(tensor.graph, tensor.tensor) {
            return Self::of_block(recording, block, member.bytes);
        }
        let graph = comparison.session.graph_name(tensor.graph);
        Self {
            graph: graph.unwrap_or_default().to_owned(),
            name: tensor_label(comparison, tensor).into_owned(),
            site: None,
        }
    }

    fn of_block(recording: &Recording, block: &RecordedBlock, bytes: Bytes) -> Self {
        let sites = &recording.call_sites;
        let site = recording.site_of(block);
        let frame = site.and_then(|site| recording.frames.get(sites.get(site)?.frame? as usize));
        let is_python = site.is_some_and(|site| !sites.file(site).is_empty());
        let name = recording.block_name(block);
        Self {
            graph: String::new(),
            name: name.to_owned(),
            site: Some(SiteName {
                file: site.map_or("", |site| sites.file(site)).to_owned(),
                function: site.map_or(name, |site| sites.function(site)).to_owned(),
                line: frame.filter(|_| is_python).map_or(0, |frame| frame.line),
                class: Attribute::Size.class_of(bytes.get()).to_owned(),
            }),
        }
    }

    /// Of bytes that belong to no graph.
    pub fn without_graph(what: &str) -> Self {
        Self {
            graph: String::new(),
            name: what.to_owned(),
            site: None,
        }
    }
}

impl SiteName {
    /// Whether another name is of the same function, and of the same line and class where this one has them.
    pub(super) fn covers(&self, other: &Self) -> bool {
        let is_same_file = self.file == other.file || self.file.ends_with(&format!("/{}", other.file));
        self.function == other.function
            && is_same_file
            && (self.line == 0 || self.line == other.line)
            && (self.class.is_empty() || self.class == other.class)
    }
}

impl std::fmt::Display for ContributorName {
    /// The name, and its graph where it has one.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.graph.as_str() {
            "" => f.write_str(&self.name),
            graph => write!(f, "{} ({graph})", self.name),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeakContributors {
    pub step: Step,
    pub live: Bytes,
    /// `None` where they are not known.
    pub reserved: Option<Bytes>,
    /// Most bytes first, then by name. Tensors of one name are merged.
    pub tensors: Vec<(ContributorName, Bytes)>,
    /// Number and bytes of the tensors that are not listed.
    pub others: (u64, Bytes),
    /// Reserved bytes that belong to no tensor; by graph at the peak of reserved bytes.
    pub rest: Vec<(ContributorName, Bytes)>,
}

impl PeakContributors {
    /// The contributors to the peak of a lane: the largest `most` tensors, the others summed. `None` for a lane without
    /// steps. O(events + tensors log tensors).
    pub fn new(comparison: &Comparison, lane: usize, most: usize) -> Option<Self> {
        let step = peak_step(comparison, lane)?;
        Some(Self::at(comparison, lane, step, most))
    }

    /// At the peak of reserved bytes, with the rest by graph, whether it runs or not. `None` for a lane without steps
    /// or with unknown reserved bytes.
    pub fn reserved(comparison: &Comparison, lane: usize, most: usize) -> Option<Self> {
        let row = comparison.lanes.get(lane)?;
        let step = comparison.fullest_step(lane).or(row.summary.peak_reserved_step)?;
        if !comparison.states(lane).0 {
            return None;
        }
        let (set, moment) = LiveSet::most_reserved(comparison, lane, step)?;
        let mut holders = Self::of_set(comparison, &set, most);
        if !comparison.is_measured_lane(lane) {
            holders.rest = rest_by_graph(comparison, lane, &moment, step);
        }
        Some(holders)
    }

    pub fn at(comparison: &Comparison, lane: usize, step: Step, most: usize) -> Self {
        Self::of_set(comparison, &LiveSet::new(comparison, lane, step), most)
    }

    fn of_set(comparison: &Comparison, set: &LiveSet, most: usize) -> Self {
        let mut sums: IndexMap<ContributorName, u64> = IndexMap::new();
        for member in &set.members {
            let name = ContributorName::of_member(comparison, member);
            let sum = sums.entry(name).or_default();
            *sum = sum.saturating_add(member.bytes.get());
        }
        let mut tensors: Vec<(ContributorName, Bytes)> =
            sums.into_iter().map(|(name, sum)| (name, Bytes(sum))).collect();
        tensors.sort_by(|one, other| (other.1, &one.0).cmp(&(one.1, &other.0)));
        let small = tensors.split_off(most.min(tensors.len()));
        let unlisted: Bytes = small.iter().map(|(_, bytes)| *bytes).sum::<Bytes>() + set.unlisted;
        Self {
            step: set.step,
            live: set.live,
            reserved: set.reserved,
            tensors,
            others: (small.len() as u64, unlisted),
            rest: set
                .rest
                .iter()
                .map(|(rest, bytes)| (ContributorName::without_graph(rest.words()), *bytes))
                .collect(),
        }
    }

    /// Upper bound of the bytes of a name that is not listed.
    pub(super) fn most_unlisted(&self) -> Bytes {
        let (count, bytes) = self.others;
        let least_listed = self.tensors.last().map_or(bytes, |(_, least)| *least);
        if count == 0 {
            Bytes::ZERO
        } else {
            least_listed.min(bytes)
        }
    }
}
