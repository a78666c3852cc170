//! Differences between the peaks of two lanes, or of a lane and an earlier answer: tensors that are new, gone, bigger,
//! smaller.
//!
//! In: the contributors of two peaks, by name. Out: one row per name with a difference, the largest first. Invariant:
//! rows and `unlisted` add up to the difference of the peaks.

use super::peak_contributors::{ContributorName, PeakContributors};
use super::site_changes::matched;
use highwater_model::units::{Bytes, signed_bytes};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PeakKind {
    #[default]
    Live,
    Reserved,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    New,
    Gone,
    Bigger,
    Smaller,
}

impl ChangeKind {
    pub const ALL: [Self; 4] = [Self::New, Self::Gone, Self::Bigger, Self::Smaller];

    pub const fn words(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Gone => "gone",
            Self::Bigger => "bigger",
            Self::Smaller => "smaller",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub of: ContributorName,
    /// Otherwise memory that is reserved besides the tensors.
    pub is_tensor: bool,
    pub before: Bytes,
    pub after: Bytes,
}

impl Change {
    pub fn kind(&self) -> ChangeKind {
        match (self.before, self.after) {
            (Bytes::ZERO, _) => ChangeKind::New,
            (_, Bytes::ZERO) => ChangeKind::Gone,
            (before, after) if after > before => ChangeKind::Bigger,
            _ => ChangeKind::Smaller,
        }
    }

    /// In bytes.
    pub fn difference(&self) -> i128 {
        i128::from(self.after.get()) - i128::from(self.before.get())
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    pub of: PeakKind,
    /// The largest difference first, then by name.
    pub rows: Vec<Change>,
    /// Difference of the peaks (`of`) that no row explains.
    pub unlisted: i128,
    /// Difference of the peak live bytes.
    pub live: i128,
    pub n_alike: usize,
}

impl Changes {
    /// Between two peaks of reserved bytes.
    pub fn of_reserved(before: &PeakContributors, after: &PeakContributors) -> Self {
        let reserved = |of: &PeakContributors| i128::from(of.reserved.unwrap_or_default().get());
        let mut changes = Self::new(before, after);
        let listed: i128 = changes.rows.iter().map(Change::difference).sum();
        changes.of = PeakKind::Reserved;
        changes.unlisted = reserved(after) - reserved(before) - listed;
        changes
    }

    /// Between two peaks of live bytes. Where a side lists only its largest tensors, a name that it does not list
    /// counts as unlisted unless it is larger than everything unlisted there. O(names log names).
    pub fn new(before: &PeakContributors, after: &PeakContributors) -> Self {
        let (before_unlisted, after_unlisted) = (before.most_unlisted(), after.most_unlisted());
        let mut changes = Self {
            live: i128::from(after.live.get()) - i128::from(before.live.get()),
            ..Self::default()
        };
        for (name, (before, after)) in matched(&before.tensors, &after.tensors) {
            let is_open = match (before, after) {
                (None, Some(after)) => after <= before_unlisted,
                (Some(before), None) => before <= after_unlisted,
                _ => false,
            };
            let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
            if is_open {
                continue;
            }
            if before == after {
                changes.n_alike += 1;
                continue;
            }
            changes.rows.push(Change {
                of: name,
                is_tensor: true,
                before,
                after,
            });
        }
        let listed: i128 = changes.rows.iter().map(Change::difference).sum();
        changes.unlisted = changes.live - listed;
        changes.add_rest(before, after);
        changes.rows.sort_by_key(|change| {
            let name = change.of.clone();
            (std::cmp::Reverse(change.difference().unsigned_abs()), name)
        });
        changes
    }

    fn add_rest(&mut self, before: &PeakContributors, after: &PeakContributors) {
        let bytes = |of: &PeakContributors, what: &ContributorName| {
            let found = of.rest.iter().find(|(known, _)| known == what);
            found.map_or(Bytes::ZERO, |(_, bytes)| *bytes)
        };
        if before.reserved.is_none() || after.reserved.is_none() {
            return;
        }
        let mut whats: Vec<&ContributorName> = before.rest.iter().chain(&after.rest).map(|(what, _)| what).collect();
        whats.sort();
        whats.dedup();
        for what in whats {
            let change = Change {
                of: what.clone(),
                is_tensor: false,
                before: bytes(before, what),
                after: bytes(after, what),
            };
            if change.before != change.after {
                self.rows.push(change);
            }
        }
    }

    pub const fn is_nothing(&self) -> bool {
        self.rows.is_empty() && self.unlisted == 0
    }

    /// Label of [`Self::unlisted`].
    pub const fn unlisted_words(&self) -> &'static str {
        match self.of {
            PeakKind::Live => "tensors not listed separately",
            PeakKind::Reserved => "items not listed separately",
        }
    }

    /// The largest `most` of each kind, kind by kind, and one line for the rest of each.
    pub fn lines(&self, most: usize) -> Vec<ChangeLine<'_>> {
        let mut lines = Vec::new();
        for kind in ChangeKind::ALL {
            lines.extend(self.of_kind(kind).take(most).map(ChangeLine::One));
            let rest: Vec<i128> = self.of_kind(kind).skip(most).map(Change::difference).collect();
            if !rest.is_empty() {
                lines.push(ChangeLine::More(kind, rest.len(), rest.iter().sum()));
            }
        }
        lines
    }

    pub fn of_kind(&self, kind: ChangeKind) -> impl Iterator<Item = &Change> {
        self.rows.iter().filter(move |change| change.kind() == kind)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeLine<'a> {
    One(&'a Change),
    /// A number of further changes of a kind, and the sum of their differences in bytes.
    More(ChangeKind, usize, i128),
}

impl ChangeLine<'_> {
    /// Kind, bytes before, bytes after, difference, name.
    pub fn cells(self) -> [String; 5] {
        match self {
            Self::One(change) => [
                change.kind().words().to_owned(),
                change.before.to_string(),
                change.after.to_string(),
                signed_bytes(change.difference()),
                change.of.to_string(),
            ],
            Self::More(kind, count, bytes) => [
                kind.words().to_owned(),
                String::new(),
                String::new(),
                signed_bytes(bytes),
                format!("{count} more"),
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Bytes, Change, Changes, ContributorName, PeakContributors};

    fn holders(text: &str, others: (u64, u64)) -> PeakContributors {
        let tensors = text.split_whitespace().map(|word| {
            let (name, bytes) = word.split_once('=').expect("a name and bytes");
            let name = ContributorName {
                graph: "g".to_owned(),
                name: name.to_owned(),
                site: None,
            };
            (name, Bytes(bytes.parse().expect("bytes")))
        });
        let tensors: Vec<(ContributorName, Bytes)> = tensors.collect();
        let live = tensors.iter().map(|(_, bytes)| *bytes).sum::<Bytes>() + Bytes(others.1);
        PeakContributors {
            live,
            reserved: Some(live),
            tensors,
            others: (others.0, Bytes(others.1)),
            ..PeakContributors::default()
        }
    }

    fn words(changes: &Changes) -> String {
        let word = |change: &Change| format!("{} {} {}", change.kind().words(), change.of.name, change.difference());
        let rows: Vec<String> = changes.rows.iter().map(word).collect();
        format!("{}; rest {} of {}", rows.join(", "), changes.unlisted, changes.live)
    }

    #[test]
    fn names_with_a_difference_are_listed() {
        for (before, after, wanted) in [
            (("", (0, 0)), ("", (0, 0)), "; rest 0 of 0"),
            (
                ("a=9 b=5 c=3", (0, 0)),
                ("b=7 c=2 d=1", (0, 0)),
                "gone a -9, bigger b 2, smaller c -1, new d 1; rest 0 of -7",
            ),
            // b may be one of the unlisted ones, d cannot.
            (
                ("a=9 e=4", (3, 6)),
                ("d=8 b=4", (0, 0)),
                "gone a -9, new d 8, gone e -4; rest -2 of -7",
            ),
            (("a=9", (0, 0)), ("a=9", (2, 5)), "; rest 5 of 5"),
        ] {
            let changes = Changes::new(&holders(before.0, before.1), &holders(after.0, after.1));
            assert_eq!(words(&changes), wanted);
            let told: i128 = changes.rows.iter().map(Change::difference).sum();
            assert_eq!(told + changes.unlisted, changes.live);
        }
    }

    #[test]
    fn memory_without_tensors_has_separate_rows() {
        let mut before = holders("a=1", (0, 0));
        let mut after = before.clone();
        let rest = |what: &str, bytes: u64| (ContributorName::without_graph(what), Bytes(bytes));
        before.rest = vec![rest("rounding", 4), rest("weights", 2)];
        after.rest = vec![rest("weights", 2), rest("idle", 7)];
        let changes = Changes::new(&before, &after);
        assert_eq!(words(&changes), "new idle 7, gone rounding -4; rest 0 of 0");
        after.reserved = None;
        assert_eq!(words(&Changes::new(&before, &after)), "; rest 0 of 0");
    }
}
