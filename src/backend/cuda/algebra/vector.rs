//! Vectors of the CUDA backend.

use crate::backend::cuda::backend::{CudaBackend, CudaRecording, ReductionWorkspace};
use crate::backend::cuda::comm::Transport;
use crate::backend::cuda::device::{Buffer, Download, GRANTED};
use crate::backend::cuda::launch::constants::{ELEMENT, NUMBER, RANK_VALUES, SLOT_SUMS};
use crate::backend::cuda::launch::shared::{
    self, DerivedScalar, HaltCondition, Pointer, ScalarFactor, ScalarReduction, StepVectors,
    SumTerms, VectorPairs,
};
use crate::backend::cuda::launch::{
    Arguments, KernelName, LaunchShape, PeerAccess, Result, by_width, kernels, launch,
};
use crate::backend::error::{check_length, check_lengths, check_room};
use crate::backend::scalars::{Coefficient, Criterion, Epilogue, LOG, SLOTS, Slot};
use crate::backend::{Advance, Backend, Pair, Projection, Real, Step};
use crate::grid::quality::larger;

/// A vector in a GPU's memory.
pub type CudaVector<T> = Buffer<T>;

/// Terms of one launch of `lincomb`, and basis vectors that one reduction takes.
const GROUP: usize = 4;

impl Backend for CudaBackend {
    type Vector<T: Real> = CudaVector<T>;
    type ReadBack = Download;
    type Recording = CudaRecording;

    fn largest(&self, own: u64) -> Result<u64> {
        Ok(self.numbers(own)?.into_iter().fold(own, u64::max))
    }

    fn replay(
        &self,
        recording: &mut CudaRecording,
        mut work: impl FnMut() -> Result<()>,
    ) -> Result<()> {
        // Messages that the host sends cannot be recorded. Within another recording the launches are
        // part of that one.
        let transport = self.ranks.as_ref().map(|ranks| ranks.transport);
        if transport == Some(Transport::Host) || self.capture.are_open() {
            return work();
        }
        let kept = transport != Some(Transport::Nccl);
        recording.run(self, kept, work)
    }

    fn zeros<T: Real>(&self, n: usize) -> Result<CudaVector<T>> {
        Buffer::zeros(&self.device, n)
    }

    fn unset<T: Real>(&self, n: usize) -> Result<CudaVector<T>> {
        Buffer::unset(&self.device, n)
    }

    fn upload<T: Real>(&self, host: &[T], v: &mut CudaVector<T>) -> Result<()> {
        Buffer::upload(v, host)
    }

    fn download<T: Real>(&self, v: &CudaVector<T>, host: &mut [T]) -> Result<()> {
        Buffer::download(v, host)
    }

    fn convert<S: Real, T: Real>(
        &self,
        scale: f64,
        x: &CudaVector<S>,
        y: &mut CudaVector<T>,
    ) -> Result<()> {
        check_length(x.len(), y.len())?;
        let name = by_width::<S>(kernels::convert_from_single, kernels::convert_from_double);
        launch!(self => (name)[T, LaunchShape::elementwise(y.len())](y.len() as u64, scale, x, &*y))
    }

    fn max_abs<T: Real>(&self, x: &CudaVector<T>) -> Result<f64> {
        let (n, of) = (x.len(), (x.len() as u64, x));
        let [most] = self.reduce::<T, 1>(kernels::max_abs, n, of, |_, a, b| larger(a, b))?;
        Ok(most)
    }

    fn project<T: Real>(
        &self,
        basis: &[CudaVector<T>],
        w: &mut CudaVector<T>,
    ) -> Result<Projection> {
        basis.iter().try_for_each(|v| check_length(v.len(), w.len()))?;
        // The host waits for both passes at once.
        let order = basis.len();
        // Groups of both passes are contiguous.
        let (first, again) = (order.next_multiple_of(GROUP), (order + 1).next_multiple_of(GROUP));
        let workspace = &mut *self.reduction();
        // Ranks give each other as many values from the last group on.
        let room = first + again - GROUP + RANK_VALUES;
        if workspace.projection.len() < room {
            workspace.projection = Buffer::zeros(&self.device, 2 * room)?;
        }
        let w = &*w;
        let vectors: Vec<&CudaVector<T>> = basis.iter().chain([w]).collect();
        self.products(workspace, w, &vectors[..order], 0)?;
        for (k, group) in basis.chunks(GROUP).enumerate() {
            let h =
                |m: usize| ScalarFactor { factor: -1.0, slots: ELEMENT + (GROUP * k + m) as u64 };
            let terms: Vec<_> = group.iter().enumerate().map(|(m, v)| (h(m), v)).collect();
            self.sum(Some(&workspace.projection), w, number(1.0), &terms)?;
        }
        self.products(workspace, w, &vectors, first)?;
        let mut host = vec![0.0; first + again];
        workspace.projection.download(&mut host)?;
        Ok(Projection {
            first: host[..order].to_vec(),
            again: host[first..first + order].to_vec(),
            square: host[first + order],
        })
    }

    fn read_back(&self, scalars: &Buffer<f64>) -> Result<Download> {
        check_length(scalars.len(), SLOTS + LOG)?;
        self.device.begin_download(GRANTED, scalars.address(), (SLOTS + LOG) * size_of::<f64>())
    }

    fn wait_for(&self, read_back: Download, host: &mut [f64; SLOTS + LOG]) -> Result<()> {
        self.device.end_download(read_back, bytemuck::cast_slice_mut(host))
    }

    fn dot_products<T: Real, const K: usize>(
        &self,
        pairs: [Pair<'_, CudaVector<T>>; K],
    ) -> Result<[f64; K]> {
        const { assert!(K >= 1 && K <= SLOT_SUMS) };
        let workspace = self.reduction();
        self.sum_products(&workspace, &pairs, 0)?;
        let mut products = [0.0; K];
        workspace.projection.download(&mut products)?;
        Ok(products)
    }

    fn dots<T: Real, const K: usize>(
        &self,
        scalars: &mut Buffer<f64>,
        first: Slot,
        pairs: [Pair<'_, CudaVector<T>>; K],
        epilogue: Epilogue<'_>,
    ) -> Result<()> {
        const { assert!(K >= 1 && K <= SLOT_SUMS) };
        let n = pairs[0].0.len();
        pairs.iter().try_for_each(|(a, b)| check_lengths(n, [a.len(), b.len()]))?;
        let kernel = (kernels::dots, LaunchShape::reduction(n));
        let of = (n as u64, K as u32, vector_pairs(&pairs));
        self.reduce_into::<T>(kernel, of, scalars, (first, K), epilogue)
    }

    fn advance<T: Real>(
        &self,
        scalars: &mut Buffer<f64>,
        step: Advance<'_, CudaVector<T>>,
        first: Slot,
        epilogue: Epilogue<'_>,
    ) -> Result<()> {
        let n = step.r.len();
        let (a, h) = step.along.unzip();
        let along = h.map_or(n, Buffer::len);
        check_lengths(n, [step.x.len(), along, step.change.1.len()])?;
        let kernel = (kernels::advance, LaunchShape::reduction(n));
        let along = (&*step.x, factor(a.unwrap_or(0.0.into())), h);
        let of = (n as u64, along, &*step.r, factor(step.change.0), step.change.1);
        self.reduce_into::<T>(kernel, of, scalars, (first, 1), epilogue)
    }

    fn step<T: Real>(
        &self,
        scalars: &Buffer<f64>,
        step: Step<'_, CudaVector<T>>,
        p: &mut CudaVector<T>,
        former: [&CudaVector<T>; 2],
    ) -> Result<()> {
        let n = p.len();
        check_length(scalars.len(), SLOTS + LOG)?;
        launch!(self => step[T, LaunchShape::elementwise(n)](n as u64, scalars,
            step_vectors(&step, p, former)?))
    }

    fn lincomb<T: Real, C: Into<Coefficient> + Copy>(
        &self,
        scalars: Option<&Buffer<f64>>,
        y: &mut CudaVector<T>,
        beta: C,
        terms: &[(C, &CudaVector<T>)],
    ) -> Result<()> {
        terms.iter().try_for_each(|(_, x)| check_length(x.len(), y.len()))?;
        check_length(scalars.map_or(SLOTS + LOG, Buffer::len), SLOTS + LOG)?;
        // Without slots a coefficient is a number.
        let factor_of =
            |of: Coefficient| if scalars.is_some() { factor(of) } else { number(of.factor) };
        let one = factor_of(1.0.into());
        let (mut beta, mut rest) = (factor_of(beta.into()), terms);
        loop {
            let (now, later) = rest.split_at(rest.len().min(GROUP));
            let terms: Vec<_> =
                now.iter().map(|&(alpha, x)| (factor_of(alpha.into()), x)).collect();
            self.sum(scalars, y, beta, &terms)?;
            (beta, rest) = (one, later);
            if rest.is_empty() {
                return Ok(());
            }
        }
    }
}

/// A step as kernels take it, all vectors of the length of p.
pub(super) fn step_vectors<T: Real>(
    step: &Step<'_, CudaVector<T>>,
    p: &CudaVector<T>,
    [z, y]: [&CudaVector<T>; 2],
) -> Result<StepVectors> {
    let (x, h, r, u) = (&*step.x, step.along.1, &*step.r, step.change.1);
    let all = [x, z, h, r, u, p, y];
    check_lengths(p.len(), all.map(Buffer::len))?;
    let [x, z, h, r, u, p, y] = all.map(Pointer::from);
    Ok(StepVectors { x, z, h, r, u, p, y, factors: step.coefficients().map(factor) })
}

pub(super) fn factor(of: Coefficient) -> ScalarFactor {
    ScalarFactor { factor: of.factor, slots: of.packed().into() }
}

/// A coefficient that needs no slots.
fn number(factor: f64) -> ScalarFactor {
    ScalarFactor { factor, slots: NUMBER }
}

/// Pairs as kernels take them, of which they read as many as there are.
fn vector_pairs<T: Real>(pairs: &[(&CudaVector<T>, &CudaVector<T>)]) -> VectorPairs {
    let pair = |k: usize| pairs[if k < pairs.len() { k } else { 0 }];
    VectorPairs {
        a: std::array::from_fn(|k| pair(k).0.into()),
        b: std::array::from_fn(|k| pair(k).1.into()),
    }
}

impl CudaBackend {
    /// y ← β y + Σ αₖ xₖ over at most [`GROUP`] terms, whose coefficients may be made of `values`.
    fn sum<T: Real>(
        &self,
        values: Option<&Buffer<f64>>,
        y: &CudaVector<T>,
        beta: ScalarFactor,
        terms: &[(ScalarFactor, &CudaVector<T>)],
    ) -> Result<()> {
        let of = SumTerms {
            alpha: std::array::from_fn(|k| terms.get(k).map_or(number(0.0), |term| term.0)),
            x: std::array::from_fn(|k| terms.get(k).map_or(Pointer::NULL, |term| term.1.into())),
        };
        let arguments = (y.len() as u64, values, y, beta, terms.len() as u32, of);
        launch!(self => lincomb[T, LaunchShape::elementwise(y.len())](arguments))
    }

    /// Launches a kernel that reduces into `count` slots from `first` on, with the parts of all ranks if there
    /// are several.
    pub(super) fn reduce_into<T: Real>(
        &self,
        (kernel, shape): (KernelName, LaunchShape),
        arguments: impl Arguments,
        scalars: &Buffer<f64>,
        (first, count): (Slot, usize),
        epilogue: Epilogue<'_>,
    ) -> Result<()> {
        check_length(scalars.len(), SLOTS + LOG)?;
        check_room(usize::from(first) + count, [SLOTS])?;
        let peer_access = self.ranks.as_ref().map(|ranks| ranks.communicator.peer_access());
        // Ranks whose kernels do not access each other add their parts up in a launch of its own.
        let apart = peer_access.is_some_and(|peer_access| peer_access.is_none());
        let workspace = self.reduction();
        let shared = |epilogue: Epilogue<'_>, access: Option<PeerAccess>| ScalarReduction {
            first: u32::from(first),
            log: epilogue.log.map_or(0, u32::from),
            derivations: epilogue.recurrences.len() as u32,
            plain: 0,
            before: conditions(epilogue.before),
            derived: std::array::from_fn(|k| {
                epilogue.recurrences.get(k).map_or_else(DerivedScalar::default, |derived| {
                    DerivedScalar {
                        plus: factor(derived.plus),
                        slot: derived.slot.into(),
                        base: derived.base.into(),
                    }
                })
            }),
            conditions: conditions(epilogue.criteria),
            access: access.unwrap_or_default(),
            ..plain(&workspace, scalars.into())
        };
        let own = if apart { Epilogue::default() } else { epilogue };
        let into = shared(own, peer_access.flatten());
        launch!(self => (kernel)[T, shape](arguments, into))?;
        let (Some(ranks), true) = (&self.ranks, apart) else { return Ok(()) };
        let parts = ranks.gather(scalars, usize::from(first))?;
        let sizes = (ranks.size as u32, count as u32);
        launch!(self => sum_parts[T, LaunchShape::new(1, 1)](sizes, parts, shared(epilogue, None)))
    }

    /// Inner products of w with vectors, of all ranks, into the workspace from `to` on.
    fn products<T: Real>(
        &self,
        workspace: &ReductionWorkspace,
        w: &CudaVector<T>,
        with: &[&CudaVector<T>],
        to: usize,
    ) -> Result<()> {
        with.chunks(GROUP).enumerate().try_for_each(|(k, group)| {
            let pairs: Vec<_> = group.iter().map(|&x| (w, x)).collect();
            self.sum_products(workspace, &pairs, to + GROUP * k)
        })
    }

    /// Inner products, [`SLOT_SUMS`] at most, of all ranks, into the workspace from `to` on.
    fn sum_products<T: Real>(
        &self,
        workspace: &ReductionWorkspace,
        pairs: &[Pair<'_, CudaVector<T>>],
        to: usize,
    ) -> Result<()> {
        let n = pairs[0].0.len();
        pairs.iter().try_for_each(|(a, b)| check_lengths(n, [a.len(), b.len()]))?;
        let into = plain(workspace, workspace.projection.at(to));
        let arguments = (n as u64, pairs.len() as u32, vector_pairs(pairs), into);
        launch!(self => dots[T, LaunchShape::reduction(n)](arguments))?;
        let Some(ranks) = &self.ranks else { return Ok(()) };
        let parts = ranks.gather(&workspace.projection, to)?;
        let sizes = (ranks.size as u32, pairs.len() as u32);
        launch!(self => sum_parts[T, LaunchShape::new(1, 1)](sizes, parts, into))
    }
}

/// The target of a reduction into values that are no slots.
fn plain(workspace: &ReductionWorkspace, values: Pointer<f64>) -> ScalarReduction {
    let shared::Reduction { partials, ticket, .. } = workspace.out(Pointer::NULL);
    ScalarReduction { slots: values, partials, ticket, plain: 1, ..ScalarReduction::default() }
}

fn conditions(all: &[Criterion]) -> [HaltCondition; 2] {
    std::array::from_fn(|k| {
        let (packed, factor) = all.get(k).map_or((0, 0.0), Criterion::packed);
        HaltCondition { packed, factor }
    })
}
