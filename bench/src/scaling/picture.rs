//! Pictures of scaling.

use super::report::{Records, Solved};
use super::{CITED, Growth, ScalingRun};
use crate::Size;
use crate::results::points;
use gridgen::report::plot::{Axis, Rule, Stroke, XyCurve, XyFigure, XyLine, XyPanel};
use gridgen::solver::precond::Kind;

/// A quantity that a panel shows against the number of unknowns.
pub(crate) struct Measure {
    caption: &'static str,
    pub(crate) of: fn(&ScalingRun) -> f64,
    logarithmic: bool,
}

impl Measure {
    pub(crate) const ALL: [Self; 3] = [Self::STEP, Self::ITERATION, Self::SHARE];
    const STEP: Self =
        Self { caption: "ms a Newton step", of: |run| 1e3 * run.step(), logarithmic: true };
    const ITERATION: Self = Self {
        caption: "ms a linear iteration",
        of: |run| 1e3 * run.iteration(),
        logarithmic: true,
    };
    const SHARE: Self = Self {
        caption: "share of assembly and set-up in a step, %",
        of: |run| 100.0 * run.share(),
        logarithmic: false,
    };

    /// A panel without curves, with rules for the published values of this quantity.
    pub(crate) fn panel(&self) -> XyPanel {
        let share = 100.0 * CITED.share.1;
        let text = format!("{}: {share:.0} %", CITED.name);
        let share = Rule { y: share, colour: None, text };
        let rules = if self.logarithmic { Vec::new() } else { vec![share] };
        against_unknowns(self.caption, self.logarithmic, rules)
    }
}

/// A panel without curves.
fn against_unknowns(caption: &str, logarithmic: bool, rules: Vec<Rule>) -> XyPanel {
    let unknowns = Axis { name: "unknowns".to_owned(), logarithmic: true };
    let axes = [unknowns, Axis { name: String::new(), logarithmic }];
    XyPanel { caption: caption.to_owned(), axes, curves: Vec::new(), rules }
}

fn dotted(colour: usize) -> XyLine {
    XyLine { colour: Some(colour), stroke: Stroke::Dotted }
}

impl Records<'_> {
    /// Times, speed-ups and shares with this preconditioner, in the order of the figures in the cited paper.
    pub(crate) fn figure(self, names: &str, kind: Kind) -> XyFigure {
        let solved = self.solved(Growth::Fixed, kind);
        let mut gpus: Vec<usize> = solved.iter().map(|(record, _)| record.gpus).collect();
        gpus.sort_unstable();
        gpus.dedup();
        let curves = |of: &dyn Fn(Solved<'_>) -> f64| -> Vec<XyCurve> {
            let curve = |(k, &count): (usize, &usize)| {
                let own = solved.iter().filter(|(record, _)| record.gpus == count);
                let points =
                    own.map(|&(record, run)| [record.unknowns() as f64, of((record, run))]);
                XyCurve { line: dotted(k), name: None, points: points.collect() }
            };
            gpus.iter().enumerate().map(curve).collect()
        };
        let measured = |measure: &Measure| XyPanel {
            curves: curves(&|(_, run)| (measure.of)(run)),
            ..measure.panel()
        };
        let speed_up = |caption: &str, k: usize, cited: [(usize, f64); 2]| {
            let rules = cited.map(|(count, times)| Rule {
                y: times,
                colour: gpus.iter().position(|&known| known == count),
                text: format!("{}: {times} on {count} GPUs", CITED.name),
            });
            let panel = against_unknowns(caption, false, rules.into());
            XyPanel { curves: curves(&|(record, run)| self.speed_ups(record, run)[k]), ..panel }
        };
        let name =
            |&count: &usize| if count == 1 { "1 GPU".into() } else { format!("{count} GPUs") };
        let keys = gpus.iter().enumerate().map(|(k, count)| (dotted(k), name(count)));
        XyFigure {
            name: format!("Newton solves with BiCGStab and {kind:?} on {names}"),
            summary: String::new(),
            legend: keys.chain([CITED.key()]).collect(),
            across: 3,
            panel: [400.0, 350.0],
            panels: vec![
                measured(&Measure::ITERATION),
                speed_up("speed-up of a linear iteration", 2, CITED.iteration),
                measured(&Measure::SHARE),
                measured(&Measure::STEP),
                speed_up("speed-up of a Newton step", 1, CITED.step),
                self.weak(kind),
            ],
            same_y: false,
        }
    }

    /// Speed of growing problems, relative to a single GPU.
    fn weak(self, kind: Kind) -> XyPanel {
        let mut curves: Vec<XyCurve> = Vec::new();
        let mut last: Option<Size> = None;
        for (record, run) in self.solved(Growth::Weak, kind) {
            if last.replace(record.start) != Some(record.start) {
                for what in ["an iteration", "a Newton step"] {
                    let name = format!("{what}, {} points a GPU", points(record.start));
                    let line = dotted(curves.len());
                    curves.push(XyCurve { line, name: Some(name), points: Vec::new() });
                }
            }
            let [_, step, iteration] = self.speed_ups(record, run);
            let gpus = record.gpus as f64;
            for (curve, times) in curves.iter_mut().rev().zip([step, iteration]) {
                curve.points.push([gpus, 100.0 * times / gpus]);
            }
        }
        XyPanel {
            caption: "of the only one's speed a GPU, %".to_owned(),
            axes: [Axis { name: "GPUs".to_owned(), logarithmic: false }, Axis::default()],
            curves,
            rules: Vec::new(),
        }
    }
}
