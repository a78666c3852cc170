//! Parameters of the simulation: sizes and costs, no option keys.

use super::device::LARGEST_DEVICE;
use highwater_model::units::{Bytes, Nanos};
use highwater_model::workload::{Device, DeviceFigure};

/// Behaviour of policy 2's arena when a graph needs more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ArenaBehaviour {
    /// As the engine: segments that do not fit into a block of the arena get a new block; no block is returned while a
    /// graph is loaded.
    #[default]
    Engine,
    /// As documented by the vendor: the arena is freed and reallocated at the larger size.
    Documented,
}

impl ArenaBehaviour {
    /// The name in files and options.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Engine => "engine",
            Self::Documented => "documented",
        }
    }

    /// The words behind a policy's label.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Engine => "matches GE",
            Self::Documented => "as documented",
        }
    }
}

/// Physical pages of variables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VariablePages {
    /// One device block of exact bytes, as engines before 8.5 have it.
    Exact,
    /// Whole pages of the policy: 8 MiB where it expands pools, else 2 MiB.
    #[default]
    OfPolicy,
    /// Whole pages of 1 GiB.
    Huge,
    /// Whole pages of 1 GiB; where the device has no room for these, of 2 MiB.
    HugeFirst,
}

#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches, each of one option")]
pub struct Params {
    pub device_bytes: Bytes,
    /// Concurrent copies of the feature memory (graph instances), at least 1.
    pub feature_copies: u32,
    /// Whether graphs with equal weights (name and bytes) hold them once.
    pub share_weights: bool,
    /// Whether variables are on the host.
    pub variables_on_host: bool,
    pub variable_pages: VariablePages,
    /// Counters of the loop on the device that the session holds besides its variables.
    pub loop_variables: u32,
    /// Inputs of static graphs up to this size are gathered before they are copied; 0 gathers none.
    pub input_fusion_size: Bytes,
    /// Device buffers per graph for gathered inputs (an estimate).
    pub staging_buffers: u32,
    /// Whether the caller supplies the memory of inputs and outputs, so that graphs hold none.
    pub io_by_caller: bool,
    /// Bytes at which page pools recycle, where below the default.
    pub pool_threshold: Option<Bytes>,
    pub arena_behaviour: ArenaBehaviour,
    /// Whether a graph is unloaded after each of its runs; otherwise it stays loaded.
    pub unloads_after_run: bool,
    pub malloc_cost: Nanos,
    pub free_cost: Nanos,
    /// Per physical page.
    pub map_cost: Nanos,
    /// Per physical page.
    pub unmap_cost: Nanos,
    /// Per reserved or released virtual range.
    pub reserve_cost: Nanos,
    /// Launch of one op, such as a clear.
    pub launch_cost: Nanos,
    /// Estimated bandwidth of clearing device memory, bytes per second, at least 1.
    pub memset_bytes_per_second: u64,
    pub sync_cost: Nanos,
    /// Estimated bandwidth of reloading weights from the host, bytes per second, at least 1.
    pub reload_bytes_per_second: u64,
}

impl Params {
    /// The engine's constants on a device.
    pub fn for_device(device: &Device) -> Self {
        Self {
            device_bytes: device.memory(),
            feature_copies: 1,
            share_weights: false,
            variables_on_host: false,
            variable_pages: VariablePages::OfPolicy,
            loop_variables: 0,
            input_fusion_size: Bytes::kib(128),
            staging_buffers: 1,
            io_by_caller: false,
            pool_threshold: None,
            arena_behaviour: ArenaBehaviour::Engine,
            unloads_after_run: false,
            malloc_cost: Nanos(device.figure(DeviceFigure::MallocNs)),
            free_cost: Nanos(device.figure(DeviceFigure::FreeNs)),
            map_cost: Nanos(device.figure(DeviceFigure::MapNs)),
            unmap_cost: Nanos(device.figure(DeviceFigure::UnmapNs)),
            reserve_cost: Nanos(device.figure(DeviceFigure::ReserveNs)),
            launch_cost: Nanos(device.figure(DeviceFigure::LaunchNs)),
            memset_bytes_per_second: device.figure(DeviceFigure::ClearBytesPerSecond).max(1),
            sync_cost: Nanos(device.figure(DeviceFigure::SyncNs)),
            reload_bytes_per_second: device.figure(DeviceFigure::HostBytesPerSecond).max(1),
        }
    }

    /// Bytes at which page pools recycle: floor(0.95 * device), or the user's value where that is less.
    pub fn threshold(&self) -> Bytes {
        let device = self.device_bytes.min(LARGEST_DEVICE);
        let own = u64::try_from(u128::from(device.get()) * 95 / 100).unwrap_or(u64::MAX);
        match self.pool_threshold {
            Some(bytes) if bytes > Bytes::ZERO && bytes.get() <= own => bytes,
            _ => Bytes(own),
        }
    }
}
