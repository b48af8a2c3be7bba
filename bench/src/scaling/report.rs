//! Tables and pictures of solves on one and more GPUs.

use super::{Growth, ScalingRecord, ScalingRun};
use crate::results::points;
use crate::{Results, Table};
use gridgen::solver::precond::Kind;

/// Preconditioners, beginning with that of the paper, and their pictures.
const KINDS: [(Kind, &str); 2] =
    [(Kind::Jacobi, "gpus-jacobi.svg"), (Kind::Multigrid, "gpus-multigrid.svg")];

/// Tables and pictures of records from GPUs of these names: fixed problems, growing problems, and both beside
/// published results.
///
/// Speed-up is the time on one GPU divided by the time on several; for a growing problem this is multiplied
/// by its growth. The values of Liu, Zhong and Chen (2011) are listed beside ours.
#[must_use]
pub fn scaling_results(names: &str, records: &[ScalingRecord]) -> Results {
    let all = Records(records);
    let measured = |kind| records.iter().any(|record| record.kind == kind);
    let kinds = KINDS.into_iter().filter(|(kind, _)| measured(*kind));
    Results {
        tables: vec![
            all.table(Growth::Fixed, &format!("Fixed size, {names}")),
            all.table(Growth::Weak, &format!("Fixed size a GPU, {names}")),
            all.beside_cited(),
        ],
        values: vec![("gpus.csv", all.values())],
        figures: kinds.map(|(kind, file)| (file, all.figure(names, kind))).collect(),
    }
}

/// A record, and its solve.
pub(crate) type Solved<'a> = (&'a ScalingRecord, &'a ScalingRun);

/// All records.
#[derive(Clone, Copy)]
pub(crate) struct Records<'a>(pub(crate) &'a [ScalingRecord]);

impl<'a> Records<'a> {
    /// Records sorted by growth, preconditioner and size, each in the order of first appearance, then by
    /// number of GPUs.
    pub(crate) fn sorted(self, growth: Growth) -> Vec<&'a ScalingRecord> {
        let of_growth = self.0.iter().filter(|record| record.growth == growth);
        let mut sorted: Vec<_> = of_growth.clone().collect();
        sorted.sort_by_key(|record| {
            let kind = KINDS.iter().position(|(kind, _)| *kind == record.kind);
            (kind, of_growth.clone().position(|r| r.start == record.start), record.gpus)
        });
        sorted
    }

    /// Records with this preconditioner that fit in memory, sorted.
    pub(crate) fn solved(self, growth: Growth, kind: Kind) -> Vec<Solved<'a>> {
        let records = self.sorted(growth).into_iter().filter(|record| record.kind == kind);
        records.filter_map(|record| Some((record, record.run.as_ref()?))).collect()
    }

    /// Speed-up, relative to one GPU, of a solve, of a step, and of an iteration; NaN if the problem does not
    /// fit on one.
    pub(crate) fn speed_ups(self, record: &ScalingRecord, run: &ScalingRun) -> [f64; 3] {
        let problem = |r: &ScalingRecord| (r.growth, r.kind, r.start);
        let alone = self.0.iter().find(|r| problem(r) == problem(record) && r.gpus == 1);
        let times = |run: &ScalingRun| [run.seconds, run.step(), run.iteration()];
        let Some(alone) = alone.and_then(|record| record.run.as_ref()) else {
            return [f64::NAN; 3];
        };
        let (alone, own) = (times(alone), times(run));
        std::array::from_fn(|k| record.grown() * alone[k] / own[k])
    }

    fn table(self, growth: Growth, title: &str) -> Table {
        let columns = [
            ["points", "unknowns", "GPUs", "preconditioner"].as_slice(),
            &ScalingRun::HEADINGS,
            &["speed-up of the solve", "of a step", "of an iteration"],
        ]
        .concat();
        let mut table = Table::new(title, &columns);
        for record in self.sorted(growth) {
            let mut row = vec![
                points(record.size),
                record.unknowns().to_string(),
                record.gpus.to_string(),
                format!("{:?}", record.kind),
            ];
            match &record.run {
                Some(run) => {
                    row.extend(run.cells());
                    row.extend(self.speed_ups(record, run).map(times));
                }
                None => row.push("does not fit".to_owned()),
            }
            row.resize(columns.len(), String::new());
            table.rows.push(row);
        }
        table
    }
}

/// A ratio; empty if it is not known.
pub(crate) fn times(ratio: f64) -> String {
    if ratio.is_finite() { format!("{ratio:.2}") } else { String::new() }
}
