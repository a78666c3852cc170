//! The program: arguments, then a command or the window.

use std::process::ExitCode;

use highwater::cli::{self, Outcome};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match cli::run() {
        Outcome::Exit(code) => code,
        Outcome::Window(arguments) => window(&arguments),
    }
}

#[cfg(feature = "gui")]
fn window(arguments: &cli::Arguments) -> ExitCode {
    let opened = cli::document(arguments).and_then(|(document, remarks)| {
        let restore = cli::restore(arguments, &document);
        highwater::ui::run(document, remarks, restore, arguments.painter.into())
    });
    match opened {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => cli::fail(&format!("{error:#}")),
    }
}

#[cfg(not(feature = "gui"))]
fn window(_arguments: &cli::Arguments) -> ExitCode {
    cli::fail("this build has no window (feature gui); use a command such as `highwater compare FILE`")
}
