//! The release of torch that knows a setting of its allocator first.

use highwater_torch::{OPTIONS, Scope, Version};

/// Major and minor number.
pub(super) type Release = (u32, u32);

/// Keys that are older than the oldest version of the table of settings (release notes of torch).
const EARLY: [(&str, Release); 2] = [
    ("max_split_size_mb", (1, 10)),
    ("garbage_collection_threshold", (1, 12)),
];

/// The first release that knows a key.
pub(super) fn since(key: &str) -> Option<Release> {
    let row = OPTIONS.iter().find(|row| row.key == key)?;
    let version = match row.scope {
        Scope::Cuda(since) | Scope::Both(since) => since,
        Scope::Npu => return None,
    };
    let early = EARLY
        .iter()
        .find(|(early, _)| *early == key && version == Version::FIRST);
    early.map_or_else(|| release(version.name()), |(_, release)| Some(*release))
}

/// The release that a setting of an allocator needs at least, as text.
pub(super) fn needed_release(conf: &str) -> Option<String> {
    let keys = conf.split(',').filter_map(|pair| Some(pair.split_once(':')?.0));
    let (major, minor) = keys.filter_map(since).max()?;
    Some(format!("{major}.{minor}"))
}

/// `2.9.1+cu128` is 2.9.
pub(super) fn release(text: &str) -> Option<Release> {
    let mut parts = text.trim().trim_start_matches('v').split(['.', '+']);
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_needs_the_newest_of_its_keys() {
        assert_eq!(
            needed_release("max_split_size_mb:64,expandable_segments:True").as_deref(),
            Some("2.1")
        );
        assert_eq!(needed_release("max_split_size_mb:64").as_deref(), Some("1.10"));
        assert_eq!(needed_release(""), None);
    }
}
