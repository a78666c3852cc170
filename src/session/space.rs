//! Spaces of configurations in a session: what their axes name on disk.

use crate::analysis::space::{AxisOf, Space};
use crate::options::{OptionKind, SeenFiles, find, paths_of};

use super::files::look_at;

/// What stands at the paths that the base of a space and the values of its axes name.
pub fn look_at_space(space: &Space) -> SeenFiles {
    let base = space.base();
    let mut paths = paths_of(&base.options, &base.environment);
    for axis in space.axes() {
        let AxisOf::Option(key) = axis.of else { continue };
        let is_path = find(key).is_some_and(|row| matches!(row.kind, OptionKind::Path(_)));
        for value in axis.values.iter().filter(|_| is_path) {
            let mut options = base.options.clone();
            // The key is a row of the table: an axis is made of one.
            drop(options.set(key, value.clone()));
            paths.extend(paths_of(&options, &base.environment));
        }
    }
    paths.sort_unstable();
    paths.dedup();
    look_at(&paths)
}
