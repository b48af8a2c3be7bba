//! Errors of devices and of insufficient memory: texts, hints and classes.

use gridgen::backend::DeviceError;
use gridgen::error::{Error, ErrorClass};
use gridgen::generate::{BackendChoice, Progress, RunOptions, make_grid, make_grids};
use gridgen::memory::{NotEnoughMemory, free};
use support::cases::with;
use support::elements::main_and_flap;

#[test]
fn a_missing_backend_is_an_error_of_the_device_and_names_the_way_out() {
    let error = Error::from(DeviceError::NotBuilt { backend: "cuda" });

    assert_eq!(error.class(), ErrorClass::Device);
    assert_eq!(error.to_string(), "this build of gridgen has no cuda backend");
    let hint = error.hint().unwrap_or_default();
    assert_eq!(hint, "run with --backend cpu, or --backend auto to use what is there");
}

#[test]
fn an_empty_list_of_gpus_leaves_the_choice_to_gridgen() {
    let sets = [("grid.ni", "33"), ("grid.nj", "9"), ("grid.far_field", "5")];
    let mut options = RunOptions::default();
    options.devices = Some(Vec::new());

    let made = make_grid(&with("geometry.naca = '2412'", &sets), &options, &mut ()).unwrap();

    assert_eq!(made.backend, "cpu", "a small grid is faster there");
}

struct Stopped;

impl Progress for Stopped {
    fn cancelled(&self) -> bool {
        true
    }
}

/// One of the grids would fit, both together do not.
#[test]
fn elements_that_are_solved_side_by_side_share_the_memory() {
    // The test is skipped if the free memory is unknown, or larger than the grids.
    let Some(free) = free().filter(|free| *free < 100 << 30) else { return };
    // A point takes 710 bytes.
    let nj = free / 710 / 1025 * 7 / 10;
    let of_rows = |nj: u64| {
        let grid = format!("ni = 1025, nj = {nj}, first_cell = 1e-7");
        let case = main_and_flap(&grid, ["", "at = [1.5, -0.2]\n"], "");
        let mut options = RunOptions::default();
        options.backend = BackendChoice::Cpu;
        make_grids(&case, &options, &mut Stopped).unwrap_err()
    };

    assert!(matches!(of_rows(nj), Error::Device(DeviceError::Memory(_))));
    assert!(matches!(of_rows(nj / 2), Error::Interrupted { .. }));
}

/// Small amounts of memory are shown exactly, so that needed and free differ.
#[test]
fn bytes_are_shown_in_units_that_people_read() {
    for (needed, free, shown) in [
        (1 << 19, 0, "0.5 MiB of memory are needed, 0.0 MiB are free"),
        (3 << 20, 0, "3.0 MiB of memory are needed, 0.0 MiB are free"),
        (3 << 29, 0, "1.5 GiB of memory are needed, 0.0 MiB are free"),
        (5 << 40, 0, "5.0 TiB of memory are needed, 0.0 MiB are free"),
        (7 << 50, 0, "7.0 PiB of memory are needed, 0.0 MiB are free"),
        (51_300, 4096, "51300 bytes of memory are needed, 4096 bytes are free"),
    ] {
        assert_eq!(NotEnoughMemory { needed, free }.to_string(), shown);
    }
}

/// The hint suggests nothing that the case already does.
#[test]
fn a_case_larger_than_the_memory_is_refused_as_input() {
    let text = "geometry.naca = \"0012\"\n[grid]\nni = 1001\nnj = 1000000\n";
    let case = support::cases::case(text);
    let mut options = RunOptions::default();
    options.backend = BackendChoice::Cpu;

    let error = make_grid(&case, &options, &mut Stopped).err().unwrap();

    assert!(error.to_string().contains("of memory are needed"), "{error}");
    assert_eq!(error.class(), ErrorClass::Input, "{error}");
    assert_eq!(error.hint().unwrap(), "make the grid smaller, or use a machine with more memory");
}
