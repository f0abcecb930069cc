use super::*;
use crate::reply::{call, text};

#[test]
fn a_plain_answer_is_one_write() {
    for protocol in Protocol::ALL {
        let steps = plan(protocol, Form::Stream, &text("hello").then(call("x", serde_json::json!({}))), 1);
        assert!(matches!(steps.as_slice(), [Step::Write(_)]), "{steps:?}");
    }
}

#[test]
fn the_number_is_written_everywhere_and_takes_no_more_room() {
    for protocol in Protocol::ALL {
        let reply = text("hello").then(call("x", serde_json::json!({})));
        let open = template(protocol, Form::Stream, &reply);
        let steps = plan(protocol, Form::Stream, &reply, 0xab);
        let [Step::Write(closed)] = steps.as_slice() else { panic!("{steps:?}") };
        assert_eq!(open.len(), closed.len());
        assert!(String::from_utf8_lossy(&open).contains("~number~"));
        assert!(!String::from_utf8_lossy(closed).contains("~number~"));
        assert!(String::from_utf8_lossy(closed).contains("000000ab"));
    }
}

#[test]
fn split_bytes_gives_each_byte_a_write() {
    let steps = plan(Protocol::Chat, Form::Stream, &text("hello").fault(Fault::SplitBytes), 1);
    let writes = steps.len();
    let body: usize = crate::wire::encode(Protocol::Chat, &text("hello"))
        .opening
        .iter()
        .chain(crate::wire::encode(Protocol::Chat, &text("hello")).pieces.iter().flatten())
        .chain(&crate::wire::encode(Protocol::Chat, &text("hello")).closing)
        .map(Vec::len)
        .sum();
    // The head is one more; the last byte travels with the end of the response.
    assert_eq!(writes, body + 1);
}

#[test]
fn faults_combine_and_the_first_end_wins() {
    let reply = text("a").then(text("b")).fault(Fault::Delay { ms: 5 }).fault(Fault::Silent { after: 1 });
    let steps = plan(Protocol::Anthropic, Form::Stream, &reply.fault(Fault::ResetAfter { pieces: 2 }), 1);
    assert_eq!(steps.first(), Some(&Step::Wait(Duration::from_millis(5))));
    assert_eq!(steps.last(), Some(&Step::Silence));
}
