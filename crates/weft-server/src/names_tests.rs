use super::*;

fn names(address: &str, more: &[&str], tls: bool) -> Names {
    let more: Vec<String> = more.iter().map(|name| (*name).to_owned()).collect();
    Names::new(address.parse().unwrap(), "weft-abc.localhost", &more, tls)
}

#[test]
fn browsers_have_a_name_of_their_own_and_programs_may_use_any() {
    for (address, more, tls, home, browsers, programs) in [
        (
            "127.0.0.1:7878",
            &[][..],
            false,
            "weft-abc.localhost:7878",
            &["weft-abc.localhost:7878"][..],
            &["127.0.0.1:7878", "localhost:7878", "[::1]:7878"][..],
        ),
        (
            "0.0.0.0:80",
            &["desk.example"],
            false,
            "weft-abc.localhost:80",
            &["desk.example", "desk.example:80"],
            &["127.0.0.1:80", "localhost:80"],
        ),
        (
            "192.0.2.7:7878",
            &[],
            false,
            "192.0.2.7:7878",
            &["192.0.2.7:7878", "weft-abc.localhost:7878"],
            &["127.0.0.1:7878"],
        ),
        (
            "0.0.0.0:7878",
            &["desk.example"],
            true,
            "desk.example:7878",
            &["desk.example", "127.0.0.1:7878"],
            &["localhost:7878"],
        ),
    ] {
        let names = names(address, more, tls);
        assert_eq!(names.home(), home, "{address}");
        for name in browsers {
            assert!(names.is_browsers(name) && names.is_known(name), "{address}: {name}");
        }
        for name in programs {
            assert!(names.is_known(name) && !names.is_browsers(name), "{address}: {name}");
        }
        for name in ["evil.example", "weft-abd.localhost:7878", "127.0.0.1", "127.0.0.1:1", ""] {
            assert!(!names.is_known(name) && !names.is_browsers(name), "{address}: {name}");
        }
    }
    assert!(names("127.0.0.1:7878", &[], false).is_browsers("WEFT-ABC.localhost:7878"));
}
