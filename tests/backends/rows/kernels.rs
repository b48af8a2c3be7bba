//! The kernels of `rows.cu`, compared with plain loops.

use std::sync::Arc;

use gridgen::backend::cuda::launch::{Argument, DeviceKernel, KernelFile, LaunchShape};
use gridgen::backend::cuda::{Buffer, Device};
use gridgen::sparse::Csr;

use super::patterns::{difference, times};
use support::fibers::FiberDevice;

/// Numbers of rows that fill less than a block, a block, and more.
const COUNTS: [usize; 4] = [1, 255, 256, 700];

/// `count` rows of twice as many, without repetition.
fn rows(count: usize) -> Vec<u32> {
    (0..count).map(|k| ((k * 7 + 3) % count * 2) as u32).collect()
}

fn on<T: bytemuck::Pod>(device: &Arc<dyn Device>, values: &[T]) -> Buffer<T> {
    Buffer::from_host(device, values).unwrap()
}

fn numbers(n: usize) -> Vec<f64> {
    (0..n).map(|k| (k as f64).sqrt()).collect()
}

/// Launches a kernel with rows, values by row, and values by position; returns the values that it writes.
fn launched(name: &'static str, from: &[f64], to: &[f64], count: usize) -> Vec<f64> {
    let fibers = Arc::new(FiberDevice::default());
    let device: Arc<dyn Device> = fibers.clone();
    let (rows, from, into) = (on(&device, &rows(count)), on(&device, from), on(&device, to));
    let arguments = [(count as u64).into(), (&rows).into(), (&from).into(), Argument::from(&into)];
    let kernel = DeviceKernel::new::<f64>(KernelFile::RowHalo, name);
    fibers.run(kernel, LaunchShape::threads(count), &arguments);
    let mut host = to.to_vec();
    into.download(&mut host).unwrap();
    host
}

#[test]
fn entries_are_packed_as_a_loop_packs_them() {
    for count in COUNTS {
        let x = numbers(2 * count);
        let expected: Vec<f64> = rows(count).iter().map(|&row| x[row as usize]).collect();

        assert_eq!(launched("gather", &x, &vec![0.0; count], count), expected);
    }
}

#[test]
fn short_rows_are_multiplied_and_added_as_a_loop_does() {
    let fibers = Arc::new(FiberDevice::default());
    let device: Arc<dyn Device> = fibers.clone();
    for (count, lanes) in COUNTS.into_iter().zip([1_u32, 2, 8, 32]) {
        // Rows with no entry, with some, and with more than a warp has lanes.
        let beyond = Csr::from_rows((0..count).map(|k| {
            (0..[0, 1, 5, 40][k % 4]).map(move |j| ((3 * k + 7 * j) % 90, 0.5 * (k + j) as f64))
        }));
        let (x, y) = (numbers(90), vec![0.5; 2 * count]);
        let mut expected = y.clone();
        for (&row, sum) in rows(count).iter().zip(times(&beyond, &x)) {
            expected[row as usize] += sum;
        }
        let row_start: Vec<u32> = beyond.row_start.iter().map(|&start| start as u32).collect();
        let [rows, row_start, columns] =
            [&rows(count), &row_start, &beyond.columns].map(|v| on(&device, v));
        let [values, x, into] = [&beyond.values, &x, &y].map(|v| on(&device, v));

        let arguments: [Argument; 8] = [
            (count as u64).into(),
            lanes.into(),
            (&rows).into(),
            (&row_start).into(),
            (&columns).into(),
            (&values).into(),
            (&x).into(),
            (&into).into(),
        ];
        let kernel = DeviceKernel::new::<f64>(KernelFile::RowHalo, "add_rows");
        fibers.run(kernel, LaunchShape::threads(count * lanes as usize), &arguments);

        let mut found = y.clone();
        into.download(&mut found).unwrap();
        assert!(difference(&found, &expected) < 1e-14, "{count} rows, {lanes} lanes");
    }
}

#[test]
fn sums_are_added_as_a_loop_adds_them() {
    for count in COUNTS {
        let (sums, y) = (numbers(count), vec![0.5; 2 * count]);
        let mut expected = y.clone();
        for (&row, sum) in rows(count).iter().zip(&sums) {
            expected[row as usize] += sum;
        }

        assert_eq!(launched("add_sums", &sums, &y, count), expected);
    }
}
