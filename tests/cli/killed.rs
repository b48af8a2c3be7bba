//! Processes that are killed at random times: they leave either the old or the new results, complete, and the
//! next process succeeds.
//!
//! `KILLS` sets how many of each kind are killed before they finish, `KILL_SEED` the random sequence, and
//! `KILL_BACKEND=cuda` runs them on a GPU: `KILLS=200 cargo test --test cli killed -- --nocapture`.
#![allow(clippy::print_stdout, reason = "long runs tell what was seen")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use gridgen::internals::output::HOME;
use serde_json::Value;
use support::random::Random;
use support::{names_below, names_in};

use super::{NO_PICTURES, Scratch};

/// Number of processes of each kind to be killed, unless `KILLS` is set.
const KILLS: usize = 3;

/// Names and contents of files.
type Files = BTreeMap<String, Vec<u8>>;

/// A folder in which gridgen is run and killed.
struct Killer {
    folder: Scratch,
    random: Random,
    seed: u64,
    kills: usize,
    /// Processes started so far, and those killed before they finished.
    begun: usize,
    ended: usize,
    /// States in which killed processes left their folders, each with the number of times.
    seen: BTreeMap<&'static str, usize>,
}

impl Killer {
    fn new() -> Self {
        let number = |name| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let seed = number("KILL_SEED").unwrap_or(now.as_nanos() as u64);
        let kills = number("KILLS").map_or(KILLS, |kills| kills as usize);
        let (folder, seen) = (Scratch::with(&[]), BTreeMap::new());
        Self { folder, random: Random::new(seed), seed, kills, begun: 0, ended: 0, seen }
    }

    fn gridgen(&self, arguments: &str) -> Command {
        let mut command = self.folder.command(arguments);
        command.env_remove("CUDA_VISIBLE_DEVICES");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Runs to the end; returns the time it took.
    #[track_caller]
    fn finish(&self, arguments: &str) -> Duration {
        let begun = Instant::now();
        let output = self.gridgen(arguments).stderr(Stdio::piped()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "seed {}: {arguments}: {said}", self.seed);
        begun.elapsed()
    }

    /// Starts a process that would take the time `whole`, and kills it at a random time: after its start,
    /// after it begins to make files, or after it begins to exchange them.
    fn kill(&mut self, arguments: &str, whole: Duration, home: Option<&Path>) {
        self.begun += 1;
        let mut child = self.gridgen(arguments).spawn().unwrap();
        let (from, within) = match (home, self.random.below(3)) {
            (None, _) | (_, 0) => (None, whole.mul_f64(1.1)),
            (Some(home), 1) => (Some(home.join("part")), whole),
            (Some(home), _) => (Some(home.join("new")), Duration::from_micros(500)),
        };
        while from.as_ref().is_some_and(|path| !path.exists())
            && child.try_wait().unwrap().is_none()
        {
            // The exchange takes less than a millisecond.
            std::hint::spin_loop();
        }
        sleep(within.mul_f64(self.random.unit()));
        // The process may have finished by itself.
        self.ended += usize::from(child.try_wait().unwrap().is_none());
        let _ = child.kill();
        child.wait().unwrap();
    }

    /// Kills processes of two commands, each of which replaces the results of the other or, where they are `exchanged`, now
    /// and then those of none. The next process succeeds, and what it leaves is `clean`.
    fn replace(
        &mut self,
        what: &str,
        commands: &[String; 2],
        (folders, exchanged): (&[PathBuf], bool),
        clean: impl Fn(),
    ) {
        println!("{what}: seed {}", self.seed);
        let all = || folders.iter().map(|folder| results(folder)).collect::<Vec<_>>();
        let mut whole = Duration::ZERO;
        let references = [0, 1].map(|k| {
            whole = whole.max(self.finish(&commands[k]));
            all()
        });
        assert!(references[0] != references[1], "{what}");
        let mut there = 1;
        while self.ended < self.kills {
            let next = 1 - there;
            let mut old = references[there].clone();
            let watched = self.random.below(folders.len());
            if exchanged && self.random.unit() < 0.25 {
                fs::remove_dir_all(&folders[watched]).unwrap();
                old[watched].clear();
            }

            let home = exchanged.then(|| folders[watched].join(HOME));
            self.kill(&commands[next], whole, home.as_deref());

            for (folder, files) in folders.iter().zip(old.iter().zip(&references[next])) {
                *self.seen.entry(judge(folder, exchanged, files.into())).or_default() += 1;
            }
            self.finish(&commands[next]);
            assert!(all() == references[next], "{what}");
            clean();
            there = next;
        }
        self.tell(what);
    }

    /// Prints the statistics and resets them.
    fn tell(&mut self, what: &str) {
        let Self { ended, begun, seed, seen, .. } = self;
        println!("{what}: {ended} of {begun} processes ended by force, seed {seed}: {seen:?}");
        (*begun, *ended) = (0, 0);
        seen.clear();
    }
}

/// Two runs of a command with other far fields, on the backend of `KILL_BACKEND`.
fn runs(command: &str) -> [String; 2] {
    let backend = std::env::var("KILL_BACKEND").unwrap_or_else(|_| "cpu".to_owned());
    [15, 14].map(|far| format!("{command} --backend {backend} --far-field {far}"))
}

/// The results in a folder, without times, which differ from run to run.
fn results(folder: &Path) -> Files {
    let mut names = names_below(folder);
    // A restart file and parts of files are written while the solve continues.
    names.retain(|name| {
        let is_part = Path::new(name).extension().is_some_and(|end| end == "part");
        let of_the_solve = is_part || name == "restart.bin";
        !(of_the_solve || name.starts_with(HOME))
    });
    let file = |name: String| {
        let bytes = fs::read(folder.join(&name)).unwrap();
        let bytes = match name.as_str() {
            "report.json" => fingerprint(&bytes),
            "convergence.csv" => without_seconds(&bytes),
            // Its case and pictures are in other files too; it must be complete.
            "report.html" => bytes.ends_with(b"</html>\n").to_string().into_bytes(),
            _ => bytes,
        };
        (name, bytes)
    };
    names.into_iter().map(file).collect()
}

fn fingerprint(report: &[u8]) -> Vec<u8> {
    let report: Value = serde_json::from_slice(report).unwrap();
    report["fingerprint"].to_string().into_bytes()
}

fn without_seconds(history: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(history).unwrap();
    text.lines().flat_map(|line| line.rsplit_once(',').unwrap().0.bytes().chain([b'\n'])).collect()
}

/// The state of a folder after a kill; panics if it is neither the old nor the new one. Files are `exchanged` by a
/// plan, or one after the other, so that a mesh may stand without its map.
fn judge(folder: &Path, exchanged: bool, [old, new]: [&Files; 2]) -> &'static str {
    let found = results(folder);
    if found == *new && !new.is_empty() {
        return "new results";
    }
    if found == *old {
        return if old.is_empty() { "nothing" } else { "old results" };
    }
    let names: Vec<_> = found.keys().collect();
    if exchanged {
        let pending = folder.join(HOME).join("new").join("plan.json").exists();
        assert!(pending, "neither the old results nor the new ones: {names:?}");
        // Incomplete results cannot be mistaken for complete ones, since the files that describe them are missing.
        let told =
            ["report.json", "constant/polyMesh/boundary"].iter().any(|it| found.contains_key(*it));
        assert!(!told, "old and new results together: {names:?}");
    } else {
        let mesh = "mesh.p3d";
        let whole = [old, new].iter().any(|files| found.get(mesh) == files.get(mesh));
        assert!(whole && names == [mesh], "{names:?}");
    }
    "an exchange under way"
}

const CASE: &str = "geometry.naca = '2412'\ngrid.topology = 'O'\ngrid.ni = 65\ngrid.nj = 33\n\
                    output.formats = ['vts', 'plot3d', 'su2', 'openfoam', 'cgns']\n";

/// The run replaces results for another far field, or is the first in its folder.
#[test]
fn a_run_that_is_killed_leaves_the_old_results_or_the_new_ones() {
    let mut killer = Killer::new();
    killer.folder.write("wing.toml", CASE);
    let runs = runs(&format!("wing.toml --set output.report=true {NO_PICTURES}"));
    let folder = killer.folder.path("output/wing");
    let clean = || {
        assert_eq!(names_in(folder.join(HOME)), ["lock", "written.json"]);
    };

    killer.replace("run", &runs, (std::slice::from_ref(&folder), true), clean);
}

/// Three cases run two at a time; completed ones are kept.
#[test]
fn a_batch_that_is_killed_leaves_old_results_or_new_ones_of_each_case() {
    let mut killer = Killer::new();
    let cases = ["a", "b", "c"];
    for name in cases {
        killer.folder.write(&format!("{name}.toml"), CASE);
    }
    let options = format!("--jobs 2 --restart-every 0 {NO_PICTURES}");
    let runs = runs(&format!("run a.toml b.toml c.toml {options}"));
    let folders = cases.map(|name| killer.folder.path("output").join(name));
    let clean = || {
        let names: Vec<String> = folders.iter().flat_map(names_in).collect();
        let left = |name: &String| ["restart.bin", ".part"].iter().any(|end| name.ends_with(end));
        assert!(!names.iter().any(left), "{names:?}");
    };

    killer.replace("batch, each case", &runs, (&folders, true), clean);
}

/// The conversions write one file, a file with its map, and an OpenFOAM case.
#[test]
fn a_conversion_that_is_killed_leaves_the_old_mesh_or_the_new_one() {
    let mut killer = Killer::new();
    killer.folder.write("wing.toml", CASE);
    // The meshes are large enough that a kill hits their writing.
    for (folder, ni, nj) in [("large", 97, 65), ("small", 89, 61)] {
        let run = format!("wing.toml --backend cpu --ni {ni} --nj {nj} -o {folder}");
        killer.finish(&format!("{run} --format vts {NO_PICTURES}"));
    }
    let root = killer.folder.path("");
    for target in ["su2/mesh.su2", "p3d/mesh.p3d", "case"] {
        let exchanged = target == "case";
        let folder = root.join(target.split('/').next().unwrap());
        let beside = if exchanged { &root } else { &folder };
        fs::create_dir_all(beside).unwrap();
        let openfoam = if exchanged { "--to openfoam" } else { "" };
        let convert = |from: &str| format!("convert {from}/wing/mesh.vts -o {target} {openfoam}");
        let converts = ["large", "small"].map(convert);
        let clean = || {
            let mut left = names_in(beside);
            left.retain(|name| name.starts_with(HOME));
            assert!(left.is_empty(), "{left:?}");
        };

        let what = format!("conversion to {target}");
        killer.replace(&what, &converts, (std::slice::from_ref(&folder), exchanged), clean);
    }
}
