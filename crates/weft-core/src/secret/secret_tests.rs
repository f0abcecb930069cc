#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::too_many_lines)]
use proptest::prelude::*;

use super::*;

/// Letters that look drawn by chance, the same each time.
fn letters(alphabet: &[u8], length: usize) -> String {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64 ^ (length as u64 * 7_919);
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(alphabet[(state >> 33) as usize % alphabet.len()])
    };
    (0..length).map(|_| draw()).collect()
}

/// `{36}` becomes 36 letters and digits, `{h40}` hexadecimal ones, `{u16}` capitals and digits: keys
/// are made up here, so that no scanner finds one in this file.
fn fill(pattern: &str) -> String {
    let mut text = String::new();
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        rest = after;
        let (hole, behind) = after.split_once('}').unwrap_or((after, ""));
        let (alphabet, number): (&[u8], &str) = match hole.as_bytes().first() {
            Some(b'h') => (b"0123456789abcdef", &hole[1..]),
            Some(b'u') => (b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", &hole[1..]),
            _ => (b"abcdefghijkmnpqrstuvwyzABCDEFGHJKLMNPQRSTUVWYZ23456789", hole),
        };
        match number.parse() {
            Ok(length) => {
                text.push_str(&letters(alphabet, length));
                rest = behind;
            }
            Err(_) => text.push('{'),
        }
    }
    text + rest
}

/// A text, what is found in it, and what it looks like with the secret hidden.
const POSITIVES: &[(&str, &str, &str)] = &[
    ("sk-ant-api03-{90}", "anthropic_key", "[REDACTED]"),
    ("use sk-ant-{40}, please", "anthropic_key", "use [REDACTED], please"),
    ("sk-proj-{64}", "openai_key", "[REDACTED]"),
    ("sk-svcacct-{64}", "openai_key", "[REDACTED]"),
    ("sk-admin-{64}", "openai_key", "[REDACTED]"),
    ("sk-{48}", "openai_key", "[REDACTED]"),
    ("sk-{32}", "openai_key", "[REDACTED]"),
    ("sk-or-v1-{h64}", "model_key", "[REDACTED]"),
    ("ghp_{36}", "github_pat", "[REDACTED]"),
    ("gho_{36}", "github_pat", "[REDACTED]"),
    ("ghu_{36}", "github_pat", "[REDACTED]"),
    ("ghs_{36}", "github_pat", "[REDACTED]"),
    ("ghr_{36}", "github_pat", "[REDACTED]"),
    ("github_pat_{22}_{59}", "github_pat", "[REDACTED]"),
    ("https://ghp_{36}@github.com/a/b", "github_pat", "https://[REDACTED]@github.com/a/b"),
    (r#"{"line": "one\nghp_{36}\ntwo"}"#, "github_pat", r#"{"line": "one\n[REDACTED]\ntwo"}"#),
    ("glpat-{20}", "gitlab_token", "[REDACTED]"),
    ("xoxb-123456789012-1234567890123-{24}", "slack_token", "[REDACTED]"),
    ("xoxp-123456789012-{24}", "slack_token", "[REDACTED]"),
    ("xapp-1-A0{u10}-12345-{h20}", "slack_token", "[REDACTED]"),
    ("https://hooks.slack.com/services/T{u8}/B{u8}/{24}", "webhook", "https://[REDACTED]"),
    ("sk_live_{24}", "stripe_key", "[REDACTED]"),
    ("rk_live_{24}", "stripe_key", "[REDACTED]"),
    ("AKIA{u16}", "aws_credentials", "[REDACTED]"),
    ("id: ASIA{u16}.", "aws_credentials", "id: [REDACTED]."),
    ("aws_secret_access_key = {40}", "aws_credentials", "aws_secret_access_key = [REDACTED]"),
    ("AWS_SECRET_ACCESS_KEY={40}", "aws_credentials", "AWS_SECRET_ACCESS_KEY=[REDACTED]"),
    ("aws_session_token={200}", "token_generic", "aws_session_token=[REDACTED]"),
    ("AIza{35}", "google_key", "[REDACTED]"),
    ("GOCSPX-{28}", "google_key", "[REDACTED]"),
    ("ya29.{60}", "google_key", "[REDACTED]"),
    ("//registry/:_authToken=npm_{36}", "registry_token", "//registry/:_authToken=[REDACTED]"),
    ("pypi-AgEIcHlwaS5vcmc{80}", "registry_token", "[REDACTED]"),
    ("hf_{34}", "model_key", "[REDACTED]"),
    ("gsk_{52}", "model_key", "[REDACTED]"),
    ("dop_v1_{h64}", "cloud_token", "[REDACTED]"),
    ("SG.{22}.{43}", "service_token", "[REDACTED]"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.{43}", "jwt", "[REDACTED]"),
    ("Authorization: Bearer {40}", "bearer_token", "Authorization: Bearer [REDACTED]"),
    ("curl -H 'authorization: bearer {30}' x", "bearer_token", "curl -H 'authorization: bearer [REDACTED]' x"),
    ("Authorization: Basic dXNlcjpodW50ZXIy", "bearer_token", "Authorization: Basic [REDACTED]"),
    ("postgres://app:s3cr3tpw@db:5432/x", "connection_string", "postgres://app:[REDACTED]@db:5432/x"),
    ("postgresql+psycopg2://app:h8Kw!x@db/x", "connection_string", "postgresql+psycopg2://app:[REDACTED]@db/x"),
    ("mongodb+srv://u:Pa55w0rd9@c.mongodb.net", "connection_string", "mongodb+srv://u:[REDACTED]@c.mongodb.net"),
    ("mysql://root:tiger77@localhost", "connection_string", "mysql://root:[REDACTED]@localhost"),
    ("redis://:f00b4rbaz@cache:6379/0", "connection_string", "redis://:[REDACTED]@cache:6379/0"),
    ("amqp://svc:q9Wz7@mq/", "connection_string", "amqp://svc:[REDACTED]@mq/"),
    ("https://deploy:9fK2mQ7x@git.internal/r.git", "connection_string", "https://deploy:[REDACTED]@git.internal/r.git"),
    ("password = \"hunter2hunter2\"", "password_generic", "password = \"[REDACTED]\""),
    ("PASSWORD=Tr0ub4dor&3,x", "password_generic", "PASSWORD=[REDACTED]"),
    ("export DB_PASSWORD='c0rrect-h0rse!'", "password_generic", "export DB_PASSWORD='[REDACTED]'"),
    ("db_passwd: Zx81!spectrum", "password_generic", "db_passwd: [REDACTED]"),
    ("{\"pwd\": \"qL9#mm2k\"}", "password_generic", "{\"pwd\": \"[REDACTED]\"}"),
    (r#"{\"password\": \"qL9#mm2k7\"}"#, "password_generic", r#"{\"password\": \"[REDACTED]\"}"#),
    ("client_secret: {32}", "password_generic", "client_secret: [REDACTED]"),
    ("SECRET_KEY = 'django-insecure-{50}'", "password_generic", "SECRET_KEY = '[REDACTED]'"),
    ("<password>g7#Kq9vv</password>", "password_generic", "<password>[REDACTED]</password>"),
    ("mysqldump --password g7Kq9vvX2 db", "password_generic", "mysqldump --password [REDACTED] db"),
    ("ALTER USER a WITH PASSWORD 'g7Kq9vvX2';", "password_generic", "ALTER USER a WITH PASSWORD '[REDACTED]';"),
    ("Server=x;User Id=y;Password=g7Kq9vvX2;", "password_generic", "Server=x;User Id=y;Password=[REDACTED];"),
    ("api_key = {32}", "api_key_generic", "api_key = [REDACTED]"),
    ("apiKey: \"{32}\",", "api_key_generic", "apiKey: \"[REDACTED]\","),
    ("X-Api-Key: {40}", "api_key_generic", "X-Api-Key: [REDACTED]"),
    ("GET /v1?api_key={32}&q=1", "api_key_generic", "GET /v1?api_key=[REDACTED]&q=1"),
    ("const API_KEY: &str = \"{32}\";", "api_key_generic", "const API_KEY: &str = \"[REDACTED]\";"),
    ("config['api-key'] = '{h32}'", "api_key_generic", "config['api-key'] = '[REDACTED]'"),
    ("ACCESS_TOKEN={40}", "token_generic", "ACCESS_TOKEN=[REDACTED]"),
    ("token := \"{h40}\"", "token_generic", "token := \"[REDACTED]\""),
    ("\"refresh_token\" => \"{30}\"", "token_generic", "\"refresh_token\" => \"[REDACTED]\""),
    ("api_key = sk-ant-api03-{90}", "anthropic_key", "api_key = [REDACTED]"),
    ("AccountKey={60}==", "high_entropy_assignment", "AccountKey=[REDACTED]"),
    ("encryption_key: {64}", "high_entropy_assignment", "encryption_key: [REDACTED]"),
    (
        "-----BEGIN RSA PRIVATE KEY-----\nMII{60}\n{64}\n-----END RSA PRIVATE KEY-----",
        "private_key",
        "-----BEGIN RSA PRIVATE KEY-----\n[REDACTED]\n-----END RSA PRIVATE KEY-----",
    ),
    (
        "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl{60}\n{12}\n-----END OPENSSH PRIVATE KEY-----\n",
        "private_key",
        "-----BEGIN OPENSSH PRIVATE KEY-----\n[REDACTED]\n-----END OPENSSH PRIVATE KEY-----\n",
    ),
    (
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n{64}\n=ab12\n-----END PGP PRIVATE KEY BLOCK-----",
        "private_key",
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\n[REDACTED]\n-----END PGP PRIVATE KEY BLOCK-----",
    ),
    (
        r#""private_key": "-----BEGIN PRIVATE KEY-----\n{64}\n{64}\n-----END PRIVATE KEY-----\n""#,
        "private_key",
        r#""private_key": "-----BEGIN PRIVATE KEY-----[REDACTED]-----END PRIVATE KEY-----\n""#,
    ),
    (
        "-----BEGIN EC PRIVATE KEY-----\n{64}\n{64}\nand then prose goes on.",
        "private_key",
        "-----BEGIN EC PRIVATE KEY-----\n[REDACTED]\nand then prose goes on.",
    ),
    ("AGE-SECRET-KEY-1{u58}", "private_key", "[REDACTED]"),
    ("curl -u admin:g7Kq9vvX2 https://h/", "command_password", "curl -u admin:[REDACTED] https://h/"),
    ("curl -sS -u 'admin:correct-horse' h", "command_password", "curl -sS -u 'admin:[REDACTED]' h"),
    ("curl --user=ci:{24} h", "command_password", "curl --user=ci:[REDACTED] h"),
    ("$ curl -X POST \\\n  --user ci:{24} h", "command_password", "$ curl -X POST \\\n  --user ci:[REDACTED] h"),
    ("mysql -h db -u root -pg7Kq9vvX2 shop", "command_password", "mysql -h db -u root -p[REDACTED] shop"),
    ("/usr/bin/mysqldump -pHorseBattery shop", "command_password", "/usr/bin/mysqldump -p[REDACTED] shop"),
    ("sshpass -p g7Kq9vvX2 ssh me@host", "command_password", "sshpass -p [REDACTED] ssh me@host"),
    (
        "https://a.blob.core.windows.net/c?sv=2022-11-02&se=2026-01-01&sig={40}%2F{4}%3D",
        "signed_address",
        "https://a.blob.core.windows.net/c?sv=2022-11-02&se=2026-01-01&sig=[REDACTED]",
    ),
    ("Cookie: theme=dark; session={32}; lang=en", "cookie", "Cookie: theme=dark; session=[REDACTED]; lang=en"),
    ("Set-Cookie: sid=s%3A{30}; Path=/; HttpOnly", "cookie", "Set-Cookie: sid=[REDACTED]; Path=/; HttpOnly"),
    ("\"cookie\": \"connect.sid={30}\"", "cookie", "\"cookie\": \"connect.sid=[REDACTED]\""),
    ("\"password\": \"correct-horse-battery\"", "password_generic", "\"password\": \"[REDACTED]\""),
    ("db_password = 'correct-horse-battery-staple'", "password_generic", "db_password = '[REDACTED]'"),
    (
        "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENGbPxRfiCYzzz9KeYabcd1",
        "aws_credentials",
        "AWS_SECRET_ACCESS_KEY=[REDACTED]",
    ),
    ("token = 'abcDEF1234567890abcDEF1234567890'", "token_generic", "token = '[REDACTED]'"),
    ("Authorization: Bearer abcdef1234567890abcdef", "bearer_token", "Authorization: Bearer [REDACTED]"),
    ("Authorization: Bearer 123e4567-e89b-12d3-a456-426614174000", "bearer_token", "Authorization: Bearer [REDACTED]"),
];

#[test]
fn secrets_are_found_and_their_names_stay() {
    assert!(POSITIVES.len() >= 60);
    let mut wrong = Vec::new();
    for (pattern, kind, hidden) in POSITIVES {
        let text = fill(pattern);
        let found: Vec<&str> = scan(text.as_bytes()).iter().map(|finding| finding.kind.name).collect();
        let mut redacted = text.clone();
        redact(&mut redacted);
        if found != [*kind] || redacted != *hidden {
            wrong.push(format!("{text}\n  found {found:?}, not {kind}\n  {redacted}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

const NEGATIVES: &[&str] = &[
    "commit {h40}",
    "sha256:{h64}",
    "checksum = \"{h64}\"",
    "\"integrity\": \"sha512-{86}==\"",
    "resolved \"https://host/pkg/-/pkg-1.0.0.tgz#{h40}\"",
    "id: 123e4567-e89b-12d3-a456-426614174000",
    "token: 123e4567-e89b-12d3-a456-426614174000",
    "secret: 123e4567-e89b-12d3-a456-426614174000",
    "data:image/png;base64,iVBORw0KGgo{500}/AKIA{300}==",
    "{2000}",
    "password = get_password()",
    "password = os.environ[\"DB_PASSWORD\"]",
    "password: String,",
    "password: &'a str,",
    "pub password: Option<String>,",
    "let token = self.next_token();",
    "token := lexer.Next()",
    "password = user.password",
    "const password = newPassword2;",
    "\"password\": \"The password of the user\"",
    "password: \"required|min:8|max:100\"",
    "label.password = \"Passwort\"",
    "<input type=\"password\" name=\"password\">",
    "secretName: my-app-tls-certificate",
    "secretKeyRef: {name: database-credentials}",
    "max_tokens: 100000000",
    "\"total_tokens\": 123456789012345678901234",
    "next_page_token: {40}",
    "password_hash = \"$2b$12${53}\"",
    "PASSWORD_RESET_URL = \"https://site/reset/8f7d6c5b\"",
    "publicKey: \"{64}\"",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{43} me@host",
    "-----BEGIN CERTIFICATE-----\n{64}\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\n{64}\n-----END PUBLIC KEY-----",
    "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    "grep for -----BEGIN RSA PRIVATE KEY----- in the tree",
    "api_key = \"your_api_key_here_0123456789\"",
    "api_key = \"YOUR-API-KEY-1234567890\"",
    "api_key: <your key 1234567890>",
    "API_KEY=${API_KEY_FROM_ENV_2}",
    "API_KEY=$OPENAI_API_KEY_2024",
    "password: {{ vault_db_password_2 }}",
    "password=changeme123",
    "password=********",
    "password: \"xxxxxxxx1\"",
    "password = \"12345678\"",
    "password = \"password123\"",
    "password: \"test1234\"",
    "ANTHROPIC_API_KEY=sk-ant-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "ANTHROPIC_API_KEY=sk-ant-api03-...",
    "export GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "AKIAIOSFODNN7EXAMPLE",
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "postgres://user:password@localhost/db",
    "postgres://postgres:postgres@localhost:5432/app",
    "postgres://localhost/db",
    "ftp://rms:secret123@example.com/",
    "//! -----BEGIN PRIVATE KEY-----\n//! ```\n//! {70}\n-----BEGIN X-----\n-----END X-----",
    "mongodb://${USER}:${PASS}@host",
    "https://example.com:8080/a@b",
    "see https://docs.host/token: and password: below",
    "Bearer token authentication is required for all endpoints",
    "Authorization: Bearer <token>",
    "Authorization: Bearer ${ACCESS_TOKEN_2}",
    "basic authentication with a username",
    "task-{40}",
    "risk-assessment-of-sk-learn-models",
    "hf_hub_download(repo_id)",
    "npm_config_registry=https://host/",
    "npm_lifecycle_event=postinstall",
    "monkey = \"{50}\"",
    "keyboard: {50}",
    "cache_key: {50}",
    "primaryKey: \"{45}\"",
    "key: \"translation.home.header.title.long.key.name.here1\"",
    "token: \"invalid_request_error_for_this_user\"",
    "if password == \"hunter2hunter2\" {",
    "e.password=t.password,e.token=n.accessToken,r.secret=!0",
    "function(e,t){return e.key===t.key&&e.secretKey!==t.secretKey}",
    "tokenizer.json: 2fa1b3c4",
    "csrf_token_name = csrf_token_2",
    "eyJhbGciOiJIUzI1NiJ9",
    "the secret: 42 is the answer to everything",
    "const WRONG_PASSWORD: HRESULT = -2147221216i32;",
    "const LSA_SECRET: u32 = 0x8009030E;",
    "ApplicationTrafficSecret => \"CLIENT_TRAFFIC_SECRET_0\",",
    "api_key = [REDACTED]",
    "password: [REDACTED]",
    "password = \"Enter your password\"",
    "password: string",
    "\"password\": \"adgangskode\"",
    "password: \"forgot-password-link\"",
    "passwordClass = \"form-control-lg\"",
    "secret = \"one-two-three\"",
    "curl -u $USER:$PASSWORD https://h/",
    "curl -u user:password https://h/",
    "curl -u \"${WHO}:${PASS}\" h",
    "docker run -u 1000:1000 image",
    "git push -u origin:main-branch-name",
    "docker run --name mysql -p3306:3306 mysql:8",
    "mysql -u root -p shop_database",
    "mysql -P33060 -h host",
    "mkdir -p some/long/folder",
    "ssh -p 2222 me@host",
    "https://h/?config=abcdefghijklmnopqrstuvwxyz0123456789",
    "https://h/?sig=short",
    "Cookie: theme=dark; lang=en; consent=all-accepted",
    "cookie: session=<value>; id=your_session_id_here_1",
    "const cookie = parseCookie(request.headers.cookie);",
    "cookie: sessionStore.defaultCookieName2,",
    "Authorization: Bearer your-token-here-0123456789",
    "Authorization: Bearer example-token-0123456789",
    "Authorization: Bearer xxxxxxxxxxxxxxxxxxxxxxxx",
    "Authorization: Bearer {access_token_of_session_2}",
    "AWS_SECRET_ACCESS_KEY=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "AWS_SECRET_ACCESS_KEY=<your-secret-access-key-2>",
];

#[test]
fn ordinary_text_is_left_alone() {
    assert!(NEGATIVES.len() >= 60);
    let mut wrong = Vec::new();
    for pattern in NEGATIVES {
        let text = fill(pattern);
        let found = scan(text.as_bytes());
        if !found.is_empty() {
            wrong.push(format!("{text}\n  {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_finding_is_told_in_words_and_shown_hidden() {
    let text = fill("deploy with ghp_{36} and password = \"hunter2hunter2\" today");
    let findings = scan(text.as_bytes());
    assert_eq!(words(&findings), "a GitHub token and a password");
    let shown = excerpt(&text, &findings[0]);
    assert!(shown.contains("[***]") && !shown.contains("ghp_") && !shown.contains("hunter2"), "{shown}");
    let two = fill("ghp_{36} ghp_{37}");
    assert_eq!(words(&scan(two.as_bytes())), "2 times GitHub token");
}

fn streamed(text: &[u8], sizes: &[usize]) -> Vec<u8> {
    let mut stream = Stream::default();
    let mut seen = Vec::new();
    let (mut from, mut turn) = (0, 0);
    while from < text.len() {
        let size = sizes[turn % sizes.len()].max(1);
        let to = (from + size).min(text.len());
        seen.extend(stream.push(&text[from..to]));
        (from, turn) = (to, turn + 1);
    }
    seen.extend(stream.finish());
    seen
}

#[test]
fn a_secret_is_hidden_wherever_a_stream_is_cut() {
    for (pattern, _, hidden) in POSITIVES {
        let text = fill(pattern);
        let whole = format!("before it\n{text}\nand after");
        let expected = format!("before it\n{hidden}\nand after");
        for size in (1..=16).chain([31, 64, 100]) {
            let seen = String::from_utf8(streamed(whole.as_bytes(), &[size])).unwrap();
            assert_eq!(seen, expected, "in pieces of {size}: {text}");
        }
    }
}

#[test]
fn a_key_right_behind_another_is_hidden_too() {
    for pattern in ["sk-or-v1-{h64}sk-or-v1-{h64}", "dop_v1_{h64}github_pat_{22}_{59}", "AKIA{u16}ghp_{36}"] {
        let text = fill(pattern);
        let mut hidden = text.clone();
        assert_eq!(redact(&mut hidden), 2, "{text}");
        for size in [1, 5, 64, 1_000] {
            let seen = String::from_utf8(streamed(text.as_bytes(), &[size])).unwrap();
            assert_eq!(seen, hidden, "in pieces of {size}: {text}");
        }
    }
}

#[test]
fn ordinary_output_is_not_held_back_for_long() {
    let mut stream = Stream::default();
    assert_eq!(stream.push(b"compiling 12 files "), b"compiling 12 files ");
    assert_eq!(stream.push(b"done\nnext"), b"done\n");
    assert_eq!(stream.finish(), b"next");
    let long = vec![b'a'; 100_000];
    assert!(stream.push(&long).len() > 99_000);
}

/// Pieces of text in which secrets are likely, in any order.
fn texts() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        (0..POSITIVES.len()).prop_map(|index| fill(POSITIVES[index].0)),
        (0..NEGATIVES.len()).prop_map(|index| fill(NEGATIVES[index])),
        "[ -~\n]{0,30}",
        "\\PC{0,10}",
        prop_oneof![
            Just("password"),
            Just("="),
            Just(": "),
            Just("\""),
            Just("'"),
            Just("\\"),
            Just("://"),
            Just("@"),
            Just("-----BEGIN "),
            Just("PRIVATE KEY-----"),
            Just("-----END "),
            Just("\n"),
            Just("Bearer "),
            Just("--token ")
        ]
        .prop_map(str::to_owned),
    ];
    proptest::collection::vec(pieces, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn redaction_is_final(text in texts()) {
        let mut once = text.clone();
        let hidden = redact(&mut once);
        prop_assert_eq!(scan(once.as_bytes()), vec![], "{} -> {}", text, once);
        let mut twice = once.clone();
        prop_assert_eq!(redact(&mut twice), 0);
        prop_assert_eq!(&twice, &once);
        prop_assert_eq!(hidden == 0, once == text);
    }

    #[test]
    fn findings_are_in_order_and_within_the_text(bytes in proptest::collection::vec(any::<u8>(), 0..200), text in texts()) {
        for text in [bytes, text.into_bytes()] {
            let mut past = 0;
            for finding in scan(&text) {
                prop_assert!(finding.start >= past && finding.end > finding.start && finding.end <= text.len());
                past = finding.end;
            }
        }
    }

    #[test]
    fn no_known_key_survives_a_stream(text in texts(), sizes in proptest::collection::vec(1_usize..40, 1..6)) {
        let whole = scan(text.as_bytes());
        let seen = streamed(text.as_bytes(), &sizes);
        let mut hidden = text.clone();
        redact(&mut hidden);
        for finding in whole.iter().filter(|finding| finding.kind.certain) {
            let secret = &text.as_bytes()[finding.start..finding.end];
            // The same letters may also stand where they are no key.
            let times = |text: &[u8]| text.windows(secret.len()).filter(|window| *window == secret).count();
            let leaks = times(&seen) > times(hidden.as_bytes());
            prop_assert!(!leaks, "{:?} leaks {:?}", String::from_utf8_lossy(&seen), finding);
        }
    }

    #[test]
    fn any_bytes_may_be_streamed(bytes in proptest::collection::vec(any::<u8>(), 0..300), size in 1_usize..50) {
        prop_assert!(streamed(&bytes, &[size]).len() <= bytes.len() + MASK.len() * 10);
    }
}
