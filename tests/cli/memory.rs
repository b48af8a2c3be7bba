//! The memory available to a run.

use std::fs;
use std::path::{Path, PathBuf};

use super::{COARSE, Finished, SMALLEST, Scratch, bash};

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
    fn run(&self, scratch: &Scratch, limits: [&str; 2], arguments: &str) -> Finished {
        let groups = [self.outer.clone(), self.outer.join(Self::INNER)];
        for (group, limit) in groups.iter().zip(limits) {
            let none = if self.limit == "memory.max" { "max" } else { "-1" };
            let limit = if limit.is_empty() { none } else { limit };
            fs::write(group.join(self.limit), limit).unwrap();
        }
        let join = format!("echo $$ > {}/cgroup.procs && exec \"$@\"", groups[1].display());
        bash(scratch, &[], &join, arguments)
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
    let large = "wing.toml --set grid.ni=4097 --set grid.nj=2049 --backend cpu";
    for limits in [["500M", ""], ["", "500M"], ["500M", "2G"]] {
        groups.run(&scratch, limits, large).fails(2, "of memory are needed, 4");
    }
    groups.run(&scratch, ["500M", ""], &format!("wing.toml {COARSE}")).succeeds();
}
