//! The program: arguments, then a command or the window.

use std::process::ExitCode;

use highwater::cli::{self, Outcome};

#[cfg(unix)]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let build = cli::Build {
        commit: option_env!("HIGHWATER_COMMIT"),
        has_window: cfg!(feature = "gui"),
    };
    match cli::run(build) {
        Outcome::Exit(code) => code,
        Outcome::Window(arguments) => window(&arguments),
    }
}

#[cfg(feature = "gui")]
fn window(arguments: &cli::Arguments) -> ExitCode {
    cli::end_on_signals(highwater::progress::Cancel::new());
    let shown = cli::start(arguments).and_then(|start| {
        let restore = cli::restore(arguments, &start.document);
        highwater::ui::run(start.document, start.configs, restore)
    });
    match shown {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => cli::fail(&format!("{error:#}")),
    }
}

#[cfg(not(feature = "gui"))]
fn window(_arguments: &cli::Arguments) -> ExitCode {
    cli::fail("this build has no window (feature gui); use a command such as `highwater compare FILE`")
}
