//! The retry plan: settings that are tried one after the other when a grid is not good.

use crate::case::defaults::NEWTON_STEPS;
use crate::case::{Case, Retry};
use crate::grid::initial::{InitialSettings, Method};
use crate::grid::quality::Quality;
use crate::grid::{Limited, Verdict};
use crate::pde::control::Base;
use crate::solver::NewtonStop;

/// Factor on the dissipation of the march: the march itself tries twice and four times where it folds,
/// and less than four times is seldom another grid then.
const MORE_SMOOTHING: f64 = 4.0;
/// Passes over the control functions that the march along normals needs.
const NORMAL_PASSES: usize = 30;
/// Factor on the decay length of the wall terms.
const SHORTER_DECAY: f64 = 0.5;

/// The retries of a case that change something: an iterator over changed cases.
pub(super) struct RetryPlan<'a> {
    case: &'a Case,
    /// Settings of the march of the case, with the defaults of its topology.
    march: InitialSettings,
    retries: std::slice::Iter<'a, Retry>,
}

impl<'a> RetryPlan<'a> {
    pub(super) fn new(case: &'a Case, march: InitialSettings) -> Self {
        let retries: &[Retry] = if case.quality.retry { &case.quality.ladder } else { &[] };
        Self { case, march, retries: retries.iter() }
    }
}

impl Iterator for RetryPlan<'_> {
    /// What is changed, in words, and the case with it.
    type Item = (String, Case);

    fn next(&mut self) -> Option<Self::Item> {
        self.retries.find_map(|retry| changed_by(self.case, &self.march, *retry))
    }
}

fn changed_by(case: &Case, march: &InitialSettings, retry: Retry) -> Option<(String, Case)> {
    let mut changed = case.clone();
    let Case { initial, control, .. } = &mut changed;
    let marches = initial.method == Method::Hyperbolic;
    let words = match retry {
        Retry::March if marches => {
            let dissipation = MORE_SMOOTHING * march.dissipation;
            initial.dissipation = Some(dissipation);
            format!("a smoother march (initial.dissipation = {dissipation})")
        }
        Retry::Decay => {
            control.decay *= SHORTER_DECAY;
            format!("a shorter reach of the wall terms (control.decay = {})", control.decay)
        }
        Retry::Normal if marches => {
            initial.method = Method::Normal;
            control.smoothing = NORMAL_PASSES;
            "a march along normals (initial.method = \"normal\")".into()
        }
        Retry::Base if control.base == Base::Marched => {
            control.base = Base::ThomasMiddlecoff;
            "another base (control.base = \"thomas-middlecoff\")".into()
        }
        _ => return None,
    };
    Some((words, changed))
}

/// The verdict on a grid of a case.
pub(super) fn verdict(case: &Case, stop: NewtonStop, quality: &Quality) -> Verdict {
    if !stop.converged() {
        return Verdict::NotConverged { reason: stop.to_string() };
    }
    if quality.folded_cells > 0 {
        return Verdict::Folded { cells: quality.folded_cells };
    }
    let limits = [
        (Limited::Skewness, quality.max_skewness, case.quality.max_skewness),
        (Limited::WallAngle, quality.wall_angle_error_max_deg, case.quality.max_wall_angle),
    ];
    let beyond = limits.into_iter().find_map(|(measure, value, limit)| {
        // Written so that NaN is beyond.
        let kept = |limit: &f64| value <= *limit;
        let limit = limit.filter(|limit| !kept(limit))?;
        Some(Verdict::BeyondLimit { measure, value, limit })
    });
    beyond.unwrap_or(Verdict::Good)
}

/// Whether other settings may help: not where the case itself allows so few steps.
pub(super) fn may_help(case: &Case, stop: NewtonStop) -> bool {
    let limited = matches!(stop, NewtonStop::IterationLimit { .. });
    let few = i64::try_from(case.newton.max_iterations).is_ok_and(|steps| steps < NEWTON_STEPS);
    !(limited && few)
}
