//! A picture as a PNG file.
//!
//! In: pixels, eight bits each of red, green, blue and opacity. Out: the bytes of the file, the same ones every time. Each
//! row is filtered in the way that leaves the smallest bytes, which pictures of windows pack well with.

use std::io::Write as _;

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

/// Pixels from the top left, row by row.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Four bytes a pixel.
    pub rgba: Vec<u8>,
}

impl std::fmt::Debug for Picture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Picture {} x {}", self.width, self.height)
    }
}

/// Bytes of a pixel.
const PIXEL: usize = 4;

/// The file. O(pixels).
///
/// # Errors
/// A sentence, for a picture without pixels or with more or fewer bytes than it states.
pub fn png(picture: &Picture) -> Result<Vec<u8>, String> {
    let row = picture.width as usize * PIXEL;
    if row == 0 || picture.height == 0 {
        return Err("there is nothing to see of it, so no picture is written".to_owned());
    }
    if picture.rgba.len() != row * picture.height as usize {
        return Err("the picture does not have as many pixels as it states".to_owned());
    }
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::default());
    let above_first = vec![0; row];
    let mut above = &above_first[..];
    for line in picture.rgba.chunks_exact(row) {
        // Writing to memory cannot fail.
        packed
            .write_all(&filtered(line, above))
            .map_err(|error| error.to_string())?;
        above = line;
    }
    let packed = packed.finish().map_err(|error| error.to_string())?;
    let mut header = Vec::with_capacity(13);
    header.extend_from_slice(&picture.width.to_be_bytes());
    header.extend_from_slice(&picture.height.to_be_bytes());
    // Eight bits, colour with opacity, and the only ways there are to pack, filter and order.
    header.extend_from_slice(&[8, 6, 0, 0, 0]);
    let mut file = vec![0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n'];
    let chunks: [(&[u8], &[u8]); 3] = [(b"IHDR", &header), (b"IDAT", &packed), (b"IEND", &[])];
    for (name, content) in chunks {
        add_chunk(&mut file, name, content)?;
    }
    Ok(file)
}

fn add_chunk(file: &mut Vec<u8>, name: &[u8], content: &[u8]) -> Result<(), String> {
    let length =
        u32::try_from(content.len()).map_err(|_too_long| "the picture is too large for a PNG file".to_owned())?;
    let mut crc = Crc::new();
    crc.update(name);
    crc.update(content);
    file.extend_from_slice(&length.to_be_bytes());
    file.extend_from_slice(name);
    file.extend_from_slice(content);
    file.extend_from_slice(&crc.sum().to_be_bytes());
    Ok(())
}

/// A row behind the number of its filter: as it is (0), less the pixel before (1), less the pixel above (2).
fn filtered(line: &[u8], above: &[u8]) -> Vec<u8> {
    let plain = line.to_vec();
    let before = [0; PIXEL].iter().chain(line);
    let sub: Vec<u8> = line
        .iter()
        .zip(before)
        .map(|(own, before)| own.wrapping_sub(*before))
        .collect();
    let up: Vec<u8> = line
        .iter()
        .zip(above)
        .map(|(own, above)| own.wrapping_sub(*above))
        .collect();
    let weight = |bytes: &[u8]| -> u64 {
        bytes
            .iter()
            .map(|byte| u64::from(byte.cast_signed().unsigned_abs()))
            .sum()
    };
    let ways = [(0_u8, plain), (1, sub), (2, up)];
    let best = ways.into_iter().min_by_key(|(number, bytes)| (weight(bytes), *number));
    let (number, bytes) = best.unwrap_or((0, Vec::new()));
    let mut row = Vec::with_capacity(bytes.len() + 1);
    row.push(number);
    row.extend_from_slice(&bytes);
    row
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::Crc;
    use flate2::read::ZlibDecoder;
    use proptest::prelude::*;

    use super::{PIXEL, Picture, png};

    /// Reads such a file again, checking everything.
    fn read(file: &[u8]) -> Picture {
        assert_eq!(&file[..8], b"\x89PNG\r\n\x1a\n");
        let (mut rest, mut chunks) = (&file[8..], Vec::new());
        while !rest.is_empty() {
            let length = u32::from_be_bytes(rest[..4].try_into().expect("four bytes")) as usize;
            let (named, behind) = rest[4..].split_at(4 + length);
            let mut crc = Crc::new();
            crc.update(named);
            assert_eq!(behind[..4], crc.sum().to_be_bytes());
            chunks.push((&named[..4], &named[4..]));
            rest = &behind[4..];
        }
        let names: Vec<&[u8]> = chunks.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, [b"IHDR", b"IDAT", b"IEND"]);
        let header = chunks[0].1;
        assert_eq!(header[8..], [8, 6, 0, 0, 0]);
        let number = |at: usize| u32::from_be_bytes(header[at..at + 4].try_into().expect("four bytes"));
        let (width, height) = (number(0), number(4));
        let mut bytes = Vec::new();
        ZlibDecoder::new(chunks[1].1)
            .read_to_end(&mut bytes)
            .expect("it is written and read");
        let row = width as usize * PIXEL;
        let mut rgba: Vec<u8> = Vec::new();
        for line in bytes.chunks(row + 1) {
            for (at, byte) in line[1..].iter().enumerate() {
                let above = rgba.len().checked_sub(row).map_or(0, |at| rgba[at]);
                let before = if at < PIXEL { 0 } else { rgba[rgba.len() - PIXEL] };
                rgba.push(byte.wrapping_add([0, before, above][usize::from(line[0])]));
            }
        }
        Picture { width, height, rgba }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(
            width in 1_u32..9,
            height in 1_u32..9,
            kinds in proptest::collection::vec(0_u8..4, 81),
            noise in any::<[u8; 16]>(),
        ) {
            let pixels = (0..width * height).flat_map(|at| {
                let kind = kinds[at as usize];
                [noise[usize::from(kind)], kind, noise[(at % 16) as usize], 255]
            });
            let picture = Picture { width, height, rgba: pixels.collect() };
            let file = png(&picture).expect("it is written and read");
            prop_assert_eq!(read(&file), picture.clone());
            prop_assert_eq!(png(&picture).expect("it is written and read"), file);
        }
    }

    #[test]
    fn a_picture_without_pixels_is_refused() {
        let picture = |width, height, bytes| Picture {
            width,
            height,
            rgba: vec![0; bytes],
        };
        for odd in [picture(0, 4, 0), picture(4, 0, 0), picture(2, 2, 12), picture(1, 1, 5)] {
            assert!(png(&odd).is_err(), "{odd:?}");
        }
    }
}
