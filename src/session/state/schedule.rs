//! The schedule that is compared, with values of dimensions that options give, and with assumed ones.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::document::Document;
use super::super::loaded::Loaded;
use highwater_analysis::{Request, bound_plan};
use highwater_model::workload::{DimValues, SchedulePlan};
use highwater_options::SeenFiles;

/// The value of dimensions that nothing gives one.
const ASSUMED: u64 = 1;

/// The schedule of the last comparison.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    /// With values of options, without assumed ones.
    plan: SchedulePlan,
    /// Values that options give to symbolic dimensions.
    bound: DimValues,
    /// Symbolic dimensions whose value 1 is an assumption.
    assumed: BTreeSet<String>,
}

impl Schedule {
    /// The request of what is loaded under the document's settings, in which every dimension that nothing gives a value is 1;
    /// and its schedule.
    pub(super) fn new(document: &Document, loaded: &Loaded, files: &Arc<SeenFiles>) -> (Request, Self) {
        let mut request = document.request(loaded, Arc::clone(files));
        let (mut bound, _) = bound_plan(&request);
        // Dimensions with values from entries need no assumption.
        let graphs = bound.shown_graphs(loaded.workload.scheduled_graphs());
        let assumed: BTreeSet<String> = bound.unbound(&graphs).into_iter().collect();
        let values = assumed.iter().map(|name| (name.clone(), vec![ASSUMED]));
        request.plan.dims.extend(values);
        let mut plan = request.plan.or_stated(&request.workload.schedule).into_owned();
        plan.linked_dims = bound.linked_dims;
        bound.dims.retain(|name, _| !request.plan.dims.contains_key(name));
        plan.dims.extend(bound.dims.clone());
        bound.dims.values_mut().for_each(Vec::dedup);
        request.assumed_dims.clone_from(&assumed);
        let schedule = Self {
            plan,
            bound: bound.dims,
            assumed,
        };
        (request, schedule)
    }

    pub(super) const fn plan(&self) -> &SchedulePlan {
        &self.plan
    }

    pub(super) const fn bound(&self) -> &DimValues {
        &self.bound
    }

    pub(super) const fn assumed(&self) -> &BTreeSet<String> {
        &self.assumed
    }

    pub(super) fn forget_assumptions(&mut self) {
        self.assumed.clear();
    }

    pub(super) fn is_assumed(&self, name: &str, values: &[u64]) -> bool {
        self.assumed.contains(name) && values == [ASSUMED]
    }

    /// A document as files have it: without values of samples that options replace.
    pub(super) fn stated(&self, document: &Document) -> Document {
        let mut document = document.clone();
        document.plan.dims.retain(|name, _| !self.bound.contains_key(name));
        document
    }

    /// The same with assumed values, as commands and pins need it.
    pub(super) fn complete(&self, document: &Document) -> Document {
        let mut document = self.stated(document);
        let assumed = self.assumed.iter().map(|name| (name.clone(), vec![ASSUMED]));
        document.plan.dims.extend(assumed);
        document
    }
}
