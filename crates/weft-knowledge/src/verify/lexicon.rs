//! The few words of English that verification knows: which say nothing by themselves, which mean the
//! same, and which mean the opposite.

/// Words that every sentence has and that bear no subject matter of their own.
const COMMON: &str = " a an the this that these those such same other another any all both each every some \
    of in on at to from by for with without within into onto upon about between among through during against \
    under over above below before after until since as per via than \
    and or but nor so yet if when where whenever unless except provided although though while whereas because \
    is are was were be been being am has have had having do does did done \
    shall must may should can could might will would ought need needs cannot \
    not no none never neither nobody nothing \
    it its they them their he she his her him who whom whose which what how why we us our you your i my me one \
    there here also too only just even still already again very more most less least fewer many much few \
    not's say says said state states stated according accordance provides however therefore thus hence otherwise \
    whether either including include includes included up out off down own particular respective following \
    required requires require permitted allowed obliged entitled prohibited forbidden recommended recommends \
    paragraph paragraphs section sections clause clauses article articles para paras see e.g i.e etc ";

/// Whether a word, in small letters, is one of those.
pub(super) fn is_common(word: &str) -> bool {
    word.len() < 24 && COMMON.contains(&format!(" {word} "))
}

/// Stems that are used for one another. The first stands for all of its line.
const SAME: &[&[&str]] = &[
    &["obtain", "get", "gather", "acquir", "gain", "collect", "receiv"],
    &["inform", "notifi", "tell", "advis", "alert"],
    &["pay", "paid", "payment", "remit", "settl"],
    &["buyer", "purchas", "custom"],
    &["seller", "vendor", "supplier"],
    &["begin", "start", "commenc", "began", "begun"],
    &["end", "termin", "ceas", "finish"],
    &["keep", "retain", "kept", "preserv", "retent", "store", "hold", "held"],
    &["give", "deliv", "deliveri", "deliver", "suppli", "hand", "given", "submit", "file", "send", "sent"],
    &["write", "written", "wrote"],
    &["perform", "conduct", "undertak", "execut", "carri"],
    &["evalu", "assess", "apprais"],
    &["determin", "decid", "establish"],
    &["check", "verifi", "examin", "inspect", "review"],
    &["reveal", "disclos", "disclosur", "divulg"],
    &["document", "record"],
    &["big", "larg"],
    &["suffici", "enough", "adequ"],
    &["appropri", "suitabl", "proper"],
    &["staff", "employe", "personnel", "worker"],
    &["compani", "entiti", "firm", "enterpris"],
    &["happen", "occur"],
    &["fix", "repair", "remedi", "correct"],
    &["cancel", "revok", "withdraw", "rescind"],
    &["approv", "authoris", "author", "authoriz", "consent"],
    &["use", "utilis", "utiliz", "employ"],
    &["help", "assist", "support"],
    &["chang", "modifi", "amend", "alter"],
    &["job", "task"],
    &["fault", "defect"],
];

/// The stem that stands for this one and its like.
pub(super) fn canonical(stem: &str) -> &str {
    SAME.iter().find(|line| line.contains(&stem)).and_then(|line| line.first()).copied().unwrap_or(stem)
}

/// Words of opposite meaning, in small letters: a claim that has one where its source has the other
/// turns it round.
#[rustfmt::skip]
pub(super) const OPPOSITES: &[(&[&str], &[&str])] = &[
    (&["increase", "increases", "increased", "rises", "rise", "rose", "grows", "grew"],
     &["decrease", "decreases", "decreased", "reduce", "reduces", "reduced", "declines", "declined", "decline", "falls", "fell"]),
    (&["higher", "greater", "larger", "bigger"], &["lower", "smaller", "lesser"]),
    (&["more"], &["less", "fewer"]),
    (&["before", "prior", "earlier"], &["after", "afterwards", "later", "subsequently"]),
    (&["includes", "include", "included", "including"], &["excludes", "exclude", "excluded", "excluding"]),
    (&["maximum"], &["minimum"]),
    (&["accept", "accepts", "accepted"], &["reject", "rejects", "rejected", "refuse", "refuses", "refused"]),
    (&["effective"], &["ineffective"]),
    (&["valid"], &["invalid", "void"]),
    (&["internal", "internally"], &["external", "externally"]),
    (&["public"], &["private", "confidential"]),
    (&["written", "writing"], &["oral", "orally", "verbal", "verbally"]),
    (&["direct", "directly"], &["indirect", "indirectly"]),
    (&["open", "opened", "opens"], &["closed", "closes", "close"]),
    (&["start", "starts", "begin", "begins"], &["end", "ends", "stop", "stops"]),
    (&["gain", "gains", "profit", "profits"], &["loss", "losses"]),
    (&["asset", "assets"], &["liability", "liabilities"]),
    (&["always"], &["sometimes", "rarely", "seldom"]),
    (&["all", "every", "each"], &["some"]),
];
