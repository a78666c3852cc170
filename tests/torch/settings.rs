//! The text of the settings: its grammar, what versions know, what they refuse.

use highwater_torch::{OPTIONS, Settings, SettingsError, Version, findings, in_force, trial};
use proptest::prelude::*;

const MIB: u64 = 1 << 20;

fn parse(conf: &str) -> Settings {
    Settings::parse(conf, Version::NEWEST).unwrap_or_else(|error| panic!("{conf}: {error}"))
}

fn refusal(conf: &str, version: Version) -> String {
    match Settings::parse(conf, version) {
        Ok(settings) => panic!("{conf} is accepted: {settings:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn numbers_are_read_as_the_original_reads_them() {
    assert_eq!(parse("max_split_size_mb:+64").max_split, 64 * MIB);
    assert_eq!(parse("max_split_size_mb:64MB").max_split, 64 * MIB);
    assert_eq!(parse("max_split_size_mb:25.7").max_split, 25 * MIB);
    assert!(parse("max_split_size_mb:-1").max_split > 1 << 60, "it wraps around");
    for conf in [
        "max_split_size_mb:0x40",
        "max_split_size_mb:1e9",
        "max_split_size_mb:19",
    ] {
        assert!(refusal(conf, Version::NEWEST).contains("at least 20 MiB"), "{conf}");
    }
    assert!(parse("garbage_collection_threshold:0.5x").collection_threshold.eq(&0.5));
    assert!(parse("garbage_collection_threshold:0x.8").collection_threshold.eq(&0.5));
    for threshold in ["0", "1", "-0.5", "nan", "inf", "abc", "1e999", ".", "."] {
        refusal(&format!("garbage_collection_threshold:{threshold}"), Version::NEWEST);
    }
}

#[test]
fn separators_are_skipped_whatever_they_are() {
    let settings = parse(" max_split_size_mb , 64 : expandable_segments [ True ");
    assert_eq!((settings.max_split, settings.expandable), (64 * MIB, true));
    assert_eq!(settings.named, ["max_split_size_mb", "expandable_segments"]);
    assert_eq!(parse(""), Settings::new(Version::NEWEST));
    assert_eq!(parse("max_split_size_mb:64,max_split_size_mb:32,").max_split, 32 * MIB);
}

#[test]
fn divisions_come_in_lists() {
    let mut wanted = [0; 16];
    wanted[..=6].fill(8);
    wanted[8] = 4;
    wanted[10] = 2;
    wanted[11..].fill(1);
    assert_eq!(
        parse("roundup_power2_divisions:[64:8,256:4,1024:2,>:1]").divisions,
        wanted
    );
    assert_eq!(parse("roundup_power2_divisions:[>:4]").divisions[..2], [0, 4]);
    assert_eq!(parse("roundup_power2_divisions:[]").divisions, [0; 16]);
    let old = Settings::parse("roundup_power2_divisions:[64:8,>:2]", Version::Torch2_9).expect("right");
    assert_eq!(old.divisions[5..8], [8, 2, 2]);
    assert_eq!(parse("roundup_power2_divisions:[1048576:8]").divisions, [8; 16]);
    for list in ["[3:4]", "[0:4]", "[4:3]", "[4:4", "[x:4]"] {
        refusal(&format!("roundup_power2_divisions:{list}"), Version::NEWEST);
    }
}

#[test]
fn run_time_changes_reset_three_keys() {
    let mut settings = parse("max_split_size_mb:64,expandable_segments:True,garbage_collection_threshold:0.5");
    settings.apply("roundup_power2_divisions:4").expect("right");
    assert_eq!((settings.max_split, settings.expandable), (u64::MAX, true));
    assert!(settings.collection_threshold.eq(&0.0));
    assert_eq!(settings.named, ["expandable_segments", "roundup_power2_divisions"]);
    let before = settings.clone();
    settings.apply("max_split_size_mb:1").expect_err("it is too small");
    assert_eq!(settings, before);
}

#[test]
fn versions_know_their_keys() {
    let first = [
        ("max_split_size_mb:64", Version::Torch2_0),
        ("expandable_segments:True", Version::Torch2_1),
        ("release_lock_on_cudamalloc:True", Version::Torch2_2),
        ("max_non_split_rounding_mb:64", Version::Torch2_6),
        ("per_process_memory_fraction:0.5", Version::Torch2_10),
        ("large_segment_size_mb:64", Version::Torch2_11),
        ("throw_on_cudamalloc_oom:True", Version::Torch2_12),
        ("expandable_segments_reserve:2G", Version::Torch2_15),
    ];
    for (conf, since) in first {
        for version in Version::all().filter(|version| *version != Version::Npu) {
            let is_accepted = Settings::parse(conf, version).is_ok();
            assert_eq!(is_accepted, version >= since, "{conf} in {version}");
        }
    }
    assert!(refusal("large_segment_size_mb:64", Version::Torch2_9).contains("from torch 2.11 on"));
    assert!(refusal("max_split_size_mb:20", Version::Torch2_9).contains("at least 21 MiB"));
    assert!(refusal("page_size:1g", Version::NEWEST).contains("only torch_npu knows it"));
}

#[test]
fn torch_npu_refuses_pairs() {
    for other in ["max_split_size_mb:256", "garbage_collection_threshold:0.8"] {
        let text = refusal(&format!("{other},expandable_segments:True"), Version::Npu);
        assert!(text.contains("together with"), "{text}");
        Settings::parse(other, Version::Npu).expect("alone it is right");
    }
    for conf in [
        "page_size:2g",
        "base_addr_aligned_kb:17",
        "segment_size_mb:19",
        "backend:native",
    ] {
        refusal(conf, Version::Npu);
    }
}

#[test]
fn every_option_is_explained_and_its_default_is_what_it_says() {
    for option in &OPTIONS {
        assert!(
            option.about.ends_with('.') && !option.accepted.is_empty(),
            "{}",
            option.key
        );
        let is_known = Version::all().any(|version| option.is_known_to(version));
        assert!(is_known, "{}", option.key);
    }
}

#[test]
fn names_of_versions() {
    for version in Version::all() {
        assert_eq!(Version::named(version.name()), Some(version));
    }
    assert_eq!(Version::named("2.15.0+cu132"), Some(Version::Torch2_15));
    assert_eq!(Version::named("2.1.2"), Some(Version::Torch2_1));
    assert_eq!((Version::named("1.13"), Version::named("2.16")), (None, None));
}

/// A version, variables that are set, and the one whose text holds.
type InForce<'a> = (Version, &'a [(&'a str, &'a str)], Option<&'a str>);

#[test]
fn one_variable_is_in_force() {
    let (cuda, hip, common) = (
        "PYTORCH_CUDA_ALLOC_CONF",
        "PYTORCH_HIP_ALLOC_CONF",
        "PYTORCH_ALLOC_CONF",
    );
    let npu = "PYTORCH_NPU_ALLOC_CONF";
    let newest = Version::NEWEST;
    let cases: [InForce<'_>; 11] = [
        (newest, &[(cuda, "a"), (hip, "b"), (common, "c")], Some(cuda)),
        (newest, &[(hip, "b"), (common, "c")], Some(hip)),
        (newest, &[(common, "c")], Some(common)),
        (newest, &[(cuda, ""), (common, "c")], Some(cuda)),
        (newest, &[(hip, ""), (common, "c")], Some(hip)),
        (newest, &[(npu, "d")], None),
        (Version::Torch2_10, &[(common, "c")], Some(common)),
        (Version::Torch2_9, &[(hip, "b"), (common, "c")], None),
        (Version::Torch2_0, &[(cuda, "a"), (common, "c")], Some(cuda)),
        (Version::Npu, &[(npu, "d"), (cuda, "a")], Some(npu)),
        (Version::Npu, &[(common, "c")], Some(common)),
    ];
    for (version, set, wanted) in cases {
        let text_of = |name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, text)| *text);
        let found = in_force(version, text_of).expect("one is read");
        assert_eq!(found.map(|(name, _)| name), wanted, "{version} {set:?}");
    }
    assert_eq!(
        in_force(Version::Npu, |name| (name != cuda).then_some("a")),
        Err(SettingsError::BothVariables)
    );
}

#[test]
fn a_recorded_text_keeps_what_is_known_of_it() {
    let conf = "max_split_size_mb:64,of_tomorrow:[1:2,3:4],roundup_power2_divisions:[256:1,>:8],expandable_segments:2";
    let (settings, left_out) = Settings::parse_known(conf, Version::NEWEST);
    assert_eq!(settings.named, ["max_split_size_mb", "roundup_power2_divisions"]);
    let reasons: Vec<String> = left_out.iter().map(ToString::to_string).collect();
    assert!(
        reasons[0].contains("of_tomorrow") && reasons[1].contains("expandable_segments"),
        "{reasons:?}"
    );
}

#[test]
fn findings_name_pairs_and_keys_without_effect() {
    let cases = [
        ("", ""),
        (
            "expandable_segments:True,max_split_size_mb:64",
            "torch.expandable_with_max_split",
        ),
        ("garbage_collection_threshold:0.8", "torch.threshold_without_limit"),
        ("garbage_collection_threshold:0.8,per_process_memory_fraction:0.9", ""),
        ("max_non_split_rounding_mb:64", "torch.rounding_without_max_split"),
        ("pinned_use_background_threads:True", "torch.not_simulated"),
    ];
    for (conf, wanted) in cases {
        let rules: Vec<&str> = findings(&parse(conf)).iter().map(|finding| finding.rule).collect();
        assert_eq!(rules.join(" "), wanted, "{conf}");
    }
}

#[test]
fn values_in_force_are_listed() {
    let settings = parse("max_split_size_mb:64,roundup_power2_divisions:[256:1,512:2,>:8]");
    let values: Vec<String> = settings
        .values()
        .map(|(option, value)| format!("{}={value}", option.key))
        .collect();
    let wanted = "max_split_size_mb=64 max_non_split_rounding_mb=large_segment_size_mb large_segment_size_mb=20 \
                  garbage_collection_threshold=off roundup_power2_divisions=[256:1,512:2,1024:8,>:8] \
                  expandable_segments=False throw_on_cudamalloc_oom=False per_process_memory_fraction=1";
    assert_eq!(values.join(" "), wanted);
}

proptest! {
    /// The text of settings makes the same settings in every version that knows the keys.
    #[test]
    fn settings_are_written_and_read_again(
        divisions in prop::array::uniform16(prop::sample::select(vec![0, 0, 1, 4, 4, 4, 8])),
        (expandable, split, threshold) in (any::<bool>(), prop::sample::select(vec![u64::MAX, 64 << 20]), 0..9_u8),
        version in prop::sample::select(vec![Version::Torch2_9, Version::NEWEST]),
    ) {
        let mut settings = Settings::new(version);
        settings.divisions = divisions;
        settings.expandable = expandable;
        settings.max_split = split;
        settings.collection_threshold = f64::from(threshold) / 10.0;
        let mut again = Settings::parse(&settings.text(), version).expect("it is accepted");
        again.named.clear();
        prop_assert_eq!(again, settings);
    }

    /// Any text is accepted or refused with a sentence; what is accepted can be tried.
    #[test]
    fn any_text_is_answered(conf in "[a-z_0-9:,\\[\\]> .+-]{0,40}", at in 0..OPTIONS.len(), value in "[0-9TFruealse:,\\[\\]>.xen-]{0,12}") {
        for version in [Version::NEWEST, Version::Torch2_9, Version::FIRST, Version::Npu] {
            for text in [conf.clone(), format!("{}:{value}", OPTIONS[at].key)] {
                match Settings::parse(&text, version) {
                    Ok(settings) => {
                        trial(settings);
                    }
                    Err(SettingsError::UnknownKey { hint, .. }) => prop_assert!(!hint.is_empty()),
                    Err(error) => prop_assert!(!error.to_string().is_empty()),
                }
            }
        }
    }
}

/// What the parsers of released wheels say: `setting<tab>accept|refuse` for each version of the first line.
fn check_table(table: &str) -> usize {
    let mut lines = table.lines();
    let head = lines.next().unwrap_or("");
    let versions: Vec<Version> = head
        .split('\t')
        .skip(1)
        .map(|name| Version::named(name).unwrap_or_else(|| panic!("no version {name}")))
        .collect();
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in lines {
        let mut cells = line.split('\t');
        let setting = cells.next().unwrap_or("");
        for (version, cell) in versions.iter().zip(cells) {
            count += 1;
            let accepts = Settings::parse(setting, *version).is_ok();
            if accepts != (cell == "accept") {
                wrong.push(format!("{version} {setting}: {cell}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    count
}

#[test]
fn versions_know_the_keys_that_their_wheels_know() {
    let table = [
        "setting\t2.9.1\t2.10.0\t2.12.1\t2.13.0\t2.15.0\tnpu",
        "pinned_free_catch_all:True\trefuse\trefuse\taccept\taccept\taccept\trefuse",
        "pinned_max_cached_size_mb:0\trefuse\trefuse\trefuse\taccept\taccept\taccept",
        "pinned_max_round_threshold_mb:1\trefuse\trefuse\trefuse\taccept\taccept\taccept",
        "pinned_reserve_segment_size_mb:1\trefuse\taccept\taccept\taccept\taccept\taccept",
        "pinned_num_register_threads:8\taccept\taccept\taccept\taccept\taccept\trefuse",
        "pinned_use_hip_host_register:True\taccept\taccept\taccept\taccept\taccept\trefuse",
        "release_lock_on_hipmalloc:True\taccept\taccept\taccept\taccept\taccept\trefuse",
        "max_split_size_mb:99999999999999\trefuse\taccept\taccept\taccept\taccept\taccept",
        "max_split_size_mb:-1\taccept\taccept\taccept\taccept\taccept\taccept",
        "expandable_segments_reserve_by_class:0.5\trefuse\trefuse\trefuse\trefuse\trefuse\trefuse",
        "expandable_segments_reserve_by_class:[small:1G]\trefuse\trefuse\trefuse\trefuse\taccept\trefuse",
        "base_addr_aligned_kb:016\trefuse\trefuse\trefuse\trefuse\trefuse\trefuse",
    ];
    check_table(&table.join("\n"));
}

/// Answers of the parsers in `libc10_cuda` of the wheels, each setting in a fresh process.
#[test]
fn settings_are_read_as_in_the_wheels_of_2_0_to_2_8() {
    assert_eq!(check_table(include_str!("settings_of_wheels.tsv")), 936);
}

/// Up to 2.9 the separators are checked; later parsers skip whatever is there.
#[test]
fn separators_are_checked_up_to_2_9() {
    let table = [
        "setting\t2.0.1\t2.9.1\t2.10.0\t2.15.0",
        "max_split_size_mb,64\trefuse\trefuse\taccept\taccept",
        "max_split_size_mb:64:expandable_segments:True\trefuse\trefuse\taccept\taccept",
        "roundup_power2_divisions:[256;1]\trefuse\trefuse\trefuse\trefuse",
        "roundup_power2_divisions:[256:1:512:2]\trefuse\trefuse\taccept\taccept",
        // A later size does not excuse an earlier one.
        "max_split_size_mb:0,max_split_size_mb:64\trefuse\trefuse\trefuse\trefuse",
        "roundup_power2_divisions:4294967296\trefuse\trefuse\taccept\taccept",
    ];
    check_table(&table.join("\n"));
}

#[test]
fn every_setting_of_the_given_table_is_read_as_in_its_wheels() {
    let Some(folder) = std::env::var_os("HIGHWATER_SHARED") else {
        println!("skipped: HIGHWATER_SHARED is not set");
        return;
    };
    let file = std::path::Path::new(&folder).join("strangers/alloc_conf_real.tsv");
    let table = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    println!("{} settings compared", check_table(&table));
}
