//! Published results of a solver on several GPUs, for comparison with ours.

use gridgen::report::plot::{Rule, RuleAt, Stroke, XyLine};

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

    /// Rule at the size of the largest problem.
    pub(crate) fn largest(&self) -> Rule {
        Rule { at: RuleAt::X(self.unknowns), colour: None, text: String::new() }
    }
}
