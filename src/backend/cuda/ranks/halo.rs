//! The outer columns of a band on their way to its neighbours, and those that come from them.

use super::super::Buffer;
use super::super::device::Device;
use super::super::kernel::{Argument, arguments};
use super::{Parcel, Place, Reach};
use crate::backend::DeviceError;
use std::sync::Arc;

// As in `kernels/columns.cuh`.
/// Points of a column that kernels pass by themselves.
pub(super) const COLUMN_POINTS: usize = 16_384;
/// What a launch does.
const PUT: u32 = 1;
const GET: u32 = 2;

/// Room for what is sent and received: a piece for the side before the band, one for that after.
pub(in super::super) struct Halo<T> {
    send: Buffer<T>,
    receive: Buffer<T>,
    /// Values of a side.
    side: usize,
}

impl<T: bytemuck::Pod> Halo<T> {
    /// For `side` values on each side.
    pub(in super::super) fn new(
        device: &Arc<dyn Device>,
        side: usize,
    ) -> Result<Self, DeviceError> {
        let zeros = || Buffer::zeros(device, 2 * side);
        Ok(Self { send: zeros()?, receive: zeros()?, side })
    }

    /// Where what is to be sent is put.
    pub(in super::super) fn sent(&self) -> Argument {
        (&self.send).into()
    }

    /// Where what was received stands.
    pub(in super::super) fn received(&self) -> Argument {
        (&self.receive).into()
    }

    /// Begins the exchange with the neighbours there are.
    pub(in super::super) fn start(
        &self,
        place: &Place,
        neighbours: [bool; 2],
    ) -> Result<(), DeviceError> {
        // Two ranks in a ring are neighbours on both sides: what one sends to the rank before it comes
        // to the other from the rank after it.
        let [before, after] = self.parcels(&self.send, place, neighbours);
        let sent: Vec<Parcel> = before.into_iter().chain(after).collect();
        let [before, after] = self.parcels(&self.receive, place, neighbours);
        let received: Vec<Parcel> = after.into_iter().chain(before).collect();
        place.communicator().start_exchange(&sent, &received)
    }

    /// Exchanges columns of two values a point by a kernel of `kernels/columns.cuh`, which `launch` is
    /// given the last arguments of: once where it reaches the neighbours, else to put what is sent
    /// and to get what came.
    pub(in super::super) fn pass(
        &self,
        place: &Place,
        neighbours: [bool; 2],
        launch: impl Fn(Vec<Argument>) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        let reach = self.reach(place);
        if reach.is_some() {
            return launch(self.borders(reach, PUT | GET));
        }
        launch(self.borders(None, PUT))?;
        self.exchange(place, neighbours)?;
        launch(self.borders(None, GET))
    }

    /// Begins such an exchange beside what is asked for later; what comes will stand at
    /// [`Self::received`].
    pub(in super::super) fn start_passing(
        &self,
        device: &dyn Device,
        place: &Place,
        neighbours: [bool; 2],
        launch: impl Fn(Vec<Argument>) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        let reach = self.reach(place);
        if reach.is_some() {
            return device.beside(&mut || launch(self.borders(reach, PUT | GET)));
        }
        device.beside(&mut || launch(self.borders(None, PUT)))?;
        self.start(place, neighbours)
    }

    /// The way to the neighbours, if columns fit the room there.
    fn reach(&self, place: &Place) -> Option<Reach> {
        place.communicator().reach().filter(|_| self.side <= 2 * COLUMN_POINTS)
    }

    /// `BORDERS` of `kernels/columns.cuh`.
    fn borders(&self, reach: Option<Reach>, phase: u32) -> Vec<Argument> {
        let mut all = Reach::arguments(reach);
        all.extend(arguments![phase, &self.send, &self.receive]);
        all
    }

    /// What was received from the band after this one.
    pub(in super::super) fn received_after(&self) -> Argument {
        self.receive.address_of(self.side).into()
    }

    /// An exchange with nothing done meanwhile.
    pub(in super::super) fn exchange(
        &self,
        place: &Place,
        neighbours: [bool; 2],
    ) -> Result<(), DeviceError> {
        self.start(place, neighbours)?;
        place.communicator().finish_exchange()
    }

    /// The pieces of a buffer for the rank before this one and the rank after it, in a ring.
    fn parcels(
        &self,
        buffer: &Buffer<T>,
        place: &Place,
        neighbours: [bool; 2],
    ) -> [Option<Parcel>; 2] {
        let (rank, ranks) = (place.rank(), place.ranks());
        let beside = [(rank + ranks - 1) % ranks, (rank + 1) % ranks];
        [0, 1].map(|k| {
            let (at, bytes) = (buffer.address_of(k * self.side), self.side * size_of::<T>());
            neighbours[k].then_some(Parcel { rank: beside[k], at, bytes })
        })
    }
}

/// Which neighbours there are, as kernels take it: `RIM_WEST` and `RIM_EAST` of
/// `kernels/common.cuh`.
pub(in super::super) fn rim(neighbours: [bool; 2]) -> u32 {
    u32::from(neighbours[0]) | u32::from(neighbours[1]) << 1
}

/// Rim of a row whose first and last points are neighbours: `RIM_CLOSED` of
/// `kernels/common.cuh`.
pub(in super::super) const CLOSED: u32 = 7;
