//! `highwater devices`: the device profiles, each figure with its unit and its basis.

use super::args::{DevicesArgs, Format};
use super::settings::apply_edits;
use super::{Verdict, print, print_json};
use highwater_export::{device_text, devices_json};
use highwater_model::workload::DeviceProfiles;
use highwater_options::{Environment, Options, keys, resolve_device};

pub(super) fn run(args: &DevicesArgs) -> anyhow::Result<Verdict> {
    let mut options = Options::default();
    apply_edits(&args.edits, &mut options, &mut Environment::default())?;
    let profiles = DeviceProfiles::bundled()?.profiles;
    let names: Vec<String> = match &args.device {
        Some(name) => vec![name.clone()],
        None => profiles.into_iter().map(|profile| profile.name).collect(),
    };
    let mut devices = Vec::with_capacity(names.len());
    for name in &names {
        options.set_text(keys::DEVICE, name)?;
        devices.push(resolve_device(&options)?);
    }
    match args.format {
        Format::Text => {
            let texts: Vec<String> = devices.iter().map(device_text).collect();
            print(&texts.join("\n"))?;
        }
        Format::Json => print_json(&devices_json(&devices))?,
        format => return Err(format.refusal()),
    }
    Ok(Verdict::Done)
}
