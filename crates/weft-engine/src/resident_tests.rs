use super::{give_back, mapped, own_program};

#[test]
fn only_what_was_asked_for_is_taken() {
    let range = Some(0x55d0_0000_1000..0x55d0_0000_3000);
    let line = |kind: &str| format!("55d000001000-55d000003000 {kind} fe:00 12 /usr/bin/weft");
    assert_eq!(mapped(&line("r-xp 00001000"), "r-xp "), range);
    assert_eq!(mapped(&line("r--p 00000000"), "r--p 00000000 "), range);
    for other in ["r--p 00001000", "rw-p 00000000", "rwxp 00001000", "r-xs 00001000"] {
        assert_eq!(mapped(&line(other), "r-xp "), None);
        assert_eq!(mapped(&line(other), "r--p 00000000 "), None);
    }
    assert_eq!(mapped("rubbish", "r-xp "), None);
}

#[test]
fn the_program_runs_on_with_less() {
    let resident = || -> usize {
        let statm = std::fs::read_to_string("/proc/self/statm").expect("the kernel tells");
        statm.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("a number of pages")
    };
    assert!(own_program().is_some());
    let before = resident();
    give_back();
    assert!(resident() < before, "{} pages, before {before}", resident());
}
