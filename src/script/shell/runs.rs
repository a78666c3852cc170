//! Which commands of a shell script run Python, and what their words pass on.

use std::path::Path;

use super::word::{Piece, Word, is_name};

/// What a command runs, in rising order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Runs {
    /// A builtin or a tool that trains nothing.
    Nothing,
    /// A program that may start Python.
    Program,
    Python,
}

/// Programs that start Python by themselves.
const LAUNCHERS: &[&str] = &[
    "accelerate",
    "deepspeed",
    "horovodrun",
    "ipython",
    "jupyter",
    "mpiexec",
    "mpirun",
    "msprof",
    "msrun",
    "pytest",
    "srun",
    "torchrun",
    "vllm",
];

/// Programs that run the command behind their options.
const WRAPPERS: &[&str] = &[
    "command",
    "conda",
    "docker",
    "env",
    "exec",
    "ionice",
    "nice",
    "nohup",
    "nsys",
    "numactl",
    "podman",
    "poetry",
    "setsid",
    "singularity",
    "stdbuf",
    "strace",
    "sudo",
    "taskset",
    "time",
    "timeout",
    "uv",
];

/// Builtins of shells, and tools that no training runs in.
const TOOLS: &[&str] = &[
    ".",
    ":",
    "[",
    "[[",
    "alias",
    "apt",
    "apt-get",
    "awk",
    "basename",
    "break",
    "cat",
    "cd",
    "chmod",
    "chown",
    "continue",
    "cp",
    "curl",
    "cut",
    "date",
    "df",
    "dirname",
    "done",
    "du",
    "echo",
    "esac",
    "exit",
    "false",
    "fi",
    "find",
    "for",
    "free",
    "function",
    "getopts",
    "git",
    "grep",
    "head",
    "hostname",
    "kill",
    "killall",
    "let",
    "ln",
    "ls",
    "lscpu",
    "mkdir",
    "module",
    "mv",
    "nproc",
    "npu-smi",
    "nvidia-smi",
    "pgrep",
    "pip",
    "pip3",
    "pkill",
    "popd",
    "printf",
    "ps",
    "pushd",
    "pwd",
    "read",
    "readlink",
    "realpath",
    "return",
    "rm",
    "rmdir",
    "rsync",
    "sed",
    "select",
    "seq",
    "set",
    "shift",
    "shopt",
    "sleep",
    "sort",
    "source",
    "stat",
    "tail",
    "tar",
    "tee",
    "test",
    "touch",
    "tr",
    "trap",
    "true",
    "type",
    "ulimit",
    "umask",
    "uname",
    "uniq",
    "unzip",
    "wait",
    "wc",
    "wget",
    "which",
    "whoami",
    "xargs",
    "yum",
    "zip",
    "{",
    "}",
];

fn file_name(text: &str) -> &str {
    text.rsplit('/').next().unwrap_or(text)
}

/// `python`, `/usr/bin/python3.10`.
fn is_python(text: &str) -> bool {
    let version = file_name(text).strip_prefix("python");
    version.is_some_and(|version| version.chars().all(|letter| letter.is_ascii_digit() || letter == '.'))
}

fn is_script(text: &str) -> bool {
    Path::new(text).extension().is_some_and(|extension| extension == "py")
}

/// What the words of a command run, without assignments in front.
pub(super) fn runs(words: &[Word]) -> Runs {
    let Some((first, rest)) = words.split_first() else {
        return Runs::Nothing;
    };
    let texts = || rest.iter().filter_map(Word::plain);
    let Some(name) = first.plain() else {
        // `$PYTHON train.py`
        let is_python = texts().any(is_script);
        return if is_python { Runs::Python } else { Runs::Program };
    };
    let name = file_name(name);
    if is_python(name) {
        return of_python(rest);
    }
    if LAUNCHERS.contains(&name) || is_script(name) {
        return Runs::Python;
    }
    if TOOLS.contains(&name) {
        return Runs::Nothing;
    }
    let is_wrapper = WRAPPERS.contains(&name);
    let inner = rest.iter().position(|word| {
        let launches = |text: &str| is_python(text) || LAUNCHERS.contains(&file_name(text)) || is_script(text);
        is_wrapper && word.plain().is_some_and(launches)
    });
    match inner {
        Some(at) if rest[at].plain().is_some_and(is_python) => of_python(&rest[at + 1..]),
        Some(_) => Runs::Python,
        None => Runs::Program,
    }
}

/// Python with its arguments: tools and one-liners are no training.
fn of_python(arguments: &[Word]) -> Runs {
    let texts: Vec<&str> = arguments.iter().map_while(Word::plain).take(3).collect();
    match texts[..] {
        ["-V" | "--version", ..] | ["-m", "pip" | "venv" | "ensurepip" | "build", ..] => Runs::Nothing,
        ["-c", ..] => Runs::Program,
        _ => Runs::Python,
    }
}

/// Launchers that pass variables on by their options.
const PASSING: &[&str] = &["horovodrun", "mpiexec", "mpirun", "sbatch", "srun"];

/// How a program's own options change the environment of what it runs.
pub(super) struct Passing<'w> {
    /// Whether it passes its own environment on.
    pub(super) inherits: bool,
    /// `NAME=value`, and names alone of variables that are passed on.
    pub(super) words: Vec<Word>,
    /// Names that are left out.
    pub(super) without: Vec<&'w str>,
}

/// `env -u NAME NAME=value`, `docker run -e NAME=value`, `mpirun -x NAME`.
pub(super) fn passing(words: &[Word]) -> Passing<'_> {
    let mut passing = Passing {
        inherits: true,
        words: Vec::new(),
        without: Vec::new(),
    };
    let mut rest = words.iter();
    // Behind a wrapper are values of its options: `timeout 10 env NAME=value program`.
    let (mut is_wrapped, mut has_options) = (false, false);
    while let Some(word) = rest.next() {
        match word.plain().map(file_name) {
            Some("env") => {
                env_arguments(rest.as_slice(), &mut passing);
                break;
            }
            // `sudo NAME=value program`
            _ if word.assignment().is_some() && !has_options => passing.words.push(word.clone()),
            Some("docker" | "podman") => {
                passing.inherits = false;
                passing
                    .words
                    .extend(options(rest.as_slice(), &["-e", "--env"]).cloned());
                (is_wrapped, has_options) = (true, true);
            }
            Some(name) if PASSING.contains(&name) => {
                passing.words.extend(options(rest.as_slice(), &["-x"]).cloned());
                passing.words.extend(pairs(rest.as_slice()));
                exported(rest.as_slice(), &mut passing);
                (is_wrapped, has_options) = (true, true);
            }
            Some(name) if WRAPPERS.contains(&name) => is_wrapped = true,
            Some(name) if name.starts_with('-') => {}
            Some(name) if is_wrapped && !is_python(name) && !is_script(name) && !LAUNCHERS.contains(&name) => {}
            None if is_wrapped => {}
            _ => break,
        }
    }
    passing
}

/// `-genv NAME value` and `-env NAME value` of MPICH.
fn pairs(words: &[Word]) -> impl Iterator<Item = Word> {
    words.windows(3).filter_map(|words| {
        let name = words[1].plain().filter(|name| is_name(name))?;
        matches!(words[0].plain(), Some("-genv" | "-env")).then(|| {
            let mut pieces = vec![Piece::Text(format!("{name}="))];
            pieces.extend(words[2].pieces.iter().cloned());
            Word { pieces }
        })
    })
}

/// `--export=ALL,NAME=value` of Slurm: without `ALL` the names alone.
fn exported(words: &[Word], passing: &mut Passing<'_>) {
    let list = words.iter().enumerate().find_map(|(at, word)| match word.plain()? {
        "--export" => words.get(at + 1)?.plain(),
        text => text.strip_prefix("--export="),
    });
    let Some(list) = list else { return };
    passing.inherits = list.split(',').any(|item| item == "ALL");
    let words = list.split(',').filter(|item| !matches!(*item, "ALL" | "NONE" | "NIL"));
    passing.words.extend(words.map(|item| Word {
        pieces: vec![Piece::Text(item.to_owned())],
    }));
}

fn env_arguments<'w>(words: &'w [Word], passing: &mut Passing<'w>) {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.plain() {
            Some("-u" | "--unset") => passing.without.extend(words.next().and_then(Word::plain)),
            Some("-i" | "-" | "--ignore-environment") => passing.inherits = false,
            Some(text) if text.starts_with("--unset=") => passing.without.extend(text.strip_prefix("--unset=")),
            Some(text) if text.starts_with('-') => {}
            _ if word.assignment().is_some() => passing.words.push(word.clone()),
            _ => return,
        }
    }
}

/// The words behind options such as `-e`.
fn options<'w>(words: &'w [Word], names: &'static [&'static str]) -> impl Iterator<Item = &'w Word> {
    let pairs = words.iter().zip(words.iter().skip(1));
    pairs
        .filter(move |(option, word)| {
            let is_value = word.assignment().is_some() || word.plain().is_some_and(is_name);
            is_value && option.plain().is_some_and(|text| names.contains(&text))
        })
        .map(|(_, word)| word)
}

#[cfg(test)]
mod tests {
    use super::super::word::Step;
    use super::super::words::steps;
    use super::*;

    fn words(text: &str) -> Vec<Word> {
        match steps(text, 1).steps.into_iter().next() {
            Some(Step::Run(command)) => command.words,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn commands_that_run_python_are_known() {
        for (text, expected) in [
            ("python train.py", Runs::Python),
            ("/usr/bin/python3.10 -u train.py > log 2>&1", Runs::Python),
            ("nohup python3 train.py", Runs::Python),
            ("numactl --cpunodebind=0 python train.py", Runs::Python),
            ("$PYTHON train.py --x", Runs::Python),
            ("torchrun --nproc_per_node 8 train.py", Runs::Python),
            ("./train.py", Runs::Python),
            ("python -m torch.distributed.launch train.py", Runs::Python),
            ("python -m pip install torch", Runs::Nothing),
            ("python3 --version", Runs::Nothing),
            ("python -c 'import torch'", Runs::Program),
            ("pip install python-dateutil", Runs::Nothing),
            ("echo python train.py", Runs::Nothing),
            ("bash train.sh", Runs::Program),
            ("./run", Runs::Program),
            ("pkill python", Runs::Nothing),
        ] {
            assert_eq!(runs(&words(text)), expected, "{text}");
        }
    }

    #[test]
    fn options_pass_variables_on() {
        let of = |text: &str| {
            let words = words(text);
            let passing = passing(&words);
            (passing.inherits, passing.words.len(), passing.without.len())
        };
        assert_eq!(of("env A=1 -u B C=2 python x.py D=3"), (true, 2, 1));
        assert_eq!(of("env -i A=1 python x.py"), (false, 1, 0));
        assert_eq!(of("docker run --rm -e A=1 -e B image python x.py"), (false, 2, 0));
        assert_eq!(of("mpirun -np 8 -x A=1 -x B python x.py"), (true, 2, 0));
        assert_eq!(of("python x.py -e A=1"), (true, 0, 0));
        for text in [
            "mpirun -n 2 --map-by ppr:1 env A=1 python x.py B=2",
            "taskset -c 0-3 env A=1 python x.py",
            "timeout 10 env A=1 python x.py",
            "numactl -N 0 nohup env A=1 python x.py",
            "mpiexec -genv A 1 -n 8 python x.py",
            "srun --export=ALL,A=1 python x.py",
        ] {
            assert_eq!(of(text), (true, 1, 0), "{text}");
        }
        assert_eq!(of("srun --export A=1,B=2 python x.py"), (false, 2, 0));
        assert_eq!(of("srun --export=NONE python x.py"), (false, 0, 0));
        assert_eq!(of("timeout 10 python x.py env A=1"), (true, 0, 0));
    }
}
