use super::*;

#[test]
fn a_state_in_a_few_lines() {
    let listed = "# branch.oid abc\0# branch.head main\0# branch.upstream origin/main\0# branch.ab +1 -2\0\
        1 M. N... 100644 100644 100644 aaa bbb a b.txt\x001 .M N... 100644 100644 100644 aaa bbb c\nstaged:\n  M fake\0\
        2 R. N... 100644 100644 100644 aaa bbb R100 new\0old\0\
        u UU N... 100644 100644 100644 100644 a b c both.txt\0? new file\0";
    assert_eq!(
        compact(listed, ""),
        "On branch main, following origin/main (+1 -2)\nstaged:\n  M a b.txt\n  R old -> new\n\
         not staged:\n  M \"c\\nstaged:\\n  M fake\"\nin conflict:\n  both.txt\nuntracked:\n  new file"
    );
    assert_eq!(compact("# branch.head (detached)\0", ""), "On no branch\nnothing to commit, all is clean");
    assert!(compact("# branch.head x\0? sub/a\0? sub/\0", "sub/").ends_with("untracked:\n  a\n  ./"));
    for rubbish in ["", "\0\0", "1", "2 R", "u", "# x\0#"] {
        compact(rubbish, "sub/");
    }
}
