//! `gridgen devices`: the GPUs and libraries that are found.

use std::process::ExitCode;

use super::answer;
use super::terminal::Terminal;

/// Lists what is there; finding nothing is an answer too.
pub(super) fn list() -> ExitCode {
    let terminal = Terminal::new(false);
    answer(&terminal, &text(&terminal))
}

#[cfg(feature = "cuda")]
fn text(terminal: &Terminal) -> String {
    use gridgen::backend::cuda::driver::{devices, libraries};
    let libraries = libraries();
    let version = |found: Option<(i32, i32)>| {
        found.map_or_else(
            || "not found".to_owned(),
            |(major, minor)| format!("CUDA {major}.{minor}"),
        )
    };
    let mut text = format!(
        "driver    {}\nNVRTC     {}\n",
        version(libraries.driver),
        version(libraries.compiler)
    );
    match devices() {
        Ok(devices) if devices.is_empty() => {
            text += "GPUs      none: gridgen computes on the CPU\n";
        }
        Ok(devices) => devices.iter().for_each(|device| text += &describe(device)),
        Err(error) => terminal.error(&error.to_string(), Some(error.hint())),
    }
    text
}

#[cfg(feature = "cuda")]
fn describe(device: &gridgen::backend::cuda::driver::DeviceInfo) -> String {
    const GIB: f64 = (1_u64 << 30) as f64;
    let gib = |bytes: usize| format!("{:.1} GiB", bytes as f64 / GIB);
    let peers: Vec<String> = device.peers.iter().map(ToString::to_string).collect();
    let links = if peers.is_empty() { "none".to_owned() } else { peers.join(", ") };
    format!(
        "GPU {}     {}\n\
         \x20 compute capability  {}.{}, {} multiprocessors\n\
         \x20 memory              {}, {} free\n\
         \x20 reaches GPUs        {links}\n",
        device.ordinal,
        device.name,
        device.capability.0,
        device.capability.1,
        device.multiprocessors,
        gib(device.memory),
        device.free.map_or_else(|| "unknown".to_owned(), gib),
    )
}

#[cfg(not(feature = "cuda"))]
fn text(_: &Terminal) -> String {
    "this build has no cuda backend: gridgen computes on the CPU\n".to_owned()
}
