//! Pools of dynamic graphs. A page names no pool: it is of the one that is told of next.

use indexmap::IndexMap;

use super::fact::PoolLine;
use highwater_model::workload::LoggedPool;

#[derive(Debug, Default)]
pub(super) struct Pools {
    /// By allocator, each with whether its state was printed.
    all: IndexMap<Option<String>, (LoggedPool, bool)>,
    /// Pages that wait for their pool: number and bytes of one.
    waiting: (u64, Option<u64>),
}

impl Pools {
    pub(super) fn page(&mut self, bytes: u64) {
        self.waiting.0 += 1;
        self.waiting.1 = self.waiting.1.or(Some(bytes));
    }

    pub(super) fn take(&mut self, allocator: Option<&str>, line: &PoolLine, graph_of: impl Fn(&str) -> Option<u64>) {
        let key = allocator.map(str::to_owned);
        let (pool, has_state) = self.all.entry(key).or_default();
        if matches!(line, PoolLine::Asked | PoolLine::Device { .. }) {
            give_pages(&mut self.waiting, pool);
        }
        match line {
            PoolLine::Asked => {}
            PoolLine::Device {
                occupied,
                theory_min,
                real_theory_min,
            } => {
                *has_state = true;
                pool.occupied_peak = pool.occupied_peak.max(*occupied);
                pool.theory_min = theory_min.or(pool.theory_min);
                pool.real_theory_min = real_theory_min.or(pool.real_theory_min);
            }
            PoolLine::Counts { mallocs, frees } => {
                pool.mallocs = mallocs.or(pool.mallocs);
                pool.frees = frees.or(pool.frees);
            }
            PoolLine::Graph(name) => pool.graph = graph_of(name).or(pool.graph),
        }
    }

    /// Those whose state was printed.
    pub(super) fn finish(mut self) -> Vec<LoggedPool> {
        if let Some((_, (last, _))) = self.all.last_mut() {
            give_pages(&mut self.waiting, last);
        }
        let pools = self.all.into_iter().filter(|(_, (_, has_state))| *has_state);
        pools
            .map(|(allocator, (pool, _))| LoggedPool { allocator, ..pool })
            .collect()
    }
}

fn give_pages(waiting: &mut (u64, Option<u64>), pool: &mut LoggedPool) {
    let (count, bytes) = std::mem::take(waiting);
    pool.pages += count;
    pool.page_size = pool.page_size.or(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_of_the_pool_that_is_told_of_next() {
        let state = |occupied| PoolLine::Device {
            occupied: Some(occupied),
            theory_min: Some(occupied - 1),
            real_theory_min: None,
        };
        let mut pools = Pools::default();
        pools.page(8);
        pools.take(Some("allocator_1"), &PoolLine::Asked, |_| None);
        pools.page(8);
        pools.take(Some("allocator_2"), &state(8), |_| None);
        pools.page(8);
        pools.take(Some("allocator_2"), &state(16), |_| None);
        pools.take(Some("allocator_2"), &state(4), |_| None);
        pools.take(Some("allocator_2"), &PoolLine::Graph("g".to_owned()), |_| Some(31));
        let found = pools.finish();
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].pages, found[0].page_size, found[0].graph),
            (2, Some(8), Some(31))
        );
        assert_eq!((found[0].occupied_peak, found[0].theory_min), (Some(16), Some(3)));
    }
}
