//! Notes on settings that are accepted: pairs that harm, and keys that do nothing.

use super::Settings;
use super::table::{Effect, OPTIONS};

/// Something to know about settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Name of the rule.
    pub rule: &'static str,
    /// Whether memory suffers; else something has no effect.
    pub is_warning: bool,
    /// Keys that are involved.
    pub keys: Vec<&'static str>,
    /// One sentence.
    pub message: String,
    /// Where it is written down.
    pub source: &'static str,
}

/// A rule over settings.
struct Rule {
    name: &'static str,
    is_warning: bool,
    /// It fires only if one of them is named.
    keys: &'static [&'static str],
    fires: fn(&Settings) -> bool,
    message: &'static str,
    source: &'static str,
}

const RULES: [Rule; 5] = [
    Rule {
        name: "torch.expandable_with_max_split",
        is_warning: true,
        keys: &["expandable_segments", "max_split_size_mb"],
        fires: |settings| settings.expandable && settings.max_split < u64::MAX,
        message: "A large merged free block is refused because of max_split_size_mb again and again, and expandable \
                  segments grow instead: reserved memory can grow without bound.",
        source: "pytorch/pytorch#123548, pytorch/pytorch#193400",
    },
    Rule {
        name: "torch.threshold_without_limit",
        is_warning: false,
        keys: &["garbage_collection_threshold"],
        fires: |settings| settings.collection_threshold > 0.0 && settings.fraction >= 1.0,
        message: "Nothing is collected unless the program limits its memory (per_process_memory_fraction or \
                  set_per_process_memory_fraction).",
        source: "garbage_collection_threshold",
    },
    Rule {
        name: "torch.rounding_without_max_split",
        is_warning: false,
        keys: &["max_non_split_rounding_mb"],
        fires: |settings| settings.max_split == u64::MAX,
        message: "Nothing happens without max_split_size_mb.",
        source: "max_non_split_rounding_mb",
    },
    Rule {
        name: "torch.throw_below_limit",
        is_warning: false,
        keys: &["throw_on_cudamalloc_oom", "throw_on_npumalloc_oom"],
        fires: |settings| settings.throws && settings.fraction < 1.0,
        message: "While the fraction limits the process, a request above it fails in the usual way, after releasing \
                  what is cached.",
        source: "throw_on_cudamalloc_oom",
    },
    Rule {
        name: "torch.page_overrides_segment",
        is_warning: false,
        keys: &["page_size", "segment_size_mb"],
        fires: |settings| {
            let npu = &settings.npu;
            npu.segment_page.is_some() && (npu.huge_pages || settings.large_segment != super::LARGE_SEGMENT)
        },
        message: "segment_size_mb is not used: page_size and large_segment_size_mb come before it.",
        source: "segment_size_mb",
    },
];

/// What is to know about accepted settings.
pub fn findings(settings: &Settings) -> Vec<Finding> {
    let is_named = |key: &&str| settings.named.contains(key);
    let fired = RULES
        .iter()
        .filter(|rule| rule.keys.iter().any(&is_named) && (rule.fires)(settings));
    let mut found: Vec<Finding> = fired
        .map(|rule| Finding {
            rule: rule.name,
            is_warning: rule.is_warning,
            keys: rule.keys.iter().copied().filter(|key| is_named(key)).collect(),
            message: rule.message.to_owned(),
            source: rule.source,
        })
        .collect();
    let parsed: Vec<&'static str> = OPTIONS
        .iter()
        .filter(|option| option.effect() == Effect::Parsed && option.key != "backend" && is_named(&option.key))
        .map(|option| option.key)
        .collect();
    if !parsed.is_empty() {
        found.push(Finding {
            rule: "torch.not_simulated",
            is_warning: false,
            message: format!("No figure here depends on {}.", parsed.join(", ")),
            keys: parsed,
            source: "OPTIONS",
        });
    }
    found
}
