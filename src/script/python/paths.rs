//! Paths that a script makes from texts and from its own place: `os.path` and `pathlib`. A path counts as its text.

use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::Ranged as _;

use highwater_options::Value;

use super::datum::Fact;
use super::evaluate::Depth;
use super::reader::Reader;

/// Functions whose result names the same file as long as the script stays in its working directory.
const SAME_FILE: [&str; 4] = ["abspath", "realpath", "normpath", "fspath"];

/// Methods of `pathlib.Path` of which the same holds.
pub(super) const SAME_PATH: [&str; 3] = ["resolve", "absolute", "as_posix"];

/// Classes of `pathlib`.
const CLASSES: [&str; 3] = ["Path", "PurePath", "PosixPath"];

/// The value of `__file__`. Python makes it absolute; from the folder of the user it is the same file.
pub(super) fn own_file(path: &str) -> String {
    let has_drive = path.get(1..2) == Some(":");
    if path.starts_with(['/', '.', '\\']) || has_drive {
        path.to_owned()
    } else {
        format!("./{path}")
    }
}

/// `os.path.dirname`: without the text behind the last slash, and the slash. The folder of `.` and `..` is the one above, as of the
/// absolute paths that they are for.
pub(super) fn folder_of(path: &str) -> String {
    if path == "." {
        return "..".to_owned();
    }
    if path == ".." || path.ends_with("/..") {
        return format!("{path}/..");
    }
    let at = path.rfind(['/', '\\']).unwrap_or(0);
    match path.get(..at) {
        Some("") if path.starts_with('/') => "/".to_owned(),
        folder => folder.unwrap_or("").to_owned(),
    }
}

/// `os.path.join`.
pub(super) fn joined(path: &str, part: &str) -> String {
    if part.starts_with('/') || path.is_empty() {
        part.to_owned()
    } else if path.ends_with('/') {
        format!("{path}{part}")
    } else {
        format!("{path}/{part}")
    }
}

impl<'a> Reader<'a> {
    /// A function of `os.path` or a class of `pathlib` with known texts; `None` for other calls.
    pub(super) fn path_of_call(&self, expr: &'a Expr, name: &str, call: &'a ExprCall, look: Depth) -> Option<Fact> {
        let first = call.arguments.args.first()?;
        let written = self.source.slice(call.func.range());
        let full = self.survey.full_name(written);
        let is_join = written.ends_with("path.join") || full == "os.path.join";
        if is_join || CLASSES.contains(&name) && full.starts_with("pathlib.") {
            return Some(self.path_of_parts(expr, &call.arguments.args, look));
        }
        let of_module = full.starts_with("os.path.") || full == "os.fspath";
        if !of_module || !(SAME_FILE.contains(&name) || name == "dirname") {
            return None;
        }
        let fact = self.look(first, look);
        let path = fact.as_value()?.as_text()?;
        let path = if name == "dirname" {
            folder_of(path)
        } else {
            path.to_owned()
        };
        Some(Fact::value(Value::Text(path)).with_note(fact.note.as_ref()))
    }

    fn path_of_parts(&self, expr: &'a Expr, parts: &'a [Expr], look: Depth) -> Fact {
        let mut path = String::new();
        let mut note = None;
        for part in parts {
            let fact = self.look(part, look);
            let Some(Value::Text(part)) = fact.as_value() else {
                return self.computed_from(expr, &[&fact]);
            };
            path = joined(&path, part);
            note = note.or_else(|| fact.note.clone());
        }
        Fact::value(Value::Text(path)).with_note(note.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_and_joined_paths_are_those_of_python() {
        for (path, folder) in [
            ("/a/b.py", "/a"),
            ("b.py", ""),
            ("/b.py", "/"),
            ("a/", "a"),
            ("", ""),
            (r"C:\a\b.py", r"C:\a"),
            ("./b.py", "."),
            (".", ".."),
            ("..", "../.."),
        ] {
            assert_eq!(folder_of(path), folder, "{path}");
        }
        for (path, part, expected) in [
            ("a", "b", "a/b"),
            ("a/", "b", "a/b"),
            ("a", "/b", "/b"),
            ("", "b", "b"),
            ("a", "", "a/"),
        ] {
            assert_eq!(joined(path, part), expected, "{path} {part}");
        }
    }
}
