//! Shape rules as text (`forms.txt`): inputs and outputs of an op in letters, as its documentation states them.
//!
//! ```text
//! CDist = 0[m _] 1[n _] -> T0 [m n]
//! ```
//!
//! A row lists ops, then one or more alternatives with `|` between them. The first one counts whose guards hold and whose
//! patterns fit the inputs' ranks.
//!
//! | text | meaning |
//! |---|---|
//! | `{@a}`, `{!@a}` | guard: attribute `a` is given and not 0; is not |
//! | `{3}`, `{!3}` | guard: input 3 is given; is not |
//! | `0[b s 3 _]` | pattern: input 0 has four dimensions; the third is 3 |
//! | `6?[p=0 _]` | pattern of an optional input; p is 0 without it |
//! | `*`, `..` | any number of dimensions, kept and not kept |
//! | `T0`, `T3,0` | type of input 0; of input 3, without it of input 0 |
//! | `int32`, `@to`, `@dtype=1` | this type; the code in an attribute, with its default |
//! | `:0` | shape of input 0 |
//! | `&0,3` | inputs 0 and 3, broadcast |
//! | `<1>` | the sizes that input 1 lists |
//! | `[* s+p @n #2 #3.1 size(0)~32]` | sizes: kept dimensions, sums of names, attribute `n`, the first element of input 2, the second of input 3, elements of input 0 over 32, rounded up (`/` rounds down) |
//! | `?`, `-` | an unknown size, an unknown type |
//!
//! A row with `!` states why sizes stay unknown, which the program tells of the op.

mod apply;
mod parse;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use self::parse::Form;
use crate::shape::call::Call;

/// What the table has on one op.
#[derive(Debug, Default)]
pub(super) struct Entry {
    forms: Vec<Form>,
    /// Why sizes of its outputs may stay unknown.
    pub(super) reason: Option<&'static str>,
}

impl Entry {
    pub(super) const fn has_rule(&self) -> bool {
        !self.forms.is_empty()
    }

    pub(super) fn apply(&self, call: &mut Call<'_>) -> Option<()> {
        apply::apply(&self.forms, call)
    }
}

/// By operator set (empty: the default one) and op.
pub(super) type Entries = BTreeMap<(&'static str, &'static str), Entry>;

pub(super) static ENTRIES: LazyLock<Entries> = LazyLock::new(|| entries(include_str!("forms.txt")).0);

/// The entries of a table, and the lines that are none.
fn entries(text: &'static str) -> (Entries, Vec<&'static str>) {
    let (mut entries, mut bad) = (Entries::new(), Vec::new());
    let mut domain = "";
    let lines = text.lines().map(str::trim);
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix("domain") {
            domain = name.trim();
        } else if let Some((ops, reason)) = line.split_once(" ! ") {
            for op in ops.split_whitespace() {
                entries.entry((domain, op)).or_default().reason = Some(reason.trim());
            }
        } else if let Some((ops, forms)) = line.split_once(" = ") {
            for op in ops.split_whitespace() {
                let entry = entries.entry((domain, op)).or_default();
                if entry.has_rule() {
                    bad.push(line);
                }
                match forms.split('|').map(parse::form).collect::<Option<Vec<Form>>>() {
                    Some(forms) => entry.forms = forms,
                    None => bad.push(line),
                }
            }
        } else {
            bad.push(line);
        }
    }
    (entries, bad)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read() {
        assert_eq!(entries(include_str!("forms.txt")).1, Vec::<&str>::new());
        let (_, bad) = entries("A = 0[b -> T0 [b]\nB = T0 [b+]\nC\nD = T0:0\nD = T0:0\nE = T0 [a)]");
        assert_eq!(bad.len(), 5, "{bad:?}");
    }

    #[test]
    fn names_of_outputs_are_bound_by_inputs() {
        for ((domain, op), entry) in ENTRIES.iter() {
            for form in &entry.forms {
                assert_eq!(form.unbound(), Vec::<&str>::new(), "{domain}.{op}");
            }
        }
    }
}
