//! The forms in which a configuration is written: titles, endings, proposed names.

use std::path::{Path, PathBuf};

use super::read_config::Form;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConfigForm {
    #[default]
    Json,
    Python,
    Shell,
}

impl ConfigForm {
    pub const ALL: [Self; 3] = [Self::Json, Self::Python, Self::Shell];

    /// `None` where no configuration is written to a file of that name.
    pub fn of_name(name: &str) -> Option<Self> {
        match Form::of_name(name)? {
            Form::Json => Some(Self::Json),
            Form::Python => Some(Self::Python),
            Form::Shell => Some(Self::Shell),
            Form::Notebook | Form::Yaml => None,
        }
    }

    pub const fn title(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::Python => "Python",
            Self::Shell => "Shell",
        }
    }

    /// What a file of this form carries: a noun phrase.
    pub const fn content(self) -> &'static str {
        match self {
            Self::Json => "options, variables, device, schedule and predicted peaks",
            Self::Python => "options and variables as calls of a training script",
            Self::Shell => "environment variables only",
        }
    }

    pub const fn ending(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Python => "py",
            Self::Shell => "sh",
        }
    }

    /// The proposed name of a file.
    pub const fn usual_name(self) -> &'static str {
        match self {
            Self::Json => "highwater.json",
            Self::Python => "highwater.py",
            Self::Shell => "highwater.sh",
        }
    }

    /// The path of a file of this form; a name without an ending gets one.
    ///
    /// # Errors
    /// A sentence, where the ending is that of another form.
    pub fn path(self, path: &Path) -> Result<PathBuf, String> {
        if Self::of_name(&path.display().to_string()) == Some(self) {
            return Ok(path.to_owned());
        }
        if path.extension().is_none() {
            return Ok(path.with_extension(self.ending()));
        }
        Err(format!(
            "{}: the {} form is written to a file that ends in .{}",
            path.display(),
            self.title(),
            self.ending()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_the_ending_of_its_form() {
        for (form, given, path) in [
            (ConfigForm::Json, "a/b.json", Some("a/b.json")),
            (ConfigForm::Json, "a/b", Some("a/b.json")),
            (ConfigForm::Python, "b.PY", Some("b.PY")),
            (ConfigForm::Shell, "b.bash", Some("b.bash")),
            (ConfigForm::Shell, "b", Some("b.sh")),
            (ConfigForm::Python, "b.json", None),
            (ConfigForm::Python, "b.ipynb", None),
            (ConfigForm::Json, "b.txt", None),
        ] {
            let found = form.path(Path::new(given));
            assert_eq!(
                found.as_deref().ok(),
                path.map(Path::new),
                "{form:?} {given}: {found:?}"
            );
        }
        for form in ConfigForm::ALL {
            assert_eq!(ConfigForm::of_name(form.usual_name()), Some(form));
        }
    }
}
