#![allow(clippy::unwrap_used)]

use super::*;

#[test]
fn denials_are_explained_and_other_failures_are_not() {
    let files = explain("touch: cannot touch '/etc/x': Read-only file system", &Network::Off, &[]).unwrap();
    assert!(files.contains("only in the workspace and in /tmp") && files.contains("\"outside\": true"), "{files}");
    let off = explain("curl: (6) Could not resolve host: example.org", &Network::Off, &[]).unwrap();
    assert!(off.contains("have no network"), "{off}");
    let allowed = Network::Proxy { allowed: vec!["a.org".parse().unwrap()] };
    let blocked = explain("CONNECT tunnel failed, response 403", &allowed, &["b.org".to_owned()]).unwrap();
    assert!(blocked.contains("did not allow b.org"), "{blocked}");
    let only = explain("getaddrinfo EAI_AGAIN b.org", &allowed, &[]).unwrap();
    assert!(only.contains("reach only a.org"), "{only}");
    assert_eq!(explain("error[E0308]: mismatched types", &Network::Off, &[]), None);
    assert_eq!(explain("Could not resolve host", &Network::Open, &[]), None);
}
