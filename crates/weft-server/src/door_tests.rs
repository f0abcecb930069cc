use super::*;

#[test]
fn the_token_is_taken_out_of_the_address_and_nothing_leads_elsewhere() {
    for (given, expected) in [
        ("/?token=abc", "/"),
        ("/sessions/3k9q?token=abc&tab=trace", "/sessions/3k9q?tab=trace"),
        ("/a?x=1&token=abc&y=2", "/a?x=1&y=2"),
        ("//evil.example/?token=abc", "/evil.example/"),
        ("/", "/"),
    ] {
        let uri: Uri = given.parse().unwrap();
        assert_eq!(without_token(&uri), expected, "{given}");
    }
}

#[test]
fn what_is_the_api_is_told_by_the_path() {
    for (path, api) in
        [("/api/v1/sessions", true), ("/v1/models", true), ("/mcp", true), ("/", false), ("/docs", false)]
    {
        assert_eq!(is_api(path), api, "{path}");
    }
}
