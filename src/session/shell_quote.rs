//! Quotes words of printed command lines.

/// Quotes a word for a POSIX shell.
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Quotes a path so that no program takes it for an option.
pub fn shell_path(path: &str) -> String {
    if path.starts_with('-') && path != "-" {
        return shell_word(&format!("./{path}"));
    }
    shell_word(path)
}

/// A flag with its quoted value, which cannot be taken for another flag.
pub fn shell_flag(flag: &str, value: &str) -> String {
    if value.starts_with('-') {
        return shell_word(&format!("{flag}={value}"));
    }
    format!("{flag} {}", shell_word(value))
}

#[cfg(test)]
mod tests {
    use super::{shell_flag, shell_path, shell_word};

    #[test]
    fn words_are_quoted_for_the_shell() {
        assert_eq!(shell_word("a/b.json"), "a/b.json");
        assert_eq!(shell_word("my model.onnx"), "'my model.onnx'");
        assert_eq!(shell_word("it's"), r"'it'\''s'");
        assert_eq!(shell_path("-dash.pb"), "./-dash.pb");
        assert_eq!(shell_path("- a.pb"), "'./- a.pb'");
        assert_eq!(shell_path("-"), "-");
        assert_eq!(shell_flag("--run", "a b*2"), "--run 'a b*2'");
        assert_eq!(shell_flag("--run", "-a*2"), "'--run=-a*2'");
    }
}
