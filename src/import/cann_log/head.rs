//! The head of a record: `[LEVEL] MODULE(PID,NAME):2026-07-11-10:14:55.123.686 `.
//!
//! A head can be anywhere in a line: after the path that grep prints, after a launcher's prefix, after another record whose end
//! was lost.

/// Bytes of a record that the logger writes at most, without its newline: at this length its end may be cut.
const RECORD_BYTES: usize = 1023;

/// Bytes of the name of a process, at most.
const NAME_BYTES: usize = 128;

/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record<'a> {
    pub(super) is_error: bool,
    /// An error or a warning.
    pub(super) is_loud: bool,
    pub(super) module: &'a str,
    pub(super) pid: u64,
    pub(super) name: &'a str,
    /// Microseconds since the year 0.
    pub(super) stamp: i64,
    /// After the stamp, with the newline where it was printed.
    pub(super) text: &'a str,
}

/// The parts of a line: the text before the first record, and its records.
pub(super) fn records(line: &str) -> (&str, Vec<Record<'_>>) {
    let mut heads = Vec::new();
    let mut from = 0;
    while let Some((at, record)) = next_head(line, from) {
        from = line.len() - record.text.len();
        heads.push((at, record));
    }
    let before = heads.first().map_or(line, |(at, _)| &line[..*at]);
    let ends: Vec<usize> = heads.iter().skip(1).map(|(at, _)| *at).chain([line.len()]).collect();
    let whole = heads.iter().zip(ends).map(|((at, record), end)| {
        let start = line.len() - record.text.len();
        let mut text = &line[start..end];
        if line[*at..end].trim_end_matches('\n').len() >= RECORD_BYTES {
            text = text.trim_end_matches('\n');
        }
        Record { text, ..*record }
    });
    (before, whole.collect())
}

/// The first head from a byte on, with the rest of the line as its text.
fn next_head(line: &str, from: usize) -> Option<(usize, Record<'_>)> {
    let bytes = line.as_bytes();
    let mut at = from;
    loop {
        at += bytes.get(at..)?.iter().position(|byte| *byte == b'[')?;
        if let Some(record) = head(&line[at..]) {
            return Some((at, record));
        }
        at += 1;
    }
}

/// A head that a text begins with.
fn head(text: &str) -> Option<Record<'_>> {
    let (level, rest) = word(text.strip_prefix('[')?, 10, |byte| byte.is_ascii_alphanumeric())?;
    let rest = rest.strip_prefix(']')?.trim_start_matches(' ');
    let (module, rest) = word(rest, 24, |byte| byte.is_ascii_alphanumeric() || byte == b'_')?;
    let rest = rest.trim_start_matches(' ').strip_prefix('(')?;
    let (pid, rest) = word(rest.trim_start_matches(' '), 10, |byte| byte.is_ascii_digit())?;
    let rest = rest.trim_start_matches(' ').strip_prefix(',')?;
    let (name, rest) = process_name(rest)?;
    let rest = rest.trim_start_matches(' ').strip_prefix(':')?;
    let (stamp, text) = stamp(rest.trim_start_matches(' '))?;
    Some(Record {
        is_error: matches!(level, "ERROR" | "ERR0R" | "CRITICAL" | "EXCEPTION"),
        is_loud: matches!(level, "ERROR" | "ERR0R" | "CRITICAL" | "EXCEPTION" | "WARNING"),
        module,
        pid: pid.parse().ok()?,
        name: without_thread(name.trim()),
        stamp,
        text: text.strip_prefix(' ').unwrap_or(text),
    })
}

/// The name up to the parenthesis before a colon: names may have parentheses themselves.
fn process_name(text: &str) -> Option<(&str, &str)> {
    let ends = text
        .bytes()
        .take(NAME_BYTES)
        .enumerate()
        .filter(|(_, byte)| *byte == b')');
    for (at, _) in ends {
        let rest = &text[at + 1..];
        if rest.trim_start_matches(' ').starts_with(':') {
            return Some((&text[..at], rest));
        }
    }
    None
}

/// Without the number of the thread that `MindSpore` writes in front of a name: `ffff8a7fc1e0,python`.
fn without_thread(name: &str) -> &str {
    let thread = name
        .split_once(',')
        .filter(|(thread, _)| thread.len() >= 5 && thread.bytes().all(|byte| byte.is_ascii_hexdigit()));
    thread.map_or(name, |(_, name)| name.trim())
}

fn word(text: &str, most: usize, is_part: impl Fn(u8) -> bool) -> Option<(&str, &str)> {
    let end = text.bytes().position(|byte| !is_part(byte))?;
    (1..=most).contains(&end).then(|| text.split_at(end))
}

/// A time such as `2026-07-11-10:14:55.123.686`, or without the parts of a second, in microseconds, and the text after.
pub(super) fn stamp(text: &str) -> Option<(i64, &str)> {
    let (year, rest) = part(text, 4, Some('-'))?;
    let (month, rest) = part(rest, 2, Some('-'))?;
    let (day, rest) = part(rest, 2, None)?;
    let rest = rest.strip_prefix(['-', ' ', 'T'])?;
    let (hour, rest) = part(rest, 2, Some(':'))?;
    let (minute, rest) = part(rest, 2, Some(':'))?;
    let (second, mut rest) = part(rest, 2, None)?;
    let mut micros = 0;
    for scale in [1000, 1] {
        if let Some((parts, after)) = rest.strip_prefix('.').and_then(|rest| part(rest, 3, None)) {
            micros += parts * scale;
            rest = after;
        }
    }
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let time = ((hour * 60 + minute) * 60 + second) * 1_000_000 + micros;
    Some((days(year, month, day) * DAY + time, rest))
}

fn part(text: &str, digits: usize, end: Option<char>) -> Option<(i64, &str)> {
    let number = text.get(..digits)?;
    if !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let rest = &text[digits..];
    let rest = match end {
        Some(end) => rest.strip_prefix(end)?,
        None => rest,
    };
    Some((number.parse().ok()?, rest))
}

/// Days since the year 0 of the proleptic Gregorian calendar.
const fn days(year: i64, month: i64, day: i64) -> i64 {
    let shifted = if month > 2 { year } else { year - 1 };
    let day_of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    shifted * 365 + shifted.div_euclid(4) - shifted.div_euclid(100) + shifted.div_euclid(400) + day_of_year
}

/// The thread of a record: the number after the place in front of its text, or the second one of `curpid: PID, TID`.
pub(super) fn thread(text: &str) -> Option<u64> {
    if let Some(rest) = super::field::after(text.get(..text.len().min(160)).unwrap_or(""), "[curpid:") {
        return super::field::leading(rest.split_once(',')?.1);
    }
    let rest = if text.starts_with('[') {
        text.split_once(']')?.1
    } else {
        text
    };
    super::field::leading(rest.trim_start_matches(['[', ' ']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_found_behind_prefixes_and_behind_each_other() {
        let line = "ascend/log/run/plog/plog-7.log:4:[INFO] GE(7,my (old) job):2026-07-13-08:00:00.580.598 [a.cc:1]9 F:x[INFO] \
                    DRV(8,p):2026-07-13-08:00:00.580.599 y\n";
        let (before, records) = records(line);
        assert_eq!(before, "ascend/log/run/plog/plog-7.log:4:");
        let found: Vec<_> = records
            .iter()
            .map(|one| (one.module, one.pid, one.name, one.text))
            .collect();
        assert_eq!(
            found,
            [("GE", 7, "my (old) job", "[a.cc:1]9 F:x"), ("DRV", 8, "p", "y\n")]
        );
        assert_eq!(records[1].stamp - records[0].stamp, 1);
        assert_eq!(thread(records[0].text), Some(9));
    }

    #[test]
    fn slips_of_scanned_text_are_tolerated() {
        let (_, found) = records("[1NFO] GE (7788,train.py) : 2026-07-14-10:00:00.181.138 text\n");
        assert_eq!((found[0].pid, found[0].text), (7788, "text\n"));
        assert!(
            records("[WARNING] GE(7788,train.py):slog ... 127 messages lost\n")
                .1
                .is_empty()
        );
        assert!(records("[IMAS]Set x name[a(b,c)]\n").1.is_empty());
    }

    #[test]
    fn a_record_of_full_length_may_be_cut() {
        let long = format!("[INFO] GE(1,p):2026-07-14-10:00:00.181.138 {}12\n", "x".repeat(1100));
        assert!(records(&long).1[0].text.ends_with("12"));
    }

    #[test]
    fn times_of_all_forms_are_read() {
        let micros = |text| stamp(text).map(|(micros, _)| micros);
        let second = micros("2026-07-12-23:40:02").expect("a time");
        assert_eq!(micros("2026-07-12-23:40:02.155.290 F"), Some(second + 155_290));
        assert_eq!(micros("2026-07-13-00:00:00.000.000"), Some(second + 1_198_000_000));
        assert_eq!(micros("2026-13-12-23:40:02"), None);
        assert_eq!(days(2026, 3, 1) - days(2026, 2, 28), 1);
        assert_eq!(days(2024, 3, 1) - days(2024, 2, 28), 2);
    }

    #[test]
    fn threads_of_all_forms_are_read() {
        assert_eq!(thread("[a.cc:1] 40725 F:x"), Some(40725));
        assert_eq!(thread("[ascend][curpid: 5120, 5327][drv]x"), Some(5327));
        assert_eq!(thread("40725 ge::A::F:x"), Some(40725));
        assert_eq!(thread("text"), None);
    }
}
