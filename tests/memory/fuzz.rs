//! Broken input: no bytes make a reader panic, hang, or use much memory.
//!
//! Valid files, and files that once caused a failure, are cut, spliced and overwritten at random, with a new
//! seed each time. `FUZZ_RUNS` sets the executions of each target, `FUZZ_SEED` the sequence, as printed with
//! a failure. `tests/fuzz` has the same targets for libFuzzer.
#![allow(clippy::print_stdout, reason = "the seed is said")]
#![allow(unreachable_pub, reason = "the targets are shared with the fuzzers")]

#[path = "../fuzz/targets.rs"]
mod targets;

use std::hash::{BuildHasher, RandomState};
use std::panic::catch_unwind;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use support::random::Random;
use targets::{TARGETS, Target};

use crate::allocator::{alone, peak};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Executions of each target, unless `FUZZ_RUNS` is set.
const RUNS: u64 = 400;
/// Largest processor time for an input: a thousand times that of the slowest.
const LONGEST: Duration = Duration::from_secs(10);
/// Largest memory for an input: twice that of the rows of a matrix whose rows may all be empty.
const MOST: usize = 300 << 20;
/// Longest input made by splicing.
const LARGEST: usize = 1 << 16;

/// Short tokens that are likely to break readers, and longer ones.
const TOKENS: [&str; 31] = [
    "nan", "inf", "-inf", "1e400", "-1e308", "1e-320", "0", "-0.0", ".", "-", "1.", ".5", "999.0",
    "1.0e", "1D3", ",", ";", "\t", "\r\n", "\n\n", "\u{feff}", "\x1b[31m", "(", ")", "#", "\"",
    "'''", "=", "{}", "9*1", "%",
];
const LONGER: [&str; 21] = [
    "ZONE I=2147483647 J=2147483647",
    "VARIABLES=X Y",
    "ONE_TO_ONE 1 1 1 1 1 1 1 1 1 1 1 1",
    "2147483647 (",
    "4(0 1 2 3)",
    "[geometry]",
    "geometry.naca = \"0012\"",
    "[geometry.flap]",
    "99999999999999999999",
    "268435455*0.5 ",
    "\n4294967295 4294967295 1\n",
    "\n9999999 9999999 9999999999\n",
    "0 2147483646 0 2147483646 0 0",
    "NELEM= 99999999999",
    "DIMENSIONS 2147483647 2147483647 1",
    "\n2 1 37 99999999999\n",
    "compressor=\"vtkLZMADataCompressor\" header_type=\"UInt64\"",
    "/////////w==",
    "symmetric",
    "\u{ff}\u{ff}\u{ff}\u{7f}",
    "\0\0\0\0\0\0\0\u{80}",
];

/// At most 200 places in a row among `n`.
fn range(random: &mut Random, n: usize) -> std::ops::Range<usize> {
    let (a, b) = (random.below(n + 1), random.below(n + 1));
    a.min(b)..a.max(b).min(a.min(b) + 200)
}

fn mutate(random: &mut Random, corpus: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = random.pick(corpus).clone();
    for _ in 0..=random.below(6) {
        let n = bytes.len();
        let at = random.below(n + 1);
        match random.below(8) {
            0 if n > 0 => bytes[at.min(n - 1)] ^= 1 << random.below(8),
            1 => bytes.insert(at, random.below(256) as u8),
            2 => drop(bytes.splice(at..at, random.pick(&TOKENS).bytes())),
            3 => drop(bytes.splice(at..at, random.pick(&LONGER).bytes())),
            4 => drop(bytes.drain(range(random, n))),
            5 => {
                let copy = bytes[range(random, n)].to_vec();
                bytes.splice(at..at, copy);
            }
            6 => {
                let other = random.pick(corpus);
                let part = other[range(random, other.len())].to_vec();
                bytes.splice(at..at, part);
            }
            _ => bytes.truncate(at),
        }
    }
    bytes.truncate(LARGEST);
    bytes
}

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

/// Processor time used by this process so far, all threads together.
fn spent() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Runs a target on inputs determined by the seed; returns the largest time and memory of an input.
fn fuzz(target: &Target, runs: u64, seed: u64) -> (Duration, usize) {
    let corpus = (target.seeds)();
    assert!(!corpus.is_empty(), "{} has no seeds", target.name);
    let mut random = Random::new(seed);
    let mut most = (Duration::ZERO, 0);
    for k in 0..runs {
        let bytes = match corpus.get(k as usize) {
            Some(whole) => whole.clone(),
            None => mutate(&mut random, &corpus),
        };
        let began = spent();
        let (done, most_bytes) = peak(|| catch_unwind(|| (target.run)(&bytes)));
        let took = (spent().saturating_sub(began), most_bytes);
        let shown = || String::from_utf8_lossy(&bytes).into_owned();
        let name = target.name;
        assert!(done.is_ok(), "{name}, execution {k} of FUZZ_SEED={seed}:\n{}", shown());
        assert!(took.0 < LONGEST && took.1 < MOST, "{name}, {k} of {seed}: {took:?}\n{}", shown());
        most = (most.0.max(took.0), most.1.max(took.1));
    }
    most
}

#[test]
fn no_input_makes_a_reader_panic_hang_or_swell() {
    let _alone = alone(usize::MAX);
    let runs = setting("FUZZ_RUNS").unwrap_or(RUNS);
    let seed = setting("FUZZ_SEED").unwrap_or_else(|| RandomState::new().hash_one(0));
    println!("FUZZ_SEED={seed}");
    for target in &TARGETS {
        let (time, memory) = fuzz(target, runs, seed);
        println!("{}: {runs} executions, at most {time:?} and {memory} bytes each", target.name);
    }
}
