use super::*;

#[test]
fn callees_are_read() {
    let cases = [
        ("foo", "foo", ""),
        ("self.store.open", "open", ".store"),
        ("Engine::open", "open", "Engine"),
        ("Vec::<u8>::with_capacity", "with_capacity", "Vec"),
        ("parse::<T>", "parse", ""),
        ("a.b()\n    .then", "then", "."),
        ("$this->save", "save", ".$this"),
        ("a?.b", "b", ".a"),
        ("App\\run", "run", "App"),
        ("println!", "println!", ""),
    ];
    for (text, name, qualifier) in cases {
        assert_eq!(callee(text), Some((name, qualifier.to_owned())), "{text}");
    }
    assert_eq!(callee("(|x| x)"), None);
    assert_eq!(callee(""), None);
}

#[test]
fn heritage_is_read() {
    let cases: [(&str, &[&str]); 6] = [
        ("extends Base implements A, B<T>", &["Base", "A", "B"]),
        (": public ns::Base, private Other", &["Base", "Other"]),
        ("< ActiveRecord::Base", &["Base"]),
        (": Send + Sync + 'static + ?Sized + Into<String>", &["Send", "Sync", "Into"]),
        ("extends React.Component<Props>", &["Component"]),
        (": Base(x, y), IThing", &["Base", "IThing"]),
    ];
    for (text, names) in cases {
        assert_eq!(heritage(text), names, "{text}");
    }
}

#[test]
fn what_stands_above_belongs_to_the_symbol() {
    let text = "//! head\n\n/// Opens it.\n/// Twice.\n#[must_use]\npub fn open() {}\n";
    let start = text.find("pub").unwrap();
    let (from, doc, attributes) = above(text, start, &["//", "#["]);
    assert_eq!(text.find("/// Opens").unwrap(), from);
    assert_eq!((doc.as_str(), attributes.as_str()), ("Opens it.\nTwice.", "#[must_use]"));

    let text = "int x;\n/**\n * Adds.\n */\nint add() {}\n";
    let (from, doc, _) = above(text, text.find("int add").unwrap(), &["//"]);
    assert_eq!(from, text.find("/**").unwrap());
    assert_eq!(doc, "Adds.");

    let text = "x = 1; def f()";
    assert_eq!(above(text, 7, &["#"]).0, 7);
}
