//! Which addresses belong to the public internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Not this machine, its neighbours, a cloud's metadata service or anything reserved.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !(address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation()
        || address.is_broadcast()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (b == 18 || b == 19)))
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, c, d, e, f, high, low] = address.segments();
    let inner = || {
        let ([one, two], [three, four]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(one, two, three, four))
    };
    match (a, b) {
        // Mapped, and translated by a gateway: what counts is the address inside.
        (0, 0) if [c, d, e, f] == [0, 0, 0, 0xffff] => inner(),
        (0x64, 0xff9b) if [c, d, e, f] == [0; 4] => inner(),
        (0x2001, 0xdb8 | 0) | (0x2002, _) | (0x3fff, 0..0x1000) => false,
        // Only this block is given out to the public.
        (0x2000..=0x3fff, _) => true,
        _ => false,
    }
}
