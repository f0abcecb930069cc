use super::*;

fn check(question: &str, wanted: Option<(Relation, &str)>) {
    let found = read(question);
    let first = found.first().map(|read| (read.relation, read.words.join(" ")));
    assert_eq!(first, wanted.map(|(relation, name)| (relation, name.to_owned())), "{question}");
}

#[test]
fn questions_about_what_is_linked_are_read() {
    for (question, relation, name) in [
        ("who calls greet?", Relation::Callers, "greet"),
        ("Who calls `Store::open()`?", Relation::Callers, "Store::open"),
        ("Which functions call greet", Relation::Callers, "greet"),
        ("which other functions are calling the function greet?", Relation::Callers, "greet"),
        ("where is greet called from?", Relation::Callers, "greet"),
        ("Where do we call greet?", Relation::Callers, "greet"),
        ("show me all callers of greet", Relation::Callers, "greet"),
        ("what are the callers of greet?", Relation::Callers, "greet"),
        ("what does greet call?", Relation::Callees, "greet"),
        ("which functions does greet call?", Relation::Callees, "greet"),
        ("what is called by greet", Relation::Callees, "greet"),
        ("who uses Store?", Relation::Users, "Store"),
        ("where is LIMIT used?", Relation::Users, "LIMIT"),
        ("find the references to LIMIT", Relation::Users, "LIMIT"),
        ("What depends on src/store.rs?", Relation::Dependents, "src/store.rs"),
        ("what would break if I changed Store?", Relation::Dependents, "Store"),
        ("what breaks when Store changes", Relation::Dependents, "Store"),
        ("what is affected by changing Store::open?", Relation::Dependents, "Store::open"),
        ("what's the impact of changing greet?", Relation::Dependents, "greet"),
        ("blast radius of greet", Relation::Dependents, "greet"),
        ("what does api.py depend on?", Relation::Dependencies, "api.py"),
        ("dependencies of api.py", Relation::Dependencies, "api.py"),
        ("What does api.py import?", Relation::Imports, "api.py"),
        ("which modules does the file api.py import?", Relation::Imports, "api.py"),
        ("which files import store?", Relation::Importers, "store"),
        ("where is serde imported", Relation::Importers, "serde"),
        ("where is greet defined?", Relation::Definition, "greet"),
        ("Where is the function greet defined", Relation::Definition, "greet"),
        ("where is the definition of Store?", Relation::Definition, "Store"),
        ("In which file is Store declared?", Relation::Definition, "Store"),
        ("which file defines Store?", Relation::Definition, "Store"),
        ("what is defined in store.py?", Relation::Contents, "store.py"),
        ("list the symbols in store.py", Relation::Contents, "store.py"),
        ("what implements Shape?", Relation::Subtypes, "Shape"),
        ("which classes extend Base?", Relation::Subtypes, "Base"),
        ("what does Thing inherit from", Relation::Supertypes, "Thing"),
        ("which tests cover greet?", Relation::Tests, "greet"),
        ("where is greet tested?", Relation::Tests, "greet"),
        ("who calls open in Store?", Relation::Callers, "open in Store"),
        ("who calls the retry loop?", Relation::Callers, "retry loop"),
        ("who calls file", Relation::Callers, "file"),
    ] {
        check(question, Some((relation, name)));
    }
}

#[test]
fn other_questions_are_not() {
    for question in [
        "",
        "?",
        "who",
        "who calls",
        "how does greet work?",
        "where is greet",
        "why is greet called twice when the parcel of the customer is late again?",
        "explain who may open the database and what is to be done where nobody may",
        "greet",
        "what is greet",
        "calls",
        "who may open the database?",
    ] {
        check(question, None);
    }
    check(&"who calls ".repeat(2_000), None);
    check("誰が greet を呼ぶ？ 🦀 \"'` ()", None);
}
