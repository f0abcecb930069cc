//! The fields of the full-text index, and a [`Filter`] as a query over them.

use std::ops::Bound;

use tantivy::query::{AllQuery, BooleanQuery, ConstScoreQuery, Occur, Query, RangeQuery, TermQuery};
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, NumericOptions, STRING, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::{Term, schema::SchemaBuilder};

use crate::Filter;

/// The name under which the tokenizer of [`super::words`] is registered.
pub const WORDS: &str = "weft-words";

/// No character sorts after it, so it ends the range of all paths that begin the same way.
const LAST: &str = "\u{10FFFF}\u{10FFFF}";

#[derive(Debug, Clone, Copy)]
pub struct Fields {
    pub id: Field,
    pub words: Field,
    pub domain: Field,
    pub kind: Field,
    pub language: Field,
    pub path: Field,
    pub time: Field,
}

pub fn schema() -> (Schema, Fields) {
    let mut builder = SchemaBuilder::new();
    let number = || NumericOptions::default() | INDEXED;
    let words = TextFieldIndexing::default()
        .set_tokenizer(WORDS)
        .set_index_option(IndexRecordOption::WithFreqs)
        .set_fieldnorms(true);
    let fields = Fields {
        id: builder.add_u64_field("id", INDEXED | FAST),
        words: builder.add_text_field("words", TextOptions::default().set_indexing_options(words)),
        domain: builder.add_u64_field("domain", number()),
        kind: builder.add_u64_field("kind", number()),
        language: builder.add_u64_field("language", number()),
        path: builder.add_text_field("path", STRING),
        time: builder.add_i64_field("time", FAST),
    };
    (builder.build(), fields)
}

/// The filter as a query that scores nothing.
pub fn filter_query(fields: &Fields, filter: &Filter) -> Option<Box<dyn Query>> {
    let mut parts: Vec<Box<dyn Query>> = Vec::new();
    if !filter.domains.is_empty() {
        parts.push(one_of(fields.domain, filter.domains.iter().map(|domain| domain.number())));
    }
    if !filter.kinds.is_empty() {
        parts.push(one_of(fields.kind, filter.kinds.iter().map(|kind| kind.number())));
    }
    if !filter.languages.is_empty() {
        parts.push(one_of(fields.language, filter.languages.iter().map(|language| language.number())));
    }
    if let Some(prefix) = filter.path_prefix.as_deref().filter(|prefix| !prefix.is_empty()) {
        let text = |text: &str| Term::from_field_text(fields.path, text);
        let last = format!("{prefix}{LAST}");
        parts.push(Box::new(RangeQuery::new(Bound::Included(text(prefix)), Bound::Included(text(&last)))));
    }
    if filter.since.is_some() || filter.until.is_some() {
        let time = |time: Option<i64>| {
            time.map_or(Bound::Unbounded, |time| Bound::Included(Term::from_field_i64(fields.time, time)))
        };
        parts.push(Box::new(RangeQuery::new(time(filter.since), time(filter.until))));
    }
    let all = match parts.len() {
        0 => return None,
        1 => parts.pop()?,
        _ => Box::new(BooleanQuery::new(parts.into_iter().map(|part| (Occur::Must, part)).collect())),
    };
    Some(Box::new(ConstScoreQuery::new(all, 0.0)))
}

/// Everything that passes the filter.
pub fn matching_query(fields: &Fields, filter: &Filter) -> Box<dyn Query> {
    filter_query(fields, filter).unwrap_or_else(|| Box::new(AllQuery))
}

fn one_of(field: Field, numbers: impl Iterator<Item = u8>) -> Box<dyn Query> {
    let terms = numbers.map(|number| {
        let term = Term::from_field_u64(field, u64::from(number));
        (Occur::Should, Box::new(TermQuery::new(term, IndexRecordOption::Basic)) as Box<dyn Query>)
    });
    Box::new(BooleanQuery::new(terms.collect()))
}
