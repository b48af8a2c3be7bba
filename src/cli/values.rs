//! Arguments that several commands have: readers of their values, and the picture that a command draws of its input.

use std::ops::RangeBounds;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, RangedU64ValueParser, TypedValueParser};
use gridgen::files::IoError;
use gridgen::internals::atomic::{self, check_apart, check_own};
use gridgen::report::plot::Picture;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::StrDeserializer;

/// Reads one of some words, which are given with their help, as serde does.
pub(super) fn words<T>(words: &'static [(&str, &str)]) -> impl TypedValueParser<Value = T>
where
    T: for<'de> Deserialize<'de> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(possible(words)).try_map(|text| word(&text))
}

pub(super) fn possible(words: &'static [(&str, &str)]) -> impl Iterator<Item = PossibleValue> {
    words.iter().map(|&(word, help)| PossibleValue::new(word).help(help))
}

/// Reads a number of things.
pub(super) fn count(range: impl RangeBounds<u64>) -> impl TypedValueParser<Value = usize> {
    RangedU64ValueParser::<usize>::new().range(range)
}

/// Reads a finite number for which `fits` holds.
pub(super) fn number(
    text: &str,
    fits: impl Fn(f64) -> bool,
    expected: &str,
) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && fits(*number));
    number.ok_or_else(|| format!("a number {expected} was expected"))
}

/// Reads a number above zero.
pub(super) fn above_zero(text: &str) -> Result<f64, String> {
    number(text, |number| number > 0.0, "above 0")
}

/// Reads a word as serde does.
pub(super) fn word<T: for<'de> Deserialize<'de>>(text: &str) -> Result<T, serde::de::value::Error> {
    let word: StrDeserializer<'_, serde::de::value::Error> = text.into_deserializer();
    T::deserialize(word)
}

/// Splits `section.key=value`.
pub(super) fn parse_set(argument: &str) -> Result<(String, String), String> {
    match argument.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => {
            Ok((key.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("expected section.key=value, for example grid.ni=513".to_owned()),
    }
}

/// Arguments of commands that draw one picture.
#[derive(Debug, Args)]
pub(super) struct PictureArguments {
    /// Folder of the pictures, <section>.png and <section>.svg.
    #[arg(short, long, value_name = "DIR", default_value = "output")]
    output: PathBuf,
    /// Draw nothing.
    #[arg(long)]
    no_pictures: bool,
    /// Replace pictures that gridgen did not draw.
    #[arg(long)]
    force: bool,
}

impl PictureArguments {
    /// Writes the picture of an input to two files of this name unless it is turned off; returns them.
    pub(super) fn draw(
        &self,
        name: &str,
        input: &Path,
        picture: impl FnOnce() -> Picture,
    ) -> Result<Vec<PathBuf>, IoError> {
        if self.no_pictures {
            return Ok(Vec::new());
        }
        atomic::create_folder(&self.output)?;
        let files =
            ["png", "svg"].map(|kind| self.output.join([name, ".", kind].concat())).to_vec();
        for file in &files {
            check_apart([Some(&**file)], [Some(input)])?;
            if self.force { Ok(()) } else { check_own(file, Picture::MARK) }?;
        }
        let picture = picture();
        files.iter().try_for_each(|file| picture.write(file))?;
        Ok(files)
    }
}
