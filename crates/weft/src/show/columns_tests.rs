use super::columns;
use crate::show::style::{Look, render_all};

fn look(width: usize) -> Look {
    Look { colour: true, unicode: true, width }
}

/// What is printed is what the chat shows as lines, whatever the rows hold.
#[track_caller]
fn check(width: usize, rows: &[[&str; 3]]) -> String {
    let head = ["name", " cost", "about"];
    let lines: Vec<_> = columns(&head, rows.iter().copied(), &look(width)).collect();
    let mut printed = String::new();
    let mut list = columns(&head, rows.iter().copied(), &look(width));
    while list.render_next(&mut printed) {}
    assert_eq!(printed, render_all(&lines, &look(width)));
    printed
}

#[test]
fn cells_stand_in_columns_as_wide_as_the_widest() {
    let printed =
        check(80, &[["a", "$0.12", "short"], ["long name", "$10.00", ""], ["漢字", "$1.00", "two wide letters"]]);
    let expected = [
        "\u{1b}[2mname         cost  about\u{1b}[0m",
        "a           $0.12  short",
        "long name  $10.00  ",
        "漢字        $1.00  two wide letters",
    ];
    assert_eq!(printed.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn a_row_that_does_not_fit_is_cut() {
    let printed = check(20, &[["a", "$0.12", "as wide as it may be"], ["b", "$0.00", "fits"]]);
    assert_eq!(printed.lines().nth(1), Some("a     $0.12  as wid\u{1b}[2m…\u{1b}[0m"));
    assert_eq!(printed.lines().nth(2), Some("b     $0.00  fits"));
}
