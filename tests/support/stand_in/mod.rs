//! NVIDIA's libraries on a machine without a GPU: `nvidia.cpp`, with the kernels compiled for fibers.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use gridgen::backend::cuda::launch::ModuleKey;
use rayon::prelude::*;

use crate::fibers::{Order, compiled};
use crate::scratch;

const SOURCE: &str = include_str!("nvidia.cpp");

/// The names under which programs look for the libraries.
const NAMES: [&str; 3] = ["libcuda.so", "libnvrtc.so", "libnccl.so.2"];

/// The folder with the libraries and, below it, the kernels.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let kernels: Vec<(String, PathBuf)> = ModuleKey::all(false)
        .into_par_iter()
        .map(|key| {
            let text = format!("{}\n{}", key.width.c_type(), key.text());
            (text, compiled(Order(0), &key.text(), key.width.c_type()))
        })
        .collect();
    let mut hasher = DefaultHasher::new();
    (SOURCE, &kernels).hash(&mut hasher);
    let all = scratch("stand_in");
    let folder = all.join(format!("{:016x}", hasher.finish()));
    if !folder.exists() {
        fs::create_dir_all(&all).unwrap();
        // Other tests may be building the same folder; the rename makes it visible only when complete.
        let own = tempfile::tempdir_in(&all).unwrap();
        build(own.path(), &kernels);
        let _ = fs::rename(own.path(), &folder);
    }
    folder
});

fn build(folder: &Path, kernels: &[(String, PathBuf)]) {
    let (source, library) = (folder.join("nvidia.cpp"), folder.join("nvidia.so"));
    fs::write(&source, SOURCE).unwrap();
    let mut command = Command::new("c++");
    command.args(["-O1", "-std=c++17", "-shared", "-fPIC", "-fvisibility=hidden", "-o"]);
    let output = command.arg(&library).arg(&source).args(["-ldl", "-lpthread"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // One file under all names is a single library with a single state.
    for name in NAMES {
        symlink("nvidia.so", folder.join(name)).unwrap();
    }
    fs::create_dir(folder.join("kernels")).unwrap();
    for (text, compiled) in kernels {
        symlink(compiled, folder.join(format!("kernels/{:016x}.so", key(text)))).unwrap();
    }
}

/// The name of compiled kernels in `nvidia.cpp`: FNV-1a of their precision and text.
fn key(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |key, byte| {
        (key ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Lets a program find the libraries, and keeps its cache of compiled kernels in `cache`.
pub fn equip(command: &mut Command, cache: &Path) {
    command
        .env("LD_LIBRARY_PATH", &*FOLDER)
        .env("STAND_IN_KERNELS", FOLDER.join("kernels"))
        .env("XDG_CACHE_HOME", cache);
}
