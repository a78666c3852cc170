//! Fields of a protobuf message whose first bytes are in memory, for detection by the shape of a format's fields.

/// The most fields that are read.
const MAX_FIELDS: usize = 4096;

/// A field, with its bytes as far as the head has them. A field whose header is cut off has number 0 and layout 2.
pub(super) struct HeadField<'a> {
    pub(super) number: u64,
    /// 0 varint, 1 eight bytes, 2 length and bytes, 5 four bytes.
    pub(super) layout: u64,
    /// The value of a varint, else the stated length.
    pub(super) value: u64,
    pub(super) bytes: &'a [u8],
}

/// The fields of a message that begins with these bytes, up to their end or the first damage, which is `None`.
pub(super) fn fields(mut rest: &[u8]) -> impl Iterator<Item = Option<HeadField<'_>>> {
    let mut is_over = false;
    let step = move || {
        if is_over || rest.is_empty() {
            return None;
        }
        let found = field(&mut rest);
        is_over = found.is_none();
        Some(found)
    };
    std::iter::from_fn(step).take(MAX_FIELDS)
}

fn field<'a>(rest: &mut &'a [u8]) -> Option<HeadField<'a>> {
    let Some(tag) = varint(rest) else {
        return is_cut(rest).then_some(HeadField {
            number: 0,
            layout: 2,
            value: 0,
            bytes: &[],
        });
    };
    let (number, layout) = (tag >> 3, tag & 7);
    let value = match layout {
        0 | 2 => varint(rest).or_else(|| is_cut(rest).then_some(0))?,
        1 => 8,
        5 => 4,
        _ => return None,
    };
    if number == 0 {
        return None;
    }
    let len = if layout == 0 {
        0
    } else {
        usize::try_from(value).unwrap_or(usize::MAX)
    };
    let (bytes, behind) = rest.split_at(len.min(rest.len()));
    *rest = behind;
    Some(HeadField {
        number,
        layout,
        value,
        bytes,
    })
}

/// Whether only the beginning of a varint is left, because the head was cut off.
fn is_cut(rest: &[u8]) -> bool {
    rest.len() < 10 && rest.iter().all(|byte| byte & 0x80 != 0)
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for (turn, byte) in rest.iter().take(10).enumerate() {
        value |= u64::from(byte & 0x7f) << (turn * 7).min(63);
        if byte & 0x80 == 0 {
            *rest = &rest[turn + 1..];
            return Some(value);
        }
    }
    None
}
