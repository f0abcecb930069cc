use super::*;

#[test]
fn values_are_read_in_their_parts() {
    let env = |name, otherwise| Piece::Env { name, otherwise };
    let cases: [(&str, Vec<Piece<'_>>); 12] = [
        ("plain", vec![Piece::Text("plain")]),
        ("env:KEY", vec![env("KEY", None)]),
        ("Bearer vault:github", vec![Piece::Text("Bearer "), Piece::Vault("github")]),
        ("Bearer env:KEY", vec![Piece::Text("Bearer "), env("KEY", None)]),
        ("Token ${WHO} env:KEY", vec![Piece::Text("Token "), env("WHO", Some("")), Piece::Text(" "), env("KEY", None)]),
        ("Bearer env:", vec![Piece::Text("Bearer env:")]),
        ("where env:a is b", vec![Piece::Text("where env:a is b")]),
        ("my-env:KEY", vec![Piece::Text("my-env:KEY")]),
        ("Bearer ${KEY}", vec![Piece::Text("Bearer "), env("KEY", Some("")), Piece::Text("")]),
        ("${env:A:-b}c", vec![Piece::Text(""), env("A", Some("b")), Piece::Text("c")]),
        ("${A", vec![Piece::Text("${A")]),
        ("my-vault:x", vec![Piece::Text("my-vault:x")]),
    ];
    let whole = |pieces: Vec<Piece<'_>>| -> Vec<String> {
        pieces.into_iter().filter(|piece| *piece != Piece::Text("")).map(|piece| format!("{piece:?}")).collect()
    };
    for (value, expected) in cases {
        assert_eq!(whole(pieces(value)), whole(expected), "{value}");
    }
}

#[test]
fn what_every_program_sees_is_not_taken() {
    let taken = |value| pieces(value).iter().filter_map(|piece| piece.takes().map(str::to_owned)).collect::<Vec<_>>();
    assert_eq!(taken("${HOME}/x ${ANTHROPIC_API_KEY} ${DATABASE_URL:-none}"), ["ANTHROPIC_API_KEY", "DATABASE_URL"]);
    assert_eq!(taken("Bearer vault:github"), ["github"]);
    assert_eq!(taken("Bearer env:GITHUB_TOKEN"), ["GITHUB_TOKEN"]);
}
