//! Coefficients and conditions on the scalars of a Krylov method.

use gridgen::backend::scalars::{Coefficient, Criterion, ONE, SLOTS, Test};

#[test]
fn a_coefficient_is_a_quotient_of_slots() {
    let mut slots = [0.0; SLOTS];
    (slots[1], slots[3], slots[4], slots[5]) = (1.0, 6.0, 4.0, 3.0);

    let both = Coefficient { factor: -0.5, over: [3, 4], under: [5, ONE] };

    let ratio = Coefficient::ratio(1.0, 3, 5);
    let found = [both, ratio, Coefficient::number(7.0)].map(|c| c.value(&slots).to_bits());
    assert_eq!(found, [-4.0_f64, 2.0, 7.0].map(f64::to_bits));
}

#[test]
fn conditions_hold_at_their_bounds_and_for_nan() {
    let mut slots = [0.0; SLOTS];
    (slots[3], slots[4], slots[5]) = (2.0, 2.0, f64::NAN);
    let reached = Criterion { test: Test::Reached { value: 3, bound: 4 }, flag: 1 };
    let not_a_number = Criterion { test: Test::Reached { value: 5, bound: 4 }, flag: 1 };
    let vanished = |value, epsilon| Criterion {
        test: Test::Vanished { value, squares: [4, 4], epsilon },
        flag: 2,
    };

    assert!(reached.holds(&slots) && !not_a_number.holds(&slots));
    assert!(vanished(3, 1.0).holds(&slots) && vanished(5, 1e-16).holds(&slots));
    assert!(!vanished(3, 0.5).holds(&slots));
}
