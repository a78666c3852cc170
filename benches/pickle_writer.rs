//! Writes pickles of protocols 2 to 5 as Python does, and memory snapshots of any size.

use std::collections::BTreeMap;

/// A Python value.
#[derive(Clone, Debug)]
pub(crate) enum Py {
    Nothing,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    List(Vec<Self>),
    Tuple(Vec<Self>),
    Dict(Vec<(&'static str, Self)>),
    /// A value shared by many places, by a number that the caller chooses; written once.
    Shared(u32, Box<Self>),
}

impl From<&str> for Py {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<i64> for Py {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

/// A pickle under construction.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) out: Vec<u8>,
    protocol: u8,
    texts: BTreeMap<String, u32>,
    shared: BTreeMap<u32, u32>,
    n_memo: u32,
}

impl Writer {
    pub(crate) fn new(protocol: u8) -> Self {
        let mut out = vec![0x80, protocol];
        if protocol >= 4 {
            out.push(0x95);
            out.extend(0_u64.to_le_bytes());
        }
        Self {
            out,
            protocol,
            texts: BTreeMap::new(),
            shared: BTreeMap::new(),
            n_memo: 0,
        }
    }

    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.out.push(b'.');
        if self.protocol >= 4 {
            let len = (self.out.len() - 11) as u64;
            self.out[3..11].copy_from_slice(&len.to_le_bytes());
        }
        self.out
    }

    fn memoize(&mut self) -> u32 {
        let place = self.n_memo;
        self.n_memo += 1;
        match u8::try_from(place) {
            _ if self.protocol >= 4 => self.out.push(0x94),
            Ok(short) => self.out.extend([b'q', short]),
            Err(_) => {
                self.out.push(b'r');
                self.out.extend(place.to_le_bytes());
            }
        }
        place
    }

    fn get(&mut self, place: u32) {
        if let Ok(short) = u8::try_from(place) {
            self.out.extend([b'h', short]);
        } else {
            self.out.push(b'j');
            self.out.extend(place.to_le_bytes());
        }
    }

    fn text(&mut self, text: &str) {
        if let Some(place) = self.texts.get(text).copied() {
            return self.get(place);
        }
        match u8::try_from(text.len()) {
            Ok(len) if self.protocol >= 4 => self.out.extend([0x8c, len]),
            _ => {
                self.out.push(b'X');
                let len = u32::try_from(text.len()).unwrap_or(0);
                self.out.extend(len.to_le_bytes());
            }
        }
        self.out.extend(text.as_bytes());
        let place = self.memoize();
        self.texts.insert(text.to_owned(), place);
    }

    fn int(&mut self, number: i64) {
        if let Ok(number) = u8::try_from(number) {
            self.out.extend([b'K', number]);
        } else if let Ok(number) = u16::try_from(number) {
            self.out.push(b'M');
            self.out.extend(number.to_le_bytes());
        } else if let Ok(number) = i32::try_from(number) {
            self.out.push(b'J');
            self.out.extend(number.to_le_bytes());
        } else {
            let bytes = number.to_le_bytes();
            let sign = if number < 0 { 0xff } else { 0 };
            let mut n = 8;
            while n > 1 && bytes[n - 1] == sign && (bytes[n - 2] >= 0x80) == (number < 0) {
                n -= 1;
            }
            self.out.extend([0x8a, u8::try_from(n).unwrap_or(8)]);
            self.out.extend(&bytes[..n]);
        }
    }

    /// Items follow in batches, as Python writes them.
    pub(crate) fn begin_list(&mut self) {
        self.out.push(b']');
        self.memoize();
    }

    /// Items of the open list.
    pub(crate) fn batch<'a>(&mut self, items: impl IntoIterator<Item = &'a Py>) {
        self.out.push(b'(');
        for item in items {
            self.value(item);
        }
        self.out.push(b'e');
    }

    /// A dict with several keys.
    pub(crate) fn begin_dict(&mut self) {
        self.out.push(b'}');
        self.memoize();
        self.out.push(b'(');
    }

    /// A key of the open dict.
    pub(crate) fn key(&mut self, key: &str) {
        self.text(key);
    }

    pub(crate) fn end_dict(&mut self) {
        self.out.push(b'u');
    }

    pub(crate) fn value(&mut self, value: &Py) {
        match value {
            Py::Nothing => self.out.push(b'N'),
            Py::Bool(value) => self.out.push(if *value { 0x88 } else { 0x89 }),
            Py::Int(number) => self.int(*number),
            Py::Float(number) => {
                self.out.push(b'G');
                self.out.extend(number.to_be_bytes());
            }
            Py::Text(text) => self.text(text),
            Py::List(items) => {
                self.begin_list();
                for batch in items.chunks(1000) {
                    self.batch(batch);
                }
            }
            Py::Tuple(items) => {
                if items.len() > 3 {
                    self.out.push(b'(');
                }
                for item in items {
                    self.value(item);
                }
                self.out.push(match items.len() {
                    0 => b')',
                    1 => 0x85,
                    2 => 0x86,
                    3 => 0x87,
                    _ => b't',
                });
            }
            Py::Dict(pairs) => {
                self.begin_dict();
                for (key, value) in pairs {
                    self.key(key);
                    self.value(value);
                }
                self.end_dict();
            }
            Py::Shared(number, inner) => {
                if let Some(place) = self.shared.get(number).copied() {
                    return self.get(place);
                }
                // A list first writes its place in the memo.
                let place = self.n_memo;
                self.value(inner);
                self.shared.insert(*number, place);
            }
        }
    }
}

/// A frame of a call stack.
pub(crate) fn frame(function: &str, file: &str, line: i64) -> Py {
    Py::Dict(vec![
        ("name", function.into()),
        ("filename", file.into()),
        ("line", line.into()),
    ])
}

/// A snapshot of `n` allocations, all freed; 200 stacks of 12 frames are shared.
pub(crate) fn synthetic(n: usize, protocol: u8) -> Vec<u8> {
    let stacks: Vec<Py> = (0..200_u32)
        .map(|stack| {
            let lines = (0..12).map(|line| {
                let file = format!("/home/user/model/layer{}.py", stack % 20);
                frame(&format!("forward{}", stack % 7), &file, i64::from(stack * 12 + line))
            });
            Py::Shared(stack, Box::new(Py::List(lines.collect())))
        })
        .collect();
    let event = |action: &str, block: i64, time: i64| {
        Py::Dict(vec![
            ("action", action.into()),
            ("addr", (0x7f00_0000_0000 + block % 4096 * (1 << 21)).into()),
            ("size", (512 + block % 1000 * 512).into()),
            ("stream", 0.into()),
            ("time_us", (1_759_252_584_204_770 + time).into()),
            ("frames", stacks[usize::try_from(block % 200).unwrap_or(0)].clone()),
        ])
    };
    let mut writer = Writer::new(protocol);
    writer.begin_dict();
    writer.key("segments");
    writer.value(&Py::List(vec![segment(
        0x7f00_0000_0000,
        4096 << 21,
        "large",
        Vec::new(),
    )]));
    writer.key("device_traces");
    writer.begin_list();
    writer.out.push(b'(');
    writer.begin_list();
    let mut batch = Vec::new();
    let n = i64::try_from(n).unwrap_or(0);
    // A block lives until the fifth block after it is allocated.
    for block in 0..n + 5 {
        if block < n {
            batch.push(event("alloc", block, 3 * block));
        }
        if block >= 5 {
            batch.push(event("free_completed", block - 5, 3 * block + 1));
        }
        if batch.len() >= 1000 {
            writer.batch(&batch);
            batch.clear();
        }
    }
    writer.batch(&batch);
    writer.out.push(b'e');
    writer.end_dict();
    writer.finish()
}

pub(crate) fn segment(address: i64, bytes: i64, kind: &str, blocks: Vec<Py>) -> Py {
    Py::Dict(vec![
        ("device", 0.into()),
        ("address", address.into()),
        ("total_size", bytes.into()),
        ("allocated_size", 0.into()),
        ("active_size", 0.into()),
        ("requested_size", 0.into()),
        ("stream", 0.into()),
        ("segment_type", kind.into()),
        ("segment_pool_id", Py::Tuple(vec![0.into(), 0.into()])),
        ("is_expandable", Py::Bool(kind == "expandable")),
        ("frames", Py::List(Vec::new())),
        ("blocks", Py::List(blocks)),
    ])
}
