//! The same solve, or the same share of one, on more and more GPUs.

use super::newton::solve;
use super::problem::ellipses;
use super::{Size, Table};
use crate::backend::cuda::driver::Gpus;
use crate::backend::{Bands, DeviceError, EllipticData};
use crate::solver::SolverError;
use crate::solver::newton::NewtonReport;
use crate::solver::precond::Kind;

/// How the problem depends on the number of GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Growth {
    /// It does not.
    Fixed,
    /// Each GPU has as many columns as the only one.
    Weak,
}

/// One row for each size, preconditioner and number of GPUs: 1, 2, 4, … up to all of `ordinals`.
///
/// Speed-up is the time of one GPU over that of so many; with a problem that grows with them,
/// their product with the growth. Levels of multigrid with up to `gathered_points` points are held by
/// every GPU.
///
/// # Errors
/// If a GPU cannot be used, or a size has too few columns.
pub fn scaling(
    ordinals: &[usize],
    sizes: &[Size],
    growth: Growth,
    gathered_points: Option<usize>,
) -> Result<Table, SolverError> {
    let columns = [
        "points",
        "unknowns",
        "GPUs",
        "preconditioner",
        "Newton steps",
        "linear iterations",
        "residual",
        "solve ms",
        "Newton step ms",
        "linear iteration ms",
        "assembly and set-up share of a step",
        "speed-up of the solve",
        "of a step",
        "of an iteration",
    ];
    let title = match growth {
        Growth::Fixed => "Fixed size",
        Growth::Weak => "Fixed size a GPU",
    };
    let mut table = Table::new(title, &columns);
    for &size in sizes {
        let mut alone = Vec::new();
        for count in counts(ordinals.len()) {
            let gpus = Gpus::open(&ordinals[..count])?.with_gathered_points(gathered_points);
            let grown = if growth == Growth::Weak { count } else { 1 };
            let size = ((size.0 - 1) * grown + 1, size.1);
            let data = ellipses(size.0, size.1);
            for (k, kind) in [Kind::Multigrid, Kind::Jacobi].into_iter().enumerate() {
                let run = measure(&gpus, &data, kind)?;
                if count == 1 {
                    alone.push(run.times());
                }
                let ratios = alone[k].iter().zip(run.times()).map(|(a, b)| grown as f64 * a / b);
                let row = run.row(size, &data, count, kind);
                table.rows.push(row.chain(ratios.map(|ratio| format!("{ratio:.2}"))).collect());
            }
        }
    }
    Ok(table)
}

/// 1, 2, 4, … and all.
pub(super) fn counts(all: usize) -> impl Iterator<Item = usize> {
    let powers = std::iter::successors(Some(1), |count| Some(2 * count));
    powers.take_while(move |count| *count < all).chain((all > 0).then_some(all))
}

/// A solve and the seconds of its slowest rank.
struct Run {
    report: NewtonReport,
    seconds: f64,
}

/// The second of two solves: the first finds out what is only done once.
fn measure(gpus: &Gpus, data: &EllipticData, kind: Kind) -> Result<Run, SolverError> {
    let ranks = if gpus.count() == 1 {
        let backend = gpus.first()?;
        let _ = solve::<_, f32>(&backend, data, kind)?;
        vec![solve::<_, f32>(&backend, data, kind)?]
    } else {
        let bands = Bands::new(data.mi, gpus.count(), data.periodic).map_err(DeviceError::from)?;
        gpus.run(&bands, |rank, backend| {
            let part = bands.part(rank, data);
            let _ = solve::<_, f32>(backend, &part, kind)?;
            solve::<_, f32>(backend, &part, kind)
        })?
    };
    let seconds = ranks.iter().fold(0.0, |most: f64, (_, seconds)| most.max(*seconds));
    let (report, _) = ranks.into_iter().next().ok_or(DeviceError::NoGpu)?;
    Ok(Run { report, seconds })
}

impl Run {
    /// Seconds of the solve, of a Newton step, and of a linear iteration.
    fn times(&self) -> [f64; 3] {
        let history = &self.report.history;
        let linear: f64 = history.steps.iter().map(|step| step.linear_seconds).sum();
        [
            self.seconds,
            self.seconds / history.newton_iterations().max(1) as f64,
            linear / history.linear_iterations().max(0.5),
        ]
    }

    fn row(
        &self,
        (ni, nj): Size,
        data: &EllipticData,
        count: usize,
        kind: Kind,
    ) -> impl Iterator<Item = String> {
        let history = &self.report.history;
        let setup: f64 = history.steps.iter().map(|step| step.setup_seconds).sum();
        let residual = history.steps.last().map_or(f64::NAN, |step| step.residual);
        let [solve, step, iteration] = self.times().map(|seconds| 1e3 * seconds);
        [
            format!("{ni} × {nj}"),
            (2 * data.mi * data.mj).to_string(),
            count.to_string(),
            format!("{kind:?}"),
            history.newton_iterations().to_string(),
            history.linear_iterations().to_string(),
            format!("{residual:.1e}"),
            format!("{solve:.3}"),
            format!("{step:.3}"),
            format!("{iteration:.4}"),
            format!("{:.1} %", 100.0 * setup / self.seconds),
        ]
        .into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_double_up_to_all() {
        let of = |all| counts(all).collect::<Vec<_>>();

        assert_eq!(
            [of(1), of(2), of(3), of(8)],
            [vec![1], vec![1, 2], vec![1, 2, 3], vec![1, 2, 4, 8]]
        );
        assert!(of(0).is_empty());
    }
}
