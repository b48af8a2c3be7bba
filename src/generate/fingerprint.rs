//! What decides on the results of a case, in one number.

use super::identity::keys;
use crate::case::Case;
use crate::digest::Digest;
use crate::error::Error;

/// The sources and libraries that this build was made from, as its build script has them.
const SOURCES: &str = env!("GRIDGEN_SOURCES");

/// The fingerprint of the results of a resolved case: of all its keys, of the contents of its file of
/// coordinates wherever that stands, and of the sources that this build was made from. The machine is no
/// part of it: a GPU makes the grid of the CPU to rounding.
pub(super) fn fingerprint(resolved: &Case) -> Result<String, Error> {
    let mut digest = Digest::of(SOURCES.as_bytes());
    for (key, value) in keys(resolved)? {
        digest = digest.then(key.as_bytes()).then(&[0]).then(value.as_bytes()).then(&[0]);
    }
    Ok(format!("{:016x}", digest.number()))
}
