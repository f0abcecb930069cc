//! What contradicts what, what is worth a model's room, and the best answer without a model.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use weft_knowledge::{Asked, Conflict, Context, Filter, Origin, Resolved};

use super::super::blocking;
use super::views::KnowledgeHit;
use super::{LONGEST_QUESTION, StatusQuery};
use crate::desk::SharedDesk;
use crate::extract::{Body, Path, Query};
use crate::problem::{Answer, Problem};

const USUAL_TOKENS: usize = 8_000;
const MOST_TOKENS: usize = 100_000;
const LONGEST_RESOLUTION: usize = 2_000;
const CANDIDATES: usize = 50;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ConflictsQuery {
    /// Settled ones too.
    #[serde(default)]
    all: bool,
    /// The whole path of a folder; where the server was started without it.
    workspace: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub struct Conflicts {
    /// The newest first.
    conflicts: Vec<ConflictView>,
}

#[derive(Serialize, ToSchema)]
pub struct ConflictView {
    id: i64,
    /// `temporal`, `mismatch` or `semantic`.
    kind: String,
    subject: String,
    one_at: String,
    one_text: String,
    /// Empty where it is that nothing bears the first out.
    other_at: String,
    other_text: String,
    description: String,
    /// Milliseconds since 1970.
    detected_at: i64,
    /// Which of the two counts until somebody settles it; nothing where only a person can say.
    counts: Option<String>,
    /// How a person settled it.
    resolution: Option<String>,
}

impl ConflictView {
    fn of(conflict: Conflict) -> Self {
        Self {
            id: conflict.id,
            kind: conflict.kind.word().to_owned(),
            subject: conflict.subject,
            one_at: conflict.one_at,
            one_text: conflict.one_text,
            other_at: conflict.other_at,
            other_text: conflict.other_text,
            description: conflict.description,
            detected_at: conflict.detected_at,
            counts: conflict.counts,
            resolution: conflict.resolution,
        }
    }
}

/// What contradicts what
#[utoipa::path(get, path = "/knowledge/conflicts", params(ConflictsQuery), responses((status = 200, body = Conflicts)), tag = "knowledge")]
pub async fn conflicts(State(desk): State<SharedDesk>, Query(query): Query<ConflictsQuery>) -> Answer<Json<Conflicts>> {
    let folder = desk.folder(query.workspace.as_deref())?;
    let found = desk.known(folder, move |knowledge, _| knowledge.conflicts(query.all)).await?;
    Ok(Json(Conflicts { conflicts: found.into_iter().map(ConflictView::of).collect() }))
}

#[derive(Serialize, ToSchema)]
pub struct ConflictsFound {
    /// How many were not known before.
    found: usize,
}

/// Compare all documents with each other, and sessions with the code
#[utoipa::path(post, path = "/knowledge/conflicts", params(StatusQuery), responses((status = 200, body = ConflictsFound)), tag = "knowledge")]
pub async fn find_conflicts(
    State(desk): State<SharedDesk>,
    Query(query): Query<StatusQuery>,
) -> Answer<Json<ConflictsFound>> {
    let folder = desk.folder(query.workspace.as_deref())?;
    desk.remembered(&folder).await?;
    let shelf = std::sync::Arc::clone(&desk.knowledge);
    let found = blocking(move || shelf.find_conflicts(&folder)).await??;
    Ok(Json(ConflictsFound { found }))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SettleIn {
    /// In words: which side holds, and why.
    resolution: String,
    /// The whole path of a folder; where the server was started without it.
    #[serde(default)]
    workspace: Option<String>,
}

/// Say how a conflict is settled
#[utoipa::path(put, path = "/knowledge/conflicts/{id}", params(("id" = i64, Path)), request_body = SettleIn, responses((status = 204)), tag = "knowledge")]
pub async fn settle_conflict(
    State(desk): State<SharedDesk>,
    Path(id): Path<String>,
    Body(settled): Body<SettleIn>,
) -> Answer<axum::http::StatusCode> {
    let missing = || Problem::missing("There is no conflict of this number.");
    let id: i64 = id.parse().map_err(|_| missing())?;
    let resolution = settled.resolution.trim().to_owned();
    if resolution.is_empty() || resolution.len() > LONGEST_RESOLUTION {
        return Err(Problem::bad("Say in at most 2,000 letters how it is settled."));
    }
    let folder = desk.folder(settled.workspace.as_deref())?;
    let there = desk.known(folder, move |knowledge, now| knowledge.settle(id, &resolution, now)).await?;
    if there { Ok(axum::http::StatusCode::NO_CONTENT) } else { Err(missing()) }
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct AskQuery {
    /// The question.
    #[param(max_length = 2000)]
    q: String,
    /// The room for what is chosen.
    #[param(minimum = 1, maximum = 100000)]
    tokens: Option<usize>,
    /// The whole path of a folder; where the server was started without it.
    workspace: Option<String>,
}

impl AskQuery {
    fn asked(&self, now: i64) -> Answer<Asked> {
        let budget = self.tokens.unwrap_or(USUAL_TOKENS);
        if budget == 0 || budget > MOST_TOKENS {
            return Err(Problem::bad("`tokens` is from 1 to 100000."));
        }
        let question = self.q.chars().take(LONGEST_QUESTION).collect();
        Ok(Asked { question, budget, now, ..Asked::default() })
    }
}

#[derive(Serialize, ToSchema)]
pub struct ContextChoiceView {
    items: Vec<ContextItemView>,
    tokens: usize,
    budget: usize,
    left_out: usize,
    conflicts: Vec<ConflictView>,
    /// Parts of what is known that speak of it too: `code`, `documents`, `history`.
    also_exists_in: Vec<String>,
}

#[derive(Serialize, ToSchema)]
pub struct ContextItemView {
    /// Between 0 and 1.
    worth: f32,
    tokens: usize,
    text: String,
    hit: KnowledgeHit,
}

impl ContextChoiceView {
    fn of(context: Context) -> Self {
        let items = context.items.into_iter().map(|item| ContextItemView {
            worth: item.worth,
            tokens: item.tokens,
            text: item.text,
            hit: KnowledgeHit::of(item.hit),
        });
        Self {
            items: items.collect(),
            tokens: context.tokens,
            budget: context.budget,
            left_out: context.left_out,
            conflicts: context.conflicts.into_iter().map(ConflictView::of).collect(),
            also_exists_in: context.also_in.into_iter().map(str::to_owned).collect(),
        }
    }
}

/// The best of what is known that fits into so many tokens
#[utoipa::path(get, path = "/knowledge/context", params(AskQuery), responses((status = 200, body = ContextChoiceView)), tag = "knowledge")]
pub async fn context(State(desk): State<SharedDesk>, Query(query): Query<AskQuery>) -> Answer<Json<ContextChoiceView>> {
    let folder = desk.folder(query.workspace.as_deref())?;
    let asked = query.asked(desk.knowledge.now())?;
    desk.remembered(&folder).await?;
    let found = desk.known(folder, move |knowledge, now| {
        let query = weft_knowledge::Query { text: asked.question, filter: Filter::default(), limit: CANDIDATES, now };
        knowledge.context(&query, asked.budget)
    });
    Ok(Json(ContextChoiceView::of(found.await?)))
}

#[derive(Serialize, ToSchema)]
pub struct ResolvedView {
    /// Such as `locate`, `explain`, `pattern`.
    intent: String,
    subject: String,
    confidence: f32,
    /// `kept`, `index`, `model` or `nothing`.
    origin: String,
    /// The answer; of `model`, what to ask one; of `nothing`, what to try.
    text: String,
    /// What a kept answer was made from.
    sources: Vec<String>,
    context: ContextChoiceView,
}

impl ResolvedView {
    fn of(found: Resolved) -> Self {
        let origin = match found.origin {
            Origin::Kept => "kept",
            Origin::Index => "index",
            Origin::Model => "model",
            Origin::Nothing => "nothing",
        };
        Self {
            intent: found.intent.word().to_owned(),
            subject: found.subject,
            confidence: found.confidence,
            origin: origin.to_owned(),
            text: found.text,
            sources: found.kept.map(|kept| kept.sources).unwrap_or_default(),
            context: ContextChoiceView::of(found.context),
        }
    }
}

/// An answer that was kept, or what the index says, or what a model needs
#[utoipa::path(get, path = "/knowledge/ask", params(AskQuery), responses((status = 200, body = ResolvedView)), tag = "knowledge")]
pub async fn ask(State(desk): State<SharedDesk>, Query(query): Query<AskQuery>) -> Answer<Json<ResolvedView>> {
    let folder = desk.folder(query.workspace.as_deref())?;
    let asked = query.asked(desk.knowledge.now())?;
    desk.remembered(&folder).await?;
    let found = desk.known(folder, move |knowledge, _| knowledge.resolve(&asked));
    Ok(Json(ResolvedView::of(found.await?)))
}
