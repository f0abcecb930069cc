//! Documents by paragraph, and answers checked against them.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use weft_knowledge::verify::{self, Claim};
use weft_knowledge::{DEEPEST, Document, Hop, Paragraph};

use super::StatusQuery;
use crate::desk::SharedDesk;
use crate::extract::{Body, Query};
use crate::problem::{Answer, Problem};

const MOST_CLAIMS: usize = 500;
const LONGEST_CLAIM: usize = 10_000;

#[derive(Serialize, ToSchema)]
pub struct Documents {
    documents: Vec<DocumentView>,
}

#[derive(Serialize, ToSchema)]
pub struct DocumentView {
    path: String,
    /// Its first heading; empty where there is none.
    title: String,
    language: Option<String>,
    sections: u64,
    paragraphs: u64,
    references: u64,
    /// Of a PDF.
    pages: Option<u32>,
    bytes: u64,
}

impl DocumentView {
    fn of(document: Document) -> Self {
        Self {
            path: document.path,
            title: document.title,
            language: document.language.map(|language| language.word().to_owned()),
            sections: document.sections,
            paragraphs: document.paragraphs,
            references: document.references,
            pages: document.pages,
            bytes: document.bytes,
        }
    }
}

/// The documents that are known
#[utoipa::path(get, path = "/knowledge/documents", params(StatusQuery), responses((status = 200, body = Documents)), tag = "knowledge")]
pub async fn documents(State(desk): State<SharedDesk>, Query(query): Query<StatusQuery>) -> Answer<Json<Documents>> {
    let folder = desk.folder(query.workspace.as_deref())?;
    let documents = desk.known(folder, |knowledge, _| knowledge.documents()).await?;
    Ok(Json(Documents { documents: documents.into_iter().map(DocumentView::of).collect() }))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ParagraphQuery {
    /// Its number or id, alone or with the document: `4.1`, `contract.md#4.1`.
    #[param(max_length = 500)]
    id: String,
    /// The document, or the end of its path.
    document: Option<String>,
    /// How many references to follow.
    #[param(minimum = 0, maximum = 8)]
    depth: Option<usize>,
    /// The whole path of a folder; where the server was started without it.
    workspace: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub struct Paragraphs {
    paragraphs: Vec<ParagraphView>,
    /// What they refer to or are referred to by, if `depth` was given.
    hops: Vec<HopView>,
}

#[derive(Serialize, ToSchema)]
pub struct ParagraphView {
    id: String,
    path: String,
    /// `paragraph`, `table` or `section`.
    kind: String,
    /// The headings around it, outermost first, divided by ` > `.
    context: String,
    line: u32,
    /// Of a PDF, counted from one.
    page: Option<u32>,
    text: String,
}

impl ParagraphView {
    fn of(paragraph: Paragraph) -> Self {
        let Paragraph { id, path, kind, context, line, page, text } = paragraph;
        Self { id, path, kind: kind.word().to_owned(), context, line, page, text }
    }
}

#[derive(Serialize, ToSchema)]
pub struct HopView {
    paragraph: ParagraphView,
    distance: usize,
    /// From the first paragraph to this one, both among them.
    way: Vec<String>,
    /// It refers to the one before it, and not the other way round.
    back: bool,
    confidence: f32,
}

impl HopView {
    fn of(hop: Hop) -> Self {
        let Hop { paragraph, distance, way, back, confidence } = hop;
        Self { paragraph: ParagraphView::of(paragraph), distance, way, back, confidence }
    }
}

/// A paragraph by its number, and what it refers to
#[utoipa::path(get, path = "/knowledge/paragraph", params(ParagraphQuery), responses((status = 200, body = Paragraphs)), tag = "knowledge")]
pub async fn paragraph(
    State(desk): State<SharedDesk>,
    Query(query): Query<ParagraphQuery>,
) -> Answer<Json<Paragraphs>> {
    if query.depth.is_some_and(|depth| depth > DEEPEST) {
        return Err(Problem::bad("`depth` is from 0 to 8."));
    }
    let folder = desk.folder(query.workspace.as_deref())?;
    let found = desk.known(folder, move |knowledge, _| {
        let (id, document) = (query.id.as_str(), query.document.as_deref());
        let hops = match query.depth.unwrap_or_default() {
            0 => Vec::new(),
            depth => knowledge.hops(id, document, depth)?,
        };
        Ok((knowledge.paragraphs(id, document)?, hops))
    });
    let (paragraphs, hops) = found.await?;
    if paragraphs.is_empty() {
        return Err(Problem::missing("No document has a paragraph of this number."));
    }
    Ok(Json(Paragraphs {
        paragraphs: paragraphs.into_iter().map(ParagraphView::of).collect(),
        hops: hops.into_iter().map(HopView::of).collect(),
    }))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct VerifyIn {
    /// The sentences of an answer.
    #[serde(default)]
    claims: Vec<ClaimIn>,
    /// Instead of them, the answer as it is, with citations such as `[4.1]` or `[contract.md#4.1]`.
    #[serde(default)]
    text: Option<String>,
    /// More paragraphs to check against, by id.
    #[serde(default)]
    paragraphs: Vec<String>,
    /// The whole path of a folder; where the server was started without it.
    #[serde(default)]
    workspace: Option<String>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaimIn {
    text: String,
    /// The ids of the paragraphs that it cites.
    #[serde(default)]
    cites: Vec<String>,
}

#[derive(Serialize, ToSchema)]
pub struct Verified {
    /// The share of names, numbers and dates that are in the sources.
    entity: f32,
    /// The share of citations that exist and say it.
    citation: f32,
    /// The share of obligations, amounts and orders that stayed as they were.
    relation: f32,
    contradictions: usize,
    /// The sentences that were checked.
    claims: Vec<ClaimView>,
    checks: Vec<CheckView>,
}

#[derive(Serialize, ToSchema)]
pub struct ClaimView {
    text: String,
    /// The ids of the paragraphs that it cites.
    cites: Vec<String>,
}

#[derive(Serialize, ToSchema)]
pub struct CheckView {
    /// `citation`, `entity`, `relation` or `contradiction`.
    axis: String,
    /// The place of the sentence in the list, from zero.
    claim: usize,
    item: String,
    holds: bool,
    why: String,
    evidence: Vec<EvidenceView>,
}

#[derive(Serialize, ToSchema)]
pub struct EvidenceView {
    source: String,
    text: String,
}

impl CheckView {
    fn of(check: verify::Check) -> Self {
        let axis = match check.axis {
            verify::Axis::Citation => "citation",
            verify::Axis::Entity => "entity",
            verify::Axis::Relation => "relation",
            verify::Axis::Contradiction => "contradiction",
        };
        let evidence =
            check.evidence.into_iter().map(|evidence| EvidenceView { source: evidence.source, text: evidence.text });
        Self {
            axis: axis.to_owned(),
            claim: check.claim,
            item: check.item,
            holds: check.verdict == verify::Verdict::Holds,
            why: check.why,
            evidence: evidence.collect(),
        }
    }
}

/// Check the sentences of an answer against the paragraphs they cite
#[utoipa::path(post, path = "/knowledge/verify", request_body = VerifyIn, responses((status = 200, body = Verified)), tag = "knowledge")]
pub async fn verify(State(desk): State<SharedDesk>, Body(asked): Body<VerifyIn>) -> Answer<Json<Verified>> {
    let too_long = asked.claims.iter().any(|claim| claim.text.len() > LONGEST_CLAIM || claim.cites.len() > MOST_CLAIMS);
    let long_text = asked.text.as_ref().is_some_and(|text| text.len() > MOST_CLAIMS * LONGEST_CLAIM / 10);
    if long_text || asked.claims.len() > MOST_CLAIMS || asked.paragraphs.len() > MOST_CLAIMS || too_long {
        return Err(Problem::bad("At most 500 sentences of 10,000 letters can be checked at once."));
    }
    let folder = desk.folder(asked.workspace.as_deref())?;
    let mut claims: Vec<Claim> =
        asked.claims.into_iter().map(|claim| Claim { text: claim.text, cites: claim.cites }).collect();
    claims.extend(asked.text.iter().flat_map(|text| verify::claims_in(text)).take(MOST_CLAIMS));
    let told = claims.iter().map(|claim| ClaimView { text: claim.text.clone(), cites: claim.cites.clone() }).collect();
    let report = desk.known(folder, move |knowledge, _| knowledge.verify(&claims, &asked.paragraphs)).await?;
    let scores = report.scores;
    Ok(Json(Verified {
        entity: scores.entity,
        citation: scores.citation,
        relation: scores.relation,
        contradictions: scores.contradictions,
        claims: told,
        checks: report.checks.into_iter().map(CheckView::of).collect(),
    }))
}
