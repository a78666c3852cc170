//! Settings to try on recordings, generated from the table of keys and the sizes of requests.

use std::collections::BTreeSet;

use highwater_torch::recording::{Input, Replayable};
use highwater_torch::{Effect, Field, OPTIONS, OptionRow, Scope, Settings, Version};

const MIB: u64 = 1 << 20;

/// Most split limits that are derived from the sizes of requests.
const MOST_SPLITS: usize = 24;

/// From the least that every release takes.
const ROUND_SPLITS: [u64; 7] = [21, 32, 64, 128, 256, 512, 1024];
const SEGMENTS: [u64; 13] = [11, 12, 16, 24, 32, 40, 48, 64, 96, 128, 192, 256, 512];
const SLACKS: [u64; 6] = [32, 64, 128, 256, 512, 1024];
const DIVISIONS: [u64; 5] = [2, 4, 8, 16, 32];
const THRESHOLDS: [&str; 4] = ["0.6", "0.7", "0.8", "0.9"];

/// Sizes in MiB at which divisions begin or end.
const BOUNDARIES: [u64; 5] = [4, 16, 64, 256, 1024];

/// A key with its value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SettingPair {
    pub key: &'static str,
    pub value: String,
}

impl SettingPair {
    fn new(row: &OptionRow, value: &str) -> Self {
        Self {
            key: row.key,
            value: value.to_owned(),
        }
    }

    /// The first release that knows the key; `None` for one of `torch_npu` alone.
    pub fn since(&self) -> Option<Version> {
        let row = OPTIONS.iter().find(|row| row.key == self.key)?;
        match row.scope {
            Scope::Cuda(since) | Scope::Both(since) => Some(since),
            Scope::Npu => None,
        }
    }
}

/// The text of pairs.
pub(super) fn text_of<'p>(pairs: impl IntoIterator<Item = &'p SettingPair>) -> String {
    let texts = pairs.into_iter().map(|pair| format!("{}:{}", pair.key, pair.value));
    texts.collect::<Vec<String>>().join(",")
}

/// The pairs of a text that is written plainly; of another one those that act.
pub(super) fn pairs_of(conf: &str, settings: &Settings) -> Vec<SettingPair> {
    let pairs = split(conf);
    match Settings::parse(&text_of(&pairs), settings.version) {
        Ok(same) if same == *settings => pairs,
        _ => split(&settings.text()),
    }
}

/// A text with one more pair, in place of its key's; where the version refuses them together, the pair alone. `None` where it
/// refuses that too.
pub(crate) fn with_pair(conf: &str, pair: &SettingPair, version: Version) -> Option<String> {
    let (settings, _) = Settings::parse_known(conf, version);
    let kept = pairs_of(conf, &settings)
        .into_iter()
        .filter(|other| other.key != pair.key);
    let kept: Vec<SettingPair> = kept.collect();
    let texts = [text_of(kept.iter().chain([pair])), text_of([pair])];
    texts.into_iter().find(|text| Settings::parse(text, version).is_ok())
}

/// `KEY:VALUE` between commas outside of lists.
fn split(conf: &str) -> Vec<SettingPair> {
    let mut depth = 0_i64;
    let parts = conf.split(|letter: char| {
        depth += i64::from(letter == '[') - i64::from(letter == ']');
        letter == ',' && depth == 0
    });
    let pair = |part: &str| {
        let (key, value) = part.split_once(':')?;
        let row = OPTIONS.iter().find(|row| row.key == key.trim())?;
        Some(SettingPair::new(row, value.trim()))
    };
    parts.filter_map(pair).collect()
}

/// Whether a search changes a key. Limits and keys that change nothing here stay as recorded.
pub(super) fn is_tuned(pair: &SettingPair) -> bool {
    let row = OPTIONS.iter().find(|row| row.key == pair.key);
    row.is_some_and(|row| row.effect() == Effect::Acts && !matches!(row.field, Field::Fraction | Field::Throws))
}

/// Position in the table of keys, the order of pairs in a text.
pub(super) fn place(pair: &SettingPair) -> usize {
    OPTIONS
        .iter()
        .position(|row| row.key == pair.key)
        .unwrap_or(OPTIONS.len())
}

/// Whether a key does something only together with another one that is missing.
pub(super) fn lacks_companion(pairs: &[SettingPair]) -> bool {
    let has = |key: &str| pairs.iter().any(|pair| pair.key == key);
    let needs = [
        ("max_non_split_rounding_mb", "max_split_size_mb"),
        ("base_addr_aligned_kb", "expandable_segments"),
    ];
    needs.iter().any(|(key, companion)| has(key) && !has(companion))
}

/// The values to try of every key, in the order of the table.
pub(super) fn values(replayables: &[Replayable<'_>], version: Version, has_limit: bool) -> Vec<Vec<SettingPair>> {
    let sizes = large_sizes(replayables);
    let known = OPTIONS.iter().filter(|row| row.is_known_to(version));
    let values = known.map(|row| {
        let texts = texts(row.field, &sizes, has_limit);
        texts.iter().map(|text| SettingPair::new(row, text)).collect()
    });
    values.filter(|values: &Vec<SettingPair>| !values.is_empty()).collect()
}

fn texts(field: Field, sizes: &BTreeSet<u64>, has_limit: bool) -> Vec<String> {
    let numbers = |numbers: &[u64]| numbers.iter().map(u64::to_string).collect();
    match field {
        Field::MaxSplit => split_limits(sizes).iter().map(u64::to_string).collect(),
        Field::Slack => numbers(&SLACKS),
        Field::LargeSegment => numbers(&SEGMENTS),
        Field::Divisions => divisions(sizes),
        Field::Threshold if has_limit => THRESHOLDS.map(str::to_owned).to_vec(),
        Field::Expandable | Field::LazyReclaim => vec!["True".to_owned()],
        Field::BaseAlignment => numbers(&[0]),
        Field::PageSize => vec!["1g".to_owned()],
        Field::Threshold | Field::Throws | Field::Fraction | Field::SegmentPage | Field::None => Vec::new(),
    }
}

/// Requests above 1 MiB, in started MiB.
fn large_sizes(replayables: &[Replayable<'_>]) -> BTreeSet<u64> {
    let requests = replayables.iter().flat_map(|replayable| {
        let start = replayable.start().live.iter().map(|live| live.requested);
        let later = replayable.inputs().iter().filter_map(|input| match input {
            Input::Alloc { requested, .. } => Some(*requested),
            _ => None,
        });
        start.chain(later)
    });
    requests
        .filter(|requested| *requested > MIB)
        .map(|requested| requested / MIB + 1)
        .collect()
}

/// Limits that part the sizes differently, at most some dozens, and round ones below the largest request.
fn split_limits(sizes: &BTreeSet<u64>) -> BTreeSet<u64> {
    let between: Vec<u64> = sizes.iter().copied().filter(|mib| *mib >= ROUND_SPLITS[0]).collect();
    let most = between.last().copied().unwrap_or(0);
    let step = between.len().div_ceil(MOST_SPLITS).max(1);
    let derived = between.iter().rev().step_by(step).copied();
    derived
        .chain(ROUND_SPLITS.into_iter().filter(|mib| *mib <= most))
        .collect()
}

/// Divisions for all sizes, and for those on one side of a boundary.
fn divisions(sizes: &BTreeSet<u64>) -> Vec<String> {
    let mut texts: Vec<String> = DIVISIONS.iter().map(u64::to_string).collect();
    let most = sizes.last().copied().unwrap_or(0);
    for boundary in BOUNDARIES.iter().filter(|boundary| **boundary < most) {
        for divisions in [4, 16] {
            texts.push(format!("[{boundary}:{divisions},>:1]"));
            texts.push(format!("[{boundary}:1,>:{divisions}]"));
        }
    }
    if most > 256 {
        texts.push("[256:1,512:2,1024:4,>:8]".to_owned());
    }
    texts
}
