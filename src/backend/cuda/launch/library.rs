//! NVIDIA's libraries, opened at run time, and the compilation of kernels by NVRTC, one of them.
#![allow(
    unsafe_code,
    reason = "the libraries' interfaces are C; every call's contract is kept here"
)]

use super::cache::{KernelCache, Key};
use super::kernel::{Source, Width};
use crate::backend::DeviceError;
use cudarc::nvrtc::{result, sys, sys as nvrtc};
use libloading::Library;
use std::ffi::{CStr, CString};
use std::sync::OnceLock;

/// The driver.
pub(in super::super) static DRIVER: Probe = Probe::new(&[], &["cuda", "nvcuda"]);
/// The run-time compiler.
static COMPILER: Probe = Probe::new(&[], &["nvrtc"]);
/// NCCL: the run-time package comes before the development package.
pub(in super::super) static NCCL: Probe = Probe::new(
    if cfg!(windows) { &["nccl.dll", "nccl64_2.dll"] } else { &["libnccl.so.2", "libnccl.so"] },
    &[],
);

/// A library that is opened at its first use and stays open: opened and closed again it
/// would be loaded twice.
pub(in super::super) struct Probe {
    /// File names, which are tried first.
    files: &'static [&'static str],
    /// Names that cudarc completes to file names.
    names: &'static [&'static str],
    library: OnceLock<Option<Library>>,
}

impl Probe {
    const fn new(files: &'static [&'static str], names: &'static [&'static str]) -> Self {
        Self { files, names, library: OnceLock::new() }
    }

    fn library(&self) -> Option<&Library> {
        let open = || {
            let named = self.names.iter().flat_map(|name| cudarc::get_lib_name_candidates(name));
            let mut files = self.files.iter().map(|&file| file.to_owned()).chain(named);
            // SAFETY: NVIDIA's libraries may be opened at any time.
            files.find_map(|file| unsafe { Library::new(file) }.ok())
        };
        self.library.get_or_init(open).as_ref()
    }

    /// A function of the library, if there are both.
    ///
    /// # Safety
    /// `F` must be the type of the function.
    pub(in super::super) unsafe fn function<F: Copy>(&self, name: &CStr) -> Option<F> {
        // SAFETY: as required of the caller; the library is never closed.
        unsafe { self.library()?.get::<F>(name.to_bytes_with_nul()) }.ok().map(|symbol| *symbol)
    }

    /// Whether the library is there with a function of this name. Another library of the same name
    /// may lack it, and cudarc panics when it calls a function that is not there.
    pub(in super::super) fn has(&self, function: &CStr) -> bool {
        // SAFETY: the function is not called.
        unsafe { self.function::<unsafe extern "C" fn()>(function) }.is_some()
    }
}

/// Version of NVRTC, major and minor.
///
/// # Errors
/// [`DeviceError::NoCompiler`] if it is not found.
pub(in super::super) fn compiler_version() -> Result<(i32, i32), DeviceError> {
    let (mut major, mut minor) = (0, 0);
    let answered = COMPILER.has(c"nvrtcVersion")
        // SAFETY: the function is there; both numbers outlive the call.
        && unsafe { nvrtc::nvrtcVersion(&raw mut major, &raw mut minor) }.result().is_ok();
    if answered { Ok((major, minor)) } else { Err(DeviceError::NoCompiler) }
}

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
    // SAFETY: the program is valid until it is destroyed; the code has the size that NVRTC names.
    unsafe {
        let compiled = result::compile_program(program, options).map_err(|error| {
            let log = result::get_program_log(program).ok().map(|log| {
                let bytes: Vec<u8> = log.iter().map(|&c| c as u8).take_while(|&c| c != 0).collect();
                String::from_utf8_lossy(&bytes).trim().to_owned()
            });
            refused(log.unwrap_or_else(|| error.to_string()))
        });
        let mut code = Vec::new();
        let read = compiled.and_then(|()| {
            let mut size = 0;
            sys::nvrtcGetCUBINSize(program, &raw mut size)
                .result()
                .and_then(|()| {
                    code.resize(size, 0_u8);
                    sys::nvrtcGetCUBIN(program, code.as_mut_ptr().cast()).result()
                })
                .map_err(|error| refused(error.to_string()))
        });
        let _ = result::destroy_program(program);
        read.map(|()| code)
    }
}
