use serde_json::json;

use super::*;

#[test]
fn tools_that_run_side_by_side_are_counted_once_and_a_run_until_its_end_is_seen() {
    let events = [
        (json!({"type": "flow_started", "at": 1_000}), 1_004.0),
        (json!({"type": "stage_calls"}), 1_005.0),
        (json!({"type": "tool_finished", "millis": 7}), 1_012.0),
        (json!({"type": "tool_finished", "millis": 5}), 1_012.0),
        (json!({"type": "stage_calls"}), 1_013.0),
        (json!({"type": "tool_finished", "millis": 2}), 1_015.0),
        (json!({"type": "stage_finished"}), 1_016.0),
        (json!({"type": "stage_finished"}), 1_017.0),
        (json!({"type": "flow_ended", "at": 1_015}), 1_018.5),
    ];
    let run = recorded(&events).unwrap();
    assert_eq!((run.millis, run.tools, run.stages), (18.5, 9.0, 2));
    assert!(recorded(&events[..3]).is_err(), "a run that did not end is no measurement");
}
