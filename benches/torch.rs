//! The allocator of PyTorch: requests per second over a seeded trace of a million requests with sizes and lives of
//! training: layers keep activations until the backward pass, temporaries die at once, lengths change every step.
//!
//! `cargo bench -p highwater-torch` prints the best of five runs for each of some settings, without a reader of the
//! memory history and with one that keeps it; then the same for the run's recording replayed under other settings, with
//! the bytes that it takes for each event.

mod size;

use std::time::Duration;

use cpu_time::ProcessTime;
use highwater_torch::recording::{Recording, Replayable, Stop, what_if};
use highwater_torch::{Allocator, Command, DeviceSpec, Event, Order, Player, Settings, SimulatedDevice, Version};

const LAYERS: usize = 48;

const DEVICE: DeviceSpec = DeviceSpec {
    total: 400 << 30,
    other: 0,
    order: Order::Up,
};

/// Bytes of tensors by what they hold, for a length of 1024.
const KEPT: [u64; 9] = [
    16_777_216, 50_331_648, 16_777_216, 2048, 67_108_864, 8_388_608, 524_288, 131_072, 33_554_432,
];
const TEMPORARY: [u64; 5] = [16_777_216, 4_194_304, 65_536, 134_217_728, 1024];

#[expect(clippy::print_stdout, reason = "the figures are what this bench is for")]
fn main() {
    let commands = commands(size::size(1_000_000, 20_000));
    let count = u32::try_from(commands.len()).unwrap_or(u32::MAX);
    println!("{count} requests");
    let settings = [
        "",
        "expandable_segments:True",
        "max_split_size_mb:64",
        "roundup_power2_divisions:8",
    ];
    for conf in settings {
        let silent = best(|| run(&commands, conf, ()));
        let recorded = best(|| run(&commands, conf, Vec::<Event>::new()));
        let name = if conf.is_empty() { "default settings" } else { conf };
        let rate = |time: Duration| 1e-6 * f64::from(count) / time.as_secs_f64();
        let (silent, recorded) = (rate(silent), rate(recorded));
        println!("{name}: {silent:.1} M requests/s, keeping the memory history {recorded:.1} M requests/s");
    }
    replay_recording(&commands);
}

/// The history of a run under default settings, replayed under others.
#[expect(clippy::print_stdout, reason = "the figures are what this bench is for")]
fn replay_recording(commands: &[Command]) {
    let settings = Settings::new(Version::NEWEST);
    let allocator = Allocator::new(SimulatedDevice::new(DEVICE), Vec::<Event>::new(), settings.clone());
    let mut player = Player::new(allocator, commands.len());
    for command in commands {
        player.play(command);
    }
    let segments = player.allocator().segments();
    let events = std::mem::take(player.allocator_mut().observer_mut());
    let recording = Recording { events, segments };
    let start = ProcessTime::now();
    let replayable = Replayable::new(&recording, &settings, None, Stop::NEVER).expect("it is consistent");
    let reconstruction = start.elapsed();
    let other = Settings::parse("expandable_segments:True", Version::NEWEST).expect("the settings are right");
    let once = best(|| {
        let start = ProcessTime::now();
        let rules = other.version.rules();
        std::hint::black_box(what_if(&replayable, (other.clone(), rules), DEVICE, ()).expect("nothing stops it"));
        start.elapsed()
    });
    let events = recording.events.len();
    let bytes = events * size_of::<Event>() + size_of_val(replayable.inputs()) + commands.len() / 2 * 8;
    println!(
        "recording of {events} events: made replayable in {reconstruction:.1?}, replayed under other settings in {once:.1?}, \
         {} bytes an event",
        bytes / events.max(1)
    );
}

fn best(mut once: impl FnMut() -> Duration) -> Duration {
    let times = (0..size::size(5, 1)).map(|_| once());
    times.min().unwrap_or_default()
}

fn run<O: highwater_torch::Observer>(commands: &[Command], conf: &str, observer: O) -> Duration {
    let device = SimulatedDevice::new(DEVICE);
    let settings = Settings::parse(conf, Version::NEWEST).expect("the settings are right");
    let mut player = Player::new(Allocator::new(device, observer, settings), commands.len());
    let start = ProcessTime::now();
    for command in commands {
        std::hint::black_box(player.play(command));
    }
    let elapsed = start.elapsed();
    assert_eq!(player.allocator().stats().ooms, 0, "the device is large enough");
    elapsed
}

/// Numbers of a seed (Knuth's MMIX constants).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

#[derive(Default)]
struct Program {
    commands: Vec<Command>,
    count: u32,
}

impl Program {
    fn alloc(&mut self, size: u64) -> u32 {
        let id = self.count;
        self.count += 1;
        self.commands.push(Command::Alloc { id, size, stream: 0 });
        id
    }

    fn free(&mut self, id: u32) {
        self.commands.push(Command::Free { id });
    }
}

fn commands(requests: usize) -> Vec<Command> {
    let mut random = Random(1);
    let mut program = Program::default();
    let mut weights = Vec::new();
    for _ in 0..LAYERS * 6 {
        let size = 4096 + random.below(40_000_000);
        weights.push(program.alloc(size));
    }
    while program.commands.len() < requests {
        step(&mut program, &mut random, weights.len());
    }
    program.commands.truncate(requests);
    program.commands
}

/// One training step; each has another length.
fn step(program: &mut Program, random: &mut Random, weights: usize) {
    let length = 256 + random.below(1024);
    let mut kept = Vec::new();
    for _ in 0..LAYERS {
        for size in KEPT {
            let size = size * length / 1024 + random.below(2048);
            kept.push(program.alloc(size));
            let temporary = TEMPORARY[usize::try_from(random.below(5)).unwrap_or(0)];
            let temporary = program.alloc(temporary * length / 1024 + 1);
            if random.below(3) > 0 {
                let second = program.alloc(1 + random.below(1 << 20));
                program.free(second);
            }
            program.free(temporary);
        }
    }
    let mut gradients = Vec::new();
    while let Some(id) = kept.pop() {
        let first = program.alloc(1 + random.below(30_000_000) * length / 1024);
        program.free(id);
        program.free(first);
        if gradients.len() < weights && random.below(3) == 0 {
            gradients.push(program.alloc(4096 + random.below(20_000_000)));
        }
    }
    for id in gradients {
        let state = program.alloc(1 + random.below(1 << 16));
        program.free(id);
        program.free(state);
    }
}
