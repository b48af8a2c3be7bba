//! Kernel files as shared libraries.
#![allow(unsafe_code, reason = "foreign code is loaded and called")]

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use gridgen::backend::cuda::launch::{Argument, LaunchShape, Width};

use crate::scratch;

/// Most parameters of a kernel.
const MOST_PARAMETERS: usize = 10;
/// The header, the source that is linked with each kernel file, and what they include.
const SOURCES: [(&str, &str); 5] = [
    ("fibers.hpp", include_str!("fibers.hpp")),
    ("fibers.cpp", include_str!("fibers.cpp")),
    ("stacks.hpp", include_str!("stacks.hpp")),
    ("intrinsics.hpp", include_str!("intrinsics.hpp")),
    ("watch.hpp", include_str!("watch.hpp")),
];
/// Symbols are hidden, since otherwise all libraries would share the shared memory of template functions.
const FLAGS: [&str; 6] =
    ["-O1", "-std=c++17", "-fPIC", "-fvisibility=hidden", "-DFIBERS", "-Wno-unknown-pragmas"];

/// The order of blocks and threads, a bit mask: `fibers::Order` of `fibers.cpp`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order(pub u32);

impl Order {
    /// Blocks run in reverse order.
    pub const BACKWARD_BLOCKS: Self = Self(1);
    /// Blocks, and the threads of each, run in reverse order.
    pub const BACKWARD: Self = Self(1 | 2);
    /// Threads of a block run in reverse order.
    pub const BACKWARD_THREADS: Self = Self(2);
    /// Threads run in reverse order, and the first of a warp that stores to shared memory lets the others
    /// continue: in this order missing barriers have an effect.
    pub const ADVERSE: Self = Self(2 | 4);

    /// True if the stores of the kernels must be watched.
    pub fn yields(self) -> bool {
        self.0 & 4 != 0
    }
}

/// The order of the variable `GRIDGEN_FIBER_ORDER`, a sum of bits; without it, the natural order.
impl Default for Order {
    fn default() -> Self {
        let number = std::env::var("GRIDGEN_FIBER_ORDER").ok();
        Self(number.map_or(0, |number| number.parse().unwrap()))
    }
}

/// `launch_in_order` of `fibers.cpp`.
type Launch = unsafe extern "C" fn(
    *const c_char,
    *const c_uint,
    *const c_uint,
    c_uint,
    c_uint,
    *const *const c_void,
    c_uint,
    c_uint,
    *mut *const c_char,
) -> c_int;

/// The result of a launch: `fibers::Code`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    UnknownKernel,
    BadLaunch,
    DivergentBarrier,
    DivergentWarp,
    Deadlock,
    SharedOverrun,
    Trapped,
}

/// A launch that was refused, or that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub code: Code,
    pub message: String,
}

/// `parameters` of `fibers.cpp`.
type Parameters = unsafe extern "C" fn(*const c_char, *mut c_uint) -> c_uint;

/// `declared` of `fibers.cpp`.
type Declared = unsafe extern "C" fn(*const c_char) -> *const c_char;

/// `release` of `fibers.cpp`.
type Release = unsafe extern "C" fn();

/// One kernel file, compiled for one precision and loaded. It stays loaded.
pub struct Library {
    launch: Launch,
    parameters: Parameters,
    declared: Declared,
    release: Release,
    /// C++ type of `real` in it.
    real: &'static str,
}

impl Library {
    /// Compiles the text of a module for launches in this order, if necessary, and loads it.
    pub fn load(order: Order, text: &str, width: Width) -> Self {
        Self::open(&compiled(order, text, width.c_type()), width)
    }

    /// Compiles a module and loads a copy with separate state: its kernels can run while those of other
    /// copies wait.
    pub fn copy_for(order: Order, text: &str, width: Width) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("so");
        fs::copy(compiled(order, text, width.c_type()), &copy).unwrap();
        Self::open(&copy, width)
    }

    fn open(file: &Path, width: Width) -> Self {
        // SAFETY: the library was built from the header and kernels, which run nothing on loading
        // but the registration of their names.
        let library = unsafe { libloading::Library::new(file) }
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        // SAFETY: the header declares these functions with the same types.
        let opened = unsafe {
            Self {
                launch: *library.get(b"launch_in_order\0").unwrap(),
                parameters: *library.get(b"parameters\0").unwrap(),
                declared: *library.get(b"declared\0").unwrap(),
                release: *library.get(b"release\0").unwrap(),
                real: width.c_type(),
            }
        };
        std::mem::forget(library);
        opened
    }

    /// Frees the stacks of its fibers. A process can have some 30,000 of them (vm.max_map_count, two mappings
    /// each).
    pub fn release(&self) {
        // SAFETY: a copy has one user, and that user is not launching now.
        unsafe { (self.release)() };
    }

    /// Refuses arguments that have not the size and the type of the kernel's parameters.
    fn check_types(&self, name: &CStr, arguments: &[Argument]) {
        let mut sizes = [0; 64];
        // SAFETY: no kernel has more parameters.
        let count = unsafe { (self.parameters)(name.as_ptr(), sizes.as_mut_ptr()) };
        assert!(arguments.len() <= MOST_PARAMETERS, "{name:?}: too many parameters");
        // A kernel that is not there, and a wrong number of arguments, are faults of the launch.
        if count as usize != arguments.len() {
            return;
        }
        // SAFETY: the kernel is there; the text is a constant of the library.
        let declared = unsafe { CStr::from_ptr((self.declared)(name.as_ptr())) }.to_string_lossy();
        let declared: Vec<_> =
            declared.split(',').map(|one| parameter_type(one, self.real)).collect();
        for ((argument, size), declared) in arguments.iter().zip(sizes).zip(declared) {
            let bytes = 8 * argument.words().len();
            assert_eq!(bytes, size.next_multiple_of(8) as usize, "{name:?}: {argument:?}");
            let given = argument_type(argument.of, self.real);
            assert!(given.is_empty() || given == declared, "{name:?}: {given} for {declared}");
        }
    }

    /// Runs a kernel to its end in this order. Addresses among the arguments must point to live memory.
    pub fn launch(
        &self,
        order: Order,
        name: &str,
        shape: LaunchShape,
        arguments: &[Argument],
    ) -> Result<(), Fault> {
        let name = CString::new(name).unwrap();
        self.check_types(&name, arguments);
        let pointers: Vec<_> = arguments.iter().map(Argument::pointer).collect();
        let mut message = std::ptr::null();
        // SAFETY: all pointers outlive the call; the header checks the number of arguments, and the caller
        // guarantees the addresses among them.
        let code = unsafe {
            (self.launch)(
                name.as_ptr(),
                shape.grid.as_ptr(),
                shape.block.as_ptr(),
                shape.shared,
                c_uint::from(shape.together) | c_uint::from(shape.early) << 1,
                pointers.as_ptr(),
                pointers.len() as c_uint,
                order.0,
                &raw mut message,
            )
        };
        let code = match code {
            0 => return Ok(()),
            1 => Code::UnknownKernel,
            2 => Code::BadLaunch,
            3 => Code::DivergentBarrier,
            4 => Code::DivergentWarp,
            5 => Code::Deadlock,
            6 => Code::SharedOverrun,
            7 => Code::Trapped,
            other => panic!("the header knows no code {other}"),
        };
        // SAFETY: the text is valid until the next launch of this thread.
        let message = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
        Err(Fault { code, message })
    }
}

/// The type of a declared parameter, without its name and `const`.
fn parameter_type(declared: &str, real: &str) -> String {
    let text = declared.replace("const ", " ");
    let end = text.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
    let (of, stars) = (text[..end].replace('*', ""), text[..end].matches('*').count());
    let of = match of.trim() {
        // Points and blocks are several reals.
        "real" | "Pair" | "Block" => real,
        "Two<float>" => "float",
        "Vec" | "Two<double>" => "double",
        "unsigned" => "uint32",
        "unsigned long long" => "uint64",
        // A struct of the host, to which the kernels add functions.
        of => of.strip_suffix("Fields").unwrap_or(of),
    };
    of.to_owned() + &"*".repeat(stars)
}

/// The C++ type of an argument of this Rust type.
fn argument_type(of: &str, real: &str) -> String {
    if let Some((_, value)) = of.split_once("Pointer<") {
        return argument_type(value.trim_end_matches('>'), real) + "*";
    }
    let of = of.rsplit("::").next().unwrap_or_default();
    let known = [("f32", "float"), ("f64", "double"), ("i32", "int"), ("u32", "uint32")];
    let known =
        known.into_iter().chain([("u64", "uint64"), ("u8", "unsigned char"), ("Reals", real)]);
    known.into_iter().find(|(rust, _)| *rust == of).map_or(of, |(_, cpp)| cpp).to_owned()
}

/// The shared library of a text for launches in this order, named by what it is made of. Different texts are
/// compiled at the same time, and none twice.
pub fn compiled(order: Order, text: &str, real: &str) -> PathBuf {
    let watched = order.yields();
    made("so", (watched, text, real), |folder, file| {
        let (source, object) = (folder.join("kernels.cpp"), folder.join("o"));
        fs::write(&source, text).unwrap();
        let mut command = compiler(watched);
        command.arg(format!("-DREAL={real}")).arg("-include").arg(folder.join("fibers.hpp"));
        if watched {
            command.arg("-fsanitize=thread");
        }
        run(command.arg("-c").arg("-o").arg(&object).arg(&source));
        // Linked without the library of the sanitizer.
        let mut command = Command::new("c++");
        run(command.arg("-shared").arg("-o").arg(file).arg(&object).arg(scheduler(watched)));
    })
}

/// The object file of `fibers.cpp`.
fn scheduler(watched: bool) -> PathBuf {
    made("o", (watched, "", ""), |folder, file| {
        run(compiler(watched).arg("-c").arg("-o").arg(file).arg(folder.join("fibers.cpp")));
    })
}

fn compiler(watched: bool) -> Command {
    let mut command = Command::new("c++");
    command.args(FLAGS);
    if watched {
        command.arg("-DWATCHED");
    }
    command
}

/// The file that `make(folder with the sources, file)` makes of a text, named by what it is made of. It is kept, and no
/// file is made twice.
fn made(
    extension: &'static str,
    of: (bool, &str, &str),
    make: impl FnOnce(&Path, &Path),
) -> PathBuf {
    static FILES: Mutex<BTreeMap<u64, Arc<OnceLock<PathBuf>>>> = Mutex::new(BTreeMap::new());
    let mut hasher = DefaultHasher::new();
    (SOURCES, FLAGS, extension, of, std::env::consts::ARCH).hash(&mut hasher);
    let key = hasher.finish();
    let file = FILES.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default().clone();
    file.get_or_init(|| {
        let folder = scratch("fibers");
        let file = folder.join(format!("{key:016x}.{extension}"));
        if !file.exists() {
            fs::create_dir_all(&folder).unwrap();
            // Another process may be making the same file; the rename makes it visible only when complete.
            let own = tempfile::tempdir_in(&folder).unwrap();
            for (name, text) in SOURCES {
                fs::write(own.path().join(name), text).unwrap();
            }
            let part = own.path().join("part");
            make(own.path(), &part);
            fs::rename(&part, &file).unwrap();
        }
        file
    })
    .clone()
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| {
        panic!(
            "the kernels are tested on the CPU with a C++ compiler, but `c++` cannot be run \
             ({error}): install g++ or clang"
        )
    });
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "c++ refuses the kernels:\n{said}");
}
