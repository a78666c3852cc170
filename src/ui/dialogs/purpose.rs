//! The purposes of path dialogs: their texts, and the resulting commands.

use std::path::{Path, PathBuf};

use crate::document::with_extension;
use highwater_analysis::LaneId;
use highwater_options::PathKind;
use highwater_session::{Command, ConfigForm, DOCUMENT_EXTENSION, ExportForm, SourceSpec};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Replaces the open sources.
    Open,
    /// Replaces the open sources.
    OpenFolder,
    Add,
    SaveDocument,
    /// A source of the document, by position.
    Locate(usize),
    ExportConfig(ConfigForm),
    Export(ExportForm),
    /// The visible table.
    ExportTable,
    ExportPeak,
    ExportFlame,
    ImportConfig,
    /// Of a lane; `None` for the window.
    SavePicture(Option<LaneId>),
    DrawLane(LaneId),
    /// The value of an option.
    PickPath {
        key: &'static str,
        kind: PathKind,
    },
}

/// The name of a kind of files, and their extensions.
type Filter = (&'static str, &'static [&'static str]);

/// The texts of a purpose in dialogs.
pub(super) struct PurposeRow {
    pub(super) title: &'static str,
    /// A path for the empty field.
    pub(super) example: &'static str,
    pub(super) verb: &'static str,
    /// The default name of a written file; empty where files are read.
    pub(super) usual_name: String,
    /// Of a written file.
    pub(super) filters: Vec<Filter>,
    /// The formats by file extension.
    pub(super) note: String,
}

const FILE: &str = "/path/to/file";
const PICTURE: &str = "/path/to/picture.png";
const PNG: &[Filter] = &[("PNG", &["png"])];

const PEAK_FORMS: &str = "The extension selects the format: .csv live tensors, .md page, .json everything, .txt text.";

const FLAME_FORMS: &str = "The extension selects the format: .svg flame graph, .folded folded stacks, .txt tree.";

fn reads(title: &'static str, example: &'static str, verb: &'static str) -> PurposeRow {
    PurposeRow {
        title,
        example,
        verb,
        usual_name: String::new(),
        filters: Vec::new(),
        note: String::new(),
    }
}

fn writes(title: &'static str, example: &'static str, usual_name: &str, filters: &[Filter]) -> PurposeRow {
    PurposeRow {
        title,
        example,
        verb: "Save",
        usual_name: usual_name.to_owned(),
        filters: filters.to_vec(),
        note: String::new(),
    }
}

/// The stem of a lane's files.
fn file_stem(lane: LaneId) -> String {
    match lane {
        LaneId::Policy(policy) => format!("policy-{}", policy.number()),
        LaneId::Problem(position) | LaneId::Pass(position) => format!("lane-{}", u32::from(position) + 1),
        LaneId::Pinned(position) => format!("pin-{}", u32::from(position) + 1),
        LaneId::Measured(position) => format!("measured-{}", u32::from(position) + 1),
    }
}

impl Purpose {
    pub(super) fn row(self) -> PurposeRow {
        match self {
            Self::Open => reads("Open graph or recording", FILE, "Open"),
            Self::OpenFolder => reads("Open folder", "/path/to/folder", "Open"),
            Self::Add => reads("Add graph to session", FILE, "Add"),
            Self::SaveDocument => writes(
                "Save document",
                "/path/to/document.highwater",
                "session.highwater",
                &[("document", &[DOCUMENT_EXTENSION])],
            ),
            Self::Locate(_) => reads("Locate source of document", FILE, "Use file"),
            Self::ExportConfig(form) => {
                let filters: &[Filter] = match form {
                    ConfigForm::Json => &[("configuration (JSON)", &["json"])],
                    ConfigForm::Python => &[("Python", &["py"])],
                    ConfigForm::Shell => &[("shell", &["sh"])],
                };
                PurposeRow {
                    note: format!("A .{} file: {}.", form.ending(), form.content()),
                    ..writes(ExportForm::Config.row().title, FILE, form.usual_name(), filters)
                }
            }
            Self::Export(form) => {
                let row = form.row();
                let endings: Vec<String> = row.endings.iter().map(|ending| format!(".{ending}")).collect();
                PurposeRow {
                    note: format!("{}: {}.", endings.join(" or "), row.summary),
                    ..writes(row.title, FILE, row.usual, &[(row.name, row.endings)])
                }
            }
            Self::ExportTable => writes("Export table as CSV", FILE, "highwater.csv", &[("CSV", &["csv"])]),
            Self::ExportPeak => {
                let filters: &[Filter] = &[
                    ("table (CSV)", &["csv"]),
                    ("Markdown", &["md"]),
                    ("JSON", &["json"]),
                    ("text", &["txt"]),
                ];
                PurposeRow {
                    note: PEAK_FORMS.to_owned(),
                    ..writes("Export live tensors", FILE, "peak.csv", filters)
                }
            }
            Self::ExportFlame => {
                let filters: &[Filter] = &[("SVG", &["svg"]), ("folded stacks", &["folded"]), ("text", &["txt"])];
                PurposeRow {
                    note: FLAME_FORMS.to_owned(),
                    ..writes("Export flame graph", "/path/to/flame.svg", "flame.svg", filters)
                }
            }
            Self::ImportConfig => reads("Import configuration", FILE, "Read"),
            Self::SavePicture(None) => writes("Save picture of window", PICTURE, "highwater.png", PNG),
            Self::SavePicture(Some(lane)) => writes(
                "Save picture of lane",
                PICTURE,
                &format!("{}.png", file_stem(lane)),
                PNG,
            ),
            Self::DrawLane(lane) => {
                let usual = format!("{}.svg", file_stem(lane));
                writes(
                    "Save drawing of lane",
                    "/path/to/drawing.svg",
                    &usual,
                    &[("SVG", &["svg"])],
                )
            }
            Self::PickPath { kind, .. } => match kind {
                PathKind::File => reads("Choose a path", FILE, "Set"),
                PathKind::Directory => reads("Choose a path", "/path/to/directory", "Set"),
            },
        }
    }

    /// Whether a file is written to the path.
    pub(super) fn writes(self) -> bool {
        !self.row().usual_name.is_empty()
    }

    /// The file that a typed path writes.
    pub(super) fn written(self, path: &Path) -> PathBuf {
        match self {
            Self::SaveDocument => with_extension(path),
            // Another ending is refused.
            Self::ExportConfig(form) => form.path(path).unwrap_or_else(|_| path.to_owned()),
            _ => path.to_owned(),
        }
    }

    /// Whether the window decides the content, by its view or by the user's confirmation.
    pub(super) const fn is_of_window(self) -> bool {
        matches!(
            self,
            Self::SavePicture(_) | Self::DrawLane(_) | Self::Export(_) | Self::ExportConfig(_)
        )
    }

    pub(super) fn command(self, paths: &[PathBuf], format: Option<&'static str>) -> Option<Command> {
        let first = paths.first()?.clone();
        let source = |path: PathBuf| {
            let plain = SourceSpec::Path(path);
            plain.clone().opened_as(format).unwrap_or(plain)
        };
        let sources = || paths.iter().cloned().map(source).collect();
        Some(match self {
            Self::Open | Self::OpenFolder => Command::Open(sources()),
            Self::Add => Command::Add(sources()),
            Self::SaveDocument => Command::SaveDocument {
                path: first,
                view: None,
            },
            Self::Locate(position) => Command::Locate { position, path: first },
            Self::ExportTable => Command::ExportTable(first),
            Self::ExportPeak => Command::ExportPeak(first),
            Self::ExportFlame => Command::ExportFlame(first),
            Self::ImportConfig => Command::ImportConfig(first),
            // The window writes these.
            Self::SavePicture(_) | Self::DrawLane(_) | Self::Export(_) | Self::ExportConfig(_) => return None,
            Self::PickPath { key, .. } => Command::set_option(key, first.display().to_string()),
        })
    }
}
