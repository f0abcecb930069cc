//! Texts that sources have ready for people to send. What comes back is the source's own text: it is
//! cleaned, bounded and scrubbed, and reaches a model only when the person has called for it.

use std::sync::Arc;

use rmcp::model::{ContentBlock, Role};
use serde_json::{Map, Value};
use weft_tool::PromptOffer;

use crate::naming;
use crate::sources::Source;
use crate::unwrap;

const LONGEST_DESCRIPTION: usize = 200;
const LONGEST_BLANK: usize = 30;

/// The prompts of a source, as far as known.
pub fn offers(source: &Arc<Source>) -> Vec<PromptOffer> {
    let prompts = source.listing().map(|listing| listing.prompts).unwrap_or_default();
    let offers = prompts.into_iter().map(|prompt| PromptOffer {
        source: source.config.name.clone(),
        description: naming::clean(prompt.description.as_deref().unwrap_or_default(), LONGEST_DESCRIPTION),
        arguments: blanks(&prompt).join(" "),
        name: prompt.name,
    });
    offers.collect()
}

fn blanks(prompt: &rmcp::model::Prompt) -> Vec<String> {
    let blanks = prompt.arguments.iter().flatten().map(|blank| {
        let name = naming::clean(&blank.name, LONGEST_BLANK).to_uppercase();
        if blank.required == Some(true) { name } else { format!("[{name}]") }
    });
    blanks.collect()
}

/// Asks the source for a prompt with its blanks filled in, in the order in which they are listed.
/// The last one takes all the words that are left; `name=value` fills a blank by its name.
pub async fn fill(source: &Arc<Source>, name: &str, words: &str) -> Result<String, String> {
    let listing = source.listing().unwrap_or_default();
    let prompt = listing.prompts.iter().find(|prompt| prompt.name == name);
    let prompt = prompt.ok_or_else(|| format!("the source `{}` has no such prompt", source.config.name))?;
    let names: Vec<&str> = prompt.arguments.iter().flatten().map(|blank| blank.name.as_str()).collect();
    let arguments = arguments(&names, words);
    let required = prompt.arguments.iter().flatten().filter(|blank| blank.required == Some(true));
    let missing: Vec<String> = required
        .filter(|blank| !arguments.contains_key(&blank.name))
        .map(|blank| naming::clean(&blank.name, LONGEST_BLANK))
        .collect();
    if !missing.is_empty() {
        return Err(format!("it needs {}. Write: /{}:{name} {}", missing.join(", "), source.config.name, {
            blanks(prompt).join(" ")
        }));
    }
    let said = |error: crate::SourceError| error.to_string();
    let connection = source.connection().await.map_err(said)?;
    let filled = connection.prompt(name, arguments).await.map_err(said)?;
    let mut text = String::new();
    for message in filled.messages {
        let part = match &message.content {
            ContentBlock::Text(part) => part.text.clone(),
            ContentBlock::Resource(resource) => unwrap::resource(&resource.resource),
            _ => "[something that is no text was left out]".to_owned(),
        };
        match message.role {
            Role::User => text.push_str(&part),
            Role::Assistant => text.push_str(&format!("[the model is to have said:] {part}")),
        }
        text.push('\n');
    }
    connection.redaction.scrub(&mut text);
    let text = text.trim().to_owned();
    if text.is_empty() { Err("the source gave back no text".to_owned()) } else { Ok(text) }
}

fn arguments(names: &[&str], words: &str) -> Map<String, Value> {
    let mut filled = Map::new();
    let mut rest = words.trim();
    let mut in_order = names.iter().copied().filter(|name| !has_named(words, name)).peekable();
    while !rest.is_empty() {
        let (word, after) = next_word(rest);
        let named = word.split_once('=').filter(|(name, _)| names.contains(name));
        if let Some((name, value)) = named {
            filled.insert(name.to_owned(), Value::String(value.to_owned()));
            rest = after;
            continue;
        }
        let Some(name) = in_order.next() else { break };
        if in_order.peek().is_none() && !names.iter().any(|name| has_named(after, name)) {
            let whole = if after.is_empty() { word } else { rest.to_owned() };
            filled.insert(name.to_owned(), Value::String(whole));
            break;
        }
        filled.insert(name.to_owned(), Value::String(word));
        rest = after;
    }
    filled
}

fn has_named(words: &str, name: &str) -> bool {
    words.split_whitespace().any(|word| word.split_once('=').is_some_and(|(before, _)| before == name))
}

/// The first word, without the quotes that hold it together, and what comes behind it.
fn next_word(text: &str) -> (String, &str) {
    let (mut word, mut quote) = (String::new(), None);
    for (at, letter) in text.char_indices() {
        match (letter, quote) {
            ('"' | '\'', None) => quote = Some(letter),
            (letter, Some(open)) if letter == open => quote = None,
            (letter, None) if letter.is_whitespace() => return (word, text.get(at..).unwrap_or_default().trim_start()),
            (letter, _) => word.push(letter),
        }
    }
    (word, "")
}

#[cfg(test)]
#[path = "prompts_tests.rs"]
mod tests;
