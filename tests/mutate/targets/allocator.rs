//! Settings of the caching allocators, and commands for them.

use highwater_torch::{Settings, Trace, Version, summary, trial};

use super::Readable;

/// Settings are tried.
pub(super) fn settings(bytes: &[u8]) -> Option<Readable> {
    let text = String::from_utf8_lossy(bytes);
    let mut readable = None;
    for version in Version::all() {
        if let Ok(settings) = Settings::parse(&text, version) {
            trial(settings);
            readable = Some(Readable::Other);
        }
    }
    readable
}

/// Commands are performed, under the settings of a comment in the first line.
pub(super) fn commands(bytes: &[u8]) -> Option<Readable> {
    let text = String::from_utf8_lossy(bytes);
    let trace = Trace::parse(&text).ok()?;
    let conf = text.lines().next().and_then(|line| line.strip_prefix("# conf "));
    for version in [Version::NEWEST, Version::Torch2_9, Version::Npu] {
        let settings = Settings::parse(conf.unwrap_or(""), version);
        let settings = settings.unwrap_or_else(|_| Settings::new(version));
        summary(&trace, settings, version.rules());
    }
    Some(Readable::Other)
}
