//! Kernels from source to machine code, by NVRTC, kept on disk.

use super::super::kernel::{Source, Width};
use super::list;
use crate::backend::DeviceError;
use cudarc::nvrtc::{result, sys};
use std::ffi::CString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

/// Machine code of a file of kernels for GPUs of a compute capability, from the disk if it was
/// compiled before by the same version of NVRTC from the same text.
pub(super) fn image(source: Source, width: Width, capability: u32) -> Result<Vec<u8>, DeviceError> {
    let version = list::compiler_version()?;
    let text = source.text();
    let options = options(width, capability);
    let kept = cache_path(&text, &options, version);
    if let Some(image) = kept.as_ref().and_then(|path| std::fs::read(path).ok()) {
        return Ok(image);
    }
    let image = compile(source, &text, &options)?;
    if let Some(path) = kept {
        keep(&path, &image);
    }
    Ok(image)
}

/// A file of kernels, its precision and its machine code.
pub(super) type Image = (Source, Width, Vec<u8>);

/// Machine code of all files, several at a time.
pub(super) fn images(capability: u32) -> Result<Vec<Image>, DeviceError> {
    let widths = |source: Source| source.widths().iter().map(move |&width| (source, width));
    let jobs: Vec<(Source, Width)> = Source::ALL.into_iter().flat_map(widths).collect();
    std::thread::scope(|scope| {
        let workers: Vec<_> = jobs
            .into_iter()
            .map(|(source, width)| {
                scope.spawn(move || Ok((source, width, image(source, width, capability)?)))
            })
            .collect();
        let ended = |worker: std::thread::ScopedJoinHandle<'_, _>| {
            worker
                .join()
                .unwrap_or_else(|panic| Err(DeviceError::panic("compiling kernels", &*panic)))
        };
        workers.into_iter().map(ended).collect()
    })
}

/// Options of the compiler.
fn options(width: Width, capability: u32) -> Vec<String> {
    vec![
        format!("--gpu-architecture=sm_{capability}"),
        format!("-DREAL={}", width.c_type()),
        "--std=c++17".to_owned(),
        "-default-device".to_owned(),
    ]
}

/// Where compiled code is kept: in the user's cache folder, if there is one.
fn cache_path(text: &str, options: &[String], version: (i32, i32)) -> Option<PathBuf> {
    let folder = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")))?;
    let mut hasher = DefaultHasher::new();
    (text, options, version, env!("CARGO_PKG_VERSION")).hash(&mut hasher);
    Some(folder.join("gridgen").join(format!("{:016x}.cubin", hasher.finish())))
}

/// Writes compiled code for the next time; where that fails it is compiled again.
fn keep(path: &std::path::Path, image: &[u8]) {
    let Some(folder) = path.parent() else { return };
    let written = std::fs::create_dir_all(folder).and_then(|()| {
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        std::io::Write::write_all(&mut file, image)?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    });
    // A cache that cannot be written costs time, nothing else.
    drop(written);
}

fn compile(source: Source, text: &str, options: &[String]) -> Result<Vec<u8>, DeviceError> {
    let refused = |reason: String| DeviceError::Compile { file: source.file(), reason };
    let text = CString::new(text).map_err(|error| refused(error.to_string()))?;
    let name = CString::new(source.file()).unwrap_or_default();
    let program =
        result::create_program(&text, Some(&name)).map_err(|error| refused(error.to_string()))?;
    // SAFETY: the program is valid until it is destroyed at the end.
    let image = unsafe {
        result::compile_program(program, options)
            .map_err(|error| refused(log(program).unwrap_or_else(|| error.to_string())))
            .and_then(|()| cubin(program).map_err(|error| refused(error.to_string())))
    };
    // SAFETY: destroyed once.
    let _ = unsafe { result::destroy_program(program) };
    image
}

/// What the compiler said.
///
/// # Safety
/// The program must be valid.
unsafe fn log(program: sys::nvrtcProgram) -> Option<String> {
    // SAFETY: as asked of the caller.
    let log = unsafe { result::get_program_log(program) }.ok()?;
    let bytes: Vec<u8> = log.iter().map(|&c| c as u8).take_while(|&c| c != 0).collect();
    Some(String::from_utf8_lossy(&bytes).trim().to_owned())
}

/// Machine code of a compiled program.
///
/// # Safety
/// The program must be compiled for a real architecture.
unsafe fn cubin(program: sys::nvrtcProgram) -> Result<Vec<u8>, result::NvrtcError> {
    let mut size = 0;
    // SAFETY: as asked of the caller; the buffer has the size that NVRTC names.
    unsafe {
        sys::nvrtcGetCUBINSize(program, &raw mut size).result()?;
        let mut image = vec![0_u8; size];
        sys::nvrtcGetCUBIN(program, image.as_mut_ptr().cast()).result()?;
        Ok(image)
    }
}
