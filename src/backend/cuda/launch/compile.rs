//! Kernels from source to machine code by NVRTC, with a cache on disk.
#![allow(unsafe_code, reason = "NVRTC's interface is C; every call's contract is kept here")]

use super::cache::{KernelCache, Key};
use super::library::compiler_version;
use super::source::{Source, Width};
use crate::backend::DeviceError;
use cudarc::nvrtc::{result, sys};
use std::ffi::CString;

/// Machine code of a file of kernels for GPUs of a compute capability, from the disk if it was
/// compiled before by the same version of NVRTC from the same text.
pub(in super::super) fn image(
    source: Source,
    width: Width,
    capability: u32,
) -> Result<Vec<u8>, DeviceError> {
    let version = compiler_version()?;
    let text = source.text();
    let options = options(width, capability);
    let key = Key { text: &text, options: &options, compiler: version };
    let cache = KernelCache::of_the_user();
    if let Some(image) = cache.as_ref().and_then(|cache| cache.load(&key)) {
        return Ok(image);
    }
    let image = compile(source, &text, &options)?;
    if let Some(cache) = cache {
        cache.store(&key, &image);
    }
    Ok(image)
}

/// A file of kernels, its precision and its machine code.
pub(in super::super) type Image = (Source, Width, Vec<u8>);

/// Machine code of all files, several at a time.
pub(in super::super) fn images(capability: u32) -> Result<Vec<Image>, DeviceError> {
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
