//! NVIDIA's libraries, opened at run time: the one way to find them and their functions.
#![allow(
    unsafe_code,
    reason = "a library is opened, and its functions have the types of its header"
)]

use crate::backend::DeviceError;
use cudarc::nvrtc::sys as nvrtc;
use libloading::Library;
use std::ffi::CStr;
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

/// A library that is opened when it is first asked for and stays open: opened and closed again it
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
