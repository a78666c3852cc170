//! Which device a session runs on, and what others hold there.

use std::collections::BTreeMap;

use super::environment::Environment;
use super::rows::keys;
use super::store::Options;
use crate::units::Bytes;

/// Variables that name a device, the stronger one first.
const VARIABLES: [&str; 2] = ["ASCEND_DEVICE_ID", "DEVICE_ID"];

/// The id of the device: the option's, else the first variable's that is a number, else 0.
/// Source: the adapter's order of precedence.
pub fn effective_device_id(options: &Options, environment: &Environment) -> u32 {
    let option = options.acting(keys::SESSION_DEVICE_ID).as_int();
    let option = option.and_then(|id| u32::try_from(id).ok());
    let variable = || {
        VARIABLES
            .iter()
            .filter_map(|name| environment.get(name))
            .find_map(|text| text.trim().parse().ok())
    };
    option.or_else(variable).unwrap_or(0)
}

/// Reads `ID:SIZE,ID:SIZE`, such as `0:2GiB,1:512MiB`; an empty text says nothing about any device.
///
/// # Errors
/// The part that does not fit, what is wrong with it and what to write.
pub fn occupied_memory(text: &str) -> Result<BTreeMap<u32, Bytes>, String> {
    let mut by_device = BTreeMap::new();
    for part in text.split(',').map(str::trim).filter(|_| !text.trim().is_empty()) {
        let wrong = |what: &str| format!("\"{part}\" {what}: write a device id, a colon and a size, such as 0:2GiB");
        let (id, size) = part.split_once(':').ok_or_else(|| wrong("has no colon"))?;
        let id: u32 = id.trim().parse().map_err(|_error| wrong("starts with no device id"))?;
        let size = Bytes::parse(size.trim()).map_err(|_error| wrong("ends with no size"))?;
        if by_device.insert(id, size).is_some() {
            return Err(format!("device {id} stands twice: write it once, with the sum of both"));
        }
    }
    Ok(by_device)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn occupied_memory_is_read_by_device() {
        let read = occupied_memory(" 0:2GiB, 3 : 512 MiB").expect("two devices");
        assert_eq!(read, BTreeMap::from([(0, Bytes::gib(2)), (3, Bytes::mib(512))]));
        assert_eq!(occupied_memory(" "), Ok(BTreeMap::new()));
        for (text, part) in [
            ("2GiB", "no colon"),
            ("a:2GiB", "no device id"),
            ("0:much", "no size"),
            ("-1:2GiB", "no device id"),
            ("0:1,0:2", "stands twice"),
            ("0:1,", "no colon"),
        ] {
            let error = occupied_memory(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn the_option_is_stronger_than_the_variables() {
        let mut options = Options::new();
        let mut environment = Environment::new();
        assert_eq!(effective_device_id(&options, &environment), 0);
        environment.set("DEVICE_ID", "3");
        assert_eq!(effective_device_id(&options, &environment), 3);
        environment.set("ASCEND_DEVICE_ID", "no number");
        assert_eq!(effective_device_id(&options, &environment), 3);
        environment.set("ASCEND_DEVICE_ID", "2");
        assert_eq!(effective_device_id(&options, &environment), 2);
        assert!(options.set_text("session_device_id", "1").is_ok());
        assert_eq!(effective_device_id(&options, &environment), 1);
        assert!(options.set_text("session_device_id", "-1").is_ok());
        assert_eq!(effective_device_id(&options, &environment), 2);
    }
}
