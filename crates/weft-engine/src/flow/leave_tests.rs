use super::*;

#[test]
fn leaving_is_asked_about_only_where_it_is_meant() {
    for said in
        ["never mind", "I have a different question", "Forget it.", "please stop research", "let us change topic"]
    {
        assert!(sounds_like_leaving(said), "{said}");
    }
    for said in ["Stage 1 looks good", "b", "yes", "proceed", "use only part 3", "I want to ask about 3.2"] {
        assert!(!sounds_like_leaving(said), "{said}");
    }
    for (said, exit) in
        [("3", true), ("3.", true), (" exit ", true), ("Stage 3", false), ("13", false), ("3 years", false)]
    {
        assert_eq!(chooses_exit(said), exit, "{said}");
    }
}

#[test]
fn the_answer_decides_and_doubt_stays() {
    let cases = [
        ("1", Decision::Go),
        ("1.", Decision::Go),
        ("2", Decision::Stay),
        ("yes", Decision::Go),
        ("cancel", Decision::Go),
        ("yes, continue", Decision::Stay),
        ("no", Decision::Stay),
        ("keep going please", Decision::Stay),
        ("no, please go on with the research as planned", Decision::Stay),
        ("don't leave", Decision::Stay),
        ("Please do not stop it, I would like to see the answer", Decision::Stay),
        ("Don\u{2019}t cancel", Decision::Stay),
        ("continue with what we had, but look at part 3 first", Decision::Stay),
        ("Stage 1 looks good", Decision::SpeaksOfElse),
        ("What is the weather like in Oslo today, and will it stay so?", Decision::SpeaksOfElse),
    ];
    for (said, decision) in cases {
        assert_eq!(decide(said), decision, "{said}");
    }
}

#[test]
fn a_remark_is_told_from_words_that_only_leave() {
    for said in ["never mind", "Forget it.", "", "please stop research", "I changed my mind"] {
        assert!(!is_more_than_leaving(said), "{said}");
    }
    for said in ["never mind part 3, look at part 4 only", "forget it, use the guide first please"] {
        assert!(is_more_than_leaving(said), "{said}");
    }
    assert!(wants_changes("Change the plan") && !wants_changes("Change the plan to part 3"));
}
