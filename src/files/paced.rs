//! Files whose bytes go to the disk while more of them are made.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// Bytes between two orders to the disk: many times what an order costs, and few of a large file.
const STRIDE: usize = 32 << 20;

/// A file that is written from its start, or in places, and is on the disk when it is finished.
///
/// The system keeps what is written in memory until it is told to give it to the disk. Told at the
/// end only, a file takes the time of the copies and then that of the disk; here another thread waits
/// for the disk meanwhile.
#[derive(Debug)]
pub struct Paced<'a> {
    file: &'a File,
    /// Bytes written since the last order.
    since: usize,
    /// None before the first order.
    disk: Option<Disk>,
}

/// The thread that waits for the disk.
#[derive(Debug)]
struct Disk {
    orders: SyncSender<()>,
    waiting: JoinHandle<io::Result<()>>,
}

impl Disk {
    fn new(file: &File) -> io::Result<Self> {
        let file = file.try_clone()?;
        // An order that finds one waiting adds nothing to it.
        let (orders, given) = sync_channel(1);
        let waiting = thread::Builder::new()
            .spawn(move || given.into_iter().try_for_each(|()| file.sync_data()))?;
        Ok(Self { orders, waiting })
    }
}

impl<'a> Paced<'a> {
    /// Writes to `file`.
    pub(crate) fn new(file: &'a File) -> Self {
        Self { file, since: 0, disk: None }
    }

    /// The file itself.
    pub(crate) fn file(&self) -> &'a File {
        self.file
    }

    /// Waits until all is on the disk.
    ///
    /// # Errors
    ///
    /// What the disk could not take, now or before.
    pub(crate) fn finish(self) -> io::Result<()> {
        if let Some(Disk { orders, waiting }) = self.disk {
            drop(orders);
            waiting
                .join()
                .map_err(|_| io::Error::other("the thread that waits for the disk ended"))??;
        }
        self.file.sync_data()
    }

    /// Has the disk take what is written, while more is.
    fn order(&mut self) -> io::Result<()> {
        let disk = match self.disk.take() {
            Some(disk) => disk,
            None => Disk::new(self.file)?,
        };
        // The thread has ended where the disk failed: `finish` tells.
        let _ = disk.orders.try_send(());
        self.disk = Some(disk);
        Ok(())
    }
}

impl Write for Paced<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.since += written;
        if self.since >= STRIDE {
            self.since = 0;
            self.order()?;
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for Paced<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

    use super::*;

    #[test]
    fn a_file_of_several_orders_is_written_whole() {
        let path = tempfile::NamedTempFile::new().unwrap();
        let bytes: Vec<u8> = (0..STRIDE / 2).map(|k| (k % 251) as u8).collect();
        let mut paced = Paced::new(path.as_file());

        (0..5).try_for_each(|_| paced.write_all(&bytes)).unwrap();
        let ordered = paced.disk.is_some();
        paced.seek(SeekFrom::Start(3)).unwrap();
        paced.write_all(b"abc").unwrap();
        paced.finish().unwrap();

        let read = std::fs::read(path.path()).unwrap();
        assert!(ordered);
        assert_eq!((read.len(), &read[..7]), (5 * bytes.len(), &b"\x00\x01\x02abc\x06"[..]));
        assert!(read[STRIDE / 2..].chunks(bytes.len()).all(|part| part == bytes));
    }

    #[test]
    fn a_small_file_takes_no_thread() {
        let path = tempfile::NamedTempFile::new().unwrap();
        let mut paced = Paced::new(path.as_file());

        paced.write_all(&[0; 4096]).unwrap();

        assert!(paced.disk.is_none());
    }
}
