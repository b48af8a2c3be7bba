//! Waits for the result of another warp of the same launch.

use std::sync::Arc;

use gridgen::backend::cuda::launch::{Argument, KernelFile, LaunchShape, Width};
use gridgen::backend::cuda::{Buffer, Device};

use support::fibers::{Code, FiberDevice, Library, Order};

/// A row that waits for itself, by single lanes, and by the whole warp if it is long.
#[test]
fn a_row_that_waits_without_end_fails_its_launch() {
    // Waits end after a few polls.
    let text = format!("#define MOST_POLLS 50u\n{}", KernelFile::Order.text());
    let library = Library::load(Order(0), &text, Width::Double);
    for length in [1, 1000] {
        let device: Arc<dyn Device> = Arc::new(FiberDevice::default());
        let buffer = |values: &[u32]| Buffer::from_host(&device, values).unwrap();
        let (starts, split) = (buffer(&[0, length]), buffer(&[length]));
        let (columns, zeros) = (buffer(&vec![0; length as usize]), buffer(&[0; 2]));
        let arguments = [
            Argument::from(1_u64),
            Argument::from(0_u32),
            Argument::of_words(&[starts.address(), split.address(), columns.address()]),
            (&zeros).into(),
            Argument::of_words(&[zeros.address_of(1)]),
        ];

        let shape = LaunchShape::new(1, 32);
        let fault = library.launch(Order(0), "level_rows", shape, &arguments).unwrap_err();

        assert_eq!(fault.code, Code::Trapped, "{length}");
    }
}
