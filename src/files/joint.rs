//! Files that several processes write together: each its share at its place where all of them see the
//! folder, else through the first one.
//!
//! The first process makes the file under a temporary name and gives it its own when all have written
//! theirs. A process that fails makes the calls of the others nevertheless: all come to the end, and to the
//! same failure.

use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, absolute};

use super::atomic::{BUFFER_BYTES, Made, Paced};
use super::sink::{Contents, Share, Sink};
use super::{IoError, WriteFault};
use crate::ranks::{Processes, RanksError};

/// Bytes of a message to the first process, and most messages that it has not taken.
const PIECE: usize = 1 << 20;
const AHEAD: usize = 2;

/// Writes a file like [`super::atomic::write`], which several processes can do together: all must call, each
/// with its share of the contents. The path is that of the first process.
///
/// # Errors
/// The failure of the first process that failed, on all.
pub fn write<F>(path: &Path, processes: Processes<'_>, contents: F) -> Result<(), IoError>
where
    F: FnOnce(&mut JointFile<'_>) -> io::Result<()>,
{
    let lost = |error| WriteFault::from(error).at(path);
    let made = processes.is_first().then(|| Made::begin(path)).transpose();
    let place = told(&made, processes).map_err(lost)?;
    let made = made?;
    let Ok(place) = place else {
        let reason = place.err().unwrap_or_default();
        return Err(WriteFault::OtherRank { rank: 0, reason }.at(path));
    };
    let opened = if made.is_none() { seen(&place) } else { None };
    let file = made.as_ref().map(Made::file).or(opened.as_ref());
    let sees = processes.all_gather(vec![u8::from(file.is_some())]).map_err(lost)?;
    let placed = sees.iter().all(|sees| sees[..] == [1]);

    let out = file.map(|file| BufWriter::with_capacity(BUFFER_BYTES, Paced::new(file)));
    let at = placed.then_some(0);
    let mut joint = JointFile { out, processes, at, failure: None };
    let written = contents(&mut joint).and_then(|()| joint.finish());
    let written = written.map_err(|source| IoError::new(path, source));
    if let Err(IoError { fault: WriteFault::Ranks(_), .. }) = written {
        return written;
    }
    let said = written.as_ref().err().map(|error| error.fault.to_string()).unwrap_or_default();
    let said = processes.all_gather(said.into_bytes()).map_err(lost)?;
    written?;
    if let Some(rank) = said.iter().position(|said| !said.is_empty()) {
        let reason = String::from_utf8_lossy(&said[rank]).into_owned();
        return Err(WriteFault::OtherRank { rank, reason }.at(path));
    }
    made.map_or(Ok(()), Made::place)
}

/// Where the first process has made a file, or why it has not, on all.
fn told(
    made: &Result<Option<Made>, IoError>,
    processes: Processes<'_>,
) -> Result<Result<String, String>, RanksError> {
    let own = match made {
        Ok(made) => {
            let place = made.as_ref().and_then(|made| absolute(made.made_at()).ok());
            ['1'.into(), place.as_deref().and_then(Path::to_str).unwrap_or_default().to_owned()]
        }
        Err(error) => [String::from('0'), error.fault.to_string()],
    };
    let said = processes.broadcast(own.concat().into_bytes())?;
    let said = String::from_utf8_lossy(&said).into_owned();
    Ok(match said.strip_prefix('1') {
        Some(place) => Ok(place.to_owned()),
        None => Err(said.trim_start_matches('0').to_owned()),
    })
}

/// The file that the first process has made, if it is seen here. Where locks keep others from writing it is
/// not.
fn seen(place: &str) -> Option<File> {
    if cfg!(unix) && !place.is_empty() {
        // What is never read is never written back as it was before.
        File::options().write(true).open(place).ok()
    } else {
        None
    }
}

/// A file that processes write together.
#[derive(Debug)]
pub struct JointFile<'a> {
    /// The file, where it is seen.
    out: Option<BufWriter<Paced<'a>>>,
    processes: Processes<'a>,
    /// Bytes so far, as long as all know them and see the file.
    at: Option<u64>,
    /// What went wrong here. Others go on, and so do the calls.
    failure: Option<io::Error>,
}

impl JointFile<'_> {
    /// Keeps a failure until the end: others wait for the calls that follow.
    fn keep(&mut self, done: io::Result<()>) -> io::Result<()> {
        let Err(error) = done else { return Ok(()) };
        let lost = error.get_ref().is_some_and(<dyn Error + Send + Sync>::is::<RanksError>);
        if self.processes.size() == 1 || lost {
            return Err(error);
        }
        self.failure.get_or_insert(error);
        Ok(())
    }

    /// Waits until all that this process has written is on the disk.
    fn finish(self) -> io::Result<()> {
        if let Some(error) = self.failure {
            return Err(error);
        }
        // A disk on the network may say only now that it is full.
        self.out.map_or(Ok(()), |out| out.into_inner()?.finish())
    }

    /// Writes the share of this process `before` bytes from here, and goes on after those of all.
    fn place(&mut self, at: u64, share: Share, write: &mut Contents<'_>) -> io::Result<()> {
        let end = at + share.all;
        self.at = Some(end);
        let Some(out) = self.out.as_mut().filter(|_| self.failure.is_none()) else { return Ok(()) };
        out.seek(SeekFrom::Start(at + share.before))?;
        write(out)?;
        if self.processes.is_first() {
            out.seek(SeekFrom::Start(end))?;
        }
        Ok(())
    }
}

impl Write for JointFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(at) = &mut self.at {
            *at += bytes.len() as u64;
        }
        if self.processes.is_first()
            && self.failure.is_none()
            && let Some(out) = &mut self.out
        {
            let written = out.write_all(bytes);
            self.keep(written)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.as_mut().map_or(Ok(()), BufWriter::flush)
    }
}

impl Seek for JointFile<'_> {
    /// Of what the first process writes; nothing has its place afterwards.
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = None;
        match self.out.as_mut().filter(|_| self.failure.is_none()) {
            Some(out) => out.seek(to),
            None => Ok(0),
        }
    }
}

impl Sink for JointFile<'_> {
    fn share(&mut self, share: Option<Share>, write: &mut Contents<'_>) -> io::Result<()> {
        let done = match (self.at, share, &mut self.out) {
            (_, _, Some(out)) if self.processes.size() == 1 => write(out),
            (Some(at), Some(share), _) => self.place(at, share, write),
            (_, _, out) => {
                self.at = None;
                let mut nowhere = io::sink();
                let to: &mut dyn Sink = match out {
                    Some(out) if self.failure.is_none() => out,
                    _ => &mut nowhere,
                };
                stream(self.processes, to, write)
            }
        };
        self.keep(done)
    }

    fn once(&mut self, write: &mut Contents<'_>) -> io::Result<()> {
        self.at = self.at.filter(|_| self.processes.size() == 1);
        let first = self.processes.is_first() && self.failure.is_none();
        let done = match &mut self.out {
            Some(out) if first => write(out),
            _ => Ok(()),
        };
        self.keep(done)
    }
}

/// On the first process `to` ← what `write` writes on each process, by rank.
///
/// # Errors
/// That of `to`, after all has come; [`RanksError`] where another process is gone.
pub(crate) fn stream(
    processes: Processes<'_>,
    to: &mut dyn Sink,
    write: &mut Contents<'_>,
) -> io::Result<()> {
    if !processes.is_first() {
        let mut sender = Sender { processes, piece: Vec::new(), ahead: 0 };
        let done = write(&mut sender);
        // The first one waits for the end.
        return sender.finish().and(done);
    }
    let mut done = write(to);
    for rank in 1..processes.size() {
        loop {
            let piece = processes.receive(rank)?;
            if piece.is_empty() {
                break;
            }
            processes.send(rank, Vec::new());
            done = done.and_then(|()| to.write_all(&piece));
        }
    }
    done
}

/// Sends what is written to the first process, which takes it piece by piece.
struct Sender<'a> {
    processes: Processes<'a>,
    piece: Vec<u8>,
    /// Pieces that the first process has not taken.
    ahead: usize,
}

impl Sender<'_> {
    fn send(&mut self) -> io::Result<()> {
        self.wait(AHEAD - 1)?;
        self.processes.send(0, std::mem::take(&mut self.piece));
        self.ahead += 1;
        Ok(())
    }

    /// Waits until no more than `most` pieces are left to be taken.
    fn wait(&mut self, most: usize) -> io::Result<()> {
        while self.ahead > most {
            self.processes.receive(0)?;
            self.ahead -= 1;
        }
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        if !self.piece.is_empty() {
            self.send()?;
        }
        self.processes.send(0, Vec::new());
        self.wait(0)
    }
}

impl Write for Sender<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len().min(PIECE - self.piece.len());
        self.piece.extend_from_slice(&bytes[..count]);
        if self.piece.len() == PIECE {
            self.send()?;
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

super::sink::alone!(Sender<'_>);
