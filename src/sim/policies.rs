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

#[derive(Clone, Copy, Debug)]
pub struct PolicyRow {
    pub policy: StaticMemoryPolicy,
    /// The number in `static_memory_policy`.
    pub number: u8,
    /// Further numbers that the engine treats as this one, each with its meaning.
    pub aliases: &'static [(u8, &'static str)],
    /// For lane headers and tables.
    pub label: &'static str,
    /// Its meaning as a value of an option, in a few words.
    pub choice: &'static str,
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
        aliases: &[],
        label: "dynamic allocation",
        choice: "dynamic allocation: each static graph holds a separate block",
        summary: "each static graph holds a separate block from load to unload; dynamic graphs allocate from page pools",
        shares_static_arena: false,
        expands_pools: false,
    },
    PolicyRow {
        policy: StaticMemoryPolicy::StaticExtend,
        number: 2,
        aliases: &[(1, "the same as 2, for old scripts")],
        label: "static expansion",
        choice: "static expansion: static graphs share one arena as large as the largest of them",
        summary: "the static graphs of a session share one arena as large as the largest; dynamic graphs as under 0",
        shares_static_arena: true,
        expands_pools: false,
    },
    PolicyRow {
        policy: StaticMemoryPolicy::DynamicExtend,
        number: 3,
        aliases: &[],
        label: "dynamic expansion",
        choice: "dynamic expansion: dynamic graphs use pools of small pages mapped into one range",
        summary: "dynamic graphs use one virtual range backed by 8 MiB pages; static graphs as under 0",
        shares_static_arena: false,
        expands_pools: true,
    },
    PolicyRow {
        policy: StaticMemoryPolicy::FullExtend,
        number: 4,
        aliases: &[],
        label: "static and dynamic expansion",
        choice: "2 and 3 combined",
        summary: "static and dynamic graphs take 8 MiB pages from one store; a static arena holds pages only while its graph runs",
        shares_static_arena: true,
        expands_pools: true,
    },
];

impl StaticMemoryPolicy {
    /// The policy of a number, or of one that the engine treats as it.
    pub fn from_number(number: u8) -> Option<Self> {
        let mut rows = POLICIES.iter();
        let row = rows.find(|row| row.number == number || row.aliases.iter().any(|(alias, _)| *alias == number));
        row.map(|row| row.policy)
    }

    /// The numbers that select a policy, for sentences: `0, 1 (which is 2), 2, 3 or 4`.
    pub fn known_numbers() -> String {
        let numbers = POLICIES.iter().flat_map(|row| {
            let aliases = row.aliases.iter();
            let aliases = aliases.map(|(alias, _)| format!("{alias} (which is {})", row.number));
            aliases.chain([row.number.to_string()])
        });
        let numbers: Vec<String> = numbers.collect();
        let (last, others) = numbers.split_last().expect("policies exist");
        format!("{} or {last}", others.join(", "))
    }

    /// The policy that two settings select together: the engine keeps a flag for shared static arenas and one for expandable
    /// pools, and sets each where either setting does. Policy 0 sets none.
    #[must_use]
    pub fn joined(self, other: Self) -> Self {
        if self == other || other == Self::Dynamic {
            return self;
        }
        if self == Self::Dynamic {
            return other;
        }
        let (one, two) = (self.row(), other.row());
        let mut rows = POLICIES.iter();
        let joined = rows.find(|row| {
            row.shares_static_arena == (one.shares_static_arena || two.shares_static_arena)
                && row.expands_pools == (one.expands_pools || two.expands_pools)
        });
        joined.map_or(self, |row| row.policy)
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
    fn two_settings_join_their_flags() {
        use StaticMemoryPolicy::{Dynamic, DynamicExtend, FullExtend, StaticExtend};
        for (one, other, joined) in [
            (Dynamic, Dynamic, Dynamic),
            (Dynamic, StaticExtend, StaticExtend),
            (StaticExtend, StaticExtend, StaticExtend),
            (StaticExtend, DynamicExtend, FullExtend),
            (FullExtend, StaticExtend, FullExtend),
        ] {
            assert_eq!(one.joined(other), joined);
            assert_eq!(other.joined(one), joined);
        }
        assert_eq!(StaticMemoryPolicy::known_numbers(), "0, 1 (which is 2), 2, 3 or 4");
    }

    #[test]
    fn rows_stand_at_their_own_position() {
        for (idx, row) in POLICIES.iter().enumerate() {
            assert_eq!(row.policy as usize, idx);
            assert_eq!(StaticMemoryPolicy::from_number(row.number), Some(row.policy));
        }
    }
}
