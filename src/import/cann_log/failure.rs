//! Lines on requests that failed, of the driver, the engine and `torch_npu`, and error codes of the terminal.

use super::fact::{Report, ReportKind};
use super::field::{Amount, after, enclosed, first_number, number, states, with_unit};
use super::head::Record;
use super::statistics::module_name;
use highwater_model::workload::RefusedBy;

/// Bytes of a purpose; more is no purpose.
const MOST_PURPOSE: usize = 120;

/// The driver's code for being out of memory.
const OUT_OF_MEMORY: u64 = 6;

/// The report of a record.
pub(super) fn of_record(record: &Record<'_>) -> Option<Report> {
    let text = record.text;
    if record.is_error && text.contains("error log can be ignored") {
        return Some(Report {
            kind: ReportKind::Retry,
            who: Some(if record.module == "GE" { "GE" } else { "APP" }.to_owned()),
            ..Report::default()
        });
    }
    if !text.contains("fail") && !text.contains("out of memory") && !text.contains("tried to allocate") {
        return check(text);
    }
    driver(text)
        .or_else(|| engine(text))
        .or_else(|| check(text))
        .or_else(|| torch(text))
        .or_else(|| code(text))
        .or_else(|| addition(text).filter(|_| record.is_error && record.module == "GE"))
}

/// `halMemAlloc failed` and `halMemCreate failed`, of all generations.
fn driver(text: &str) -> Option<Report> {
    let kind = if text.contains("halMemAlloc failed") {
        ReportKind::Driver
    } else if text.contains("halMemCreate failed") {
        ReportKind::DriverPage
    } else {
        return None;
    };
    // The code may be the last thing that was printed.
    let is_last = || text.trim_end().ends_with("drvRetCode=6");
    if !states(text, "drvRetCode=", OUT_OF_MEMORY) && !is_last() {
        return None;
    }
    let module = first_number(text, &["moduleId=", "module_id="]).and_then(module_name);
    Some(Report {
        kind,
        asked: first_number(text, &["failed:size=", " size="]).map(Amount::exact),
        who: module.map(str::to_owned),
        device: first_number(text, &["device_id=", "drvDevId="]),
        ..Report::default()
    })
}

/// The engine's own lines on memory and pages that it did not get.
fn engine(text: &str) -> Option<Report> {
    let (kind, rest) = if let Some(rest) = after(text, "[Malloc][Memory] failed") {
        (ReportKind::Malloc, rest)
    } else {
        (ReportKind::Page, after(text, "call rtMallocPhysical failed")?)
    };
    Some(Report {
        kind,
        asked: first_number(rest, &["size =", "size=", "size:"]).map(Amount::exact),
        who: Some("GE".to_owned()),
        device: first_number(rest, &["device_id =", "device_id=", "device_id:"]),
        graph: first_number(rest, &["graph_id:", "graph_id=", "graph id:"]),
        ..Report::default()
    })
}

/// The check of a graph that cannot fit, before anything is asked.
fn check(text: &str) -> Option<Report> {
    let rest = after(text, "[Check] sum of total_mem_offset:")?;
    let parts = super::field::leading(rest).zip(number(rest, "var_mem_size:"));
    Some(Report {
        kind: ReportKind::Check,
        asked: parts.map(|(graph, variables)| Amount::exact(graph.saturating_add(variables))),
        who: Some("GE".to_owned()),
        graph: number(rest, "graph_id:"),
        allowed: number(rest, "malloc max size"),
        refused: RefusedBy::Check,
        ..Report::default()
    })
}

/// `torch_npu`'s sentences.
pub(super) fn torch(text: &str) -> Option<Report> {
    let report = |asked| Report {
        kind: ReportKind::Torch,
        asked,
        who: Some("torch".to_owned()),
        ..Report::default()
    };
    if let Some(rest) = after(text, "NPU out of memory.") {
        let Some(asked) = after(rest, "Tried to allocate") else {
            return Some(Report {
                device: first_number(rest, &["device id:", "device_id:"]),
                ..report(None)
            });
        };
        let (amount, rest) = with_unit(asked).unzip();
        let mut report = with_figures(report(amount), rest.unwrap_or(asked));
        if asked.contains("exceed per_process_memory_fraction") {
            report.refused = RefusedBy::Fraction;
        }
        return Some(report);
    }
    let rest = after(text, "NPUWorkspaceAllocator tried to allocate")?;
    let (amount, after) = with_unit(rest).unzip();
    Some(Report {
        refused: RefusedBy::Workspace,
        ..with_figures(report(amount), after.unwrap_or(rest))
    })
}

/// `(NPU 0; 60.97 GiB total capacity; 57.42 GiB already allocated; ...)`.
fn with_figures(report: Report, text: &str) -> Report {
    let Some(list) = after(text, "(NPU").filter(|_| text.trim_start().starts_with("(NPU")) else {
        return report;
    };
    let list = list.find(')').map_or(list, |end| &list[..=end]);
    let figure = |words: &str| {
        let part = list
            .split([';', ')', '('])
            .find(|part| part.trim_end().ends_with(words))?;
        with_unit(part).map(|(amount, _)| amount.bytes())
    };
    Report {
        device: super::field::leading(list),
        total: figure("total capacity"),
        allocated: figure("already allocated"),
        free: figure(" free"),
        allowed: figure(" allowed"),
        reserved: figure("reserved in total by PyTorch"),
        ..report
    }
}

/// Codes of requests for memory.
const CODES: &[&str] = &["EL0004", "EL0018", "EL0019", "EI0007", "EI0011", "EE1013", "E19999"];

/// An error code: `EL0004: ...`, or `Words_Of_It(EL0004): ...`.
pub(super) fn code(text: &str) -> Option<Report> {
    let is_code = |code: &&&str| {
        let is_end = |rest: &str| rest.trim_start_matches([')', ' ']).starts_with(':');
        after(text, code).is_some_and(is_end)
    };
    let code = *CODES.iter().find(is_code)?;
    let rest = after(text, code)?;
    let asked = match code {
        "EI0007" if !rest.contains("emory") => return None,
        "E19999" => {
            malloc_failed(rest)?;
            number(rest, "size:")
        }
        _ => first_number(rest, &["size:", "allocate [", "Failed to allocate "]),
    };
    let by = ["requested by the ", "requested by "];
    let module = by.iter().find_map(|mark| enclosed(rest, mark, &[' ', '.']));
    let module = module.or(code.starts_with("EI").then_some("HCCL"));
    Some(Report {
        kind: ReportKind::Code,
        asked: asked.map(Amount::exact),
        who: module.map(str::to_owned),
        device: device(rest),
        graph: graph(rest),
        purpose: purpose(rest),
        ..Report::default()
    })
}

/// `purpose:TEXT, size:N` or `purpose: TEXT, type = 2`; parts of the text may be separated by commas themselves.
fn purpose(text: &str) -> Option<String> {
    let rest = after(text, "purpose:").or_else(|| after(text, "purpose="))?;
    let ends = [", size", ", type", ", ptr", "[", "\n"];
    let end = ends.iter().filter_map(|end| rest.find(end)).min()?;
    let words = rest[..end].trim().trim_end_matches('.');
    (!words.is_empty() && words.len() <= MOST_PURPOSE).then(|| words.to_owned())
}

/// The engine's words on the memory of a graph, where no purpose is printed.
fn feature_map(text: &str) -> Option<String> {
    text.contains("[Alloc][Memory] for feature map failed")
        .then(|| "feature map".to_owned())
}

fn malloc_failed(text: &str) -> Option<&str> {
    after(text, "Call aclrtMalloc fail").or_else(|| after(text, "Call rtMalloc fail"))
}

fn device(text: &str) -> Option<u64> {
    first_number(text, &["device_id:", "device_id =", "device_id="])
}

fn graph(text: &str) -> Option<u64> {
    first_number(text, &["graph id:", "graph_id:", "graph_id=", "graph id["])
}

/// What a line that follows a report adds: device, graph, size.
pub(super) fn addition(text: &str) -> Option<Report> {
    let asked = malloc_failed(text).and_then(|rest| number(rest, "size:"));
    let (device, graph) = (device(text), graph(text));
    let purpose = malloc_failed(text).and_then(purpose).or_else(|| feature_map(text));
    let says_nothing = asked.is_none() && device.is_none() && graph.is_none() && purpose.is_none();
    (!says_nothing && text.contains("fail")).then(|| Report {
        asked: asked.map(Amount::exact),
        device,
        graph,
        purpose,
        ..Report::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines, each with the function that reads it, and below them what they say.
    const LINES: &str = r#"
        driver [drv api] halMemAlloc failed:size=64(bytes), type=2, moduleId=33, drvFlag=1, drvRetCode=6, device_id=7, ErrCode=207001
        driver Call driver api halMemAlloc failed, drvRetCode=6, size=64(bytes), type=2, moduleId=33, drvFlag=1, drvDevId=7, x
            = 64 bytes, Driver, who: Some("APP"), device: Some(7), refused: Device
        driver [driver interface] halMemAlloc failed: device_id=7, size=64, type=2, env_type=3, drvRetCode=6!
            = 64 bytes, Driver, device: Some(7), refused: Device
        driver halMemAlloc failed, drvRetCode=60, size=64(bytes)
            = None
        driver Call driver api halMemCreate failed, drvRetCode=6, size=64(bytes), moduleId=45, x
            = 64 bytes, DriverPage, who: Some("GE"), refused: Device
        torch RuntimeError: NPU out of memory. Tried to allocate 512.00 MiB (NPU 5; 29.49 GiB total capacity; 17.80 GiB already allocated; 17.86 GiB current active; 214.89 MiB free; 24.00 GiB allowed; 23.88 GiB reserved in total by PyTorch) If x
            = 536870912 bytes, Torch, who: Some("torch"), device: Some(5), allocated: Some(19112604467), reserved: Some(25640954757), free: Some(225328497), total: Some(31664646390), allowed: Some(25769803776), refused: Device
        torch NPU out of memory. Tried to allocate 2.50 GiB. Allocation was preemptively rejected x
            = 2684354560 bytes, Torch, who: Some("torch"), refused: Device
        torch NPUWorkspaceAllocator tried to allocate 6.00 GiB(NPU 6; 60.97 GiB total capacity; 3.31 GiB free). If
            = 6442450944 bytes, Torch, who: Some("torch"), device: Some(6), free: Some(3554085437), total: Some(65466039009), refused: Workspace
        torch RuntimeError: NPU out of memory. device id: 4
            = Torch, who: Some("torch"), device: Some(4), refused: Device
        code EL0004: [PID: 1] 2026-07-12-23:40:02.155.290 Failed to allocate memory.
            = Code, refused: Device
        code Memory_Allocation_Failure(EL0004): Failed to allocate memory requested by GE module.
            = Code, who: Some("GE"), refused: Device
        code X(EL0019): Failed to allocate 3221291008 bytes device memory requested by the GE module.
            = 3221291008 bytes, Code, who: Some("GE"), refused: Device
        code X(EI0007): Failed to allocate resource[DeviceMemory] with info [size:2147483648]. Reason
            = 2147483648 bytes, Code, who: Some("HCCL"), refused: Device
        code EI0011: Failed to allocate [64] bytes of NPU memory
            = 64 bytes, Code, who: Some("HCCL"), refused: Device
        code E19999: Inner Error!
        code report error module_type=3, module_name=EL0004
            = None
    "#;

    /// The stated fields of a report; sizes in bytes.
    fn text(report: Option<Report>) -> String {
        let Some(report) = report else { return "None".to_owned() };
        let asked = report
            .asked
            .map_or(String::new(), |asked| format!("{} bytes, ", asked.bytes()));
        let rest = format!("{:?}", Report { asked: None, ..report });
        let rest = rest
            .trim_start_matches("Report { kind: ")
            .split(", ")
            .filter(|field| !field.contains(": None") && !field.contains(": false"));
        asked + &rest.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn failures_of_all_releases_are_read() {
        let mut found = Vec::new();
        for line in LINES.trim().lines().map(str::trim) {
            match line.split_once(' ').expect("two words") {
                ("=", expected) => found.drain(..).for_each(|one: String| assert_eq!(one, expected)),
                ("driver", line) => found.push(text(driver(&format!("{line}\n")))),
                ("torch", line) => found.push(text(torch(&format!("{line}\n")))),
                (_, line) => found.push(text(code(line))),
            }
        }
        assert!(found.is_empty());
    }
}
