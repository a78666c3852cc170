//! What is loaded is compared under the document's settings: the request that they make, and what is assumed for it.

use std::sync::Arc;

use super::super::jobs::Job;
use super::{Busy, Session};
use highwater_analysis::{Request, bound_plan};
use highwater_model::workload::Workload;
use highwater_plan::Limits;

impl Session {
    /// Starts a comparison of what is loaded; while sources are being read it waits for them.
    pub(super) fn compare(&mut self) {
        if self.load_generation != 0 {
            return;
        }
        let Some(loaded) = &self.loaded else {
            return;
        };
        self.problem = None;
        let is_partial = loaded.lacks_a_source();
        // Names wait for what is missing: what they mean is known when all is there.
        if !is_partial {
            loaded.follow(&mut self.document.plan);
        }
        let symbols = loaded.workload.symbols();
        // A value for a dimension that another file had must not stop this one. What the part on the screen does not have
        // is kept for the whole, but not asked about.
        let all = loaded.whole.symbols();
        let is_known = |name: &String| is_partial || all.contains(name) || symbols.contains(name);
        self.document.plan.dims.retain(|name, _| is_known(name));
        if !is_partial {
            self.document.plan.retain_graphs(&loaded.whole.scheduled_graphs());
        }
        self.assumed.retain(is_known);
        // Assumptions are made anew: an option may say more by now, or less.
        for symbol in std::mem::take(&mut self.assumed) {
            self.document.plan.dims.remove(&symbol);
        }
        // What a sample suggests gives way to what an option says.
        let presets = self.document.presets();
        let dims = &mut self.document.plan.dims;
        dims.retain(|name, values| presets.get(name) != Some(values));
        let mut request = self.request(Arc::clone(&loaded.workload));
        let graphs = loaded.workload.scheduled_graphs();
        request.plan.retain_graphs(&graphs);
        for pin in &mut request.pins {
            loaded.follow(&mut pin.configuration.plan);
            // As the schedule's own entries of graphs that are not looked at do, the pin's wait.
            if is_partial || !Arc::ptr_eq(&loaded.workload, &loaded.whole) {
                pin.configuration.plan.retain_graphs(&graphs);
            }
        }
        request.plan.dims.retain(|name, _| symbols.contains(name));
        let (bound, _) = bound_plan(&request);
        // What entries give values to needs no other.
        let needed = bound.unbound(&bound.shown_graphs(graphs));
        self.bound_dims.clone_from(&bound.dims);
        self.bound_dims.retain(|name, _| !request.plan.dims.contains_key(name));
        self.bound_dims.values_mut().for_each(Vec::dedup);
        for symbol in &needed {
            let preset = presets.get(symbol).cloned();
            if preset.is_none() {
                self.assumed.insert(symbol.clone());
            }
            let values = preset.unwrap_or_else(|| vec![1]);
            self.document.plan.dims.insert(symbol.clone(), values);
        }
        request.plan.dims.clone_from(&self.document.plan.dims);
        request.plan.dims.retain(|name, _| symbols.contains(name));
        self.scheduled.clone_from(&request.plan);
        for (name, values) in bound.dims {
            self.scheduled.dims.entry(name).or_insert(values);
        }
        self.scheduled.linked_dims = bound.linked_dims;
        let known = self.known_but_for_pins(&request.workload);
        self.asked_of = Some(Arc::clone(&request.workload));
        self.compare_generation = self.worker.send(Job::Compare(Box::new(request), known));
        self.busy = Some(Busy {
            stage: "planning",
            fraction: 0.0,
            is_loading: false,
        });
    }

    /// What the document asks of a workload.
    pub(super) fn request(&self, workload: Arc<Workload>) -> Request {
        Request {
            lanes: self.document.lanes.clone(),
            workload,
            plan: self.document.plan.clone(),
            options: self.document.options.clone(),
            environment: self.document.environment.clone(),
            files: Arc::clone(&self.files),
            device: self.document.device(),
            policies: Vec::new(),
            strategies: self.document.strategies.clone(),
            search_nodes: Limits::DEFAULT_NODES,
            pins: self
                .document
                .pins
                .iter()
                .map(|pin| pin.with_schedule(&self.document.plan))
                .collect(),
        }
    }
}
