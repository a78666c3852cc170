//! Opens a line of a file in the user's editor.
//!
//! In: a command with `{file}` and `{line}`, such as `code -g {file}:{line}`. Its words are the program and its
//! arguments; quotes keep spaces, and no shell reads it. The editor runs on its own: nothing waits for its end.

use std::process::{Child, Command, Stdio};

/// The command where the user has not chosen one.
pub const USUAL_EDITOR: &str = "code -g {file}:{line}";

/// Starts the editor.
///
/// # Errors
/// A sentence: the command is empty, has an open quote, or does not start.
pub(super) fn open_in_editor(command: &str, file: &str, line: u32) -> Result<(), String> {
    start(command, file, line).map(reap)
}

fn start(command: &str, file: &str, line: u32) -> Result<Child, String> {
    let words = words(command)?;
    let mut words = words.into_iter().map(|word| filled(&word, file, line));
    let program = words.next().ok_or("the editor command is empty")?;
    let editor = Command::new(&program)
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    editor.map_err(|error| format!("the editor {program} does not start: {error}"))
}

/// Takes the exit status once the editor ends, so that no ended process is left.
fn reap(mut editor: Child) {
    let wait = move || drop(editor.wait());
    // Without a thread the process is left until the program ends.
    drop(std::thread::Builder::new().name("editor".to_owned()).spawn(wait));
}

fn filled(word: &str, file: &str, line: u32) -> String {
    // A file's name may contain `{line}`.
    let parts = word
        .split("{file}")
        .map(|part| part.replace("{line}", &line.max(1).to_string()));
    parts.collect::<Vec<String>>().join(file)
}

/// The words of a command; single and double quotes keep spaces.
fn words(command: &str) -> Result<Vec<String>, String> {
    let mut words: Vec<String> = Vec::new();
    let (mut quote, mut is_in_word) = (None, false);
    for letter in command.chars() {
        match (quote, letter) {
            (Some(open), letter) if open == letter => quote = None,
            (None, '"' | '\'') => {
                quote = Some(letter);
                if !std::mem::replace(&mut is_in_word, true) {
                    words.push(String::new());
                }
            }
            (None, letter) if letter.is_whitespace() => is_in_word = false,
            (_, letter) => {
                if !std::mem::replace(&mut is_in_word, true) {
                    words.push(String::new());
                }
                if let Some(word) = words.last_mut() {
                    word.push(letter);
                }
            }
        }
    }
    match quote {
        Some(open) => Err(format!("the editor command has an open quote: {open}")),
        None => Ok(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_split_and_filled() {
        let opened = |command: &str| -> Vec<String> {
            let words = words(command).expect("quotes are closed");
            words.iter().map(|word| filled(word, "/a b/{line}.py", 7)).collect()
        };
        assert_eq!(opened(USUAL_EDITOR), ["code", "-g", "/a b/{line}.py:7"]);
        assert_eq!(
            opened("  vi +{line}  '{file}' \"\" "),
            ["vi", "+7", "/a b/{line}.py", ""]
        );
        assert_eq!(
            opened("'/my apps/ed'itor {file}"),
            ["/my apps/editor", "/a b/{line}.py"]
        );
        assert_eq!(filled("{line}", "f", 0), "1");
        assert!(words("vi '{file}").is_err());
    }

    #[test]
    fn what_does_not_start_is_a_sentence() {
        assert_eq!(
            open_in_editor(" ", "f", 1),
            Err("the editor command is empty".to_owned())
        );
        let missing = open_in_editor("highwater-no-such-editor {file}", "f", 1);
        assert!(missing.is_err_and(|text| text.contains("highwater-no-such-editor does not start")));
    }

    #[cfg(unix)]
    #[test]
    fn the_editor_gets_file_and_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("out");
        let command = format!(
            "sh -c 'printf %s \"$0\" > \"$1\"' {{file}}:{{line}} '{}'",
            out.display()
        );
        let mut editor = start(&command, "/a b.py", 12).expect("sh starts");
        assert!(editor.wait().expect("it ends").success());
        assert_eq!(std::fs::read_to_string(&out).expect("it was written"), "/a b.py:12");
    }
}
