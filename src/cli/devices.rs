//! `highwater devices`: the device profiles, each figure with its unit and its basis.

use super::Verdict;
use super::args::{DevicesArgs, Format};
use super::settings::apply_edits;
use super::text::print_answer;
use highwater_export::DevicesAnswer;
use highwater_model::workload::DeviceProfiles;
use highwater_options::{Environment, Options, keys, resolve_device};

pub(super) fn run(args: &DevicesArgs) -> anyhow::Result<Verdict> {
    args.format.check(&[Format::Text, Format::Json])?;
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
    print_answer(&DevicesAnswer(&devices), args.format, false)?;
    Ok(Verdict::Done)
}
