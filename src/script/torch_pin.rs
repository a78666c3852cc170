//! The release of torch that a script installs, and what its allocator makes of the script's variables.

use highwater_model::diagnostics::Severity;
use highwater_options::Environment;
use highwater_torch::{Settings, Version, in_force, is_allocator_variable};

/// A release that a command installs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TorchPin {
    /// As written: `2.0.1`.
    pub(super) release: String,
    pub(super) line: usize,
}

/// What names torch in front of a release: packages of pip and conda, and the image.
const NAMES: [&str; 4] = ["torch==", "pytorch==", "pytorch=", "pytorch/pytorch:"];

impl TorchPin {
    /// Of a word of a command, such as `torch==2.0.1+cu118`.
    pub(super) fn of_word(word: &str, line: usize) -> Option<Self> {
        let rest = NAMES.iter().find_map(|name| word.strip_prefix(name))?;
        let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
        let release = rest[..end.unwrap_or(rest.len())].trim_end_matches('.');
        let release = release.to_owned();
        release.contains('.').then_some(Self { release, line })
    }
}

/// What is to know about the variables under the release that is installed last: sentences without the line.
pub(super) fn remarks(pins: &[TorchPin], environment: &Environment) -> Vec<(Severity, usize, String)> {
    let Some(TorchPin { release, line }) = pins.last() else {
        return Vec::new();
    };
    let newest = Version::NEWEST.rules().variables.names();
    let set = environment
        .names()
        .filter(|name| is_allocator_variable(name) && newest.contains(name));
    let set: Vec<&str> = set.collect();
    if set.is_empty() {
        return Vec::new();
    }
    let Some(version) = Version::named(release) else {
        let (first, last) = (Version::FIRST, Version::NEWEST.name());
        let message = format!(
            "torch {release} is installed, whose keys of {} are not known here; known are {first} to {last}",
            set.join(", ")
        );
        return vec![(Severity::Info, *line, message)];
    };
    let read = version.rules().variables.names();
    let unread = set.iter().filter(|name| !read.contains(name)).map(|name| {
        let message = format!(
            "torch {release} is installed, which does not read {name} on CUDA devices: set {}",
            version.rules().framework.variable()
        );
        (Severity::Warning, *line, message)
    });
    let mut found: Vec<_> = unread.collect();
    if let Ok(Some((name, conf))) = in_force(version, |name| environment.get(name))
        && let Err(error) = Settings::parse(conf, version)
        && Settings::parse(conf, Version::NEWEST).is_ok()
    {
        let message = format!("torch {release} is installed, which refuses {name}: {error}");
        found.push((Severity::Warning, *line, message));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_read_from_words_of_commands() {
        let cases = [
            ("torch==2.0.1", Some("2.0.1")),
            ("torch==2.1.0+cu118", Some("2.1.0")),
            ("pytorch=2.3", Some("2.3")),
            ("pytorch==2.3.1", Some("2.3.1")),
            ("pytorch/pytorch:2.0.1-cuda11.7-cudnn8-runtime", Some("2.0.1")),
            ("torch==2.*", None),
            ("torch>=2.0", None),
            ("torchvision==0.15.2", None),
            ("torch==", None),
        ];
        for (word, wanted) in cases {
            let pin = TorchPin::of_word(word, 1).map(|pin| pin.release);
            assert_eq!(pin.as_deref(), wanted, "{word}");
        }
    }
}
