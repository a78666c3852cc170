//! The largest batch that fits on the device, sought in the background: a part of the work for each value.

use std::sync::Arc;

use super::super::task::TaskKind;
use super::Session;
use super::swept::{Part, Settings, Sweep, Swept};
use highwater_analysis::{BatchSearch, LaneKind, batch_symbol, fitting_policy};

impl Swept for BatchSearch {
    /// The name of the dimension.
    type Order = String;

    const KIND: TaskKind = TaskKind::BatchSearch;

    fn sweep(session: &mut Session) -> &mut Sweep<Self> {
        &mut session.batch_search
    }

    /// The document without the dimension and without lanes.
    fn settings(session: &Session, symbol: &String) -> Option<Settings> {
        let mut settings = session.document.without_lanes();
        settings.plan.dims.remove(symbol);
        settings.plan.clear_dim(symbol);
        Some((settings, Arc::clone(session.judged.files())))
    }

    fn new(session: &Session, symbol: &String) -> Result<Option<Self>, super::super::task::Failure> {
        let set = session.dim_values(symbol).iter().max().copied();
        Ok(Some(Self::new(symbol, set.unwrap_or(1))))
    }

    fn next(session: &Session) -> Option<Part> {
        let search = session.batch_search.table.as_ref()?;
        let value = search.next()?;
        let (request, symbol) = (session.request()?, search.symbol.clone());
        Some(Box::new(move |_, progress| {
            let fits = fitting_policy(&request, &symbol, value, progress)?;
            Ok(Box::new(move |session| {
                session.batch_search.change(|search| search.record(value, fits));
            }))
        }))
    }
}

impl Session {
    /// The batch dimension of what is compared, where a largest value makes sense: policies on a device, and every dimension with a
    /// value.
    fn batch_dimension(&self) -> Option<String> {
        let (comparison, _) = self.answer().filter(|_| !self.is_provisional())?;
        let request = self.request().filter(|request| !request.has_search())?;
        if comparison.lane_kind() != LaneKind::Policies || !request.assumed_dims.is_empty() {
            return None;
        }
        let symbols = comparison.workload.symbols();
        batch_symbol(symbols.iter().map(String::as_str)).map(str::to_owned)
    }

    /// The search for the largest batch, where it is of the current settings.
    pub fn batch_search(&self) -> Option<&BatchSearch> {
        let is_current = !self.batch_search.is_stale(self);
        self.batch_search.table.as_ref().filter(|_| is_current)
    }

    pub fn is_searching_batch(&self) -> bool {
        self.worker.is_waiting(TaskKind::BatchSearch)
    }

    /// The dimension whose largest value is worth a search now: nothing else runs, and the answer is not known. An answer is looked
    /// at once.
    pub fn wanted_batch_search(&mut self) -> Option<String> {
        let is_idle = self.busy().is_none() && !self.is_searching_batch() && !self.is_stale();
        let revision = self.answers.revision();
        if !is_idle || self.batch_asked == Some(revision) || self.answer().is_none() {
            return None;
        }
        self.batch_asked = Some(revision);
        self.batch_dimension().filter(|_| self.batch_search().is_none())
    }
}
