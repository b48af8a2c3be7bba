//! Times Newton solves on one and more GPUs.

use super::{Growth, ScalingRecord, ScalingRun, ScalingSettings};
use crate::newton::solve;
use crate::problem::ellipses;
use crate::{BenchBackend, Size};
use gridgen::backend::cuda::{Gpus, Ranks};
use gridgen::backend::cuda::{MemoryEstimate, PreconditionerStorage};
use gridgen::backend::{Bands, DeviceError, EllipticData};
use gridgen::solver::SolverError;
use gridgen::solver::newton::NewtonReport;
use gridgen::solver::precond::{Kind, MultigridSettings};

/// After the first, a problem is solved until this many unknowns have been solved for in total, at least once
/// and at most [`SOLVES`] times: a small solve takes milliseconds and is easily disturbed.
const WORTH: usize = 8_000_000;
const SOLVES: usize = 5;

/// Names of the GPUs, and a record for each size, preconditioner and number of GPUs: 1, 2, 4, … up to all of
/// `ordinals`.
///
/// # Errors
/// If a GPU cannot be used, or a size has too few columns.
pub fn scaling(
    ordinals: &[usize],
    settings: &ScalingSettings,
) -> Result<(String, Vec<ScalingRecord>), SolverError> {
    let (mut names, mut records) = (String::new(), Vec::new());
    for count in counts(ordinals.len()) {
        let mut gpus = Gpus::open(&ordinals[..count])?;
        gpus.gathered_points = settings.gathered_points;
        names = gpus.name();
        let fixed = settings.sizes.iter().map(|&size| (Growth::Fixed, size));
        let weak = settings.weak.iter().map(|&size| (Growth::Weak, size));
        for (growth, start) in fixed.chain(weak) {
            records.extend(problem(&gpus, growth, start, settings)?);
        }
    }
    Ok((names, records))
}

/// 1, 2, 4, … and finally `all`.
pub fn counts(all: usize) -> impl Iterator<Item = usize> {
    let powers = std::iter::successors(Some(1), |count| Some(2 * count));
    powers.take_while(move |count| *count < all).chain((all > 0).then_some(all))
}

/// Records of a problem with each preconditioner. A problem of fixed size is solved by multigrid only up to a
/// limit of unknowns.
fn problem(
    gpus: &Gpus,
    growth: Growth,
    start: Size,
    settings: &ScalingSettings,
) -> Result<Vec<ScalingRecord>, SolverError> {
    let grown = if growth == Growth::Weak { gpus.count() } else { 1 };
    let size = ((start.0 - 1) * grown + 1, start.1);
    let empty = |kind| ScalingRecord { growth, start, size, gpus: gpus.count(), kind, run: None };
    let mut records: Vec<_> = [Kind::Multigrid, Kind::Jacobi].map(empty).into();
    records.retain(|record| {
        let small = growth == Growth::Weak || record.unknowns() <= settings.multigrid;
        small || record.kind == Kind::Jacobi
    });
    let mut data: Option<EllipticData> = None;
    for record in &mut records {
        if fits(gpus, size, record.kind)? {
            let data = data.get_or_insert_with(|| ellipses(size.0, size.1));
            if record.kind == Kind::Jacobi {
                // Its wall is frozen; dropping the wall terms here saves copying them later.
                data.walls = Default::default();
            }
            record.run = Some(measure(gpus, data, record.kind, settings.cycle())?);
        }
    }
    Ok(records)
}

/// True if the GPUs have enough memory for a solve.
fn fits(gpus: &Gpus, (ni, nj): Size, kind: Kind) -> Result<bool, DeviceError> {
    let preconditioner = if kind == Kind::Multigrid {
        PreconditionerStorage::Hierarchy
    } else {
        PreconditionerStorage::Diagonal
    };
    match gpus.check_memory(MemoryEstimate {
        points: ni * nj,
        columns: ni,
        value: size_of::<f32>(),
        preconditioner,
    }) {
        Ok(()) => Ok(true),
        Err(DeviceError::OutOfMemory { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The fastest of several solves, after one that pays the one-time costs.
fn measure(
    gpus: &Gpus,
    data: &EllipticData,
    kind: Kind,
    multigrid: MultigridSettings,
) -> Result<ScalingRun, SolverError> {
    let ranks = if gpus.count() == 1 {
        vec![solves(&gpus.first()?, data, kind, multigrid)?]
    } else {
        let bands = Bands::new(data.mi, gpus.count(), data.periodic).map_err(DeviceError::from)?;
        gpus.run(&bands, |_, backend| solves(backend, data, kind, multigrid))?
    };
    let slowest = |k: usize| ranks.iter().map(|runs| runs[k].1).fold(0.0, f64::max);
    let fastest = (0..count_of_solves(data))
        .map(|k| (k, slowest(k)))
        .min_by(|one, other| one.1.total_cmp(&other.1));
    let (k, seconds) = fastest.ok_or(DeviceError::NoGpu)?;
    Ok(ScalingRun::new(&ranks[0][k].0, seconds))
}

/// Solves of one rank with their times. The number of solves is the same on all ranks and must not depend on
/// a clock.
fn solves<B: BenchBackend>(
    backend: &B,
    data: &EllipticData,
    kind: Kind,
    multigrid: MultigridSettings,
) -> Result<Vec<(NewtonReport, f64)>, SolverError> {
    let solve = || solve::<_, f32>(backend, data, kind, multigrid);
    let _ = solve()?;
    (0..count_of_solves(data)).map(|_| solve()).collect()
}

/// Number of solves that count.
fn count_of_solves(data: &EllipticData) -> usize {
    (WORTH / (2 * data.mi * data.mj)).clamp(1, SOLVES)
}
