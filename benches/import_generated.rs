//! Large files for the benches of importers: generated while they are read, or by small functions.

use std::io::{Error, ErrorKind, Read, Seek, SeekFrom};

/// Bytes of a row of [`Table`].
const ROW: u64 = 192;

/// Rows generated at once.
const BATCH: u64 = 512;

/// A profiler table whose rows all have the same length, so that any part of it can be generated again.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    at: u64,
    rows: u64,
    /// The current batch and its first row; empty at the start.
    batch: (u64, Vec<u8>),
}

const HEADER: &str = "Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Duration(us),\
    Active Duration(us),Allocation Total Allocated(MB),Allocation Total Reserved(MB),Allocation Total Active(MB),\
    Release Total Allocated(MB),Release Total Reserved(MB),Release Total Active(MB),Stream Ptr,Device Type\r\n";

impl Table {
    /// An `operator_memory.csv` of about that many bytes: blocks that overlap, two streams, trailing tabs, CRLF.
    pub(crate) fn operator_memory(bytes: u64) -> Self {
        Self {
            at: 0,
            rows: bytes / ROW,
            batch: (u64::MAX, Vec::new()),
        }
    }

    pub(crate) fn len(&self) -> u64 {
        HEADER.len() as u64 + self.rows * ROW
    }

    fn row(row: u64) -> String {
        let time = 1_700_000_000_000_000 + row * 7;
        let end = time + row % 97 * 11 + 1;
        let text = format!(
            "aten::op_{:03},{:05}.5,{time}.{:03}\t,{end}.720\t,{end}.310\t,11.250\t,10.750\t,{:03}.625,2048.0,{:03}.625,512.25,\
             2048.0,512.625,{},NPU:0",
            row % 311,
            row % 20_011,
            row % 1000,
            900 + row % 91,
            900 + row % 91,
            1_000_000_000 + row % 2,
        );
        let width = usize::try_from(ROW).unwrap_or(0) - 2;
        format!("{text:<width$}\r\n")
    }
}

impl Read for Table {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let header = HEADER.len() as u64;
        let (piece, from) = if self.at < header {
            (HEADER.as_bytes(), self.at)
        } else {
            let row = (self.at - header) / ROW;
            let first = row / BATCH * BATCH;
            if self.batch.0 != first {
                let rows = (first..self.rows.min(first + BATCH)).map(Self::row);
                self.batch = (first, rows.collect::<String>().into_bytes());
            }
            (self.batch.1.as_slice(), self.at - header - first * ROW)
        };
        let rest = usize::try_from(from)
            .ok()
            .and_then(|from| piece.get(from..))
            .unwrap_or_default();
        let n = rest.len().min(buffer.len());
        buffer[..n].copy_from_slice(&rest[..n]);
        self.at += n as u64;
        Ok(n)
    }
}

impl Seek for Table {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        let wanted = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.len().checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = wanted.ok_or_else(|| Error::from(ErrorKind::InvalidInput))?;
        Ok(self.at)
    }
}

fn varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(u8::try_from(number & 0x7f).unwrap_or(0) | 0x80);
        number >>= 7;
    }
    out.push(u8::try_from(number).unwrap_or(0));
}

fn int(out: &mut Vec<u8>, field: u64, number: u64) {
    varint(out, field << 3);
    varint(out, number);
}

fn bytes(out: &mut Vec<u8>, field: u64, content: &[u8]) {
    varint(out, field << 3 | 2);
    varint(out, content.len() as u64);
    out.extend_from_slice(content);
}

fn message(fill: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    fill(&mut out);
    out
}

/// An ONNX value of floats.
fn value(name: &str, dims: &[u64]) -> Vec<u8> {
    let shape = message(|out| {
        for dim in dims {
            bytes(out, 1, &message(|out| int(out, 1, *dim)));
        }
    });
    let tensor = message(|out| {
        int(out, 1, 1);
        bytes(out, 2, &shape);
    });
    message(|out| {
        bytes(out, 1, name.as_bytes());
        bytes(out, 2, &message(|out| bytes(out, 1, &tensor)));
    })
}

fn onnx(graph: &[u8]) -> Vec<u8> {
    message(|out| {
        int(out, 1, 8);
        bytes(out, 7, graph);
        bytes(out, 8, &message(|out| int(out, 2, 17)));
    })
}

/// A chain of `Relu` with attributes and texts of usual lengths.
pub(crate) fn onnx_nodes(n: u64) -> Vec<u8> {
    let graph = message(|out| {
        for node in 0..n {
            let content = message(|out| {
                bytes(out, 1, format!("/model/layers.{node}/mlp/act/output_0").as_bytes());
                bytes(
                    out,
                    2,
                    format!("/model/layers.{}/mlp/act/output_0", node + 1).as_bytes(),
                );
                bytes(out, 3, format!("/model/layers.{node}/mlp/act/Relu").as_bytes());
                bytes(out, 4, b"Relu");
                bytes(
                    out,
                    6,
                    b"a text that nobody reads, as exporters write one for each node",
                );
            });
            bytes(out, 1, &content);
        }
        bytes(out, 2, b"chain");
        bytes(out, 11, &value("/model/layers.0/mlp/act/output_0", &[4, 1024]));
        bytes(
            out,
            12,
            &value(&format!("/model/layers.{n}/mlp/act/output_0"), &[4, 1024]),
        );
    });
    onnx(&graph)
}

/// An ONNX model of `n` weights of `size` bytes each, and one op for each.
pub(crate) fn onnx_weights(n: u64, size: usize) -> Vec<u8> {
    let raw = vec![0x5a; size];
    let dims = size as u64 / 4;
    let graph = message(|out| {
        for weight in 0..n {
            let content = message(|out| {
                bytes(out, 1, format!("x{weight}").as_bytes());
                bytes(out, 1, format!("w{weight}").as_bytes());
                bytes(out, 2, format!("x{}", weight + 1).as_bytes());
                bytes(out, 4, b"Add");
            });
            bytes(out, 1, &content);
        }
        bytes(out, 2, b"weights");
        for weight in 0..n {
            let content = message(|out| {
                int(out, 1, dims);
                int(out, 2, 1);
                bytes(out, 8, format!("w{weight}").as_bytes());
                bytes(out, 9, &raw);
            });
            bytes(out, 5, &content);
        }
        bytes(out, 11, &value("x0", &[dims]));
        bytes(out, 12, &value(&format!("x{n}"), &[dims]));
    });
    onnx(&graph)
}

/// A `GraphDef` that is a chain of `Relu`.
pub(crate) fn graph_def_nodes(n: u64) -> Vec<u8> {
    let attribute = |key: &str, value: &[u8]| {
        message(|out| {
            bytes(out, 1, key.as_bytes());
            bytes(out, 2, value);
        })
    };
    let kind = attribute("T", &message(|out| int(out, 6, 1)));
    message(|out| {
        for node in 0..n {
            let content = message(|out| {
                bytes(out, 1, format!("model/layers_{node}/mlp/activation").as_bytes());
                if node == 0 {
                    bytes(out, 2, b"Placeholder");
                    bytes(out, 5, &attribute("dtype", &message(|out| int(out, 6, 1))));
                } else {
                    bytes(out, 2, b"Relu");
                    bytes(out, 3, format!("model/layers_{}/mlp/activation", node - 1).as_bytes());
                    bytes(out, 5, &kind);
                    bytes(out, 4, b"/job:localhost/replica:0/task:0/device:GPU:0");
                }
            });
            bytes(out, 1, &content);
        }
    })
}

/// A trace of ops and of memory events in the form of the PyTorch profiler.
pub(crate) fn chrome_trace(n: u64) -> String {
    let mut text = "{\"traceEvents\": [".to_owned();
    for event in 0..n {
        let at = 4_384_110_000_000 + event * 5;
        // Times are not ascending.
        let at = if event % 3 == 0 { at + 40 } else { at };
        let block = event / 4;
        let comma = if event + 1 < n { "," } else { "" };
        text.push_str(&match event % 4 {
            0 | 1 => {
                let size = if event % 4 == 0 { 4096 } else { -4096 };
                format!(
                    "{{\"ph\": \"i\", \"name\": \"[memory]\", \"pid\": 1, \"tid\": {}, \"ts\": {at}.678, \"args\": {{\"Addr\": {}, \
                     \"Bytes\": {size}, \"Total Allocated\": 37632, \"Total Reserved\": 0, \"Device Type\": 0, \"Device Id\": -1}}}}{comma}\n",
                    block % 3,
                    block % 999 + 1,
                )
            }
            _ => format!(
                "{{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::op{}\", \"pid\": 1, \"tid\": {}, \"ts\": {at}.1, \"dur\": \
                 9.893}}{comma}\n",
                event % 57,
                block % 3,
            ),
        });
    }
    text.push_str("]}");
    text
}
