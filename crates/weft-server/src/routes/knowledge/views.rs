//! What the answers look like.

use std::time::Duration;

use serde::Serialize;
use utoipa::ToSchema;
use weft_knowledge::{Hit, Neighbour, Passage, Report, Status, Symbol, Way, WorkKind, WorkState};

#[derive(Serialize, ToSchema)]
pub struct Found {
    /// `locate`, `pattern`, `explain` or `general`: what was taken to be asked.
    class: String,
    took_ms: f64,
    hits: Vec<KnowledgeHit>,
    /// Why only words and names were looked for, where the model elsewhere could not be asked.
    without_meaning: Option<String>,
}

impl Found {
    pub fn of(answer: weft_knowledge::Answer, took: Duration) -> Self {
        let class = serde_json::to_value(answer.class).ok().and_then(|word| word.as_str().map(str::to_owned));
        Self {
            class: class.unwrap_or_default(),
            took_ms: took.as_secs_f64() * 1000.0,
            hits: answer.hits.into_iter().map(KnowledgeHit::of).collect(),
            without_meaning: answer.without_meaning,
        }
    }
}

#[derive(Serialize, ToSchema)]
pub struct KnowledgeHit {
    path: String,
    line: u32,
    end_line: u32,
    /// How a paragraph is cited.
    paragraph: Option<String>,
    /// Such as `function`, `section`.
    kind: String,
    /// `code`, `documents` or `history`.
    domain: String,
    language: Option<String>,
    name: String,
    /// The names or headings around it, outermost first, divided by ` > `.
    context: String,
    /// Between 0 and 1.
    score: f32,
    /// What each search added to the score.
    parts: ScoreParts,
    snippet: String,
    /// From 0 to 100.
    trust: u8,
    /// Between 0 and 1.
    freshness: f32,
    /// What a person should know about its age.
    warning: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub struct ScoreParts {
    text: f32,
    vector: f32,
    name: f32,
    graph: f32,
}

impl KnowledgeHit {
    pub fn of(hit: Hit) -> Self {
        Self {
            path: hit.path,
            line: hit.line,
            end_line: hit.end_line,
            paragraph: hit.paragraph,
            kind: hit.kind.word().to_owned(),
            domain: hit.domain.word().to_owned(),
            language: hit.language.map(|language| language.word().to_owned()),
            name: hit.name,
            context: hit.context,
            score: hit.score,
            parts: ScoreParts {
                text: hit.parts.text,
                vector: hit.parts.vector,
                name: hit.parts.name,
                graph: hit.parts.graph,
            },
            snippet: hit.snippet,
            trust: hit.trust,
            freshness: hit.freshness.value,
            warning: hit.freshness.warning.map(str::to_owned),
        }
    }
}

#[derive(Serialize, ToSchema)]
pub struct Neighbours {
    neighbours: Vec<NeighbourView>,
    /// There may be more; these are the nearest.
    cut: bool,
}

impl Neighbours {
    pub fn of(found: Vec<Neighbour>) -> Self {
        let cut = found.len() >= weft_knowledge::MOST;
        Self { neighbours: found.into_iter().map(NeighbourView::of).collect(), cut }
    }
}

#[derive(Serialize, ToSchema)]
pub struct NeighbourView {
    path: String,
    line: u32,
    kind: String,
    name: String,
    context: String,
    signature: String,
    /// How it is linked, such as `calls`; nothing for where a way begins.
    edge: Option<String>,
    /// Where that is written.
    at: String,
    /// How many steps away.
    depth: usize,
    /// Between 0 and 1.
    confidence: f32,
}

impl NeighbourView {
    fn of(one: Neighbour) -> Self {
        Self {
            path: one.path,
            line: one.line,
            kind: one.kind.word().to_owned(),
            name: one.name,
            context: one.context,
            signature: one.signature,
            edge: one.edge.map(|edge| edge.word().to_owned()),
            at: one.at,
            depth: one.depth,
            confidence: one.confidence,
        }
    }
}

#[derive(Serialize, ToSchema)]
pub struct LinkView {
    found: bool,
    /// No way leads where it was asked for; this one leads back.
    back: bool,
    /// Both ends among them.
    steps: Vec<NeighbourView>,
}

impl LinkView {
    pub fn of(way: Option<Way>) -> Self {
        let found = way.is_some();
        let (back, steps) = way.map(|way| (way.back, way.steps)).unwrap_or_default();
        Self { found, back, steps: steps.into_iter().map(NeighbourView::of).collect() }
    }
}

#[derive(Serialize, ToSchema)]
pub struct Around {
    /// What the name means; several where it is not unique.
    meant: Vec<SymbolView>,
    /// What leads to it.
    before: Vec<NeighbourView>,
    /// What it leads to.
    after: Vec<NeighbourView>,
    /// How many are left out on each side.
    more_before: usize,
    more_after: usize,
}

impl Around {
    pub fn of(meant: &[Symbol], mut before: Vec<Neighbour>, mut after: Vec<Neighbour>, most: usize) -> Self {
        let (more_before, more_after) = (before.len().saturating_sub(most), after.len().saturating_sub(most));
        before.truncate(most);
        after.truncate(most);
        Self {
            meant: meant.iter().take(most).map(SymbolView::of).collect(),
            before: before.into_iter().map(NeighbourView::of).collect(),
            after: after.into_iter().map(NeighbourView::of).collect(),
            more_before,
            more_after,
        }
    }
}

#[derive(Serialize, ToSchema)]
pub struct SymbolView {
    path: String,
    line: u32,
    end_line: u32,
    kind: String,
    name: String,
    context: String,
    signature: String,
    doc: String,
}

impl SymbolView {
    fn of(symbol: &Symbol) -> Self {
        Self {
            path: symbol.path.clone(),
            line: symbol.first,
            end_line: symbol.last,
            kind: symbol.kind.word().to_owned(),
            name: symbol.name.clone(),
            context: symbol.context.clone(),
            signature: symbol.signature.clone(),
            doc: symbol.doc.clone(),
        }
    }
}

#[derive(Serialize, ToSchema)]
pub struct PassageView {
    path: String,
    language: Option<String>,
    first: u32,
    lines: Vec<String>,
    /// The lines are numbered one by one, from `first` on.
    numbered: bool,
    /// How many lines the file has.
    of: u32,
}

impl PassageView {
    pub fn of(passage: Passage) -> Self {
        Self {
            path: passage.path,
            language: passage.language.map(|language| language.word().to_owned()),
            first: passage.first,
            lines: passage.lines,
            numbered: passage.numbered,
            of: passage.of,
        }
    }
}

#[derive(Default, Serialize, ToSchema)]
pub struct StatusView {
    /// Whether anything is known of the folder.
    known: bool,
    /// The folder that is known: the one that was asked for, or one around it.
    root: String,
    files: u64,
    not_searched: u64,
    /// Symbols, sections, paragraphs.
    nodes: u64,
    edges: u64,
    /// Pieces of text that can be found.
    chunks: u64,
    /// Bytes of the files.
    bytes: u64,
    disk_bytes: u64,
    /// What texts are made vectors by.
    model: String,
    /// What they are to be made by from now on, where that is another one.
    wanted_model: Option<String>,
    /// Pieces of text that are found by their words alone for now.
    without_meaning: u64,
    /// Both indexes have everything.
    up_to_date: bool,
    notices: Vec<String>,
    /// The last piece of work, running or not.
    work: Option<WorkView>,
    watch: Option<WorkView>,
}

impl StatusView {
    pub fn nothing(root: String, work: Option<WorkState>, watch: Option<WorkState>) -> Self {
        Self { root, work: work.map(WorkView::of), watch: watch.map(WorkView::of), ..Self::default() }
    }

    pub fn of(status: Status, notices: Vec<String>, work: Option<WorkState>, watch: Option<WorkState>) -> Self {
        Self {
            known: true,
            root: status.root.to_string_lossy().into_owned(),
            files: status.counts.files,
            not_searched: status.counts.not_searched,
            nodes: status.counts.nodes,
            edges: status.counts.edges,
            chunks: status.counts.chunks,
            bytes: status.counts.bytes,
            disk_bytes: status.disk_bytes,
            model: status.model,
            wanted_model: status.wanted,
            without_meaning: status.without_meaning,
            up_to_date: status.up_to_date,
            notices,
            work: work.map(WorkView::of),
            watch: watch.map(WorkView::of),
        }
    }
}

#[derive(Serialize, ToSchema)]
pub struct WorkView {
    /// `index`, `rebuild`, `renew` (vectors for another model) or `watch`.
    kind: String,
    running: bool,
    /// Files read; of a rebuild, pieces of text.
    done: usize,
    of: usize,
    bytes: u64,
    /// All files are read; the indexes are brought up to date.
    finishing: bool,
    report: Option<ReportView>,
    /// Why it ended early, for people.
    error: Option<String>,
}

impl WorkView {
    fn of(state: WorkState) -> Self {
        let kind = match state.kind {
            WorkKind::Index => "index",
            WorkKind::Rebuild => "rebuild",
            WorkKind::Renew => "renew",
            WorkKind::Watch => "watch",
        };
        Self {
            kind: kind.to_owned(),
            running: state.running,
            done: state.done,
            of: state.of,
            bytes: state.bytes,
            finishing: state.finishing,
            report: state.report.map(ReportView::of),
            error: state.error.map(|error| crate::problem::sentence(&error)),
        }
    }
}

/// What came of taking in a folder.
#[derive(Serialize, ToSchema)]
pub struct ReportView {
    files: usize,
    changed: usize,
    removed: usize,
    bytes: u64,
    seconds: f64,
    stopped: bool,
    /// Files that are not searched, and why; at most 100.
    passed: Vec<PassedView>,
    /// How many files are not searched.
    passed_count: usize,
    /// What could not be looked into.
    trouble: Vec<String>,
    /// Why what is new is found by its words alone for now.
    without_meaning: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub struct PassedView {
    path: String,
    reason: String,
}

impl ReportView {
    fn of(report: Report) -> Self {
        const MOST: usize = 100;
        let passed_count = report.passed.len();
        let passed = report.passed.into_iter().take(MOST).map(|(path, reason)| PassedView { path, reason });
        Self {
            files: report.files,
            changed: report.changed,
            removed: report.removed,
            bytes: report.bytes,
            seconds: report.seconds,
            stopped: report.stopped,
            passed: passed.collect(),
            passed_count,
            trouble: report.trouble.into_iter().take(MOST).collect(),
            without_meaning: report.without_meaning,
        }
    }
}
