//! The release of torch that a script installs, and what its allocator makes of the script's variables.

use highwater_model::diagnostics::Severity;
use highwater_options::Environment;
use highwater_torch::{Framework, Settings, Version, in_force, is_allocator_variable};

/// The release that the commands of a script leave installed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TorchPin {
    found: Option<(String, usize)>,
}

/// Programs that install packages.
const INSTALLERS: [&str; 8] = ["pip", "pip3", "uv", "conda", "mamba", "micromamba", "poetry", "pipenv"];

/// Their words for it.
const INSTALLS: [&str; 3] = ["install", "add", "create"];

/// Options that install elsewhere, and what belongs to builds for other devices.
const ELSEWHERE: [&str; 4] = ["--target", "-t", "--prefix", "--root"];
const OTHER_DEVICES: [&str; 5] = ["torch-npu", "torch_npu", "rocm", "xpu", "/whl/cpu"];

/// Options with a value behind them, which may be the name of a package.
const TAKES_VALUE: [&str; 7] = ["-c", "--channel", "-n", "--name", "-i", "-r", "-f"];

/// Names of the package.
const PACKAGES: [&str; 2] = ["torch", "pytorch"];

/// The image that holds a release, with its tag behind.
const IMAGE: &str = "pytorch/pytorch:";

impl TorchPin {
    /// Reads a command. `None` are words that only a running shell knows.
    pub(super) fn command(&mut self, words: &[Option<&str>], line: usize) {
        let known = || words.iter().copied().flatten();
        let first = known().next().unwrap_or("");
        if first.eq_ignore_ascii_case("FROM") {
            // Each stage of a Dockerfile begins with its image alone.
            let tag = known().nth(1).and_then(|image| image.strip_prefix(IMAGE));
            self.found = tag.and_then(release_of).map(|release| (release, line));
            return;
        }
        let is_installer = |word: &str| {
            let name = word.rsplit('/').next().unwrap_or(word).trim_start_matches(['!', '%']);
            INSTALLERS.contains(&name) || name.starts_with("pip3.")
        };
        let mut rest = known().skip_while(|word| !is_installer(word));
        if rest.next().is_none() || !known().any(|word| INSTALLS.contains(&word)) {
            return;
        }
        let is_elsewhere = |word: &str| {
            ELSEWHERE
                .iter()
                .any(|option| word == *option || word.starts_with(&format!("{option}=")))
        };
        if known().any(is_elsewhere) {
            return;
        }
        let is_other = known().any(|word| OTHER_DEVICES.iter().any(|name| word.contains(name)));
        let mut is_value = false;
        let packages = rest.filter(|word| {
            let is_named = std::mem::replace(&mut is_value, TAKES_VALUE.contains(word));
            !is_named
        });
        for package in packages.filter_map(Package::of_word) {
            let release = package.release.filter(|_| !is_other);
            self.found = release.map(|release| (release, line));
        }
        // A word that only the shell knows may name any release.
        if words.iter().any(Option::is_none) {
            self.found = None;
        }
    }

    /// What is to know about the variables under the release: sentences without the line.
    pub(super) fn remarks(&self, environment: &Environment) -> Vec<(Severity, usize, String)> {
        let Some((release, line)) = &self.found else {
            return Vec::new();
        };
        let newest = Version::NEWEST.rules().variables.names();
        let is_set = |name: &str| environment.names().any(|set| set == name);
        let set: Vec<&str> = newest.iter().copied().filter(|name| is_set(name)).collect();
        let is_of_npu = environment
            .names()
            .any(|name| is_allocator_variable(name) && name == Framework::Npu.variable());
        if set.is_empty() || is_of_npu {
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
        if !set.iter().any(|name| read.contains(name)) {
            let message = format!(
                "torch {release} is installed, which does not read {} on CUDA devices: set {}",
                set.join(" or "),
                version.rules().framework.variable()
            );
            return vec![(Severity::Warning, *line, message)];
        }
        if let Ok(Some((name, conf))) = in_force(version, |name| environment.get(name))
            && let Err(error) = Settings::parse(conf, version)
            && Settings::parse(conf, Version::NEWEST).is_ok()
        {
            let message = format!("torch {release} is installed, which refuses {name}: {error}");
            return vec![(Severity::Warning, *line, message)];
        }
        Vec::new()
    }
}

/// Torch among the packages of a command.
struct Package {
    /// `None` where any release may be meant.
    release: Option<String>,
}

impl Package {
    /// `torch==2.0.1`, `torch[opt]==2.0.1`, `pytorch::pytorch=2.3`, `torch@2.0.1`, `torch`.
    fn of_word(word: &str) -> Option<Self> {
        let word = word.rsplit("::").next().unwrap_or(word);
        let end = word.find(|letter: char| !letter.is_ascii_alphanumeric() && !matches!(letter, '-' | '_' | '.'));
        let (name, rest) = word.split_at(end.unwrap_or(word.len()));
        if !PACKAGES.iter().any(|package| name.eq_ignore_ascii_case(package)) {
            return None;
        }
        let rest = match rest.strip_prefix('[') {
            Some(extras) => extras.split_once(']')?.1,
            None => rest,
        };
        let release = rest
            .strip_prefix("==")
            .or_else(|| rest.strip_prefix('='))
            .or_else(|| rest.strip_prefix('@'));
        Some(Self {
            release: release.and_then(release_of),
        })
    }
}

/// `2.0.1` of `2.0.1+cu118`; `None` where not one release is meant.
fn release_of(text: &str) -> Option<String> {
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
    let (release, rest) = text.split_at(end.unwrap_or(text.len()));
    let is_one = release.contains('.') && !release.ends_with('.') && !rest.starts_with(['*', ',']);
    is_one.then(|| release.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn installed(script: &str) -> Option<String> {
        let mut pin = TorchPin::default();
        for (position, line) in script.lines().enumerate() {
            let words: Vec<Option<&str>> = line
                .split_whitespace()
                .map(|word| (!word.contains('$')).then_some(word))
                .collect();
            pin.command(&words, position + 1);
        }
        pin.found.map(|(release, _)| release)
    }

    #[test]
    fn what_the_last_command_leaves_installed() {
        for (script, wanted) in [
            ("pip install torch==2.0.1", Some("2.0.1")),
            ("python -m pip install -q numpy torch==2.1.0+cu118", Some("2.1.0")),
            ("sudo pip3 install Torch[opt]==2.2.0", Some("2.2.0")),
            ("uv pip install torch==2.3.1", Some("2.3.1")),
            ("poetry add torch@2.0.0", Some("2.0.0")),
            ("conda install -y pytorch=2.3 -c pytorch", Some("2.3")),
            ("conda install pytorch::pytorch=2.1.2", Some("2.1.2")),
            ("FROM pytorch/pytorch:2.0.1-cuda11.7-cudnn8-runtime", Some("2.0.1")),
            (
                "FROM pytorch/pytorch:2.0.1 AS old\nFROM nvcr.io/nvidia/pytorch:24.01",
                None,
            ),
            ("pip install torch==2.0.1\npip install --upgrade torch", None),
            ("pip install torch==2.0.1\npip install torch==$NEWER", None),
            ("pip install torch==2.0.1 --target /opt/old", None),
            ("pip uninstall -y torch==2.1.0", None),
            ("pip download torch==2.1.0", None),
            ("grep -q torch==2.0.1 requirements.txt", None),
            ("python t.py --image pytorch/pytorch:2.0.1", None),
            ("pip install torch==2.8.0 torch-npu==2.8.0", None),
            ("pip install torch==2.5.0 --index-url https://host/whl/rocm6.2", None),
            ("pip install torch==2.*", None),
            ("pip install torch>=2.0", None),
            ("pip install torchvision==0.15.2", None),
        ] {
            assert_eq!(installed(script).as_deref(), wanted, "{script}");
        }
    }
}
