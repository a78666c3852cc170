//! Settings as texts: their name, and the lines that set them.

/// The name of a setting for people.
pub fn conf_text(conf: &str) -> &str {
    match conf.trim() {
        "" => "default settings",
        conf => conf,
    }
}

/// A line for a shell.
pub fn shell_line(variable: &str, conf: &str, is_windows: bool) -> String {
    match conf {
        conf if is_windows => format!("set \"{variable}={conf}\""),
        "" => format!("unset {variable}"),
        conf => format!("export {variable}='{}'", conf.replace('\'', r"'\''")),
    }
}

/// What is said of a recording of Windows.
pub const IGNORED_ON_WINDOWS: &str =
    "expandable_segments is not tried: torch ignores it on Windows, where the recording was made";

/// A line for Python, before torch is imported.
pub fn python_line(variable: &str, conf: &str) -> String {
    match conf {
        "" => format!("os.environ.pop(\"{variable}\", None)"),
        conf => {
            let quoted = conf.replace('\\', r"\\").replace('"', "\\\"");
            format!("os.environ[\"{variable}\"] = \"{quoted}\"")
        }
    }
}
