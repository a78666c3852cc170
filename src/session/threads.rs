//! The limit of threads that the environment states.

const VARIABLE: &str = "HIGHWATER_THREADS";

const MOST: usize = 1024;

/// A number of threads that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{VARIABLE}={0}: expected 1 to {MOST}")]
pub struct ThreadsError(String);

/// The most threads of work; 0, one per core, where the environment does not limit them. Answers do not depend on it.
///
/// # Errors
/// [`ThreadsError`].
pub fn most_threads() -> Result<usize, ThreadsError> {
    let Some(text) = std::env::var_os(VARIABLE) else {
        return Ok(0);
    };
    let text = text.to_string_lossy();
    let number = text.parse().ok().filter(|number| (1..=MOST).contains(number));
    number.ok_or_else(|| ThreadsError(text.into_owned()))
}
