//! Classical Gram–Schmidt, done twice: a vector against a basis.

use super::{Backend, DeviceError, Real};

/// Basis vectors that one reduction or one sum takes.
pub const GROUP: usize = 4;

/// What a vector w was made of, before and after its part in the space of a basis V was taken away.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Projection {
    /// h = Vᵀ w of the w that came.
    pub first: Vec<f64>,
    /// Vᵀ w of the w − V h that went.
    pub again: Vec<f64>,
    /// (w, w) of the same.
    pub square: f64,
}

/// [`Backend::project`] by inner products and sums, waited for one after the other.
pub(super) fn project<B: Backend, T: Real>(
    backend: &B,
    basis: &[B::Vector<T>],
    w: &mut B::Vector<T>,
) -> Result<Projection, DeviceError> {
    let mut with: Vec<&B::Vector<T>> = basis.iter().collect();
    let first = products(backend, w, &with)?;
    let terms: Vec<_> = first.iter().map(|h| -h).zip(with.iter().copied()).collect();
    combine(backend, w, 1.0, &terms)?;
    with.push(w);
    let mut again = products(backend, w, &with)?;
    let square = again.pop().unwrap_or_default();
    Ok(Projection { first, again, square })
}

/// Inner products of w with several vectors, a group at a time.
fn products<B: Backend, T: Real>(
    backend: &B,
    w: &B::Vector<T>,
    with: &[&B::Vector<T>],
) -> Result<Vec<f64>, DeviceError> {
    let mut products = Vec::with_capacity(with.len() + 1);
    for group in with.chunks(GROUP) {
        match *group {
            [a] => products.extend(backend.dots([(w, a)])?),
            [a, b] => products.extend(backend.dots([(w, a), (w, b)])?),
            [a, b, c] => products.extend(backend.dots([(w, a), (w, b), (w, c)])?),
            [a, b, c, d] => products.extend(backend.dots([(w, a), (w, b), (w, c), (w, d)])?),
            _ => {}
        }
    }
    Ok(products)
}

/// y ← β y + Σ αₖ xₖ, a group of terms at a time.
///
/// # Errors
/// If the device fails.
pub fn combine<B: Backend, T: Real>(
    backend: &B,
    y: &mut B::Vector<T>,
    beta: f64,
    terms: &[(f64, &B::Vector<T>)],
) -> Result<(), DeviceError> {
    let mut beta = beta;
    for group in terms.chunks(GROUP) {
        match *group {
            [a] => backend.lincomb(y, beta, [a])?,
            [a, b] => backend.lincomb(y, beta, [a, b])?,
            [a, b, c] => backend.lincomb(y, beta, [a, b, c])?,
            [a, b, c, d] => backend.lincomb(y, beta, [a, b, c, d])?,
            _ => {}
        }
        beta = 1.0;
    }
    Ok(())
}
