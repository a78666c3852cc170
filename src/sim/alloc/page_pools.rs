//! All pools of dynamic memory of a device: the two-level page pools, expandable or not.
//!
//! ```text
//! pools, in order of creation   [0]  [1]  [2]          a short pool recycles itself, then the others in this order
//! device's pool                 [         ]
//! ```
//!
//! In: requests and commands. Out: grants, calls. Invariants: a pool is listed from its first use until it is
//! destroyed; a request fails only after every pool was synchronized and recycled.

use indexmap::IndexMap;

use super::device_pool::{DevicePool, PoolRules};
use super::driver::{PoolKey, Shortage};
use super::graph_pool::{Below, GraphPool};
use super::{DynamicMemory, Grant, GrantId, Order, PoolFigures, SimulatedDevice};
use highwater_model::units::Bytes;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PagePoolRules {
    /// Bytes above which a request fails, and above which a pool with idle bytes recycles before it grows.
    pub threshold: Bytes,
    /// Whether pools have virtual ranges that expand by pages.
    pub expands: bool,
}

impl PagePoolRules {
    /// The engine's threshold: 95% of the device, or the user's value (above 0, at most that).
    pub fn of_device(capacity: Bytes, own_threshold: Option<Bytes>, expands: bool) -> Self {
        let usual = u128::from(capacity.get()) * 95 / 100;
        let usual = Bytes(u64::try_from(usual).unwrap_or(u64::MAX));
        let own = own_threshold.filter(|own| *own > Bytes::ZERO && *own <= usual);
        Self {
            threshold: own.unwrap_or(usual),
            expands,
        }
    }
}

#[derive(Debug)]
pub struct PagePools {
    rules: PagePoolRules,
    device_pool: DevicePool,
    /// In order of creation.
    pools: IndexMap<PoolKey, GraphPool>,
    was_used: bool,
}

impl PagePools {
    pub fn new(rules: PagePoolRules) -> Self {
        Self {
            rules,
            device_pool: DevicePool::new(pool_rules(rules)),
            pools: IndexMap::new(),
            was_used: false,
        }
    }

    fn create(&mut self, key: PoolKey, device: &mut SimulatedDevice) -> usize {
        if let Some(at) = self.pools.get_index_of(&key) {
            return at;
        }
        self.was_used = true;
        let mut pool = GraphPool::new(key, pool_rules(self.rules));
        if self.rules.expands {
            pool.expand(device);
        }
        self.pools.insert_full(key, pool).0
    }

    /// Synchronizes and recycles pools, the requesting one first, with a retry after each.
    fn reclaim(&mut self, at: usize, bytes: Bytes, device: &mut SimulatedDevice) -> Result<Grant, Shortage> {
        let mut below = Below {
            pool: &mut self.device_pool,
            device,
        };
        let others = (0..self.pools.len()).filter(|other| *other != at);
        for victim in std::iter::once(at).chain(others) {
            below.device.driver.synchronize();
            self.pools[victim].recycle(&mut below);
            if let Ok(grant) = self.pools[at].allocate(bytes, &mut below) {
                return Ok(grant);
            }
        }
        Err(Shortage { requested: bytes })
    }
}

fn pool_rules(rules: PagePoolRules) -> PoolRules {
    PoolRules {
        threshold: rules.threshold.get(),
    }
}

impl DynamicMemory for PagePools {
    fn allocate(&mut self, pool: PoolKey, bytes: Bytes, device: &mut SimulatedDevice) -> Result<Grant, Shortage> {
        let at = self.create(pool, device);
        let mut below = Below {
            pool: &mut self.device_pool,
            device: &mut *device,
        };
        match self.pools[at].allocate(bytes, &mut below) {
            Ok(grant) => Ok(grant),
            Err(_) => self.reclaim(at, bytes, device),
        }
    }

    fn free(&mut self, pool: PoolKey, grant: GrantId, device: &mut SimulatedDevice) {
        if let Some(pool) = self.pools.get_mut(&pool) {
            let mut below = Below {
                pool: &mut self.device_pool,
                device,
            };
            pool.free(grant, &mut below);
        }
    }

    fn manage(&mut self, order: Order, device: &mut SimulatedDevice) {
        match order {
            Order::Create(key) => {
                self.create(key, device);
            }
            Order::Synchronize(key) => {
                if self.pools.contains_key(&key) {
                    device.driver.synchronize();
                }
            }
            Order::Recycle(key) => {
                if let Some(recycled) = self.pools.get_mut(&key) {
                    let pool = &mut self.device_pool;
                    recycled.recycle(&mut Below { pool, device });
                }
            }
            Order::RecycleDevice => self.device_pool.recycle(device),
            Order::Destroy(key) => {
                if let Some(destroyed) = self.pools.shift_remove(&key) {
                    let pool = &mut self.device_pool;
                    destroyed.destroy(&mut Below { pool, device });
                }
            }
        }
    }

    fn figures(&self, pool: Option<PoolKey>) -> Option<PoolFigures> {
        match pool {
            Some(key) => self.pools.get(&key).map(GraphPool::figures),
            None => self.was_used.then(|| self.device_pool.figures()),
        }
    }

    fn stitched_slots(&self, pool: PoolKey, grant: GrantId) -> Vec<u32> {
        let slots = self.pools.get(&pool).map(|pool| pool.stitched_slots(grant));
        let narrow = |slot: &u64| u32::try_from(*slot).unwrap_or(u32::MAX);
        slots
            .map(|slots| slots.iter().map(narrow).collect())
            .unwrap_or_default()
    }
}

#[cfg(test)]
#[path = "page_pools_tests.rs"]
mod tests;
