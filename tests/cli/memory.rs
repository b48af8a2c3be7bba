//! The memory available to a run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Finished, SMALLEST, Scratch};

/// Two nested control groups of this test, below the group of this process.
struct Groups {
    outer: PathBuf,
    limit: &'static str,
}

impl Groups {
    const INNER: &str = "inner";

    /// Returns `None` if this process may not create groups.
    fn new(name: &str) -> Option<Self> {
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let path =
            |id: &str| own.lines().find_map(|line| line.split_once(id)).map(|of| of.1.to_owned());
        let (root, own, limit) = match path(":memory:/") {
            Some(own) => ("/sys/fs/cgroup/memory", own, "memory.limit_in_bytes"),
            None => ("/sys/fs/cgroup", path("0::/")?, "memory.max"),
        };
        let outer = Path::new(root).join(own).join(format!("{name}-{}", std::process::id()));
        let groups = Self { outer, limit };
        fs::create_dir(&groups.outer).ok()?;
        let _ = fs::write(groups.outer.join("cgroup.subtree_control"), "+memory");
        fs::create_dir(groups.outer.join(Self::INNER)).ok()?;
        groups.outer.join(Self::INNER).join(limit).exists().then_some(groups)
    }

    /// Runs gridgen in the inner group, with these limits of the outer and the inner group.
    fn run(&self, scratch: &Scratch, limits: [&str; 2], arguments: &[&str]) -> Finished {
        let groups = [self.outer.clone(), self.outer.join(Self::INNER)];
        for (group, limit) in groups.iter().zip(limits) {
            let none = if self.limit == "memory.max" { "max" } else { "-1" };
            let limit = if limit.is_empty() { none } else { limit };
            fs::write(group.join(self.limit), limit).unwrap();
        }
        let join = format!("echo $$ > {}/cgroup.procs && exec \"$@\"", groups[1].display());
        let mut command = Command::new("sh");
        command.args(["-c", &join, "sh", env!("CARGO_BIN_EXE_gridgen")]).args(arguments);
        Finished::from(command.current_dir(scratch.path(".")).output().unwrap())
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        let _ = fs::remove_dir(self.outer.join(Self::INNER));
        let _ = fs::remove_dir(&self.outer);
    }
}

/// In a Slurm job the limit belongs to the group of the job, and its tasks are in groups below.
#[test]
fn limits_of_the_groups_of_a_process_are_seen() {
    let Some(groups) = Groups::new("gridgen-limits") else { return };
    let scratch = Scratch::with_case(SMALLEST);
    let large = ["wing.toml", "--set", "grid.ni=4097", "--set", "grid.nj=2049", "--backend", "cpu"];
    for limits in [["500M", ""], ["", "500M"], ["500M", "2G"]] {
        let refused = groups.run(&scratch, limits, &large);

        assert_eq!(refused.code, 2, "{limits:?}: {refused:?}");
        let said = "of memory are needed, 4";
        assert!(refused.stderr.contains(said), "{limits:?}: {refused:?}");
    }
    let small = ["wing.toml", "--set", "grid.ni=65", "--set", "grid.nj=33", "--backend", "cpu"];
    assert_eq!(groups.run(&scratch, ["500M", ""], &small).code, 0);
}
