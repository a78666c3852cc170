//! The table of static memory policies.

/// How the engine gives device memory to graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StaticMemoryPolicy {
    /// 0: one block per static graph, page pools for dynamic graphs.
    Dynamic,
    /// 2 (and 1): static graphs share one arena.
    StaticExtend,
    /// 3: expandable pools for dynamic graphs.
    DynamicExtend,
    /// 4: both; static arenas are mapped only while their graph runs.
    FullExtend,
}

/// The two flags that the engine derives from the option and the environment variable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExtendFlags {
    pub static_extend: bool,
    pub dynamic_extend: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct PolicyRow {
    pub policy: StaticMemoryPolicy,
    /// The number in `static_memory_policy`.
    pub number: u8,
    /// For lane headers and tables.
    pub label: &'static str,
    /// One sentence for tooltips.
    pub summary: &'static str,
    /// Whether static graphs share their memory, which concurrent graphs must not do.
    pub shares_static_arena: bool,
    /// Whether dynamic graphs use expandable pools.
    pub expands_pools: bool,
}

/// Every policy, ascending by number. 1 is not listed: the engine treats it as 2.
pub static POLICIES: &[PolicyRow] = &[
    PolicyRow {
        policy: StaticMemoryPolicy::Dynamic,
        number: 0,
        label: "dynamic allocation",
        summary: "each static graph holds a block of its own from load to unload; dynamic graphs allocate from page pools",
        shares_static_arena: false,
        expands_pools: false,
    },
    PolicyRow {
        policy: StaticMemoryPolicy::StaticExtend,
        number: 2,
        label: "static expansion",
        summary: "the static graphs of a session share one arena as large as the largest; dynamic graphs as under 0",
        shares_static_arena: true,
        expands_pools: false,
    },
    PolicyRow {
        policy: StaticMemoryPolicy::DynamicExtend,
        number: 3,
        label: "dynamic expansion",
        summary: "dynamic graphs use one virtual range backed by 8 MiB pages; static graphs as under 0",
        shares_static_arena: false,
        expands_pools: true,
    },
    PolicyRow {
        policy: StaticMemoryPolicy::FullExtend,
        number: 4,
        label: "static and dynamic expansion",
        summary: "static and dynamic graphs take 8 MiB pages from one store; a static arena holds pages only while its graph runs",
        shares_static_arena: true,
        expands_pools: true,
    },
];

impl StaticMemoryPolicy {
    pub const fn from_flags(flags: ExtendFlags) -> Self {
        match (flags.static_extend, flags.dynamic_extend) {
            (false, false) => Self::Dynamic,
            (true, false) => Self::StaticExtend,
            (false, true) => Self::DynamicExtend,
            (true, true) => Self::FullExtend,
        }
    }

    /// 1 is treated as 2.
    pub const fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            0 => Self::Dynamic,
            1 | 2 => Self::StaticExtend,
            3 => Self::DynamicExtend,
            4 => Self::FullExtend,
            _ => return None,
        })
    }

    pub fn row(self) -> &'static PolicyRow {
        &POLICIES[self as usize]
    }

    /// The number in `static_memory_policy`.
    pub fn number(self) -> u8 {
        self.row().number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_at_their_own_position() {
        for (idx, row) in POLICIES.iter().enumerate() {
            assert_eq!(row.policy as usize, idx);
            assert_eq!(StaticMemoryPolicy::from_number(row.number), Some(row.policy));
            assert_eq!(
                StaticMemoryPolicy::from_flags(ExtendFlags {
                    static_extend: row.shares_static_arena,
                    dynamic_extend: row.expands_pools,
                }),
                row.policy
            );
        }
    }
}
