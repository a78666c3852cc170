//! House rules of the sources that the compiler does not check: a header in every file, words of comments and texts.

use std::path::{Path, PathBuf};

/// Words that comments, identifiers and texts avoid; CONTRIBUTING.md says why.
const BANNED: [&str; 10] = [
    "anew",
    "nobody",
    "heir",
    "heirs",
    "donor",
    "donors",
    "stands",
    "at hand",
    "of its own",
    "lost to holes",
];

#[test]
fn every_file_has_a_header() {
    let folders = ["src", "tests", "benches", "examples"];
    let files = folders.iter().flat_map(|folder| rust_files(folder));
    let silent: Vec<String> = files
        .filter(|file| !read(file).starts_with("//!"))
        .map(|file| file.display().to_string())
        .collect();
    assert!(
        silent.is_empty(),
        "these files lack a //! header: {}",
        silent.join(", ")
    );
}

#[test]
fn colours_are_defined_only_in_the_theme() {
    let outside: Vec<String> = rust_files("src/ui")
        .into_iter()
        .filter(|file| !file.ends_with("theme.rs") && read(file).contains("Color32::from"))
        .map(|file| file.display().to_string())
        .collect();
    assert!(outside.is_empty(), "colours outside the theme: {}", outside.join(", "));
}

/// The order of modules in the header of `src/analysis/lib.rs` has no cycle: a module uses later ones alone.
#[test]
fn modules_of_analysis_use_later_modules_alone() {
    let header = read(&root().join("src/analysis/lib.rs"));
    let order: Vec<&str> = header.split("```").nth(1).map_or_else(Vec::new, |rows| {
        let words = rows.split_whitespace().skip(1);
        words.filter(|word| *word != "//!").collect()
    });
    let number = |module: &str| order.iter().position(|known| *known == module);
    let mut climbs = Vec::new();
    for file in rust_files("src/analysis") {
        let path = file.strip_prefix(root().join("src/analysis")).expect("it is below");
        let module = path.iter().next().and_then(|name| Path::new(name).file_stem());
        let module = module.and_then(|name| name.to_str()).expect("a name");
        if module == "lib" {
            continue;
        }
        let own = number(module).unwrap_or_else(|| panic!("the header of lib.rs does not list {module}"));
        let prefix = if path.components().count() == 1 {
            "super::"
        } else {
            "crate::"
        };
        let text = read(&file);
        let code: Vec<&str> = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
            .collect();
        let code = code.join("\n");
        let uses = code.split(prefix).skip(1).flat_map(|rest| {
            let is_list = rest.starts_with('{');
            let end = if is_list {
                rest.find(';')
            } else {
                rest.find(|letter: char| !is_word(letter))
            };
            rest[..end.unwrap_or(rest.len())].split(|letter: char| !is_word(letter))
        });
        climbs.extend(
            uses.filter(|used| number(used).is_some_and(|used| used < own))
                .map(|used| format!("{} uses {used}", path.display())),
        );
    }
    assert!(climbs.is_empty(), "{}", climbs.join(", "));
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

#[test]
fn comments_and_identifiers_avoid_banned_words() {
    let folders = ["src", "tests", "benches", "examples"];
    let mut found = Vec::new();
    for file in folders.iter().flat_map(|folder| rust_files(folder)) {
        let words = words_outside_literals(&read(&file));
        for phrase in BANNED {
            let phrase: Vec<&str> = phrase.split(' ').collect();
            let is_it = |window: &&[(usize, String)]| window.iter().map(|(_, word)| word).eq(&phrase);
            let hits = words.windows(phrase.len()).filter(is_it);
            found.extend(hits.map(|window| format!("{}:{}: {}", file.display(), window[0].0, phrase.join(" "))));
        }
    }
    assert!(found.is_empty(), "say it plainly:\n{}", found.join("\n"));
}

/// Banned words in texts for people; those of fields of plans are a contract.
const BANNED_IN_TEXTS: [&str; 6] = ["anew", "nobody", "stands", "stand", "at hand", "of its own"];

/// Keys of saved files that contain a banned word; files of earlier versions use them.
const SAVED_KEYS: [&str; 1] = ["stands"];

#[test]
fn texts_avoid_banned_words() {
    let mut found = Vec::new();
    for file in rust_files("src") {
        let is_key = |text: &str| {
            let is_used = |key: &&str| text == *key || text.contains(&format!("\"{key}\":"));
            SAVED_KEYS.iter().any(is_used)
        };
        let is_name = |text: &str| is_key(text) || text.contains('_') && !text.contains(' ');
        for (line, text) in literals(&read(&file)).into_iter().filter(|(_, text)| !is_name(text)) {
            let words = words_outside_literals(&format!("// {text}"));
            let words: Vec<&str> = words.iter().map(|(_, word)| &**word).collect();
            let is_in = |phrase: &&&str| {
                let phrase: Vec<&str> = phrase.split(' ').collect();
                words.windows(phrase.len()).any(|window| *window == phrase)
            };
            let hits = BANNED_IN_TEXTS.iter().filter(is_in);
            found.extend(hits.map(|phrase| format!("{}:{line}: {phrase}: {text}", file.display())));
        }
    }
    assert!(found.is_empty(), "say it plainly:\n{}", found.join("\n"));
}

#[test]
fn literals_are_whole_texts() {
    let text = "a(\"one\", 'x'); // \"no\"\nb(r#\"two \"2\"\"#, \"three \\\n     four\")";
    let expected = [
        (1, "one".to_owned()),
        (2, "two \"2\"".to_owned()),
        (2, "three four".to_owned()),
    ];
    assert_eq!(literals(text), expected);
}

/// The string literals with their lines, each in one line.
fn literals(text: &str) -> Vec<(usize, String)> {
    let letters: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let (mut line, mut at) = (1, 0);
    while at < letters.len() {
        let is_quote = matches!(letters[at], '"' | '\'') && !is_in_comment(&letters[..at]);
        let end = if is_quote { literal_end(&letters, at) } else { at + 1 };
        if is_quote && letters[at] == '"' {
            let content: String = letters[at + 1..end - 1].iter().collect();
            let parts = content.split("\\\n").enumerate();
            let parts = parts.map(|(number, part)| if number == 0 { part } else { part.trim_start() });
            found.push((line, parts.collect::<String>()));
        }
        line += letters[at..end].iter().filter(|letter| **letter == '\n').count();
        at = end;
    }
    found
}

#[test]
fn words_are_found_outside_literals() {
    let text = r##"let first_heir = 'a; // At
        /// hand
        let x = ["donor \" heir", r#"anew"#, '"', b"nobody"]; AnewKind"##;
    let words = words_outside_literals(text);
    let words: Vec<(usize, &str)> = words.iter().map(|(line, word)| (*line, &**word)).collect();
    let expected = [
        (1, "let"),
        (1, "first"),
        (1, "heir"),
        (1, "a"),
        (1, "at"),
        (2, "hand"),
        (3, "let"),
        (3, "x"),
        (3, "r"),
        (3, "b"),
        (3, "anew"),
        (3, "kind"),
    ];
    assert_eq!(words, expected);
}

/// Lower-case words with their lines; identifiers are split at underscores and capitals, string and character literals
/// are left out.
fn words_outside_literals(text: &str) -> Vec<(usize, String)> {
    let letters: Vec<char> = text.chars().collect();
    let mut words = Vec::new();
    let (mut line, mut word, mut at) = (1, String::new(), 0);
    while at < letters.len() {
        let letter = letters[at];
        let end = match letter {
            '"' | '\'' if !is_in_comment(&letters[..at]) => literal_end(&letters, at),
            _ => at + 1,
        };
        let is_capital = letter.is_uppercase() && letters.get(at + 1).is_some_and(|next| next.is_lowercase());
        if (!letter.is_alphanumeric() || is_capital) && !word.is_empty() {
            words.push((line, std::mem::take(&mut word)));
        }
        if letter.is_alphanumeric() {
            word.extend(letter.to_lowercase());
        }
        line += letters[at..end].iter().filter(|letter| **letter == '\n').count();
        at = end;
    }
    if !word.is_empty() {
        words.push((line, word));
    }
    words
}

/// Whether text that ends here is within a line comment.
fn is_in_comment(before: &[char]) -> bool {
    let start = before.iter().rposition(|letter| *letter == '\n').map_or(0, |at| at + 1);
    let line: String = before[start..].iter().collect();
    line.trim_start().starts_with("//") || line.contains(" // ")
}

/// The position after a string or character literal that starts at a quote; a lifetime ends at its quote.
fn literal_end(letters: &[char], start: usize) -> usize {
    let after = &letters[start + 1..];
    if letters[start] == '\'' {
        return match after {
            ['\\', _, rest @ ..] => start + 3 + rest.iter().position(|letter| *letter == '\'').unwrap_or(0) + 1,
            [_, '\'', ..] => start + 3,
            _ => start + 1,
        };
    }
    let hashes = letters[..start]
        .iter()
        .rev()
        .take_while(|letter| **letter == '#')
        .count();
    let is_raw = letters[..start - hashes].last() == Some(&'r');
    let mut at = start + 1;
    while at < letters.len() {
        match letters[at] {
            '\\' if !is_raw => at += 1,
            '"' if !is_raw
                || letters[at + 1..]
                    .iter()
                    .take(hashes)
                    .filter(|letter| **letter == '#')
                    .count()
                    == hashes =>
            {
                return at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    letters.len()
}

pub(crate) fn rust_files(folder: &str) -> Vec<PathBuf> {
    files_with(folder, &["rs"])
}

/// The files below a folder with one of these endings, in order.
pub(crate) fn files_with(folder: &str, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root().join(folder)];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).expect("the folder is part of the project") {
            let path = entry.expect("the folder can be listed").path();
            if path.is_dir() {
                open.push(path);
            } else if path
                .extension()
                .and_then(|ending| ending.to_str())
                .is_some_and(|ending| endings.contains(&ending))
            {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
