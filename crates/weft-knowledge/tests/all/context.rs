//! What is chosen for a model's room: never more than fits, nothing twice, and always an end.

use std::collections::BTreeSet;

use proptest::prelude::*;
use weft_knowledge::{Filter, Knowledge, Query};

use crate::world::{World, index};

fn garden() -> (World, Knowledge) {
    let world = World::new();
    // One thing of many chunks, larger than small budgets, and many small ones.
    let long: String = (0..300).map(|number| format!("    water_the_roses({number});\n")).collect();
    world.write("src/long.rs", &format!("/// Waters the garden.\npub fn water_everything() {{\n{long}}}\n"));
    for number in 0..12 {
        let text = format!("/// Waters the garden, part {number}.\npub fn water_{number}() {{ roses({number}); }}\n");
        world.write(&format!("src/part_{number}.rs"), &text);
    }
    world.write("guide.md", "# Garden\n\nWater the garden in the evening.\n\n# Roses\n\nThe garden has roses.\n");
    let mut knowledge = world.open();
    index(&mut knowledge);
    (world, knowledge)
}

fn query(text: &str) -> Query {
    Query { text: text.to_owned(), filter: Filter::default(), limit: 10, now: 0 }
}

#[test]
fn what_is_too_large_for_the_room_does_not_keep_smaller_things_out() {
    let (_world, knowledge) = garden();
    let chosen = knowledge.context(&query("how is the garden watered"), 60).unwrap();
    assert!(!chosen.items.is_empty(), "something small fits");
    assert!(chosen.items.iter().all(|item| item.tokens <= 60));
    assert!(chosen.left_out > 0);
    let nothing = knowledge.context(&query("how is the garden watered"), 0).unwrap();
    assert_eq!((nothing.items.len(), nothing.tokens), (0, 0));
}

#[test]
fn the_worth_of_what_is_chosen_is_the_sum_of_its_parts_and_above_the_floor() {
    let (_world, knowledge) = garden();
    let chosen = knowledge.context(&query("how is the garden watered"), 8_000).unwrap();
    for item in &chosen.items {
        let hit = &item.hit;
        let verified = if hit.verified { 0.15 } else { 0.0 };
        let worth = 0.35 * hit.likeness + 0.25 * f32::from(hit.trust) / 100.0 + 0.25 * hit.freshness.value + verified;
        assert!((item.worth - worth.min(1.0)).abs() < 1e-5 && item.worth >= 0.3, "{item:?}");
    }
    assert!(chosen.items.is_sorted_by(|one, other| one.worth >= other.worth));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn nothing_is_chosen_twice_and_never_more_than_fits(budgets in proptest::collection::vec(0_usize..3_000, 1..8)) {
        let (_world, knowledge) = garden();
        for budget in budgets {
            for text in ["water", "how is the garden watered", "water_3", "roses", "nothing of the kind"] {
                let chosen = knowledge.context(&query(text), budget).unwrap();
                let places: BTreeSet<(String, u32, String)> = chosen
                    .items
                    .iter()
                    .map(|item| (item.hit.path.clone(), item.hit.line, item.hit.name.clone()))
                    .collect();
                prop_assert_eq!(places.len(), chosen.items.len());
                prop_assert_eq!(chosen.tokens, chosen.items.iter().map(|item| item.tokens).sum::<usize>());
                prop_assert!(chosen.tokens <= budget);
            }
        }
    }
}
