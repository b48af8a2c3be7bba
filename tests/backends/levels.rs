//! Multigrid levels of unusual shapes.

use gridgen::backend::cuda::launch::{Argument, KernelFile, LaunchShape, Width};
use gridgen::backend::cuda::{
    Buffer, CudaBackend, CudaMatrix, Device, MemoryEstimate, PreconditionerStorage,
};
use gridgen::backend::{Coarsening, LevelSize, MultigridBackend};
use gridgen::sparse::WalledSides;
use std::sync::Arc;
use support::fibers::{FiberDevice, Library, Order};
use support::gpus::on_host;
use support::stencil::{ten_numbers, wall_columns};

/// A launch has at most 65,535 blocks along y, and a block of a level has eight rows.
#[test]
fn a_level_may_have_more_rows_than_a_launch_along_y() {
    let (mi, mj, half) = (33_u64, 8 * 65_535 + 9_u64, 18_u64);
    let row = 2 * half as usize;
    let device: Arc<dyn Device> = Arc::new(FiberDevice::default());
    // The points of a row are ordered by parity; the value is 100 i + j mod 100.
    let value = |i: u64, j: usize| (100 * i + j as u64 % 100) as f32;
    let mut level = vec![0.0_f32; 2 * row * mj as usize];
    for (j, line) in level.chunks_mut(2 * row).enumerate() {
        for i in 0..mi {
            line[2 * ((i % 2) * half + i / 2) as usize] = value(i, j);
        }
    }
    let u = Buffer::from_host(&device, &level).unwrap();
    let z = Buffer::<f32>::zeros(&device, (2 * mi * mj) as usize).unwrap();
    let layout = [mi | mj << 32, half];
    let arguments = [Argument::of_words(&layout), (&u).into(), (&z).into()];
    let kernels = Library::load(Order(0), &KernelFile::Level.text(), Width::Single);

    let shape = LaunchShape::tiles(mi as usize, mj as usize);
    kernels.launch(Order(0), "store_solution_single", shape, &arguments).unwrap();

    for (j, line) in on_host(&z).chunks(2 * mi as usize).enumerate() {
        let same = |i: u64| line[2 * i as usize].to_bits() == value(i, j).to_bits();
        assert!((0..mi).all(same), "row {j}: {line:?}");
    }
}

/// Rows of a level are padded to whole memory segments.
#[test]
fn the_estimate_has_room_for_the_padding_of_narrow_levels() {
    for (mi, mj) in [(9, 600), (33, 300), (40, 300), (257, 65)] {
        let device = Arc::new(FiberDevice::with(|device| device.shared_memory = Some(48 << 10)));
        let backend = CudaBackend::new(device.clone()).unwrap();
        let size = LevelSize { mi, mj, periodic: true };
        let [a, columns] =
            [ten_numbers::<f32>(size, 0.0), wall_columns(size, WalledSides::SECTION)].map(
                |(pattern, values)| CudaMatrix::from_values(&backend, pattern, &values).unwrap(),
            );
        let before = device.used();
        let kind = (size, Coarsening::Full);
        let mut levels =
            vec![backend.finest_level::<f32, f32>(None, kind, false, &a, Some(&columns)).unwrap()];
        while let Some(fine) = levels.last()
            && backend.level_size(fine).mi >= 4
            && backend.level_size(fine).mj >= 4
        {
            let coarse = backend.coarse_level(None, fine, Coarsening::Full).unwrap();
            levels.push(coarse);
        }
        let taken = device.used() - before;

        let estimate = |preconditioner| {
            let points = mi * mj;
            MemoryEstimate { points, columns: mi, value: 4, preconditioner }.bytes()
        };
        let [with, without] =
            [PreconditionerStorage::Hierarchy, PreconditionerStorage::Diagonal].map(estimate);
        // A diagonal, and the entries of a matrix that has ten numbers with multigrid.
        let share = with + (2 + 26 - 10) * 4 * mi * mj - without;
        assert!(taken <= share, "{mi} x {mj}: {taken} bytes, estimated {share}");
        assert!(share < 2 * taken, "{mi} x {mj}: {taken} bytes, estimated {share}");
    }
}
