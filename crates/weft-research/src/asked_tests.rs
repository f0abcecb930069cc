use super::*;

#[test]
fn a_question_says_what_kind_of_answer_it_wants() {
    let check = |question: &str, expected: Option<Wanted>| assert_eq!(wanted(question), expected, "{question}");
    check("How long are employee files kept?", Some(Wanted::Time));
    check("After how many working days does it expire?", Some(Wanted::Time));
    check("By when shall each department head complete it?", Some(Wanted::Time));
    check("How much must a supplier pay when it is late?", Some(Wanted::Money));
    check("How much time do we get, and how many quotes do I need?", Some(Wanted::Time));
    check("Up to what amount is parking paid?", Some(Wanted::Money));
    check("How many quotes are needed?", Some(Wanted::Number));
    check("Who approves access to Restricted information?", None);
    check("When is a supplier placed in class 1?", None);
}

#[test]
fn a_text_has_such_an_answer_or_not() {
    let check = |wanted: Wanted, text: &str, expected: bool| assert_eq!(wanted.is_in(text), expected, "{text}");
    check(Wanted::Time, "It is kept for six years.", true);
    check(Wanted::Time, "within five working days of the decision", true);
    check(Wanted::Time, "The board meets once a quarter.", true);
    check(Wanted::Time, "It is told at once.", true);
    check(Wanted::Time, "The bell is rung three times whenever a ship enters.", true);
    check(Wanted::Time, "The day on which the file is closed is in the schedule, see 3.8.", false);
    check(Wanted::Time, "Its file is kept as 3.8 says.", false);
    check(Wanted::Money, "0.32 euros for each kilometre", true);
    check(Wanted::Money, "It reports an incident within 24 hours.", false);
    check(Wanted::Number, "Three quotes are needed.", true);
    check(Wanted::Number, "Quotes are needed.", false);
}

#[test]
fn periods_and_amounts_are_read_however_they_are_written() {
    let check = |wanted: Wanted, text: &str, expected: &[(&str, &str)]| {
        let found = wanted.quantities(text);
        let found: Vec<(&str, &str)> = found.iter().map(|(number, unit)| (number.as_str(), *unit)).collect();
        assert_eq!(found, expected, "{text}");
    };
    check(Wanted::Time, "within five working days, or 72 hours.", &[("5", "day"), ("72", "hour")]);
    check(Wanted::Money, "It costs 2,000 euros (or 4.50 euros).", &[("2000", "euro"), ("4.50", "euro")]);
    check(Wanted::Time, "the day on which it ends", &[]);
    check(Wanted::Number, "three quotes", &[]);
}
