//! The picture that a command draws of its input.

use std::path::{Path, PathBuf};

use clap::Args;
use gridgen::files::IoError;
use gridgen::internals::atomic::{self, check_apart, check_own};
use gridgen::report::plot::Picture;

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
