//! Defaults of frameworks: which act, where they come from, how files carry them.

use std::path::Path;

use highwater::export::CheckReport;
use highwater::options::{
    ChosenFramework, DefaultOrigin, Environment, Framework, GE_USE_STATIC_MEMORY, NoFiles, Options, clears_separately,
    effective_policy, keys, policy_default,
};
use highwater::script::{ConfigDocument, ConfigExport, ConfigForm, from_json, read_config, to_json};

fn options_of(framework: Framework, settings: &[(&str, &str)]) -> Options {
    let mut options = Options::new();
    options.set_framework(Some(ChosenFramework {
        framework,
        condition: None,
    }));
    for (key, text) in settings {
        options.set_text(key, text).unwrap();
    }
    options
}

#[test]
fn settings_act_before_the_defaults_of_a_framework() {
    let variable = |text: &str| {
        let mut environment = Environment::new();
        environment.set(GE_USE_STATIC_MEMORY, text);
        environment
    };
    let none = Environment::new();
    for (settings, environment, policy) in [
        (&[][..], &none, 2),
        (&[(keys::ENGINE_STATIC_MEMORY_POLICY, "3")], &none, 3),
        (&[(keys::STATIC_MEMORY_POLICY, "4")], &none, 4),
        (&[(keys::STATIC_MEMORY_POLICY, "0")], &none, 0),
        (&[(keys::PRECISION_MODE, "force_fp32")], &none, 2),
        // GE combines the variable with the option.
        (&[], &variable("3"), 4),
        (&[], &variable("0"), 2),
    ] {
        for framework in [Framework::Torchair, Framework::MindSpore, Framework::MindSporeLite] {
            let options = options_of(framework, settings);
            let found = effective_policy(&options, environment).number();
            assert_eq!(found, policy, "{framework:?} {settings:?} {environment:?}");
        }
    }
    let torchair = options_of(Framework::Torchair, &[]);
    assert!(clears_separately(&torchair) && !clears_separately(&options_of(Framework::MindSporeLite, &[])));
    assert!(!torchair.is_empty() && torchair.overrides().next().is_none());
}

#[test]
fn a_default_states_its_origin() {
    let origin = |options: &Options| policy_default(options, &Environment::new()).map(|default| default.origin);
    assert_eq!(origin(&Options::new()), Some(DefaultOrigin::Documents));
    let torchair = options_of(Framework::Torchair, &[]);
    assert_eq!(origin(&torchair), Some(DefaultOrigin::Framework(Framework::Torchair)));
    assert_eq!(
        origin(&options_of(Framework::Torchair, &[(keys::STATIC_MEMORY_POLICY, "3")])),
        None
    );
    let of = |key: &str| torchair.default_of(key).unwrap();
    assert_eq!(of("horovod_mode").origin, DefaultOrigin::Adapter);
    assert_eq!(of(keys::DEVICE).origin, DefaultOrigin::Simulation);
    assert_eq!(of(keys::PRECISION_MODE).origin, DefaultOrigin::Documents);
    assert!(of(keys::ENGINE_STATIC_MEMORY_POLICY).source.contains("torch_npu 2.14"));
    assert_eq!(torchair.default_of("nothing"), None);

    let report = CheckReport::of(&torchair, &Environment::new(), &NoFiles);
    assert_eq!(report.framework_defaults.len(), 2);
    let with_field = options_of(Framework::Torchair, &[(keys::STATIC_MEMORY_POLICY, "3")]);
    assert_eq!(with_field.framework_defaults().len(), 1);
    assert_eq!(report.policy.number(), 2);
}

#[test]
fn files_carry_the_framework() {
    let script = "import torchair\nbackend = torchair.get_npu_backend()\n";
    let (document, _) = read_config("a.py", script.as_bytes()).unwrap();
    let json = to_json(&document);
    let (read, remarks) = from_json(json.as_bytes()).unwrap();
    assert!(remarks.entries().is_empty(), "{remarks:?}");
    assert_eq!(read.options, document.options, "{json}");
    let unknown = json.replace("\"torchair\"", "\"another\"");
    let (read, remarks) = from_json(unknown.as_bytes()).unwrap();
    assert!(read.options.is_empty() && remarks.entries().len() == 1, "{remarks:?}");

    let document = ConfigDocument {
        options: options_of(Framework::MindSpore, &[(keys::PRECISION_MODE, "force_fp32")]),
        ..ConfigDocument::new()
    };
    let export = ConfigExport::of_form(ConfigForm::Python, &document, Path::new("out.py"), Vec::new());
    assert!(
        export.notes.iter().any(|note| note.contains("by default of MindSpore")),
        "{:?}",
        export.notes
    );
    let text = &export.files[0].text;
    assert!(!text.contains("static_memory_policy"), "{text}");
    let (read, _) = read_config("out.py", text.as_bytes()).unwrap();
    assert_eq!(read.options, document.options, "{text}");
}

#[test]
fn a_condition_of_the_framework_is_one_of_the_policy() {
    let script = "import torchair\nconfig = torchair.CompilerConfig()\nconfig.mode = read()\n\
                  backend = torchair.get_npu_backend(compiler_config=config)\n";
    let (document, _) = read_config("a.py", script.as_bytes()).unwrap();
    let report = CheckReport::of(&document.options, &document.environment, &NoFiles);
    assert_eq!(report.policy.number(), 2);
    assert_eq!(report.policy_conditions.len(), 1);
    assert!(report.policy_conditions[0].text.contains("read()"), "{report:?}");
}
