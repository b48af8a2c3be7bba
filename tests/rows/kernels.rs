//! The kernels of `rows.cu` against plain loops.
#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

use std::sync::Arc;

use gridgen::backend::cuda::kernel::{Argument, Kernel, Shape, Source};
use gridgen::backend::cuda::{Buffer, Device};

use crate::fibers::FiberDevice;

/// Counts that fill no block, one, and a little more.
const COUNTS: [usize; 4] = [1, 255, 256, 700];

/// `count` of the rows of twice as many, none twice.
fn rows(count: usize) -> Vec<u32> {
    (0..count).map(|k| ((k * 7 + 3) % count * 2) as u32).collect()
}

fn numbers(n: usize) -> Vec<f64> {
    (0..n).map(|k| (k as f64).sqrt()).collect()
}

/// Launches a kernel with rows, values by row, and values by place; returns those it writes.
fn launched(name: &'static str, from: &[f64], to: &[f64], count: usize) -> Vec<f64> {
    let device: Arc<dyn Device> = Arc::new(FiberDevice::default());
    let rows = Buffer::from_host(&device, &rows(count)).unwrap();
    let from = Buffer::from_host(&device, from).unwrap();
    let into = Buffer::from_host(&device, to).unwrap();
    let arguments = [(count as u64).into(), (&rows).into(), (&from).into(), Argument::from(&into)];
    let kernel = Kernel::new::<f64>(Source::Rows, name);
    device.launch(kernel, Shape::threads(count), &arguments).unwrap();
    let mut host = to.to_vec();
    into.download(&mut host).unwrap();
    host
}

#[test]
fn entries_are_packed_as_a_loop_packs_them() {
    for count in COUNTS {
        let x = numbers(2 * count);
        let expected: Vec<f64> = rows(count).iter().map(|&row| x[row as usize]).collect();

        assert_eq!(launched("pack_entries", &x, &vec![0.0; count], count), expected);
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
