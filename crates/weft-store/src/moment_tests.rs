use super::*;

const NOW: Timestamp = Timestamp(1_760_000_000_000);

#[test]
fn ages_days_and_times_are_read_and_nothing_else() {
    let read = |text: &str| moment(text, NOW).map(|at| at.0);
    assert_eq!(read("3d"), Ok(NOW.0 - 3 * 86_400_000));
    assert_eq!(read(" 12h "), Ok(NOW.0 - 12 * 3_600_000));
    assert_eq!(read("2w"), Ok(NOW.0 - 14 * 86_400_000));
    assert_eq!(read("0d"), Ok(NOW.0));
    assert_eq!(read("2026-01-31T18:00:00Z"), Ok(1_769_882_400_000));
    assert_eq!(read("2026-01-31T18:00:00+01:00"), Ok(1_769_878_800_000));
    let day = read("2026-01-31").unwrap();
    // Wherever "here" is, the day begins within a day of its beginning in Greenwich.
    assert!((day - 1_769_817_600_000).abs() <= 86_400_000 && day % 60_000 == 0, "{day}");
    for wrong in [
        "",
        "d",
        "-3d",
        "3",
        "3y",
        "yesterday",
        "2026-13-01",
        "2026-01-31T25:00:00Z",
        "2026-01-31T18:00",
        "99999999999d",
        "3é",
    ] {
        let said = moment(wrong, NOW).unwrap_err().to_string();
        assert!(said.starts_with(&format!("`{wrong}` is no time")) && said.contains("7d"), "{said}");
    }
}

#[test]
fn a_day_is_read_as_it_is_written() {
    let now = Timestamp(1_769_900_000_000);
    let begun = moment(&day(now), now).unwrap();
    assert!(begun <= now && now.0 - begun.0 < 25 * 3_600_000, "{begun:?}");
}
