use serde_json::json;

use super::*;

fn scope() -> Scope {
    let mut scope = Scope::default();
    scope.set("question", "why?");
    scope.set("settings", json!({ "depth": 2 }));
    scope.set("prior", Value::Null);
    scope.set_output("find", json!({ "paragraphs": [{ "id": "a" }, { "id": "b" }] }));
    scope.add_step("made", json!(null));
    scope
}

#[test]
fn names_stages_and_steps_are_seen_and_what_is_not_there_is_nothing() {
    let scope = scope();
    for (expression, value) in [
        ("question", json!("why?")),
        ("settings.depth + 1", json!(3)),
        ("stages.find.paragraphs | map(attribute='id') | list", json!(["a", "b"])),
        ("(stages.find.paragraphs)[:1]", json!([{ "id": "a" }])),
        ("stages.gone.paragraphs or 'none'", json!("none")),
        (
            "{'of': stages, 'and': steps}",
            json!({ "of": { "find": { "paragraphs": [{ "id": "a" }, { "id": "b" }] } }, "and": { "made": null } }),
        ),
        ("steps.made or steps.gone or prior or item", Value::Null),
    ] {
        assert_eq!(scope.evaluate(expression).unwrap(), value, "{expression}");
    }
    assert!(scope.evaluate("question.(").is_err());
    let text = "{% for id, output in stages | items %}{{ id }}: {{ output.paragraphs | length }}{% endfor %}{{ gone }}";
    assert_eq!(scope.render(text).unwrap(), "find: 2");
    assert_eq!(scope.render("{{ stages.find | tojson }}").unwrap(), r#"{"paragraphs": [{"id": "a"}, {"id": "b"}]}"#);
}

#[test]
fn a_copy_has_its_own_names_and_a_later_value_takes_the_place_of_the_earlier() {
    let mut scope = scope();
    assert_eq!(scope.evaluate("stages.find.paragraphs[0].id").unwrap(), json!("a"));
    let mut copy = scope.clone();
    copy.set("item", json!({ "id": 7 }));
    copy.set_output("find", json!({ "paragraphs": [] }));
    assert_eq!(copy.evaluate("[item.id, stages.find.paragraphs]").unwrap(), json!([7, []]));
    assert_eq!(scope.evaluate("[item, stages.find.paragraphs | length]").unwrap(), json!([null, 2]));
    scope.add_step("made", json!(5));
    assert_eq!((scope.evaluate("steps.made").unwrap(), scope.step("made")), (json!(5), Some(&json!(5))));
    let values = scope.values(&["question", "steps", "gone"]);
    assert_eq!(values, json!({ "question": "why?", "steps": { "made": 5 } }));
}

#[test]
fn stages_are_gone_through_in_the_order_in_which_they_were_done() {
    let mut scope = Scope::default();
    for id in ["b", "a", "c"] {
        scope.set_output(id, json!(id));
    }
    scope.set_output("b", json!("again"));
    assert_eq!(scope.evaluate("stages | list").unwrap(), json!(["b", "a", "c"]));
    assert_eq!(scope.values(&["stages"]).to_string(), r#"{"stages":{"b":"again","a":"a","c":"c"}}"#);
}
