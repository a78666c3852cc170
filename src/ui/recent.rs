//! Recent files: in the menu, on the start page, in the palette.

use eframe::egui;

use crate::widgets::Named as _;
use highwater_session::{Bookmark, Command, Recent, Recents, Session, SourceSpec};

/// The last noted sources.
#[derive(Clone, Debug, Default)]
pub struct Noted {
    sources: Vec<SourceSpec>,
    bookmarks: Vec<Bookmark>,
}

impl Noted {
    /// Notes the open files, and restores their bookmarks.
    pub fn note(&mut self, session: &mut Session, recents: &mut Recents) {
        let Some(loaded) = session.loaded() else { return };
        // A document replaces its sources, and has bookmarks.
        let document = session.file_path().map(|path| vec![SourceSpec::Path(path.to_owned())]);
        let is_document = document.is_some();
        let sources = document.unwrap_or_else(|| loaded.sources.clone());
        if sources == self.sources {
            self.note_bookmarks(session, recents);
            return;
        }
        self.sources = sources;
        if is_document {
            if recents.note(&self.sources, clock()) {
                session.apply(Command::FindMissing(recents.paths()));
            }
            return;
        }
        let before = recents.bookmarks_of(&self.sources);
        if !before.is_empty() && session.document().bookmarks.is_empty() {
            session.apply(Command::RestoreBookmarks(before));
        }
        if recents.note(&self.sources, clock()) {
            session.apply(Command::FindMissing(recents.paths()));
        }
    }

    /// Saves the bookmarks of the open files with their entry.
    fn note_bookmarks(&mut self, session: &Session, recents: &mut Recents) {
        let document = session.document();
        // During a load the document is the next one's.
        if document.sources == self.sources && document.bookmarks != self.bookmarks {
            self.bookmarks.clone_from(&document.bookmarks);
            recents.keep_bookmarks(&self.sources, &self.bookmarks);
        }
    }
}

/// Seconds since 1970; 0 for earlier clocks.
#[expect(
    clippy::disallowed_methods,
    reason = "the window owns a clock; it tells when files were opened"
)]
pub fn clock() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// The time since a file was opened, in words.
pub fn opened_text(opened: u64, clock: u64) -> String {
    let seconds = clock.saturating_sub(opened);
    let ago = |count: u64, unit: &str| {
        let plural = if count == 1 { "" } else { "s" };
        format!("{count} {unit}{plural} ago")
    };
    match (seconds / 60, seconds / 3_600, seconds / 86_400) {
        (0, ..) => "just now".to_owned(),
        (minutes, 0, _) => ago(minutes, "minute"),
        (_, hours, 0) => ago(hours, "hour"),
        (_, _, days) if days < 60 => ago(days, "day"),
        (_, _, days) => ago(days / 30, "month"),
    }
}

/// Missing files in a sentence; `None` where none is known to be missing.
pub fn missing_text(recent: &Recent, session: &Session) -> Option<String> {
    let gone: Vec<String> = recent
        .paths()
        .filter(|path| session.is_missing(path))
        .map(|path| path.display().to_string())
        .collect();
    match &gone[..] {
        [] => None,
        [one] => Some(format!("{one} does not exist any more")),
        several => Some(format!("{} files do not exist any more", several.join(", "))),
    }
}

/// A button per entry; `what` follows its name for assistive technology.
pub fn recents_ui(ui: &mut egui::Ui, recents: &Recents, session: &Session, what: &str, commands: &mut Vec<Command>) {
    let clock = clock();
    for recent in &recents.list {
        let missing = missing_text(recent, session);
        let title = recent.title();
        let when = opened_text(recent.opened, clock);
        let button = egui::Button::new(&title)
            .truncate()
            .right_text(egui::RichText::new(&when).weak());
        let response = ui
            .add_enabled(missing.is_none(), button)
            .named(egui::Role::Button, || format!("{title}, opened {when}{what}"));
        let paths: Vec<String> = recent.paths().map(|path| path.display().to_string()).collect();
        let response = response.on_hover_text(paths.join("\n"));
        if response.on_disabled_hover_text(missing.unwrap_or_default()).clicked() {
            commands.push(Command::Open(recent.sources()));
            if egui::containers::menu::is_in_menu(ui) {
                ui.close();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::opened_text;

    #[test]
    fn times_are_told_in_words() {
        let cases = [
            (0, "just now"),
            (59, "just now"),
            (60, "1 minute ago"),
            (3_599, "59 minutes ago"),
            (7_200, "2 hours ago"),
            (86_400, "1 day ago"),
            (59 * 86_400, "59 days ago"),
            (90 * 86_400, "3 months ago"),
        ];
        for (seconds, text) in cases {
            assert_eq!(opened_text(1_000_000, 1_000_000 + seconds), text);
        }
        assert_eq!(opened_text(50, 10), "just now");
    }
}
