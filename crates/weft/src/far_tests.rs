use super::*;

#[test]
fn texts_are_divided_by_number_and_size_and_none_is_lost() {
    let check = |lengths: &[usize], wanted: &[usize]| {
        let texts: Vec<String> = lengths.iter().map(|length| "x".repeat(*length)).collect();
        let found: Vec<usize> = portions(&texts).map(<[String]>::len).collect();
        assert_eq!(found, wanted, "{lengths:?}");
    };
    check(&[], &[]);
    check(&[10; 3], &[3]);
    check(&[10; 300], &[128, 128, 44]);
    check(&[LONGEST_TEXT; 25], &[10, 10, 5]);
    check(&[MOST_LETTERS + 1, 1], &[1, 1]);
}

#[test]
fn no_secret_and_no_endless_text_leaves() {
    let key = format!("sk-ant-api03-{}", "aB3dE5fG7h".repeat(9));
    let sent = harmless(&format!("the key is {key} today"));
    assert!(!sent.contains(&key) && sent.contains("the key is"), "{sent}");
    let sent = harmless(&"ä".repeat(LONGEST_TEXT));
    assert!(sent.len() <= LONGEST_TEXT && sent.chars().all(|letter| letter == 'ä'));
    assert_eq!(harmless("  "), "-");
}

#[test]
fn who_did_not_answer_is_not_waited_for_again_at_once() {
    let folder = tempfile::tempdir().unwrap();
    // Nobody listens on a port that was just let go.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let settings = format!(
        "[knowledge]\nembeddings = \"own/vectors\"\ndimension = 4\n\
         [providers.own]\nprotocol = \"chat\"\nbase_url = \"http://127.0.0.1:{port}/v1\"\n"
    );
    let home = Home::at(folder.path());
    std::fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    std::fs::write(home.config_file(), settings).unwrap();
    let config = weft_engine::config::Loaded::read(&home, std::path::Path::new("/nowhere"), |_| None).unwrap().config;
    let far = chosen(&home, &config).unwrap().unwrap();
    let first = far.embed_query("where?").unwrap_err().to_string();
    assert!(!first.contains("a moment ago"), "{first}");
    let second = far.embed_query("where?").unwrap_err().to_string();
    assert!(second.contains("own/vectors did not answer a moment ago"), "{second}");
}
