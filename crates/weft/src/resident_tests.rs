use super::{code_in, give_back_the_start, own_code};

#[test]
fn only_code_is_taken_for_code() {
    let range = Some(0x55d0_0000_1000..0x55d0_0000_3000);
    assert_eq!(code_in("55d000001000-55d000003000 r-xp 00001000 fe:00 12 /usr/bin/weft"), range);
    for other in ["r--p", "rw-p", "rwxp", "r-xs"] {
        assert_eq!(code_in(&format!("55d000001000-55d000003000 {other} 00001000 fe:00 12 /usr/bin/weft")), None);
    }
    assert_eq!(code_in("rubbish"), None);
}

#[test]
fn the_program_runs_on_with_less() {
    let resident = || -> usize {
        let statm = std::fs::read_to_string("/proc/self/statm").expect("the kernel tells");
        statm.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("a number of pages")
    };
    assert!(own_code().is_some());
    let before = resident();
    give_back_the_start();
    assert!(resident() < before, "{} pages, before {before}", resident());
}
