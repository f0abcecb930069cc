use super::*;

#[test]
fn questions_are_classed_by_the_longest_cue() {
    let cases = [
        ("where is the gate", Class::Locate, "the gate"),
        ("Which file opens the database?", Class::Locate, "opens the database"),
        ("how do we handle errors", Class::Pattern, "how do we handle errors"),
        ("how does compaction work?", Class::Explain, "compaction work"),
        ("error handling strategy", Class::Pattern, "error handling strategy"),
        ("Engine::open", Class::Locate, "Engine::open"),
        ("group commit of the log", Class::General, "group commit of the log"),
        ("where is", Class::Locate, "where is"),
        ("", Class::General, ""),
    ];
    for (text, class, words) in cases {
        let question = Question::read(text);
        assert_eq!((question.class, question.words.as_str()), (class, words), "{text}");
    }
}

#[test]
fn names_are_told_from_words() {
    let names = |text: &str| Question::read(text).names;
    assert_eq!(names("where is `connect_derived` used"), ["connect_derived"]);
    assert_eq!(names("open"), ["open"]);
    assert_eq!(names("open the store"), Vec::<String>::new());
    assert_eq!(names("look at src/lib.rs and TextIndex"), ["src/lib.rs", "TextIndex"]);
    assert_eq!(names("a sentence. With two."), Vec::<String>::new());
}
