//! Meeting of the ranks of a job: all connect with the first.

use super::RanksError;
use super::launcher::RankPlace;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, Instant};
use std::{fs, thread};
use sysinfo::System;

/// First bytes of a connection, and the answer of the first rank: [`KNOWN`] at once, then [`COMPLETE`] or
/// [`INCOMPLETE`].
const GREETING: u64 = u64::from_le_bytes(*b"GRIDGEN1");
const KNOWN: u8 = 1;
const COMPLETE: u8 = 2;
const INCOMPLETE: u8 = 3;
/// Words of a hello: the greeting, the token of the job, rank and size.
const HELLO: usize = 4;
/// Time for the greeting of a connection, and most connections that have not greeted yet.
const PATIENCE: Duration = Duration::from_secs(5);
const STRANGERS: usize = 64;
/// Most bytes of a file with an address.
const MOST_BYTES: u64 = 512;
/// Time of an attempt to connect, and between two of them.
const ATTEMPT: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(50);
/// Longest wait for the others, some hundred years: the clock has no time after much more.
const LONGEST_WAIT: Duration = Duration::from_secs(1 << 32);

/// Meeting point of the ranks of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rendezvous {
    /// Host and port of the first rank.
    Address(String, u16),
    /// A file in a folder that all hosts share, to which the first rank writes its address. It is removed
    /// when all have come.
    File(PathBuf),
}

impl FromStr for Rendezvous {
    type Err = RanksError;

    /// `host:port`, `[address]:port` or `file:PATH`.
    fn from_str(text: &str) -> Result<Self, RanksError> {
        let refused = || RanksError::Rendezvous { found: text.to_owned() };
        if let Some(path) = text.strip_prefix("file:") {
            return if path.is_empty() { Err(refused()) } else { Ok(Self::File(path.into())) };
        }
        let (host, port) = text.rsplit_once(':').ok_or_else(refused)?;
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let port = port.parse().ok().filter(|port| *port > 0).ok_or_else(refused)?;
        if host.is_empty() { Err(refused()) } else { Ok(Self::Address(host.to_owned(), port)) }
    }
}

/// Connections with the other ranks: of the first with each, of any other with the first.
pub(super) fn meet(
    place: &RankPlace,
    rendezvous: Option<Rendezvous>,
    wait: Duration,
) -> Result<BTreeMap<usize, TcpStream>, RanksError> {
    if place.size < 2 {
        return Ok(BTreeMap::new());
    }
    let unknown = || RanksError::NoAddress { launcher: place.launcher };
    let named = place.address.clone().map(|(host, port)| Rendezvous::Address(host, port));
    let rendezvous = rendezvous.or(named).ok_or_else(unknown)?;
    let wait = wait.min(LONGEST_WAIT);
    if place.rank == 0 { listen(place, &rendezvous, wait) } else { find(place, &rendezvous, wait) }
}

/// The first words of a connection of a rank of this job.
fn hello(place: &RankPlace, rank: usize) -> [u64; HELLO] {
    [GREETING, place.token(), rank as u64, place.size as u64]
}

/// The first rank waits for all others. A connection that does not greet as one of them is dropped.
fn listen(
    place: &RankPlace,
    rendezvous: &Rendezvous,
    wait: Duration,
) -> Result<BTreeMap<usize, TcpStream>, RanksError> {
    let (host, port, address, file) = match rendezvous {
        Rendezvous::Address(host, port) => (&**host, *port, format!("{host}:{port}"), None),
        Rendezvous::File(path) => ("0.0.0.0", 0, "a free port".to_owned(), Some(path)),
    };
    let refused = |error: io::Error| RanksError::Listen { address, reason: error.to_string() };
    let listener = bind(host, port).map_err(refused)?;
    let _file = file.map(|path| AddressFile::write(path, place, &listener)).transpose()?;
    let (deadline, come) = (Instant::now() + wait, Mutex::new(BTreeMap::new()));
    let strangers = Mutex::new(0);
    thread::scope(|scope| {
        while come.lock().len() + 1 < place.size && Instant::now() < deadline {
            let Ok((stream, _)) = listener.accept() else {
                thread::sleep(PAUSE.min(deadline.saturating_duration_since(Instant::now())));
                continue;
            };
            if *strangers.lock() >= STRANGERS {
                continue;
            }
            *strangers.lock() += 1;
            let (come, strangers) = (&come, &strangers);
            scope.spawn(move || {
                if let Some((rank, stream)) = greeted(place, stream) {
                    // A rank that is there already is another job's.
                    come.lock().entry(rank).or_insert(stream);
                }
                *strangers.lock() -= 1;
            });
        }
    });
    let mut come = come.into_inner();
    let missing: Vec<usize> = (1..place.size).filter(|rank| !come.contains_key(rank)).collect();
    let answer = if missing.is_empty() { COMPLETE } else { INCOMPLETE };
    for stream in come.values_mut() {
        // Whether a rank has gone meanwhile is found out later.
        let _ = stream.write_all(&[answer]);
    }
    if missing.is_empty() {
        Ok(come)
    } else {
        Err(RanksError::Missing { missing, size: place.size, waited: wait })
    }
}

/// Listens, without waiting in `accept`, on this host alone where no other host reaches the address.
fn bind(host: &str, port: u16) -> io::Result<TcpListener> {
    let own = host == "localhost" || host.starts_with("127.") || host == "::1";
    let listener = if own {
        TcpListener::bind((host, port))
    } else {
        TcpListener::bind((Ipv6Addr::UNSPECIFIED, port))
            .or_else(|_| TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)))
    }?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// The rank of a connection that greets as one of this job.
fn greeted(place: &RankPlace, mut stream: TcpStream) -> Option<(usize, TcpStream)> {
    stream.set_nonblocking(false).ok()?;
    let deadline = Instant::now() + PATIENCE;
    let (mut found, mut read) = ([[0; 8]; HELLO], 0);
    while read < found.as_flattened().len() {
        // A stranger may send a byte now and then.
        let left = deadline.saturating_duration_since(Instant::now());
        stream.set_read_timeout(Some(left).filter(|left| !left.is_zero())).ok()?;
        if left.is_zero() {
            return None;
        }
        match stream.read(&mut found.as_flattened_mut()[read..]).ok()? {
            0 => return None,
            bytes => read += bytes,
        }
    }
    let found = found.map(u64::from_le_bytes);
    let rank = found[2] as usize;
    if !(1..place.size).contains(&rank) || found != hello(place, rank) {
        return None;
    }
    stream.write_all(&[KNOWN]).ok()?;
    Some((rank, stream))
}

/// Connects with the first rank, and waits until all have come.
fn find(
    place: &RankPlace,
    rendezvous: &Rendezvous,
    wait: Duration,
) -> Result<BTreeMap<usize, TcpStream>, RanksError> {
    let deadline = Instant::now() + wait;
    let mut address = match rendezvous {
        Rendezvous::Address(host, port) => format!("{host}:{port}"),
        Rendezvous::File(path) => format!("the address in {}", path.display()),
    };
    loop {
        let attempt = match rendezvous {
            Rendezvous::Address(host, port) => connect(place, host, *port),
            Rendezvous::File(path) => read_address(path, place).and_then(|(host, port)| {
                address = format!("{host}:{port}");
                // A name that is this host's need not be known to a name server.
                let here = System::host_name().is_ok_and(|name| name == host);
                connect(place, if here { "127.0.0.1" } else { &host }, port)
            }),
        };
        let late = Instant::now() >= deadline;
        // The first rank may have begun to wait later than this one.
        let left = || deadline.saturating_duration_since(Instant::now()) + wait;
        let reason = match attempt.map(|stream| complete(stream, left())) {
            Ok(Ok(stream)) => return Ok(BTreeMap::from([(0, stream)])),
            Ok(Err(reason)) => reason.to_owned(),
            Err(error) if late => error.to_string(),
            Err(_) => {
                thread::sleep(PAUSE);
                continue;
            }
        };
        return Err(RanksError::NotFound { rank: place.rank, address, waited: wait, reason });
    }
}

/// A connection that the first rank of this job has answered.
fn connect(place: &RankPlace, host: &str, port: u16) -> io::Result<TcpStream> {
    let unknown = Err(io::Error::other("the name of the host is not known"));
    let addresses = (host, port).to_socket_addrs()?;
    addresses.fold(unknown, |found, address| found.or_else(|_| greet(place, &address)))
}

fn greet(place: &RankPlace, address: &SocketAddr) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect_timeout(address, ATTEMPT)?;
    stream.write_all(hello(place, place.rank).map(u64::to_le_bytes).as_flattened())?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut answer = [0];
    stream.read_exact(&mut answer).map_err(|_| {
        io::Error::other("what listens there does not know this job: it may be another one's port")
    })?;
    if answer == [KNOWN] { Ok(stream) } else { Err(io::ErrorKind::InvalidData.into()) }
}

/// Waits for this time until the first rank says that all have come; the error says why they have not.
fn complete(mut stream: TcpStream, left: Duration) -> Result<TcpStream, &'static str> {
    let _ = stream.set_read_timeout(Some(left));
    let mut answer = [0];
    match stream.read_exact(&mut answer) {
        Ok(()) if answer == [COMPLETE] => Ok(stream),
        Ok(()) if answer == [INCOMPLETE] => Err("other ranks did not come in time"),
        _ => Err("it ended before all ranks had come"),
    }
}

/// The file with the address of the first rank; it is removed when all have come. A file without an address stays.
struct AddressFile<'a>(&'a Path, String);

impl<'a> AddressFile<'a> {
    fn write(
        path: &'a Path,
        place: &RankPlace,
        listener: &TcpListener,
    ) -> Result<Self, RanksError> {
        let host = System::host_name().unwrap_or_else(|_| "localhost".to_owned());
        let written = listener.local_addr().and_then(|address| {
            if fs::symlink_metadata(path).is_ok() && address_in(path).is_none() {
                return Err(io::Error::other("there is something that gridgen did not write"));
            }
            // Others read it whole or not at all.
            let text = format!("{host} {} {:016x}\n", address.port(), place.token());
            let part = path.with_extension(format!("part{}", std::process::id()));
            let written = fs::write(&part, &text).and_then(|()| fs::rename(&part, path));
            written.map(|()| text).inspect_err(|_| drop(fs::remove_file(&part)))
        });
        let refused = |error: io::Error| RanksError::File {
            path: path.to_path_buf(),
            reason: error.to_string(),
        };
        written.map(|text| Self(path, text)).map_err(refused)
    }
}

impl Drop for AddressFile<'_> {
    fn drop(&mut self) {
        // Another job may have written its own meanwhile.
        if fs::read_to_string(self.0).is_ok_and(|text| text == self.1) {
            let _ = fs::remove_file(self.0);
        }
    }
}

/// The address that the first rank of this job has written.
fn read_address(path: &Path, place: &RankPlace) -> io::Result<(String, u16)> {
    fs::metadata(path)?;
    match address_in(path) {
        Some((host, port, token)) if token == place.token() => Ok((host, port)),
        _ => Err(io::Error::other("the file is that of another job")),
    }
}

/// Host, port and token in a file that a first rank has written.
fn address_in(path: &Path) -> Option<(String, u16, u64)> {
    let small = fs::symlink_metadata(path).is_ok_and(|it| it.is_file() && it.len() <= MOST_BYTES);
    let text = small.then(|| fs::read_to_string(path).ok())??;
    let words: Vec<&str> = text.strip_suffix('\n')?.split(' ').collect();
    let [host, port, token] = words[..] else { return None };
    let number = u64::from_str_radix(token, 16).ok().filter(|_| token.len() == 16)?;
    Some((host.to_owned(), port.parse().ok()?, number))
}
