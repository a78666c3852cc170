//! The simulated device with its log.

use super::alloc::{DriverRules, Shortage, SimulatedDevice};
use super::event::{Region, RegionId, RegionKind};
use super::recorder::{LogSpec, Recorder, RegionPurpose};
use highwater_model::units::Bytes;
use highwater_model::workload::GraphIdx;

/// Limit of device sizes (64 PiB), so that addresses never overflow.
pub(super) const LARGEST_DEVICE: Bytes = Bytes(1 << 56);

#[derive(Debug)]
pub(super) struct DeviceMemory {
    /// The device that allocators call.
    pub(super) device: SimulatedDevice,
    pub(super) log: Recorder,
}

impl DeviceMemory {
    pub(super) fn new(spec: LogSpec) -> Self {
        Self {
            device: SimulatedDevice::new(DriverRules {
                capacity: spec.capacity.min(LARGEST_DEVICE),
                can_reserve: spec.can_reserve,
                has_notes: true,
            }),
            log: Recorder::new(spec),
        }
    }

    pub(super) fn available(&self) -> Bytes {
        self.device.driver.available()
    }

    pub(super) fn capacity(&self) -> Bytes {
        self.device.driver.capacity()
    }

    /// Turns the driver's calls since the last time into events.
    pub(super) fn settle(&mut self) {
        self.log.settle(&mut self.device);
    }

    /// One driver malloc of exactly `bytes`: a new region.
    pub(super) fn malloc(
        &mut self,
        kind: RegionKind,
        graph: Option<GraphIdx>,
        bytes: Bytes,
    ) -> Result<RegionId, Shortage> {
        self.log.set_purpose(RegionPurpose::of(kind, graph));
        let at = self.device.driver.malloc(bytes);
        self.settle();
        at.map(|at| self.log.locate(at).0)
    }

    /// The driver malloc of the variables, in their reserved region.
    pub(super) fn malloc_variables(&mut self, bytes: Bytes) -> Result<(), Shortage> {
        let at = self.device.driver.malloc(bytes)?;
        self.log.settle_variables(&mut self.device, at, bytes);
        Ok(())
    }

    /// Frees a whole region.
    pub(super) fn free(&mut self, region: RegionId) {
        let Region { at, bytes, .. } = *self.log.region(region);
        self.device.driver.free(at.into(), bytes);
        self.settle();
    }

    /// Ends the simulation: the last event is the request that failed.
    pub(super) fn out_of_memory(&mut self, shortage: Shortage) {
        let in_use = self.device.driver.in_use();
        self.log.out_of_memory(shortage.requested, in_use);
    }
}
