use std::net::Ipv6Addr;
use std::time::Duration;

use super::*;

fn known(name: &str) -> Client {
    Client::Known(name.to_owned())
}

#[test]
fn a_client_that_asks_too_often_waits_and_others_do_not() {
    let (rates, start) = (Rates::default(), Instant::now());
    let few = Allowance { burst: 3.0, per_second: 1.0 };
    let asked: Vec<bool> = (0..5).map(|_| rates.take_of(known("one"), few, start)).collect();
    assert_eq!(asked, [true, true, true, false, false]);
    assert!(rates.take_of(known("two"), few, start));
    assert!(rates.take_of(known("one"), few, start + Duration::from_secs(1)));
    assert!(!rates.take_of(known("one"), few, start + Duration::from_secs(1)));
    // However long it waits, it has no more than at first.
    let later = start + Duration::from_secs(1_000);
    assert_eq!((0..5).filter(|_| rates.take_of(known("one"), few, later)).count(), 3);
}

#[test]
fn strangers_are_told_apart_by_where_they_are() {
    let (rates, now) = (Rates::default(), Instant::now());
    let from = |address: &str| Client::stranger(address.parse().unwrap());
    while rates.take(from("192.0.2.1"), now) {}
    assert!(rates.take(from("192.0.2.2"), now));
    // The same machine, written in another way or with another of its addresses.
    assert!(!rates.take(from("::ffff:192.0.2.1"), now));
    while rates.take(from("2001:db8::1"), now) {}
    assert!(!rates.take(from("2001:db8::2"), now));
    assert!(rates.take(from("2001:db8:0:1::1"), now));
}

#[test]
fn many_strangers_neither_fill_the_memory_nor_lock_out_those_with_a_token() {
    let (rates, now) = (Rates::default(), Instant::now());
    for number in 0..2 * MOST_CLIENTS as u128 {
        rates.take(Client::stranger(Ipv6Addr::from(number << 64).into()), now);
    }
    assert_eq!(rates.clients.lock().unwrap().len(), MOST_CLIENTS);
    assert!(rates.take(known("phone"), now));
    assert!(rates.take(Client::stranger([192, 0, 2, 1].into()), now + Duration::from_secs(61)));
}
