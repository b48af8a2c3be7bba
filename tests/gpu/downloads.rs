//! Large downloads, the later of which go through pinned memory in pieces.

use std::sync::Arc;

use gridgen::backend::cuda::driver::DriverDevice;
use gridgen::backend::cuda::{Buffer, Device};

#[test]
fn large_downloads_bring_every_byte() {
    let device: Arc<dyn Device> = Arc::new(DriverDevice::open(0).unwrap());
    let values: Vec<u32> = (0..(9_u32 << 20) + 5).map(|k| k ^ (k >> 11)).collect();
    let buffer = Buffer::from_host(&device, &values).unwrap();
    let of_driver = [values.len(); 8];
    let others = [1 << 20, (1 << 20) + 1, values.len(), values.len() - 3, 5 << 20];
    for length in of_driver.into_iter().chain(others) {
        let mut host = vec![0; length];
        buffer.download(&mut host).unwrap();
        assert!(host == values[..length], "{length} words");
    }
}
