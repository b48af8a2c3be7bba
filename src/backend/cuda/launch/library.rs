//! NVIDIA's libraries, opened at run time, and the compilation of kernels by NVRTC, one of them.
#![allow(
    unsafe_code,
    reason = "the libraries' interfaces are C; every call's contract is kept here"
)]

use super::cache::{self, CacheKey};
use super::kernel::{KernelFile, ModuleKey, Width};
use crate::backend::DeviceError;
use cudarc::get_lib_name_candidates as file_names;
use cudarc::nvrtc::result::{self, NvrtcError};
use cudarc::nvrtc::sys;
use libloading::Library;
use std::ffi::{CStr, CString};
use std::path::PathBuf;
use std::sync::{LazyLock, OnceLock};

/// A library that is opened at its first use, by the first of its file names that is found. It stays open:
/// opened and closed again it would be loaded twice.
pub(in super::super) struct Probe(LazyLock<Option<Library>>);

/// The driver.
pub(in super::super) static DRIVER: Probe =
    Probe(LazyLock::new(|| open(&[], &[file_names("cuda"), file_names("nvcuda")].concat())));
static COMPILER: Probe = Probe(LazyLock::new(|| open(folders(), &file_names("nvrtc"))));
/// NCCL: the run-time package comes before the development package.
pub(in super::super) static NCCL: Probe = Probe(LazyLock::new(|| {
    let names = ["libnccl.so.2", "libnccl.so", "nccl.dll", "nccl64_2.dll"];
    open(folders(), &names.map(str::to_owned))
}));

/// Options that save time, and the first version of NVRTC that has each: all processors compile the kernels of one file, and
/// no declarations of the runtime library are read, a fifth of the time in which no other file is read.
const FASTER: [((i32, i32), &str); 2] = [((12, 2), "--split-compile=0"), ((12, 4), "--minimal")];

/// Folders in which NVRTC and NCCL are looked for first.
static FOLDERS: OnceLock<Vec<PathBuf>> = OnceLock::new();

/// Looks for NVRTC and NCCL in these folders first, then where the system does: for packages that bring
/// libraries of their own. The first call in a process that comes before the first use of a library decides.
pub fn library_folders(folders: Vec<PathBuf>) {
    let _ = FOLDERS.set(folders);
}

fn folders() -> &'static [PathBuf] {
    FOLDERS.get().map_or(&[], Vec::as_slice)
}

/// Opens the first of these files that is found, in the folders or by the system. A library loaded by a
/// path is found by its name afterwards.
fn open(folders: &[PathBuf], files: &[String]) -> Option<Library> {
    let placed = folders.iter().flat_map(|folder| files.iter().map(|file| folder.join(file)));
    let mut paths = placed.filter(|path| path.exists()).chain(files.iter().map(PathBuf::from));
    // SAFETY: NVIDIA's libraries may be opened at any time.
    paths.find_map(|path| unsafe { Library::new(path) }.ok())
}

impl Probe {
    /// A function of the library, if there are both.
    ///
    /// # Safety
    /// `F` must be the type of the function.
    pub(in super::super) unsafe fn function<F: Copy>(&self, name: &CStr) -> Option<F> {
        // SAFETY: as required of the caller; the library is never closed.
        unsafe { self.0.as_ref()?.get::<F>(name.to_bytes_with_nul()) }.ok().map(|symbol| *symbol)
    }

    /// Whether the library is there with a function of this name. Another library of the same name
    /// may lack it, and cudarc panics when it calls a function that is not there.
    pub(in super::super) fn has(&self, function: &CStr) -> bool {
        // SAFETY: the function is not called.
        unsafe { self.function::<unsafe extern "C" fn()>(function) }.is_some()
    }
}

/// Version of the run-time compiler NVRTC, major and minor.
///
/// # Errors
/// [`DeviceError::NoCompiler`].
pub fn compiler_version() -> Result<(i32, i32), DeviceError> {
    let (mut major, mut minor) = (0, 0);
    let answered = COMPILER.has(c"nvrtcVersion")
        // SAFETY: the function is there; both numbers outlive the call.
        && unsafe { sys::nvrtcVersion(&raw mut major, &raw mut minor) }.result().is_ok();
    if answered { Ok((major, minor)) } else { Err(DeviceError::NoCompiler) }
}

/// Machine code, or PTX, of a file of kernels for GPUs of a compute capability, from the disk if it was
/// compiled before by the same version of NVRTC from the same text.
pub(in super::super) fn image(module: ModuleKey, capability: u32) -> Result<Vec<u8>, DeviceError> {
    let compiler = compiler_version()?;
    let (text, options) = (module.text(), options(module.width, capability, compiler));
    let key = CacheKey { text: &text, options: &options, compiler };
    let [cache_home, home] = ["XDG_CACHE_HOME", "HOME"].map(std::env::var_os);
    let folder = cache::folder(cache_home, home);
    if let Some(image) = folder.as_ref().and_then(|folder| cache::load(folder, &key)) {
        return Ok(image);
    }
    let image = compile(module.source, &text, &options)?;
    if let Some(folder) = folder {
        cache::store(&folder, &key, &image);
    }
    Ok(image)
}

/// Modules with their machine code, several at a time.
pub(in super::super) fn images(
    modules: impl Iterator<Item = ModuleKey>,
    capability: u32,
) -> Result<Vec<(ModuleKey, Vec<u8>)>, DeviceError> {
    std::thread::scope(|scope| {
        let start = |module| scope.spawn(move || Ok((module, image(module, capability)?)));
        let workers: Vec<_> = modules.map(start).collect();
        let caught = |ended| DeviceError::caught("compiling kernels", ended);
        workers.into_iter().map(|worker| caught(worker.join())).collect()
    })
}

/// The target for GPUs of a compute capability: machine code, or where they are newer than the compiler PTX of
/// the newest one that it knows, of which the driver makes that.
fn architecture(capability: u32) -> String {
    let (mut count, mut known) = (0, [0; 128]);
    // SAFETY: NVRTC has both functions from 11.2 on, and the list a place for each capability.
    let listed = unsafe {
        COMPILER.has(c"nvrtcGetSupportedArchs")
            && sys::nvrtcGetNumSupportedArchs(&raw mut count).result().is_ok()
            && (1..=128).contains(&count)
            && sys::nvrtcGetSupportedArchs(known.as_mut_ptr()).result().is_ok()
    };
    let older = known.map(i32::cast_unsigned).into_iter().filter(|&known| known <= capability);
    match older.max().filter(|_| listed) {
        Some(newest @ 1..) if newest < capability => format!("compute_{newest}"),
        _ => format!("sm_{capability}"),
    }
}

fn options(width: Width, capability: u32, compiler: (i32, i32)) -> Vec<String> {
    let options = [
        format!("--gpu-architecture={}", architecture(capability)),
        format!("-DREAL={}", width.c_type()),
        "--std=c++17".to_owned(),
        "-default-device".to_owned(),
    ];
    let faster = FASTER.into_iter().filter(|(version, _)| compiler >= *version);
    options.into_iter().chain(faster.map(|(_, option)| option.to_owned())).collect()
}

fn compile(source: KernelFile, text: &str, options: &[String]) -> Result<Vec<u8>, DeviceError> {
    let refused = |reason: String| DeviceError::Compile { file: source.file(), reason };
    let failed = |error: NvrtcError| refused(error.to_string());
    let text = CString::new(text).map_err(|error| refused(error.to_string()))?;
    let name = CString::new(source.file()).unwrap_or_default();
    let program = result::create_program(&text, Some(&name)).map_err(failed)?;
    // SAFETY: the program is valid until it is destroyed; the code has the size that NVRTC names.
    unsafe {
        let compiled = result::compile_program(program, options).map_err(|error| {
            let Ok(log) = result::get_program_log(program) else { return failed(error) };
            let log = CStr::from_bytes_until_nul(bytemuck::cast_slice(&log)).unwrap_or_default();
            refused(log.to_string_lossy().trim().to_owned())
        });
        let code = compiled.and_then(|()| {
            let mut size = 0;
            sys::nvrtcGetCUBINSize(program, &raw mut size).result().map_err(failed)?;
            let is_final = size > 0;
            if !is_final {
                sys::nvrtcGetPTXSize(program, &raw mut size).result().map_err(failed)?;
            }
            let mut code = vec![0_u8; size];
            let read = if is_final { sys::nvrtcGetCUBIN } else { sys::nvrtcGetPTX };
            let read = read(program, code.as_mut_ptr().cast()).result();
            read.map(|()| code).map_err(failed)
        });
        let _ = result::destroy_program(program);
        code
    }
}
