use std::time::Duration;

use super::*;

#[test]
fn a_client_that_asks_too_often_waits_and_others_do_not() {
    let (rates, start) = (Rates::default(), Instant::now());
    let few = Allowance { burst: 3.0, per_second: 1.0 };
    let asked: Vec<bool> = (0..5).map(|_| rates.take("one", few, start)).collect();
    assert_eq!(asked, [true, true, true, false, false]);
    assert!(rates.take("two", few, start));
    assert!(rates.take("one", few, start + Duration::from_secs(1)));
    assert!(!rates.take("one", few, start + Duration::from_secs(1)));
    // However long it waits, it has no more than at first.
    let later = start + Duration::from_secs(1_000);
    assert_eq!((0..5).filter(|_| rates.take("one", few, later)).count(), 3);
}
