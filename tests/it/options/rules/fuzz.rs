//! Random settings: no rule panics, answers are deterministic, and every finding names a setting.

use highwater::export::{Answer as _, CheckReport};
use highwater::options::{ENVIRONMENT, FileState, Float, TABLE, Value, check, lower, paths_of, resolve_device};

use super::Settings;

/// Number of random settings.
const ROUNDS: usize = 100_000;

const TEXTS: [&str; 32] = [
    "",
    "abc",
    "2",
    "Host",
    "force_fp16",
    "fp16",
    "None",
    "1GiB",
    "-1",
    "\u{1F600}",
    "generic-32GB",
    "9e99",
    "a\nb.",
    "/file",
    "/file",
    "/folder",
    "data:[1],[2~3]",
    "data:-1,3;x:2",
    "1,2;3,4",
    "0|5|10-20",
    "mixed_float16",
    "A:1,B:99999999999999999999",
    "8|16",
    "cv",
    "0:1GiB,1:2",
    "[\"a\"]",
    "{\"cluster\": {\"ps\": []}}",
    "{\"cluster\": [",
    "1",
    "0",
    "600",
    "18446744073709551616",
];

const CONTENTS: [&str; 12] = [
    "",
    "op_debug_config=oom,ccec_O0\n",
    "op_debug_config=oom\nop_debug_list=A,OpType::\n=\n",
    "{\"black-list\": {\"to-add\": [\"A\" \"B\"]}, 5: 6}",
    "{\"feature\": [\"deeper_opat\", \"nonhomo_split\", 7], \"\\ud800\": \"\\",
    "{\"Switch\": {\"GraphFusion\": {\"ALL\": \"off\"}, \"UBFusion\": []}}",
    "[op_compiler_cache]\nmax_op_cache_size=99999999999999999999\nremain_cache_size_ratio=50",
    "[ByOpType]\nA=high_precision\n[]\n[x\n]=[",
    "OpType::Relu:InputDtype:float16,OutputDtype:\nx::OutputDtype:int8\n::InputDtype:\n",
    "\u{feff}// only\r\n/* a comment",
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    "\u{1F600}\u{0}",
];

/// A small generator of numbers (xorshift), so that failures repeat.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }

    fn of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    fn value(&mut self) -> Value {
        const INTS: [i64; 12] = [0, 1, 2, 3, 4, 5, -1, 8, 17_341, i64::MIN, i64::MAX, 33_554_433];
        const EXPRESSIONS: [&str; 5] = [
            "strategy",
            "ParameterServerStrategy()",
            "DumpConfig(x)",
            "GraphMemoryOptimizeConfig(\"a\",",
            "GraphMemoryOptimizeConfig(,'')",
        ];
        match self.below(12) {
            0 => Value::Bool(self.below(2) == 0),
            1 | 2 => Value::Int(self.of(&INTS)),
            3 => Float::new(self.of(&[-0.5, 0.0, 1e300, 2.0])).map_or(Value::Unset, Value::Float),
            4 => Value::Unset,
            5 => Value::List((0..self.below(3)).map(|_| self.value()).collect()),
            6 => Value::Tuple((0..self.below(3)).map(|_| self.value()).collect()),
            7 => Value::Python(self.of(&EXPRESSIONS).to_owned()),
            _ => Value::from(self.of(&TEXTS)),
        }
    }

    fn state(&mut self) -> FileState {
        match self.below(8) {
            0 => FileState::Missing,
            1 => FileState::Unknown,
            2 => FileState::Directory {
                is_writable: self.below(2) == 0,
            },
            3 => FileState::Unreadable("no\nway".to_owned()),
            4 => FileState::File(
                (0..self.below(40))
                    .map(|_| u8::try_from(self.below(256)).unwrap())
                    .collect(),
            ),
            _ => FileState::File(self.of(&CONTENTS).as_bytes().into()),
        }
    }

    fn settings(&mut self) -> Settings {
        let mut settings = Settings::default();
        // Occasionally nearly everything is set at once.
        let count = if self.below(200) == 0 {
            TABLE.len()
        } else {
            self.below(12)
        };
        for _ in 0..count {
            let row = &TABLE[self.below(TABLE.len())];
            let choices = row.kind.choices();
            let value = match self.below(3) {
                0 if !choices.is_empty() => choices[self.below(choices.len())].0.clone(),
                _ => self.value(),
            };
            settings.options.set(row.key, value).unwrap();
        }
        for _ in 0..self.below(4) {
            let text = self.value().to_string();
            settings
                .environment
                .set(ENVIRONMENT[self.below(ENVIRONMENT.len())].name, &text);
        }
        for path in paths_of(&settings.options, &settings.environment).paths {
            let state = self.state();
            settings.files.insert(&path, state);
        }
        settings
    }
}

#[test]
fn no_setting_makes_a_rule_panic_and_answers_repeat() {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let device = resolve_device(&highwater::options::Options::new()).unwrap();
    for round in 0..ROUNDS {
        let settings = numbers.settings();
        let Settings {
            options,
            environment,
            files,
        } = &settings;
        let findings = check(options, environment, files);
        assert_eq!(findings, settings.clone().check());
        if round % 16 == 0 {
            assert!(!CheckReport::of(options, environment, files).page().text().is_empty());
            let lowered = lower(options, environment, &device, files);
            assert!(lowered.params.feature_copies >= 1);
        }
        for finding in findings {
            let is_named = finding
                .options
                .iter()
                .any(|name| options.is_set(name) || environment.is_set(name));
            assert!(is_named, "{finding:?} names nothing that is set in {settings:?}");
            let is_sentence = !finding.message.is_empty() && !finding.message.ends_with('.');
            assert!(
                is_sentence && !finding.message.contains(char::is_control),
                "{finding:?}"
            );
        }
    }
}
