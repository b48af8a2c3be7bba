//! What others report of their solvers, drawn beside ours.

/// Figures of a solver on one and more GPUs, as the text of a paper states them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CitedScaling {
    /// Who, and when.
    pub name: &'static str,
    /// Most unknowns on one GPU.
    pub unknowns: f64,
    /// Number of GPUs, and share of a linear solve step that making matrix and preconditioner takes.
    pub share: (usize, f64),
    /// Number of GPUs, and how many times as fast as one they do a linear iteration.
    pub iteration: [(usize, f64); 2],
    /// The same of a Newton step.
    pub step: [(usize, f64); 2],
}

/// Liu, Zhong and Chen (2011), "Solvers for systems of large sparse linear and nonlinear equations
/// based on multi-GPUs", BiCGStab with Jacobi on one to four Quadro FX 3700, the share on two Tesla C1060:
/// sections 5.3 and 5.4, which give the stable values of figures 8, 9 and 11. The times of their figures 7 and 10 stand in no text or
/// table and are left out.
pub const LIU_ZHONG_CHEN: CitedScaling = CitedScaling {
    name: "Liu, Zhong, Chen 2011",
    unknowns: 2.8e6,
    share: (2, 0.09),
    iteration: [(2, 1.5), (4, 2.2)],
    step: [(2, 1.6), (4, 2.5)],
};
