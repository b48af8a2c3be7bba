//! The outer line of a grid.

use super::{FAR_FIELD_CENTRE, Outline};
use crate::grid::Topology;

/// The way from a point to the far field: to the circle along the polar angle; on a C-grid behind
/// the circle's centre straight up or down to the lines that continue it.
pub(super) fn way(outline: &Outline, [x, y]: [f64; 2]) -> [f64; 2] {
    let ([cx, cy], radius) = (FAR_FIELD_CENTRE, outline.far_field);
    if !outline.topology.closed() && x >= cx {
        return [0.0, (radius + cy).copysign(y) - y];
    }
    let scale = radius / (x - cx).hypot(y - cy);
    [(x - cx) * scale + cx - x, (y - cy) * scale + cy - y]
}

/// Point i of an outer line that is spaced without regard to a march: equal angles on a circle. On
/// a C-grid the points of the wake lie above and below those of the cut, the others at equal steps
/// on the line from there around the nose.
pub(super) fn spaced(outline: &Outline, i: usize) -> [f64; 2] {
    let ([cx, cy], radius, ni) = (FAR_FIELD_CENTRE, outline.far_field, outline.x.len());
    let wake = match outline.topology {
        // Half a grid is cut from a whole one.
        Topology::O(_) | Topology::Half(_) => {
            let around = (i % (ni - 1)) as f64 / (ni - 1) as f64;
            // Clockwise from the trailing edge.
            let (sin, cos) = (-std::f64::consts::TAU * around).sin_cos();
            return [cx + radius * cos, cy + radius * sin];
        }
        Topology::C { wake } => wake,
    };
    if i <= wake || i >= ni - 1 - wake {
        return [outline.x[i], if 2 * i < ni { cy - radius } else { cy + radius }];
    }
    let straight = outline.x[wake] - cx;
    let half = std::f64::consts::PI * radius;
    let along = (i - wake) as f64 / (ni - 1 - 2 * wake) as f64 * (2.0 * straight + half);
    if along <= straight {
        [outline.x[wake] - along, cy - radius]
    } else if along >= straight + half {
        [cx + along - straight - half, cy + radius]
    } else {
        // Clockwise from straight below.
        let (sin, cos) = ((along - straight) / radius).sin_cos();
        [cx - radius * sin, cy - radius * cos]
    }
}
