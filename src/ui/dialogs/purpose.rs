//! The purposes of path dialogs: titles, examples, default names, and the resulting commands.

use std::path::{Path, PathBuf};

use super::PEAK_FILE;
use crate::document::with_extension;
use highwater_analysis::LaneId;
use highwater_options::PathKind;
use highwater_session::{Command, ExportForm, SourceSpec};

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
    ExportConfig,
    Export(ExportForm),
    /// The visible table.
    ExportTable,
    ExportPeak,
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

impl Purpose {
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Open => "Open graph or recording",
            Self::OpenFolder => "Open folder",
            Self::Add => "Add graph to session",
            Self::SaveDocument => "Save document",
            Self::Locate(_) => "Locate a source of the document",
            Self::ExportConfig => ExportForm::Config.row().title,
            Self::Export(form) => form.row().title,
            Self::ExportTable => "Export table as CSV",
            Self::ExportPeak => "Export explained step",
            Self::ImportConfig => "Import configuration",
            Self::SavePicture(None) => "Save picture of window",
            Self::SavePicture(Some(_)) => "Save picture of lane",
            Self::DrawLane(_) => "Save drawing of lane",
            Self::PickPath { .. } => "Choose a path",
        }
    }

    /// An example path for the empty field.
    pub(super) const fn example(self) -> &'static str {
        match self {
            Self::PickPath {
                kind: PathKind::Directory,
                ..
            } => "/path/to/directory",
            Self::OpenFolder => "/path/to/folder",
            Self::SaveDocument => "/path/to/document.highwater",
            Self::SavePicture(_) => "/path/to/picture.png",
            Self::DrawLane(_) => "/path/to/drawing.svg",
            Self::Open
            | Self::Add
            | Self::Locate(_)
            | Self::ExportConfig
            | Self::Export(_)
            | Self::ExportTable
            | Self::ExportPeak
            | Self::ImportConfig
            | Self::PickPath { .. } => "/path/to/file",
        }
    }

    pub(super) const fn verb(self) -> &'static str {
        match self {
            Self::Open | Self::OpenFolder => "Open",
            Self::Add => "Add",
            Self::Locate(_) => "Take it",
            Self::ImportConfig => "Read",
            Self::PickPath { .. } => "Set",
            Self::SaveDocument
            | Self::ExportConfig
            | Self::Export(_)
            | Self::ExportTable
            | Self::ExportPeak
            | Self::SavePicture(_)
            | Self::DrawLane(_) => "Save",
        }
    }

    /// The default file name; empty where files are read.
    pub(super) fn usual_name(self) -> String {
        let lane = |lane: LaneId| match lane {
            LaneId::Policy(policy) => format!("policy-{}", policy.number()),
            LaneId::Problem(position) | LaneId::Pass(position) => format!("lane-{}", u32::from(position) + 1),
            LaneId::Pinned(position) => format!("pin-{}", u32::from(position) + 1),
            LaneId::Measured(position) => format!("measured-{}", u32::from(position) + 1),
        };
        match self {
            Self::SaveDocument => "session.highwater".to_owned(),
            Self::ExportConfig => ExportForm::Config.row().usual.to_owned(),
            Self::Export(form) => form.row().usual.to_owned(),
            Self::ExportTable => "highwater.csv".to_owned(),
            Self::ExportPeak => PEAK_FILE.to_owned(),
            Self::SavePicture(None) => "highwater.png".to_owned(),
            Self::SavePicture(Some(id)) => format!("{}.png", lane(id)),
            Self::DrawLane(id) => format!("{}.svg", lane(id)),
            Self::Open
            | Self::OpenFolder
            | Self::Add
            | Self::Locate(_)
            | Self::ImportConfig
            | Self::PickPath { .. } => String::new(),
        }
    }

    pub(super) const fn writes(self) -> bool {
        matches!(
            self,
            Self::SaveDocument
                | Self::ExportConfig
                | Self::Export(_)
                | Self::ExportTable
                | Self::ExportPeak
                | Self::SavePicture(_)
                | Self::DrawLane(_)
        )
    }

    /// The file that a typed path writes.
    pub(super) fn written(self, path: &Path) -> PathBuf {
        if self == Self::SaveDocument {
            with_extension(path)
        } else {
            path.to_owned()
        }
    }

    /// Whether the window writes the file, because its view decides the content.
    pub(super) const fn is_of_window(self) -> bool {
        matches!(self, Self::SavePicture(_) | Self::DrawLane(_) | Self::Export(_))
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
            Self::ExportConfig => Command::ExportConfig(first),
            Self::ExportTable => Command::ExportTable(first),
            Self::ExportPeak => Command::ExportPeak(first),
            Self::ImportConfig => Command::ImportConfig(first),
            // The window writes these.
            Self::SavePicture(_) | Self::DrawLane(_) | Self::Export(_) => return None,
            Self::PickPath { key, .. } => Command::SetOption {
                key: key.to_owned(),
                text: first.display().to_string(),
            },
        })
    }
}
