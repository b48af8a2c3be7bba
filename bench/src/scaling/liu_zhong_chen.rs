//! What others report of their solvers, shown beside ours.

use gridgen::report::plot::{Line, Rule, RuleAt, Stroke};

/// Figures of a solver on one and more GPUs, as the text of a paper states them.
pub(crate) struct CitedScaling {
    /// Who, and when.
    pub(crate) name: &'static str,
    /// Most unknowns on one GPU.
    pub(crate) unknowns: f64,
    /// Number of GPUs, and share of a linear solve step that making matrix and preconditioner takes.
    pub(crate) share: (usize, f64),
    /// Number of GPUs, and how many times as fast as one they do a linear iteration.
    pub(crate) iteration: [(usize, f64); 2],
    /// The same of a Newton step.
    pub(crate) step: [(usize, f64); 2],
}

/// Liu, Zhong and Chen (2011), "Solvers for systems of large sparse linear and nonlinear equations
/// based on multi-GPUs", BiCGStab with Jacobi on one to four Quadro FX 3700, the share on two Tesla C1060:
/// sections 5.3 and 5.4, which give the stable values of figures 8, 9 and 11. The times of their figures 7 and 10 stand in no text or
/// table and are left out.
pub(crate) const CITED: CitedScaling = CitedScaling {
    name: "Liu, Zhong, Chen 2011",
    unknowns: 2.8e6,
    share: (2, 0.09),
    iteration: [(2, 1.5), (4, 2.2)],
    step: [(2, 1.6), (4, 2.5)],
};

impl CitedScaling {
    /// What a picture's legend says of the dashed lines.
    pub(crate) fn key(&self) -> (Line, String) {
        let text = format!(
            "{}, with Jacobi; most unknowns on one GPU, {:.1} million",
            self.name,
            self.unknowns / 1e6
        );
        (Line { colour: None, stroke: Stroke::Dashed }, text)
    }

    /// Where its largest problem stands among the unknowns.
    pub(crate) fn largest(&self) -> Rule {
        Rule { at: RuleAt::X(self.unknowns), colour: None, text: String::new() }
    }
}
