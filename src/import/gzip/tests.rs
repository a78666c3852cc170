//! Packed files: jumps, limits, damage, padding.

use std::io::{Cursor, Write as _};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;
use highwater_model::progress::Cancel;

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory can be written");
    encoder.finish().expect("memory can be written")
}

fn plain(n: usize) -> Vec<u8> {
    (0..n).map(|at| u8::try_from(at * 7 % 251).unwrap_or(0)).collect()
}

fn read_at(reader: &mut Unpacking<'_>, at: u64, n: u64) -> std::io::Result<Vec<u8>> {
    reader.seek(SeekFrom::Start(at))?;
    let mut bytes = Vec::new();
    reader.take(n).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[test]
fn jumps_forth_and_back_find_the_same_bytes() {
    let bytes = plain(3 * PIECE + 17);
    // Two members, one after the other, are one content.
    let mut file = packed(&bytes[..PIECE]);
    file.extend(packed(&bytes[PIECE..]));
    let mut file = Cursor::new(file);
    let cancel = Cancel::new();
    let len = bytes.len() as u64;
    let mut reader = Unpacking::new(&mut file, len, Progress::silent(&cancel));
    assert_eq!(reader.seek(SeekFrom::End(0)).ok(), Some(len));
    let places = [
        0,
        2 * PIECE + 1,
        5,
        2 * PIECE + 9,
        bytes.len() - 3,
        0,
        PIECE,
        7,
        bytes.len(),
        PIECE + 3,
        1,
    ];
    for at in places {
        let found = read_at(&mut reader, at as u64, 100).expect("whole");
        let end = bytes.len().min(at + 100);
        assert_eq!(found, bytes[at..end], "from {at}");
    }
    assert!(matches!(reader.content, Content::Memory(_)), "often enough");
    assert_eq!(reader.restarts, MOST_RESTARTS + 1);
}

#[test]
fn a_large_content_that_is_jumped_about_in_is_refused() {
    let mut file = Cursor::new(packed(&plain(PIECE * 2)));
    let cancel = Cancel::new();
    let mut reader = Unpacking::new(&mut file, UNPACK_LIMIT + 1, Progress::silent(&cancel));
    let error = (0..10_u64).find_map(|turn| {
        let at = if turn % 2 == 0 { PIECE as u64 + 5 } else { 0 };
        read_at(&mut reader, at, 10).err()
    });
    assert!(error.is_some_and(|error| error.to_string().contains("unpack it")));
}

#[test]
fn a_large_file_is_read_as_it_is_unpacked() {
    let small = usize::try_from(SMALL).expect("fits");
    let cancel = Cancel::new();
    for n in [small - 1, small, small + 1] {
        let mut input = Input::from_bytes("x.gz", packed(&plain(n))).expect("readable");
        let progress = Progress::silent(&cancel);
        let whole = unpack(&mut input, &progress).and_then(|mut unpacked| unpacked.input.read_all(&progress));
        assert_eq!(whole.map(|bytes| bytes.len()).ok(), Some(n), "at the border");
    }
    let n = small + 5;
    let bytes = plain(n);
    let progress = Progress::silent(&cancel);
    let mut input = Input::from_bytes("x.json.gz", packed(&bytes)).expect("readable");
    let mut unpacked = unpack(&mut input, &progress).expect("whole").input;
    assert_eq!((unpacked.name(), unpacked.len()), ("x.json", n as u64));
    assert_eq!(unpacked.read_all(&progress).expect("whole"), bytes);
    cancel.cancel();
    let mut byte = [0];
    let read = unpacked.reader().expect("there").read(&mut byte);
    assert!(read.is_err_and(|error| error.to_string().contains("cancelled")));
}

#[test]
fn damage_is_told_before_anything_is_read() {
    let mut file = packed(&plain(5000));
    let end = file.len();
    file[end - 6] ^= 1;
    let cancel = Cancel::new();
    let mut input = Input::from_bytes("x.gz", file).expect("readable");
    let error = unpack(&mut input, &Progress::silent(&cancel))
        .map(|_| ())
        .expect_err("damaged");
    let expected = format!("at byte {end} of the packed file, behind 5\u{a0}000 unpacked bytes");
    assert!(error.to_string().contains("gzip data are damaged"), "{error}");
    assert!(error.to_string().contains(&expected), "{error}");
}

#[test]
fn places_in_the_content_say_that_they_are_of_it() {
    let cancel = Cancel::new();
    let said = |bytes: &[u8]| {
        let mut input = Input::from_bytes("x.gz", packed(bytes)).expect("readable");
        let read = crate::import(&mut input, &Progress::silent(&cancel));
        read.map(|_| ()).expect_err("damaged").to_string()
    };
    let cut = said(b"graph { op { name: 'a' type: 'A' output_desc { dtype: DT_FLOAT } ");
    assert!(
        cut.contains("the file ends at byte 65") && cut.contains("in the unpacked content"),
        "{cut}"
    );
    let odd = said(b"graph { op { name: 'a' type: 'A' output_desc { dtype: DT_FLOAT } ] }");
    assert!(odd.contains("byte 65 of the unpacked content"), "{odd}");
}

#[test]
fn zeros_behind_the_end_are_padding_and_nothing_else_is() {
    let cancel = Cancel::new();
    let read = |behind: &[u8]| {
        let mut file = packed(&plain(50));
        file.extend(behind);
        let mut input = Input::from_bytes("x.gz", file).expect("readable");
        let unpacked = unpack(&mut input, &Progress::silent(&cancel));
        unpacked.map(|unpacked| (unpacked.input.len(), unpacked.padding))
    };
    assert_eq!(read(b"").ok(), Some((50, 0)));
    assert_eq!(read(&vec![0; 100_000]).ok(), Some((50, 100_000)));
    assert_eq!(read(&packed(&plain(7))).ok(), Some((57, 0)));
    assert_eq!(read(&[packed(&plain(7)), vec![0; 3]].concat()).ok(), Some((57, 3)));
    let end = packed(&plain(50)).len();
    for (behind, at) in [
        (&b"x"[..], end),
        (&[0, 0, 9], end + 2),
        (&[&[0][..], &packed(b"y")].concat(), end + 1),
    ] {
        let error = read(behind).expect_err("no padding").to_string();
        let expected = format!("byte {at} of the packed file, behind 50 unpacked bytes");
        assert!(error.contains("no padding") && error.contains(&expected), "{error}");
    }
    let error = read(&[0x1f, 0x8b, 8]).expect_err("cut off").to_string();
    assert!(error.contains("cut off"), "{error}");
}
