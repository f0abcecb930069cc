#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::*;

async fn said(bytes: &[u8]) -> Result<Option<Message>, WireError> {
    let mut from = bytes;
    read(&mut from).await
}

#[tokio::test]
async fn messages_are_told_apart() {
    let mut from: Vec<u8> = Vec::new();
    from.extend(request(7, "a", &json!(1)));
    from.extend(notification("b", &json!([2])));
    from.extend(answer(&json!(3), &json!("ü")));
    from.extend(refusal(&json!(4), "c"));
    from.extend(framed(&json!([1, 2])));
    let mut from = from.as_slice();
    let mut next = async || read(&mut from).await.unwrap();
    assert_eq!(next().await, Some(Message::Request { id: json!(7), method: "a".into(), params: json!(1) }));
    assert_eq!(next().await, Some(Message::Notification { method: "b".into(), params: json!([2]) }));
    assert_eq!(next().await, Some(Message::Response { id: 3, result: Ok(json!("ü")) }));
    let refused = Refusal { code: -32601, message: "c is not done here".into() };
    assert_eq!(next().await, Some(Message::Response { id: 4, result: Err(refused) }));
    assert_eq!(next().await, Some(Message::Other));
    assert_eq!(next().await, None);
}

#[tokio::test]
async fn rubbish_ends_in_an_error() {
    let long = [b'x'; 10_000];
    let many = "a: b\r\n".repeat(40);
    let cases: [(&[u8], &str); 10] = [
        (b"hello\r\n\r\n", "header"),
        (b"\r\n", "no length"),
        (b"Content-Length: -1\r\n\r\n", "header"),
        (b"Content-Length: 99999999999999999999999\r\n\r\n", "header"),
        (b"Content-Length: 99999999999\r\n\r\n", "too large"),
        (b"Content-Length: 10\r\n\r\n{}", "cut short"),
        (b"Content-Length: 2\r\n\r\n{{", "no JSON"),
        (b"Content-Length: 2", "header"),
        (&long, "header"),
        (many.as_bytes(), "header"),
    ];
    for (bytes, expected) in cases {
        let error = said(bytes).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}: {}", String::from_utf8_lossy(bytes));
    }
}

#[tokio::test]
async fn other_headers_and_deep_nesting() {
    let typed = b"content-type: x\r\nCONTENT-LENGTH: 2\r\n\r\n{}";
    assert_eq!(said(typed).await.unwrap(), Some(Message::Other));
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep = format!("Content-Length: {}\r\n\r\n{deep}", deep.len());
    assert!(matches!(said(deep.as_bytes()).await, Err(WireError::Json(_))));
}
