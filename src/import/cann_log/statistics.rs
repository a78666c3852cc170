//! The driver's memory by module, of three generations.
//!
//! ```text
//! DEV_MEM dev2 mem stats(Bytes): module_name=APP, module_id=33 current_alloced_size=N, alloced_peak_size=N.
//! DEV_MEM dev6 Mem stats (Bytes). (module_name=HCCL; module_id=3; current_alloced_size=N; alloced_peak_size=N; ...)
//! HOST_MEM Mem stats (Bytes). (module_name=IDEDD; module_id=1; current_alloced_size=N; allocated_peak_size=N; ...)
//! ```

use super::fact::Statistics;
use super::field::{after, enclosed, number};

/// Modules by their numbers.
const MODULES: &[(u64, &str)] = &[
    (0, "UNKNOWN"),
    (1, "IDEDD"),
    (3, "HCCL"),
    (4, "FMK"),
    (6, "DVPP"),
    (7, "RUNTIME"),
    (8, "CCE"),
    (22, "DEVMM"),
    (27, "HCCP_SCHEDULE"),
    (33, "APP"),
    (36, "AICPU"),
    (37, "AICPU_SCHEDULE"),
    (39, "FE"),
    (45, "GE"),
    (48, "ASCENDCL"),
    (57, "TBE"),
    (63, "OP"),
    (75, "MBUFF"),
    (76, "CUSTOM_SCHEDULE"),
];

pub(super) fn module_name(id: u64) -> Option<&'static str> {
    MODULES.iter().find(|(number, _)| *number == id).map(|(_, name)| *name)
}

/// The row of a record, without the name of its module where that is cut; `None` where it is no row.
pub(super) fn row(text: &str) -> Option<Statistics> {
    let at = text.find("em stats")?;
    let head = text[..at].strip_suffix(['M', 'm'])?.trim_end_matches(' ');
    if !text[at..].contains("module_name=") && !text[at..].contains("(Bytes)") {
        return None;
    }
    let word = |text: &str| {
        let start = text.rfind(|char: char| !char.is_ascii_alphanumeric() && char != '_');
        start.map_or(0, |start| {
            start + text[start..].chars().next().map_or(1, char::len_utf8)
        })
    };
    let last = word(head);
    let device = head[last..].strip_prefix("dev").and_then(|digits| digits.parse().ok());
    let kind = if device.is_some() {
        let head = head[..last].trim_end_matches(' ');
        &head[word(head)..]
    } else {
        &head[last..]
    };
    let module = enclosed(&text[at..], "module_name=", &[';', ',', ')', ' ', '\n']);
    Some(Statistics {
        kind: kind.to_owned(),
        device,
        module: module.unwrap_or("").to_owned(),
        current: number(text, "current_alloced_size=").or_else(|| number(text, "current_allocated_size=")),
        peak: number(text, "_peak_size="),
    })
}

/// Whether it is a row of helper processes, which have one size only.
pub(super) fn is_of_helpers(text: &str) -> bool {
    after(text, "total_size=").is_some() && !text.contains("current_al")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_all_generations_are_read() {
        let found = |text: &str| {
            let row = row(text).expect("a row");
            (row.kind, row.device, row.module, row.current, row.peak)
        };
        let of = |kind: &str, device, module: &str, current, peak| {
            (kind.to_owned(), device, module.to_owned(), Some(current), peak)
        };
        assert_eq!(
            found(
                "[drv][devmm][_devmm_mem_stats_show 152]DEV_MEM dev2 mem stats(Bytes): module_name=APP, module_id=33 \
                 current_alloced_size=5, alloced_peak_size=7.\n"
            ),
            of("DEV_MEM", Some(2), "APP", 5, Some(7))
        );
        assert_eq!(
            found(
                "]MEM_DEV_HUGE_HBM dev0 Mem stats (Bytes). (module_name=GE; module_id=45; current_alloced_size=5; alloced_peak_size=7; x"
            ),
            of("MEM_DEV_HUGE_HBM", Some(0), "GE", 5, Some(7))
        );
        assert_eq!(
            found(
                "]HOST_MEM Mem stats (Bytes). (module_name=IDEDD; module_id=1; current_alloced_size=0; allocated_peak_si"
            ),
            of("HOST_MEM", None, "IDEDD", 0, None)
        );
        assert_eq!(row("mem_stats_show: nothing"), None);
        assert!(is_of_helpers(
            "DEV_PROC_MEM dev0 Mem stats (Bytes). (module_name=A; module_id=37; total_size=1)"
        ));
    }
}
