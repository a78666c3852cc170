//! Endings and words of the names of files, in lower case.

use std::path::Path;

/// Empty where the name has none.
pub(super) fn ending(path: &Path) -> String {
    let ending = path.extension();
    ending.map_or_else(String::new, |ending| ending.to_string_lossy().to_ascii_lowercase())
}

/// The words of a name without folders and ending.
pub(super) fn words(path: &Path) -> Vec<String> {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().to_lowercase());
    let stem = stem.unwrap_or_default();
    let words = stem.split(|letter: char| !letter.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}
