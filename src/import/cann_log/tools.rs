//! Tables of tools that list memory by device and process: `npu-smi info`, `nvidia-smi`.

/// The tables of a text, line by line.
#[derive(Debug, Default)]
pub(super) struct Tables {
    /// The device of the row before.
    device: Option<u64>,
    /// Whether the rows are of processes.
    is_of_processes: bool,
}

/// What a row states, in our words, and its device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ToolRow {
    pub(super) text: String,
    pub(super) device: Option<u64>,
}

impl Tables {
    /// Takes a line.
    pub(super) fn take(&mut self, line: &str) -> Option<ToolRow> {
        let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
        if inner.contains("Process memory") || inner.contains("GPU Memory") || inner.contains("Process name") {
            self.is_of_processes = true;
            return None;
        }
        let is_of_devices = ["Memory-Usage", "HBM-Usage", "Health"]
            .iter()
            .any(|head| inner.contains(head));
        if is_of_devices {
            self.is_of_processes = false;
            return None;
        }
        let cells: Vec<&str> = inner.split('|').map(str::trim).collect();
        if self.is_of_processes {
            return npu_process(&cells).or_else(|| gpu_process(&cells));
        }
        if let Some((used, total)) = mebibytes(inner).or_else(|| npu_memory(&cells)) {
            let device = self.device;
            return Some(ToolRow {
                text: format!("{used} MB of {total} MB of the device are in use"),
                device,
            });
        }
        self.device = cells.first()?.split_whitespace().next()?.parse().ok().or(self.device);
        None
    }
}

/// `1234MiB / 24576MiB`.
fn mebibytes(inner: &str) -> Option<(u64, u64)> {
    let (before, after) = inner.split_once("MiB / ")?;
    let used = before.rsplit(' ').next()?.parse().ok()?;
    let total = after.trim_start().split("MiB").next()?.trim().parse().ok()?;
    Some((used, total))
}

/// The second row of a chip: `0 | 0000:C1:00.0 | 0  0 / 0  33551/ 65536`; the last pair that is not 0 is the memory in use.
fn npu_memory(cells: &[&str]) -> Option<(u64, u64)> {
    let [_, bus, usage] = cells else { return None };
    if bus.matches(':').count() != 2 && *bus != "NA" {
        return None;
    }
    let usage = usage.replace('/', " / ");
    let words: Vec<&str> = usage.split_whitespace().collect();
    let pairs = words.windows(3).filter(|three| three[1] == "/");
    let pairs = pairs.filter_map(|three| Some((three[0].parse::<u64>().ok()?, three[2].parse::<u64>().ok()?)));
    pairs.rev().find(|(_, total)| *total > 0)
}

/// `0 0 | 12345 | python | 30000`.
fn npu_process(cells: &[&str]) -> Option<ToolRow> {
    let [chip, pid, name, memory] = cells else { return None };
    let device = chip.split_whitespace().next()?.parse().ok()?;
    let (pid, memory): (u64, u64) = (pid.parse().ok()?, memory.parse().ok()?);
    Some(process(device, pid, name, memory))
}

/// `0 N/A N/A 1234 C python3 5000MiB`, in older releases without the columns GI and CI.
fn gpu_process(cells: &[&str]) -> Option<ToolRow> {
    let [row] = cells else { return None };
    let words: Vec<&str> = row.split_whitespace().filter(|word| *word != "N/A").collect();
    let [device, pid, kind, name @ .., memory] = &words[..] else {
        return None;
    };
    if !matches!(*kind, "C" | "G" | "C+G" | "M+C") {
        return None;
    }
    let memory = memory.strip_suffix("MiB")?.parse().ok()?;
    Some(process(
        device.parse().ok()?,
        pid.parse().ok()?,
        &name.join(" "),
        memory,
    ))
}

fn process(device: u64, pid: u64, name: &str, memory: u64) -> ToolRow {
    let name = if name.is_empty() {
        String::new()
    } else {
        format!(" ({name})")
    };
    ToolRow {
        text: format!("process {pid}{name} has {memory} MB of it"),
        device: Some(device),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<(Option<u64>, String)> {
        let mut tables = Tables::default();
        let rows = text.lines().filter_map(|line| tables.take(line));
        rows.map(|row| (row.device, row.text)).collect()
    }

    #[test]
    fn tables_of_npu_smi_are_read() {
        let text = "\
            | NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|\n\
            | Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |\n\
            +===========================+===============+====================================================+\n\
            | 3     910B3               | OK            | 93.6        40                0    / 0             |\n\
            | 0                         | 0000:C1:00.0  | 0           0    / 0          33551/ 65536         |\n\
            | NPU     Chip              | Process id    | Process name             | Process memory(MB)      |\n\
            | 3       0                 | 12345         | python                   | 30000                   |\n\
            | No running processes found in NPU 0 |\n";
        assert_eq!(
            rows(text),
            [
                (Some(3), "33551 MB of 65536 MB of the device are in use".to_owned()),
                (Some(3), "process 12345 (python) has 30000 MB of it".to_owned()),
            ]
        );
    }

    #[test]
    fn tables_of_nvidia_smi_are_read() {
        let text = "\
            | GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n\
            | Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |\n\
            |   1  NVIDIA GeForce RTX 3090        Off |   00000000:01:00.0 Off |                  N/A |\n\
            | 30%   35C    P8             20W /  350W |   1234MiB /  24576MiB  |      0%      Default |\n\
            | Processes:                                                                              |\n\
            |  GPU   GI   CI              PID   Type   Process name                        GPU Memory |\n\
            |    1   N/A  N/A            1234      C   python3                                5000MiB |\n";
        assert_eq!(
            rows(text),
            [
                (Some(1), "1234 MB of 24576 MB of the device are in use".to_owned()),
                (Some(1), "process 1234 (python3) has 5000 MB of it".to_owned()),
            ]
        );
        assert_eq!(rows("| a | b |\n| 12 | 13 |\n"), []);
    }
}
