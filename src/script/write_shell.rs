//! An environment as a shell script to be sourced.

use highwater_options::Environment;

use super::shell::{HEADER, is_name};

/// A line `export NAME='value'` per variable, for any POSIX shell. A variable that no shell accepts (a name with other signs than letters,
/// digits and underscores, or a zero byte) becomes a comment.
pub fn to_shell(environment: &Environment) -> String {
    let mut text = format!("{HEADER}; use with: . FILE\n");
    for (name, value) in environment.iter() {
        if is_name(name) && !value.contains('\0') {
            text.push_str(&format!("export {name}='{}'\n", value.replace('\'', r"'\''")));
        } else {
            text.push_str(&format!("# no shell can hold {name:?}={value:?}\n"));
        }
    }
    text
}
