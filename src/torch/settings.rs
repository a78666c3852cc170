//! Settings of the allocator: read from the text of the environment variable, checked as the version checks them.
//!
//! [`OPTIONS`] declares every key; `grammar` reads pairs; the setters below give them their meaning.

mod error;
mod findings;
mod grammar;
mod number;
mod table;
mod text;

pub use error::SettingsError;
pub use findings::{Finding, findings};
pub use table::{Effect, Field, Kind, OPTIONS, OptionRow, Scope};

use crate::version::{Counts, Framework, ListRest, SmallestSplit, VARIABLES, Variables, Version};
use grammar::Tokens;

const MIB: u64 = 1 << 20;

/// Whether a variable holds settings of a caching allocator.
pub fn is_allocator_variable(name: &str) -> bool {
    VARIABLES.contains(&name)
}

/// The variable that a version reads and its text; `None` where none of them is set.
///
/// # Errors
/// `torch_npu` refuses two at once.
pub fn in_force<'t>(
    version: Version,
    text_of: impl Fn(&str) -> Option<&'t str>,
) -> Result<Option<(&'static str, &'t str)>, SettingsError> {
    let variables = version.rules().variables;
    let set = |name: &&'static str| text_of(name).map(|text| (*name, text));
    let mut set = variables.names().iter().filter_map(set);
    let first = set.next();
    match variables {
        Variables::One(_) if set.next().is_some() => Err(SettingsError::BothVariables),
        Variables::One(_) | Variables::First(_) => Ok(first),
    }
}

/// Bytes of a large segment where nothing else is set.
const LARGE_SEGMENT: u64 = 20 * MIB;

/// Number of intervals of sizes with divisions; the first ends at 2 MiB, each next one is twice as wide.
pub const INTERVALS: usize = 16;

/// What only `torch_npu` has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NpuSettings {
    /// Large blocks of expandable segments start at multiples of these bytes; 0: anywhere.
    pub base_alignment: u64,
    /// Pages and segments of the large pool are 1 GiB.
    pub huge_pages: bool,
    /// Bytes of a page of large expandable segments, by the deprecated key.
    pub segment_page: Option<u64>,
    /// Events are reaped only if many are outstanding or no block was found.
    pub lazy_reclaim: bool,
}

/// Settings in force. Sizes in bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The version that checked them.
    pub version: Version,
    /// Blocks from this size on are never split, and smaller requests never get them; `u64::MAX`: no limit.
    pub max_split: u64,
    /// Most bytes that a block from `max_split` on may be larger than its request; none: a large segment.
    pub slack: Option<u64>,
    /// Segment for requests between 1 MiB and 10 MiB.
    pub large_segment: u64,
    /// Part of the limit above which old blocks are given back; 0: never.
    pub collection_threshold: f64,
    /// Divisions per power of two by interval; 0 and 1: none.
    pub divisions: [u64; INTERVALS],
    /// Segments grow page by page.
    pub expandable: bool,
    /// Requests above the fraction fail at once.
    pub throws: bool,
    /// Part of the device that the process may use.
    pub fraction: f64,
    /// What only `torch_npu` has.
    pub npu: NpuSettings,
    /// Keys that were named, in order of naming.
    pub named: Vec<&'static str>,
}

impl Settings {
    /// Settings of an unset variable.
    pub fn new(version: Version) -> Self {
        Self {
            version,
            max_split: u64::MAX,
            slack: None,
            large_segment: LARGE_SEGMENT,
            collection_threshold: 0.0,
            divisions: [0; INTERVALS],
            expandable: false,
            throws: false,
            fraction: 1.0,
            npu: NpuSettings {
                base_alignment: 16 << 10,
                huge_pages: false,
                segment_page: None,
                lazy_reclaim: false,
            },
            named: Vec::new(),
        }
    }

    /// Settings of the variable's text.
    ///
    /// # Errors
    /// What the version refuses.
    pub fn parse(conf: &str, version: Version) -> Result<Self, SettingsError> {
        let mut settings = Self::new(version);
        settings.read(conf)?;
        Ok(settings)
    }

    /// Settings of a text that a process ran with: keys and values that the version refuses are left out, each with the reason.
    /// O(pairs).
    pub fn parse_known(conf: &str, version: Version) -> (Self, Vec<SettingsError>) {
        let mut settings = Self::new(version);
        let mut left_out = Vec::new();
        for pair in grammar::pairs(conf) {
            let mut with_pair = settings.clone();
            match with_pair.read(pair) {
                Ok(()) => settings = with_pair,
                Err(error) => left_out.push(error),
            }
        }
        (settings, left_out)
    }

    /// Changes settings at run time: split limit, threshold and divisions start from their defaults, the others keep
    /// their values where they are not named.
    ///
    /// # Errors
    /// What the version refuses; the settings are then as before.
    pub fn apply(&mut self, conf: &str) -> Result<(), SettingsError> {
        let mut changed = self.clone();
        changed.max_split = u64::MAX;
        changed.collection_threshold = 0.0;
        changed.divisions = [0; INTERVALS];
        let resets = [
            "max_split_size_mb",
            "garbage_collection_threshold",
            "roundup_power2_divisions",
        ];
        changed.named.retain(|key| !resets.contains(key));
        changed.read(conf)?;
        *self = changed;
        Ok(())
    }

    /// Most bytes that an oversize block may be larger than its request.
    pub fn slack(&self) -> u64 {
        self.slack.unwrap_or(self.large_segment)
    }

    fn read(&mut self, conf: &str) -> Result<(), SettingsError> {
        let mut tokens = Tokens::of(conf, self.version);
        let mut seen = Vec::new();
        let mut sizes = Vec::new();
        while let Some(key) = tokens.key() {
            let option = table::find(&key, self.version)?;
            tokens.separator(':')?;
            self.set(option, &mut tokens)?;
            tokens.separator_unless_end(',')?;
            match option.field {
                Field::MaxSplit => sizes.push((option, self.max_split)),
                Field::Slack => sizes.push((option, self.slack())),
                Field::LargeSegment => sizes.push((option, self.large_segment)),
                _ => {}
            }
            seen.push(option.key);
        }
        self.check(&sizes)?;
        self.named.retain(|key| !seen.contains(key));
        self.named.append(&mut seen);
        Ok(())
    }

    fn set(&mut self, option: &'static OptionRow, tokens: &mut Tokens) -> Result<(), SettingsError> {
        match option.kind {
            Kind::Mib => {
                let mib = self.within(option, tokens.count(option.key)?)?;
                self.set_mib(option.field, mib.min(u64::MAX / MIB) * MIB);
            }
            Kind::Count { least, most } => {
                let got = tokens.value(option.key)?;
                let Some(count) = number::unsigned(&got) else {
                    let key = option.key;
                    return Err(SettingsError::NotACount { key, got });
                };
                // torch_npu compares the text of this one.
                let is_other_text = option.field == Field::BaseAlignment && got != count.to_string();
                if count < least || count > most || is_other_text {
                    return Err(SettingsError::out_of_range(option, &got));
                }
                self.set_count(option.field, count);
            }
            Kind::PowerOfTwo { most } => {
                let count = tokens.count(option.key)?;
                if !count.is_power_of_two() || count > most {
                    return Err(SettingsError::out_of_range(option, &count));
                }
            }
            Kind::OpenUnit | Kind::ClosedUnit => {
                let (part, text) = tokens.real(option.key)?;
                let is_inside = match option.kind {
                    Kind::OpenUnit => part > 0.0 && part < 1.0,
                    _ => (0.0..=1.0).contains(&part),
                };
                if !is_inside {
                    return Err(SettingsError::out_of_range(option, &text));
                }
                self.set_real(option.field, part);
            }
            Kind::Flag => {
                let value = tokens.flag(option.key)?;
                self.set_flag(option.field, value);
            }
            Kind::Divisions => self.set_divisions(tokens)?,
            Kind::Word(accepted) => {
                let word = tokens.value(option.key)?;
                if word != accepted {
                    return Err(SettingsError::out_of_range(option, &word));
                }
                self.npu.huge_pages |= option.field == Field::PageSize;
            }
            Kind::Any => tokens.any(option.key)?,
            Kind::List => {
                if !tokens.opens_list(option.key)? {
                    let got = tokens.value(option.key)?;
                    return Err(SettingsError::out_of_range(option, &got));
                }
                while tokens.item().is_some() {}
                tokens.close_list()?;
            }
        }
        Ok(())
    }

    /// Old versions read numbers of 32 bits with a sign.
    fn within(&self, option: &'static OptionRow, count: u64) -> Result<u64, SettingsError> {
        self.reads(count)
            .then_some(count)
            .ok_or_else(|| SettingsError::out_of_range(option, &count))
    }

    fn reads(&self, count: u64) -> bool {
        match self.version.rules().counts {
            Counts::Unsigned64 => true,
            Counts::Signed32 => i32::try_from(count.cast_signed()).is_ok(),
        }
    }

    fn set_mib(&mut self, field: Field, bytes: u64) {
        match field {
            Field::MaxSplit => self.max_split = bytes,
            Field::Slack => self.slack = Some(bytes),
            Field::LargeSegment => self.large_segment = bytes,
            _ => {}
        }
    }

    fn set_count(&mut self, field: Field, count: u64) {
        match field {
            Field::BaseAlignment => self.npu.base_alignment = count << 10,
            Field::SegmentPage => self.npu.segment_page = Some(count * MIB),
            _ => {}
        }
    }

    fn set_real(&mut self, field: Field, part: f64) {
        match field {
            Field::Threshold => self.collection_threshold = part,
            Field::Fraction => self.fraction = part,
            _ => {}
        }
    }

    fn set_flag(&mut self, field: Field, value: bool) {
        match field {
            Field::Expandable => self.expandable = value,
            Field::Throws => self.throws = value,
            Field::LazyReclaim => self.npu.lazy_reclaim = value,
            _ => {}
        }
    }

    /// One number for all sizes, or pairs `[boundary:divisions, ..., >:divisions]`.
    fn set_divisions(&mut self, tokens: &mut Tokens) -> Result<(), SettingsError> {
        let key = "roundup_power2_divisions";
        let count = |settings: &Self, tokens: &mut Tokens| {
            let count = tokens.count(key)?;
            let is_read = settings.reads(count);
            is_read.then_some(count).ok_or(SettingsError::Divisions { got: count })
        };
        if !tokens.opens_list(key)? {
            let divisions = count(self, tokens)?;
            if !divisions.is_power_of_two() {
                return Err(SettingsError::Divisions { got: divisions });
            }
            self.divisions = [divisions; INTERVALS];
            return Ok(());
        }
        let mut last = None;
        while let Some(boundary) = tokens.item() {
            tokens.separator(':')?;
            let divisions = count(self, tokens)?;
            if divisions != 0 && !divisions.is_power_of_two() {
                return Err(SettingsError::Divisions { got: divisions });
            }
            self.set_interval(&boundary, divisions, &mut last)?;
            tokens.separator_unless_closing(',')?;
        }
        tokens.close_list()
    }

    fn set_interval(&mut self, boundary: &str, divisions: u64, last: &mut Option<usize>) -> Result<(), SettingsError> {
        if boundary == ">" {
            let first = match self.version.rules().list_rest {
                ListRest::AtLastNamed => last.unwrap_or(0),
                ListRest::AfterLastNamed => last.unwrap_or(0) + 1,
            };
            self.divisions[first.min(INTERVALS)..].fill(divisions);
            return Ok(());
        }
        let mib = number::unsigned(boundary).ok_or_else(|| SettingsError::NotACount {
            key: "roundup_power2_divisions",
            got: boundary.to_owned(),
        })?;
        if !mib.is_power_of_two() {
            return Err(SettingsError::Boundary { got: mib });
        }
        let interval = (mib.trailing_zeros() as usize).min(INTERVALS - 1);
        if last.is_none() {
            self.divisions[..interval].fill(divisions);
        }
        self.divisions[interval] = divisions;
        *last = Some(interval);
        Ok(())
    }

    /// What depends on several keys; each of the sizes as it was named, since a later one does not excuse an earlier one.
    fn check(&self, sizes: &[(&'static OptionRow, u64)]) -> Result<(), SettingsError> {
        let smallest = match self.version.rules().smallest_split {
            SmallestSplit::Mib(mib) => mib,
            SmallestSplit::LargeSegment => self.large_segment / MIB,
        };
        for (option, bytes) in sizes {
            let got = bytes / MIB;
            if option.field == Field::LargeSegment {
                if *bytes <= 10 * MIB {
                    return Err(SettingsError::LargeSegment { got });
                }
            } else if got < smallest {
                let key = option.key;
                return Err(SettingsError::TooSmall { key, got, smallest });
            }
        }
        let is_npu = self.version.rules().framework == Framework::Npu;
        if is_npu && self.expandable {
            let excluded = [
                ("max_split_size_mb", self.max_split < u64::MAX),
                ("garbage_collection_threshold", self.collection_threshold > 0.0),
            ];
            if let Some((key, _)) = excluded.iter().find(|(_, is_set)| *is_set) {
                return Err(SettingsError::RefusedPair { key });
            }
        }
        Ok(())
    }
}
