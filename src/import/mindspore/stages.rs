//! Of a folder of dumps those that others make superfluous.
//!
//! `save_graphs` writes a graph after every pass, up to a thousand files for a training step. They are one graph, and as one source
//! they would count as that many graphs that run one after the other.

use std::collections::BTreeMap;

/// A file of a folder.
#[derive(Clone, Copy, Debug)]
pub struct FolderFile<'a> {
    /// Its folder, with `/` between names.
    pub folder: &'a str,
    pub name: &'a str,
    /// The name of its importer.
    pub format: &'a str,
}

/// By file: whether another one of its folder, or of a folder above, makes it superfluous. Plans of SOMAS come before all dumps,
/// the last `graph_build` of each graph before other dumps, and the last dump before earlier ones.
pub fn superseded_dumps(files: &[FolderFile<'_>]) -> Vec<bool> {
    let is_plan = |file: &FolderFile<'_>| file.format == "somas" && file.name.contains("_somas_tensor_offset_");
    let planned: Vec<&str> = files
        .iter()
        .filter(|file| is_plan(file))
        .map(|file| file.folder)
        .collect();
    let is_below = |folder: &str, above: &str| {
        let rest = folder.strip_prefix(above);
        rest.is_some_and(|rest| rest.is_empty() || above.is_empty() || rest.starts_with('/'))
    };
    // By folder, and number of the graph where there is one: the last dump.
    let mut last: BTreeMap<(&str, Option<u64>), u64> = BTreeMap::new();
    for file in files.iter().filter(|file| file.format == "mindspore_ir") {
        let (graph, pass) = numbers(file.name);
        let before = last.entry((file.folder, graph)).or_default();
        *before = pass.max(*before);
    }
    let has_graph = |folder: &str| last.keys().any(|(of, graph)| *of == folder && graph.is_some());
    let is_superseded = |file: &FolderFile<'_>| match file.format {
        "somas" => !is_plan(file) && planned.contains(&file.folder),
        "mindspore_ir" => {
            let (graph, pass) = numbers(file.name);
            planned.iter().any(|above| is_below(file.folder, above))
                || graph.is_none() && has_graph(file.folder)
                // Dumps of single passes are in folders below.
                || last.keys().any(|(above, _)| *above != file.folder && is_below(file.folder, above))
                || last.get(&(file.folder, graph)).is_some_and(|last| *last > pass)
        }
        _ => false,
    };
    files.iter().map(is_superseded).collect()
}

/// The number of the graph of `graph_build_0_0094.ir`, and the number of the pass at the end.
fn numbers(name: &str) -> (Option<u64>, u64) {
    let stem = name.strip_suffix(".ir").unwrap_or(name);
    let pass = stem
        .rsplit('_')
        .next()
        .and_then(|number| number.parse().ok())
        .unwrap_or(0);
    let graph = stem
        .strip_prefix("graph_build_")
        .and_then(|rest| rest.split('_').next()?.parse().ok());
    (graph, pass)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files of two folders; those that stay.
    fn kept<'a>(files: &[(&'a str, &'a str, &'a str)]) -> Vec<&'a str> {
        let files: Vec<FolderFile<'_>> = files
            .iter()
            .map(|(folder, name, format)| FolderFile { folder, name, format })
            .collect();
        let superseded = superseded_dumps(&files);
        files
            .iter()
            .zip(superseded)
            .filter(|(_, is_superseded)| !is_superseded)
            .map(|(file, _)| file.name)
            .collect()
    }

    #[test]
    fn a_plan_comes_before_dumps_and_the_last_dump_before_earlier_ones() {
        let plan = ("/a", "CPU_somas_tensor_offset_0.ir", "somas");
        let other = ("/a", "CPU_somas_initial_info_0.ir", "somas");
        let early = ("/a", "31_validate_0032.ir", "mindspore_ir");
        let late = ("/a", "34_execute_0096.ir", "mindspore_ir");
        let build = ("/a", "graph_build_0_0093.ir", "mindspore_ir");
        let second = ("/a", "graph_build_1_0095.ir", "mindspore_ir");
        let older = ("/a", "graph_build_0_0040.ir", "mindspore_ir");
        let below = ("/a/verbose_ir_files", "x_0001.ir", "mindspore_ir");
        let elsewhere = ("/ab", "31_validate_0031.ir", "mindspore_ir");
        let model = ("/a", "net.mindir", "mindir");
        assert_eq!(
            kept(&[plan, other, early, build, below, elsewhere, model]),
            [plan.1, elsewhere.1, model.1]
        );
        assert_eq!(kept(&[early, late, build, second, older]), [build.1, second.1]);
        assert_eq!(kept(&[build, below]), [build.1]);
        assert_eq!(kept(&[early, late]), [late.1]);
        assert_eq!(kept(&[other, model]), [other.1, model.1]);
    }
}
