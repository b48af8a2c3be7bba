//! Sums, inner products, conversions.

use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::{Backend, Real};

use super::{LENGTHS, Subject, assert_close, random, to_device, to_host};

pub fn linear_combinations_take_any_number_of_terms<S: Subject>(subject: &S) {
    fn check<S: Subject, T: Real, const K: usize>(subject: &S, n: usize) {
        let host: [Vec<T>; K] = std::array::from_fn(|k| random(k as u64, n));
        let device = host.each_ref().map(|v| to_device(subject, v));
        let alphas: [f64; K] = std::array::from_fn(|k| 0.5 - 0.3 * k as f64);
        for beta in [0.0, 1.0, -0.7] {
            let mut expected = random::<T>(9, n);
            let mut y = to_device(subject, &expected);
            let terms = std::array::from_fn::<_, K, _>(|k| (alphas[k], &host[k]));
            CpuBackend.lincomb(None, &mut expected, beta, &terms).unwrap();
            let terms = std::array::from_fn::<_, K, _>(|k| (alphas[k], &device[k]));
            subject.lincomb(None, &mut y, beta, &terms).unwrap();

            let found = to_host(subject, &y, n);
            assert_close(&found, &expected, 8.0, &format!("{n} entries, {K} terms, beta {beta}"));
        }
    }
    for n in LENGTHS {
        check::<S, f64, 0>(subject, n);
        check::<S, f64, 1>(subject, n);
        check::<S, f32, 2>(subject, n);
        check::<S, f64, 3>(subject, n);
        check::<S, f32, 4>(subject, n);
        check::<S, f64, 7>(subject, n);
    }
}

pub fn a_zero_factor_overwrites_a_nan<S: Subject>(subject: &S) {
    let x = to_device(subject, &[1.0, 2.0, 3.0]);
    let mut y = to_device(subject, &[f64::NAN; 3]);

    subject.lincomb(None, &mut y, 0.0, &[(2.0, &x)]).unwrap();
    assert_close(&to_host(subject, &y, 3), &[2.0, 4.0, 6.0], 0.0, "one term");
    subject.upload(&[f64::NAN; 3], &mut y).unwrap();
    subject.lincomb(None, &mut y, 0.0, &[]).unwrap();
    assert_close(&to_host(subject, &y, 3), &[0.0; 3], 0.0, "no term");
}

pub fn inner_products_are_those_of_the_cpu<S: Subject>(subject: &S) {
    fn check<S: Subject, T: Real, const K: usize>(subject: &S, n: usize) {
        let host: [[Vec<T>; 2]; K] =
            std::array::from_fn(|k| [random(2 * k as u64, n), random(2 * k as u64 + 1, n)]);
        let device = host.each_ref().map(|pair| pair.each_ref().map(|v| to_device(subject, v)));
        let expected = CpuBackend.dot_products(host.each_ref().map(|[a, b]| (a, b))).unwrap();

        let found = subject.dot_products(device.each_ref().map(|[a, b]| (a, b))).unwrap();

        for (found, expected) in found.iter().zip(expected) {
            let bound = 1e-15 * n as f64;
            assert!((found - expected).abs() <= bound, "{n}, {K}: {found} for {expected}");
        }
    }
    // In the longest every block of a reduction has more than one share.
    for n in LENGTHS.into_iter().chain([4095, 4096, 4097, 20_481, 135_185, 300_000]) {
        check::<S, f64, 1>(subject, n);
        check::<S, f32, 3>(subject, n);
        check::<S, f64, 2>(subject, n);
    }
}

pub fn an_inner_product_with_a_nan_is_a_nan<S: Subject>(subject: &S) {
    for n in LENGTHS {
        let mut host = vec![1.0; n];
        host[n / 2] = f64::NAN;
        let (a, b) = (to_device(subject, &host), to_device(subject, &vec![0.0; n]));

        let [first, second] = subject.dot_products([(&a, &b), (&b, &b)]).unwrap();

        assert!(first.is_nan() && second == 0.0, "{n} entries: {first}, {second}");
    }
}

pub fn a_vector_is_projected_as_on_the_cpu<S: Subject>(subject: &S) {
    fn check<S: Subject, T: Real>(subject: &S, n: usize, order: usize) {
        let scale = 1.0 / (n as f64).sqrt();
        let vector = |seed: usize| -> Vec<T> {
            random::<f64>(seed as u64, n).into_iter().map(|v| T::narrow(scale * v)).collect()
        };
        let basis: Vec<Vec<T>> = (0..order).map(vector).collect();
        let on_device: Vec<_> = basis.iter().map(|v| to_device(subject, v)).collect();
        let mut expected_w = vector(order);
        let mut w = to_device(subject, &expected_w);
        let expected = CpuBackend.project(&basis, &mut expected_w).unwrap();

        let found = subject.project(&on_device, &mut w).unwrap();

        let what = format!("{n} entries, {order} vectors");
        let ulps = 8.0 * (order + 1) as f64;
        assert_close(&to_host(subject, &w, n), &expected_w, ulps, &what);
        for (found, expected) in [
            (&found.first, &expected.first),
            (&found.again, &expected.again),
            (&vec![found.square], &vec![expected.square]),
        ] {
            let narrow = |values: &[f64]| values.iter().map(|v| T::narrow(*v)).collect::<Vec<T>>();
            assert_close(&narrow(found), &narrow(expected), 16.0 * ulps, &what);
        }
    }
    for n in LENGTHS {
        for order in [1, 3, 4, 5, 9] {
            check::<S, f64>(subject, n, order);
            check::<S, f32>(subject, n, order);
        }
    }
}

pub fn the_largest_magnitude_is_found<S: Subject>(subject: &S) {
    fn check<S: Subject, T: Real>(subject: &S, n: usize, at: usize) {
        for value in [-7.5, f64::NAN, f64::NEG_INFINITY] {
            let mut host = random::<T>(3, n);
            host[at] = T::narrow(value);

            let most = subject.max_abs(&to_device(subject, &host)).unwrap();

            // Any NaN will do.
            let found = most.total_cmp(&value.abs()).is_eq() || most.is_nan() && value.is_nan();
            assert!(found, "{n} entries, {value} at {at}: {most}");
        }
    }
    for n in LENGTHS {
        for at in [0, n / 2, n - 1] {
            check::<S, f32>(subject, n, at);
            check::<S, f64>(subject, n, at);
        }
    }
}

pub fn precision_is_converted<S: Subject>(subject: &S) {
    for n in LENGTHS {
        let host = random::<f64>(4, n);
        let x = to_device(subject, &host);
        let mut single = subject.zeros::<f32>(n).unwrap();
        let mut double = subject.zeros::<f64>(n).unwrap();

        subject.convert(3.0, &x, &mut single).unwrap();
        subject.convert(0.5, &single, &mut double).unwrap();

        let expected: Vec<f32> = host.iter().map(|v| (3.0 * v) as f32).collect();
        assert_eq!(to_host(subject, &single, n), expected);
        let expected: Vec<f64> = expected.iter().map(|v| 0.5 * f64::from(*v)).collect();
        assert_eq!(to_host(subject, &double, n), expected);
    }
}
