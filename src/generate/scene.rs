//! Results to look at in a browser.

use super::{AssemblyResult, GridResult};
use crate::formats::block_names;
use crate::viewer::Scene;

impl GridResult {
    /// The grid and its other blocks for the viewer; lengths are in chords.
    pub fn scene(&self) -> Scene<'_> {
        let blocks = self.blocks();
        let zones = block_names(blocks.len()).iter().copied().zip(blocks).collect();
        let unit = self.case.geometry.length();
        Scene { name: &self.case.name, unit, zones, before: Vec::new() }
    }
}

impl AssemblyResult {
    /// The grids for the viewer; lengths are in reference chords.
    pub fn scene(&self) -> Scene<'_> {
        let zones = self.zones().into_iter().map(|zone| (zone.name, zone.grid)).collect();
        let assembly = &self.placed.assembly;
        Scene { name: &assembly.name, unit: assembly.overset.chord, zones, before: Vec::new() }
    }
}
