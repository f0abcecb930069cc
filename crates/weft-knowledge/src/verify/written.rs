//! The claims of a written answer: its sentences, and the ids in square brackets that they end with.

use super::Claim;
use super::read::sentences;

/// The sentences of a text that cite something, as `… [4.1]` or `… [4.1, contract.md#4.2]`. A
/// citation after the full stop belongs to the sentence before it.
pub fn claims_in(text: &str) -> Vec<Claim> {
    let mut claims: Vec<Claim> = Vec::new();
    for sentence in sentences(text) {
        let (mut words, mut cites) = (String::new(), Vec::new());
        let mut rest = sentence;
        while let Some((before, after)) = rest.split_once('[') {
            words.push_str(before);
            let Some((inside, after)) = after.split_once(']') else {
                rest = after;
                continue;
            };
            let ids: Vec<&str> = inside.split([',', ';']).map(str::trim).filter(|id| !id.is_empty()).collect();
            if !ids.is_empty() && ids.iter().all(|id| is_id(id)) {
                cites.extend(ids.into_iter().map(str::to_owned));
            } else {
                words.push_str(inside);
            }
            rest = after;
        }
        words.push_str(rest);
        let words = words.trim_matches(|c: char| c.is_whitespace() || "-*#>".contains(c)).to_owned();
        match claims.last_mut() {
            Some(last) if words.chars().all(|c| !c.is_alphanumeric()) => last.cites.extend(cites),
            _ => claims.push(Claim { text: words, cites }),
        }
    }
    claims.retain(|claim| !claim.cites.is_empty());
    claims
}

/// A number or an address, not a remark.
fn is_id(id: &str) -> bool {
    !id.contains(char::is_whitespace) && id.contains(|c: char| c.is_ascii_digit() || c == '#' || c == '~')
}
