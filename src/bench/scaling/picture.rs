//! The pictures.

use super::Growth;
use super::report::Records;
use crate::bench::Size;
use crate::bench::table::points;
use crate::report::plot::{GpusFigure, GpusPoint};
use crate::solver::precond::Kind;

impl Records<'_> {
    /// Times, speed-ups and shares with this preconditioner.
    pub(super) fn figure(self, names: &str, kind: Kind) -> GpusFigure {
        let mut curves: Vec<(usize, Vec<GpusPoint>)> = Vec::new();
        let mut weak: Vec<(Size, [Vec<[f64; 2]>; 2])> = Vec::new();
        let of_kind = |growth| self.sorted(growth).into_iter().filter(move |r| r.kind == kind);
        for record in of_kind(Growth::Fixed) {
            let Some(run) = &record.run else { continue };
            let [_, step, iteration] = self.speed_ups(record, run);
            let point = GpusPoint {
                unknowns: record.unknowns(),
                iteration: run.iteration(),
                step: run.step(),
                share: run.share(),
                speed_ups: [iteration, step],
            };
            match curves.iter_mut().find(|(gpus, _)| *gpus == record.gpus) {
                Some((_, points)) => points.push(point),
                None => curves.push((record.gpus, vec![point])),
            }
        }
        curves.sort_by_key(|(gpus, _)| *gpus);
        for record in of_kind(Growth::Weak) {
            let Some(run) = &record.run else { continue };
            let [_, step, iteration] = self.speed_ups(record, run);
            if weak.last().is_none_or(|(start, _)| *start != record.start) {
                weak.push((record.start, Default::default()));
            }
            let Some((_, both)) = weak.last_mut() else { continue };
            for (points, times) in both.iter_mut().zip([iteration, step]) {
                points.push([record.gpus as f64, times / record.gpus as f64]);
            }
        }
        let named = |(start, [iteration, step]): (Size, [Vec<[f64; 2]>; 2])| {
            let name = |what: &str| format!("{what}, {} points a GPU", points(start));
            [(name("an iteration"), iteration), (name("a Newton step"), step)]
        };
        let name = format!("Newton solves with BiCGStab and {kind:?} on {names}");
        GpusFigure { name, curves, weak: weak.into_iter().flat_map(named).collect() }
    }
}
