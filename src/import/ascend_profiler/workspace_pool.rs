//! The two pools of `torch_npu` in one `operator_memory`: that of the caching allocator, and that of workspaces.
//!
//! In: the rows of a device. Out: those of the workspace pool apart, since each row states totals of its pool. `torch_npu`
//! writes the active release, at which no stream uses a block any more, of the caching allocator's blocks alone
//! (`NPUWorkspaceAllocator` records none), so a row with a release but an empty active release is the workspace pool's. Other
//! tools write `N/A` there, or have no such column. Of a block that the end of the profile cuts off neither release is
//! known, or only the first; there the row belongs to the pool whose total it continues, else to the one that its
//! releases tell.

use super::operators::{ALLOCATION, Active, Device, Entry, NONE};
use crate::pages::Pages;
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::workload::RecordedNames;

/// Differences of totals that come from decimals: tables have at least three of a MB.
const TOLERANCE: u64 = 1 << 10;

impl Device {
    /// Takes the rows of the workspace pool away; `None` where the table does not tell pools apart.
    pub(super) fn take_workspaces(
        &mut self,
        is_ordered_by_time: bool,
        progress: &Progress<'_>,
    ) -> Result<Option<Self>, Cancelled> {
        if !self.entries.iter().any(|entry| self.has_first_release_alone(entry)) {
            return Ok(None);
        }
        let is_workspace = self.workspaces(is_ordered_by_time, progress)?;
        let mut workspaces = Self {
            name: format!("{} workspace", self.name),
            hardware: self.hardware.clone(),
            has_streams: self.has_streams,
            ..Self::default()
        };
        let (mut kept, mut names) = (Pages::default(), RecordedNames::default());
        for (entry, is_workspace) in self.entries.iter().zip(is_workspace) {
            let (entries, names) = if is_workspace {
                (&mut workspaces.entries, &mut workspaces.names)
            } else {
                (&mut kept, &mut names)
            };
            entries.push(Entry {
                name: names.intern(self.names.get(entry.name)),
                ..*entry
            });
        }
        self.entries = kept;
        self.names = names;
        Ok((workspaces.entries.len() > 0).then_some(workspaces))
    }

    fn has_first_release_alone(&self, entry: &Entry) -> bool {
        let is_engine = self.has_streams && entry.stream == NONE;
        entry.released != NONE && entry.active == Active::Empty && !is_engine
    }

    /// By row.
    fn workspaces(&self, is_ordered_by_time: bool, progress: &Progress<'_>) -> Result<Vec<bool>, Cancelled> {
        let mut is_workspace = vec![false; self.entries.len()];
        // The last total of each pool, caching first.
        let mut totals = [NONE; 2];
        for (_, key) in self.events(is_ordered_by_time, progress)? {
            let row = usize::try_from(key & u64::from(u32::MAX)).unwrap_or(usize::MAX);
            let Some(entry) = self.entries.get(row) else { continue };
            if self.has_streams && entry.stream == NONE {
                continue;
            }
            let is_allocation = key >> 32 == ALLOCATION;
            if is_allocation && entry.active == Active::Empty {
                is_workspace[row] = match totals.map(|total| entry.continues(total)) {
                    [true, false] => false,
                    [false, true] => true,
                    _ => self.has_first_release_alone(entry),
                };
            }
            let total = entry.totals[usize::from(!is_allocation)][0];
            if total != NONE {
                totals[usize::from(is_workspace[row])] = total;
            }
        }
        Ok(is_workspace)
    }
}

impl Entry {
    /// Whether the total at its allocation is this one and its size.
    fn continues(&self, total: u64) -> bool {
        let after = self.totals[0][0];
        let expected = total.saturating_add(self.bytes);
        total != NONE && after != NONE && expected.abs_diff(after) <= TOLERANCE
    }
}
