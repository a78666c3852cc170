//! Sizes of inputs: full for measurements; small for `cargo test --benches`, which runs every bench once to find errors.

/// Whether `cargo bench` started the program: only it passes `--bench`.
pub(crate) fn is_measured() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}

pub(crate) fn size<T>(measured: T, quick: T) -> T {
    if is_measured() { measured } else { quick }
}
