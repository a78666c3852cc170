//! `highwater devices`: the device profiles, each figure with its unit and with what it rests on.

use super::args::{DevicesArgs, Format};
use super::settings::apply_edits;
use super::text::Table;
use super::{Verdict, print, print_json};
use highwater_export::WireDevices;
use highwater_model::workload::{Device, DeviceFigure, DeviceProfiles};
use highwater_options::{Environment, Options, keys, resolve_device};

/// Runs the command.
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
            let texts: Vec<String> = devices.iter().map(text).collect();
            print(&texts.join("\n"))?;
        }
        Format::Json => print_json(&WireDevices::new(&devices))?,
        format => return Err(format.refusal()),
    }
    Ok(Verdict::Done)
}

fn text(device: &Device) -> String {
    let mut table = Table::new(&["figure", ">value", ">exact", "basis"]);
    for figure in DeviceFigure::ALL {
        let value = device.figure(figure);
        table.row(vec![
            figure.label().to_owned(),
            figure.unit().text(value),
            figure.unit().exact(value),
            device.basis(figure).sentence(),
        ]);
    }
    format!("{}: {}\n{}", device.name, device.summary, table.text())
}
