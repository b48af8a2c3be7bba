//! Tables of published results beside our own.

use super::Growth;
use super::report::{Records, Solved, times};
use crate::Table;
use crate::results::percent;
use gridgen::report::plot::{Stroke, XyLine};
use gridgen::solver::precond::Kind;

/// Figures of a solver on one and more GPUs, as given in the text of a paper.
pub(crate) struct CitedScaling {
    /// Authors and year.
    pub(crate) name: &'static str,
    /// Largest number of unknowns on one GPU.
    pub(crate) unknowns: f64,
    /// Number of GPUs, and the fraction of a linear solve step spent on the matrix and the preconditioner.
    pub(crate) share: (usize, f64),
    /// Number of GPUs, and speed-up of a linear iteration.
    pub(crate) iteration: [(usize, f64); 2],
    /// Number of GPUs, and speed-up of a Newton step.
    pub(crate) step: [(usize, f64); 2],
}

/// Liu, Zhong and Chen (2011), "Solvers for systems of large sparse linear and nonlinear equations based on
/// multi-GPUs": BiCGStab with Jacobi on one to four Quadro FX 3700; the share was measured on two Tesla
/// C1060. The values are the stable ones of figures 8, 9 and 11, stated in sections 5.3 and 5.4. The times of
/// figures 7 and 10 are neither in the text nor in a table and are omitted.
pub(crate) const CITED: CitedScaling = CitedScaling {
    name: "Liu, Zhong, Chen 2011",
    unknowns: 2.8e6,
    share: (2, 0.09),
    iteration: [(2, 1.5), (4, 2.2)],
    step: [(2, 1.6), (4, 2.5)],
};

impl CitedScaling {
    /// Legend entry of the dashed lines.
    pub(crate) fn key(&self) -> (XyLine, String) {
        let text = format!(
            "{}, with Jacobi; most unknowns on one GPU, {:.1} million",
            self.name,
            self.unknowns / 1e6
        );
        (XyLine { colour: None, stroke: Stroke::Dashed }, text)
    }
}

/// Columns of the long table.
const VALUES: [&str; 17] = [
    "source",
    "growth",
    "ni",
    "nj",
    "unknowns",
    "GPUs",
    "preconditioner",
    "Newton steps",
    "linear iterations",
    "residual",
    "solve s",
    "Newton step s",
    "linear iteration s",
    "assembly and set-up share",
    "speed-up of the solve",
    "speed-up of a step",
    "speed-up of an iteration",
];

impl<'a> Records<'a> {
    /// Published values, with ours at about their largest size on one GPU and at our largest size.
    pub(crate) fn beside_cited(self) -> Table {
        let columns = [
            "with Jacobi",
            "GPUs",
            CITED.name,
            "here, at about as many unknowns",
            "unknowns",
            "here, largest",
            "unknowns",
        ];
        let title = format!(
            "Beside {}, {:.1} million unknowns at most on one GPU",
            CITED.name,
            CITED.unknowns / 1e6
        );
        let mut table = Table::new(title, &columns);
        let mut add =
            |name: &str, gpus: usize, cited: String, of: &dyn Fn(Solved<'_>) -> String| {
                let mut row = vec![name.to_owned(), gpus.to_string(), cited];
                for found in self.near_and_largest(gpus) {
                    let value = found.map_or_else(String::new, of);
                    let unknowns =
                        found.map_or_else(String::new, |(r, _)| r.unknowns().to_string());
                    row.extend([value, unknowns]);
                }
                table.rows.push(row);
            };
        let (gpus, share) = CITED.share;
        let share = format!("{:.0} %", 100.0 * share);
        add("share of assembly and set-up (figure 9)", gpus, share, &|(_, run)| {
            percent(run.share())
        });
        for (gpus, cited) in CITED.iteration {
            let of = |(record, run): Solved<'_>| times(self.speed_ups(record, run)[2]);
            add("speed-up of a linear iteration (figure 8)", gpus, cited.to_string(), &of);
        }
        for (gpus, cited) in CITED.step {
            let of = |(record, run): Solved<'_>| times(self.speed_ups(record, run)[1]);
            add("speed-up of a Newton step (figure 11)", gpus, cited.to_string(), &of);
        }
        table
    }

    /// Among the problems with Jacobi on `gpus` GPUs that also fit on one, the one nearest to the cited size
    /// and the largest.
    fn near_and_largest(self, gpus: usize) -> [Option<Solved<'a>>; 2] {
        let solved = self.solved(Growth::Fixed, Kind::Jacobi);
        let found = || {
            let of = solved.iter().copied().filter(|(record, _)| record.gpus == gpus);
            of.filter(|(record, run)| self.speed_ups(record, run)[0].is_finite())
        };
        let far = |(record, _): &Solved<'_>| (record.unknowns() as f64 / CITED.unknowns).ln().abs();
        [
            found().min_by(|one, other| far(one).total_cmp(&far(other))),
            found().max_by_key(|(record, _)| record.unknowns()),
        ]
    }

    /// Every record and every cited value, one a line.
    pub(crate) fn values(self) -> Table {
        let mut table = Table::new("Values", &VALUES);
        for growth in [Growth::Fixed, Growth::Weak] {
            for record in self.sorted(growth) {
                let Some(run) = &record.run else { continue };
                let mut row = vec!["gridgen".to_owned(), format!("{growth:?}")];
                let (ni, nj) = record.size;
                row.extend([ni, nj, record.unknowns(), record.gpus].map(|n| n.to_string()));
                row.extend([format!("{:?}", record.kind), run.steps.to_string()]);
                let [solve, step, iteration] = self.speed_ups(record, run);
                let numbers = [run.iterations, run.residual, run.seconds, run.step()];
                let more = [run.iteration(), run.share(), solve, step, iteration];
                row.extend(numbers.into_iter().chain(more).map(number));
                table.rows.push(row);
            }
        }
        table.rows.extend(cited_values());
        table
    }
}

/// The lines of the cited values.
fn cited_values() -> Vec<Vec<String>> {
    let line = |column: usize, (gpus, value): (usize, f64)| {
        let mut row = vec![String::new(); VALUES.len()];
        for (column, fact) in [(0, CITED.name), (1, "Fixed"), (6, "Jacobi")] {
            row[column].push_str(fact);
        }
        for (column, value) in [(4, CITED.unknowns), (5, gpus as f64), (column, value)] {
            row[column] = number(value);
        }
        row
    };
    let steps = CITED.step.map(|step| line(15, step));
    let iterations = CITED.iteration.map(|iteration| line(16, iteration));
    std::iter::once(line(13, CITED.share)).chain(steps).chain(iterations).collect()
}

/// All digits of a number; empty if it is not finite.
fn number(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { String::new() }
}
