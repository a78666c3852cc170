//! The syntax of `simulation.occupied_memory`: memory that other processes hold, by device.
//!
//! ```text
//! 0:2GiB,1:512MiB        list = (id ':' size (',' id ':' size)*)?
//! ```

use std::collections::BTreeMap;

use highwater_model::units::Bytes;

/// Reads `ID:SIZE,ID:SIZE` into bytes by device id; an empty text is an empty map. Blanks are ignored.
///
/// # Errors
/// The end of a sentence.
pub fn occupied_memory(text: &str) -> Result<BTreeMap<u32, Bytes>, String> {
    let mut occupied = BTreeMap::new();
    if text.trim().is_empty() {
        return Ok(occupied);
    }
    for part in text.split(',') {
        let part = part.trim();
        let (id, size) = part
            .split_once(':')
            .ok_or_else(|| format!("\"{part}\" is not ID:SIZE, e.g. 0:2GiB"))?;
        let id: u32 = id
            .trim()
            .parse()
            .map_err(|error| format!("\"{}\" is not a device id ({error}): use 0, 1, 2", id.trim()))?;
        let bytes = Bytes::parse(size.trim()).map_err(|error| {
            format!(
                "\"{}\" is not a size ({error}): use bytes or a unit (2GiB)",
                size.trim()
            )
        })?;
        if occupied.insert(id, bytes).is_some() {
            return Err(format!("device {id} is listed twice: give each device one size"));
        }
    }
    Ok(occupied)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_have_one_size_each() {
        let read = occupied_memory(" 0:2GiB, 3 : 1024 ").expect("a right text");
        assert_eq!(read, BTreeMap::from([(0, Bytes::gib(2)), (3, Bytes(1024))]));
        assert!(occupied_memory("").is_ok_and(|read| read.is_empty()));
        for (text, part) in [
            ("0", "ID:SIZE"),
            ("a:1", "device id"),
            ("-1:1", "device id"),
            ("0:big", "not a size"),
            ("0:1,0:2", "twice"),
            ("0:1,", "ID:SIZE"),
        ] {
            let error = occupied_memory(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
