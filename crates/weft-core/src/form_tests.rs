#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::*;

fn fields() -> Vec<Field> {
    fields_of(&json!({"type": "object", "required": ["name", "age"], "properties": {
        "name": {"type": "string", "title": "Name", "description": "In full", "minLength": 2, "maxLength": 5},
        "age": {"type": "integer", "minimum": 18, "maximum": 120},
        "share": {"type": "number", "default": 0.5},
        "ok": {"type": "boolean"},
        "mail": {"type": "string", "format": "email"},
        "day": {"type": "string", "format": "date"},
        "size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]},
        "tags": {"type": "array", "items": {"enum": ["a", "b", "c"]}},
    }}))
    .unwrap()
}

#[test]
fn a_form_is_checked_field_by_field() {
    let whole = |change: Value| {
        let mut values = json!({"name": "Ada", "age": 36});
        values.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        values.as_object().unwrap().clone()
    };
    for (change, wrong) in [
        (json!({}), ""),
        (json!({"share": 1.5, "ok": true, "mail": "a@b", "day": "2026-01-31", "size": "l", "tags": ["a", "c"]}), ""),
        (json!({"name": "A"}), "name"),
        (json!({"name": "Adelaide"}), "name"),
        (json!({"name": 5}), "name"),
        (json!({"name": null}), "name"),
        (json!({"age": 17}), "age"),
        (json!({"age": 36.5}), "age"),
        (json!({"age": "36"}), "age"),
        (json!({"ok": "yes"}), "ok"),
        (json!({"mail": "nobody"}), "mail"),
        (json!({"day": "31.1.2026"}), "day"),
        (json!({"size": "Large"}), "size"),
        (json!({"tags": ["a", "z"]}), "tags"),
        (json!({"tags": "a"}), "tags"),
        (json!({"other": 1}), "other"),
    ] {
        let names: Vec<String> = match check(&fields(), &whole(change.clone())) {
            Ok(()) => Vec::new(),
            Err(problems) => problems.into_iter().map(|problem| problem.name).collect(),
        };
        assert_eq!(names.join(" "), wrong, "{change}");
    }
    assert_eq!(check(&fields(), &Map::new()).unwrap_err().len(), 2);
}

#[test]
fn words_become_values_and_what_does_not_fit_is_said() {
    let typed = "name=Ada; age=36; ok=yes; size=Large; tags=a, 3";
    let read = Value::Object(read_all(&fields(), typed).unwrap());
    assert_eq!(read, json!({"name": "Ada", "age": 36, "share": 0.5, "ok": true, "size": "l", "tags": ["a", "c"]}));
    for (typed, name) in
        [("age=36", "name"), ("name=Ada; age=old", "age"), ("name=Ada; age=36; nam=x", "nam"), ("x", "x")]
    {
        assert_eq!(read_all(&fields(), typed).unwrap_err().name, name, "{typed}");
    }
    // A form of one field is answered like a question.
    let one = fields_of(&json!({"properties": {"n": {"type": "integer"}}, "required": ["n"]})).unwrap();
    assert_eq!(Value::Object(read_all(&one, "5").unwrap()), json!({"n": 5}));
    assert!(read_all(&one, "").is_err());
}

#[test]
fn a_schema_stays_what_it_was() {
    let again = fields_of(&schema_of(&fields())).unwrap();
    let kinds = |fields: &[Field]| fields.iter().map(|field| (field.name.clone(), field.required)).collect::<Vec<_>>();
    assert_eq!(kinds(&again), kinds(&fields()));
    assert_eq!(again[6], fields()[6]);
}

#[test]
fn what_cannot_be_put_to_a_person_is_no_form() {
    let many: Map<String, Value> = (0..40).map(|n| (n.to_string(), json!({"type": "string"}))).collect();
    for schema in [
        json!({"properties": many}),
        json!({"properties": {"x": {"type": "object"}}}),
        json!({"properties": {"x": {"type": "array", "items": {"type": "string"}}}}),
        json!({}),
    ] {
        assert_eq!(fields_of(&schema), None, "{schema}");
    }
}
