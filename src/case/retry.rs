//! The retry plan: settings that are tried one after the other when a grid is not good.

use serde::{Deserialize, Serialize};

use super::Case;
use super::defaults::{MORE_SMOOTHING, NORMAL_PASSES, SHORTER_DECAY};
use crate::grid::initial::Method;
use crate::pde::control::Base;

/// A change of settings that is tried when a grid is not good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Retry {
    /// More smoothing in the hyperbolic march.
    March,
    /// A shorter decay of the wall terms.
    Decay,
    /// The march along normals.
    Normal,
    /// The base of Thomas and Middlecoff.
    Base,
}

impl Retry {
    /// Keys that it changes.
    pub(super) fn keys(self) -> &'static [&'static str] {
        match self {
            Self::March => &["initial.dissipation"],
            Self::Decay => &["control.decay"],
            Self::Normal => &["initial.method", "control.smoothing"],
            Self::Base => &["control.base"],
        }
    }

    /// The change in words, and the case with it; none where it changes nothing.
    fn change(self, case: &Case) -> Option<(String, Case)> {
        let mut changed = case.clone();
        let Case { initial, control, .. } = &mut changed;
        let marches = initial.method == Method::Hyperbolic;
        let words = match self {
            Self::March if marches => {
                let dissipation = MORE_SMOOTHING * initial.dissipation?;
                initial.dissipation = Some(dissipation);
                format!("a smoother march (initial.dissipation = {dissipation})")
            }
            Self::Decay => {
                control.decay *= SHORTER_DECAY;
                format!("a shorter reach of the wall terms (control.decay = {})", control.decay)
            }
            Self::Normal if marches => {
                initial.method = Method::Normal;
                control.smoothing = NORMAL_PASSES as usize;
                "a march along normals (initial.method = \"normal\")".into()
            }
            Self::Base if control.base == Base::Marched => {
                control.base = Base::ThomasMiddlecoff;
                "another base (control.base = \"thomas-middlecoff\")".into()
            }
            _ => return None,
        };
        Some((words, changed))
    }
}

impl Case {
    /// The retry plan of a settled case: each change in words, and the case with that change alone.
    pub(crate) fn retries(&self) -> impl Iterator<Item = (String, Self)> {
        let plan: &[Retry] = if self.quality.retry { &self.quality.ladder } else { &[] };
        plan.iter().filter_map(|retry| retry.change(self))
    }
}
