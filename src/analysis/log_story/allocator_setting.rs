//! Which setting of torch's allocator can be advised for a process: one that its version knows and that is not on already.

use super::super::setting_release::{Release, release, since};
use super::super::what_if::{SettingPair, with_pair};
use super::advice::Advice;
use super::vendor::variable;
use highwater_model::workload::{Library, LoggedProcess};
use highwater_torch::{Settings, Version};

pub(super) const EXPANDABLE: (&str, &str) = ("expandable_segments", "True");

/// Larger blocks stay whole from 128 MiB on, the value of most public advice.
pub(super) const SPLIT: (&str, &str) = ("max_split_size_mb", "128");

pub(super) const COLLECTION: (&str, &str) = ("garbage_collection_threshold", "0.8");

/// Whether a setting can be advised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Setting {
    /// `NAME=VALUE`, and the version that it needs where the text states none.
    Advised(String, Option<String>),
    /// The text shows that it is on.
    IsOn,
    /// The stated version does not know it; it comes with a later one.
    Lacks { since: String },
    /// The text says that the platform or the driver does not support it.
    Unsupported,
    /// The library has no such setting, or what is set excludes it.
    Missing,
}

impl Setting {
    /// The advice, with its reason.
    pub(super) fn advice(self, reason: impl Into<String>) -> Option<Advice> {
        match self {
            Self::Advised(text, needs_version) => Some(Advice {
                needs_version,
                ..Advice::set(text, reason)
            }),
            _ => None,
        }
    }
}

/// Whether a key with a value can be set for a process of a library.
pub(super) fn setting(process: &LoggedProcess, library: Library, (key, value): (&'static str, &str)) -> Setting {
    let stated = process.versions.get("torch").and_then(|text| release(text));
    let is_npu = library == Library::TorchNpu;
    let version = match process.versions.get("torch").and_then(|text| Version::named(text)) {
        _ if is_npu => Version::Npu,
        Some(version) => version,
        None => Version::NEWEST,
    };
    let (Some(variable), Some(since)) = (
        variable(process, library, Some(version).filter(|_| stated.is_some())),
        since(key),
    ) else {
        return Setting::Missing;
    };
    let text_of = |(major, minor): Release| format!("{major}.{minor}");
    if stated.is_some_and(|stated| stated < since) {
        return Setting::Lacks { since: text_of(since) };
    }
    if is_unsupported(process, key) {
        return Setting::Unsupported;
    }
    let conf = process.settings.get(variable).map_or("", String::as_str);
    let (settings, _) = Settings::parse_known(conf, version);
    let is_on = match key {
        "expandable_segments" => settings.expandable,
        _ => settings.named.contains(&key),
    };
    let is_stated = process
        .settings
        .get(key)
        .is_some_and(|set| set.eq_ignore_ascii_case(value));
    if is_on || is_stated {
        return Setting::IsOn;
    }
    let pair = SettingPair {
        key,
        value: value.to_owned(),
    };
    match with_pair(conf, &pair, version) {
        Some(text) => Setting::Advised(format!("{variable}={text}"), stated.is_none().then(|| text_of(since))),
        None => Setting::Missing,
    }
}

/// Whether the text says that a setting is not supported: torch's own warning, as a statement or a setting.
fn is_unsupported(process: &LoggedProcess, key: &str) -> bool {
    const NOT: [&str; 2] = ["not supported", "unsupported"];
    let says_not = |text: &str| NOT.iter().any(|words| text.contains(words));
    let statements = process.statements.iter();
    let mut stated = statements
        .filter(|one| one.text.contains(key))
        .map(|one| one.text.as_str());
    stated.any(says_not) || process.settings.get(key).is_some_and(|value| says_not(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(settings: &[(&str, &str)], torch: &str) -> LoggedProcess {
        let mut process = LoggedProcess::default();
        for (name, value) in settings {
            process.settings.insert((*name).to_owned(), (*value).to_owned());
        }
        if !torch.is_empty() {
            process.versions.insert("torch".to_owned(), torch.to_owned());
        }
        process
    }

    #[test]
    fn settings_fit_what_the_text_states() {
        use Library::{TorchCuda, TorchHip, TorchMps, TorchNpu, TorchXpu};
        const CUDA: &str = "PYTORCH_CUDA_ALLOC_CONF";
        const NPU: &str = "PYTORCH_NPU_ALLOC_CONF";
        let advised =
            |text: &str, needs: &str| Setting::Advised(text.to_owned(), (!needs.is_empty()).then(|| needs.to_owned()));
        let lacks = |since: &str| Setting::Lacks {
            since: since.to_owned(),
        };
        let rows = [
            (
                TorchCuda,
                vec![],
                "",
                EXPANDABLE,
                advised("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", "2.1"),
            ),
            (
                TorchCuda,
                vec![],
                "2.9.1+cu128",
                EXPANDABLE,
                advised("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", ""),
            ),
            (TorchCuda, vec![], "2.0.1", EXPANDABLE, lacks("2.1")),
            (
                TorchCuda,
                vec![],
                "2.0.1",
                SPLIT,
                advised("PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:128", ""),
            ),
            (TorchCuda, vec![], "1.9.0", SPLIT, lacks("1.10")),
            (
                TorchCuda,
                vec![(CUDA, "expandable_segments:True")],
                "",
                EXPANDABLE,
                Setting::IsOn,
            ),
            (
                TorchCuda,
                vec![("expandable_segments", "True")],
                "",
                EXPANDABLE,
                Setting::IsOn,
            ),
            (
                TorchCuda,
                vec![(CUDA, "expandable_segments:False")],
                "",
                EXPANDABLE,
                advised("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", "2.1"),
            ),
            (
                TorchCuda,
                vec![("PYTORCH_ALLOC_CONF", "max_split_size_mb:64")],
                "2.10.0",
                EXPANDABLE,
                advised("PYTORCH_ALLOC_CONF=max_split_size_mb:64,expandable_segments:True", ""),
            ),
            // torch_npu refuses both together.
            (
                TorchNpu,
                vec![(NPU, "max_split_size_mb:64")],
                "",
                EXPANDABLE,
                advised("PYTORCH_NPU_ALLOC_CONF=expandable_segments:True", "2.1"),
            ),
            (
                TorchHip,
                vec![],
                "2.10.0",
                EXPANDABLE,
                advised("PYTORCH_HIP_ALLOC_CONF=expandable_segments:True", ""),
            ),
            (
                TorchCuda,
                vec![("expandable_segments", "not supported on this platform")],
                "",
                EXPANDABLE,
                Setting::Unsupported,
            ),
            (TorchXpu, vec![], "", EXPANDABLE, Setting::Missing),
            (TorchMps, vec![], "", SPLIT, Setting::Missing),
        ];
        for (library, settings, torch, pair, wanted) in rows {
            assert_eq!(
                setting(&process(&settings, torch), library, pair),
                wanted,
                "{library:?} {settings:?} {torch}"
            );
        }
    }
}
