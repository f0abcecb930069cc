//! A folder that holds everything that should not be there: each is told of, and the rest is found.

use std::os::unix::fs::symlink;

use crate::world::{World, hits};

#[test]
fn huge_minified_endless_and_cyclic_things_are_told_and_the_rest_is_found() {
    let world = World::new();
    let path = |name: &str| world.folder.path().join(name);
    world.write("src/good.rs", "/// Waters the garden.\npub fn water() {}\n");
    // A gigabyte that takes no room on the disk.
    std::fs::File::create(path("huge.rs")).unwrap().set_len(1 << 30).unwrap();
    world.write("bundle.js", &"function a(b){return b+1};var c=a(2);".repeat(2_000));
    world.write("app.min.js", "function a(b){return b+1}");
    world.write("endless.txt", &"the garden is wide ".repeat(40_000));
    std::fs::write(path("torn.rs"), b"fn torn() { let s = \"\xff\xfe\xc3\x28\"; } // the garden").unwrap();
    symlink(".", path("round")).unwrap();
    symlink(path("round/round"), path("src/again")).unwrap();
    symlink("nowhere", path("dangling.rs")).unwrap();

    let (knowledge, report) = world.index();
    let told = |name: &str| report.passed.iter().find(|(path, _)| path == name).map(|(_, reason)| reason.as_str());
    assert_eq!(told("huge.rs"), Some("is larger than 1 MB"));
    assert_eq!(told("bundle.js"), Some("is minified"));
    assert_eq!(told("app.min.js"), Some("is minified"));
    assert_eq!(report.files, 6, "links lead nowhere new: {:?}", report);
    assert!(hits(&knowledge, "water").iter().any(|place| place.starts_with("src/good.rs:")));
    assert!(hits(&knowledge, "garden is wide").iter().any(|place| place.starts_with("endless.txt:")));
    assert!(hits(&knowledge, "torn").iter().any(|place| place.starts_with("torn.rs:")));
    // Who looks again is told the same again, although nothing is read a second time.
    let (_, again) = world.index();
    assert_eq!((again.changed, &again.passed), (0, &report.passed));
}
