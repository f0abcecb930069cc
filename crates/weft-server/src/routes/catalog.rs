//! What there is to work with: folders, agents, skills, commands, files.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use weft_engine::CallableKind;
use weft_engine::agent::{Agent, DEFAULT};
use weft_engine::skills::{self, Skills};
use weft_mcp::config::Origin;
use weft_store::{MarkedFilter, View};

use super::blocking;
use crate::desk::{Desk, SharedDesk};
use crate::extract::Query;
use crate::files::{self, FileView};
use crate::problem::{Answer, Problem};

/// So many sessions are looked at for their folders.
const LOOKED_AT: usize = 2_000;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PlaceQuery {
    /// The whole path of a folder; where the server was started without it.
    workspace: Option<String>,
}

impl PlaceQuery {
    pub fn workspace(&self) -> Option<&str> {
        self.workspace.as_deref()
    }
}

#[derive(Serialize, ToSchema)]
pub struct WorkspaceList {
    workspaces: Vec<WorkspaceView>,
}

#[derive(Serialize, ToSchema)]
pub struct WorkspaceView {
    path: String,
    name: String,
    sessions: usize,
    /// The server was started here.
    current: bool,
}

/// Folders with sessions
#[utoipa::path(get, path = "/workspaces", responses((status = 200, body = WorkspaceList)), tag = "catalog")]
pub async fn workspaces(State(desk): State<SharedDesk>) -> Answer<Json<WorkspaceList>> {
    let store = desk.engine.store().clone();
    let filter = MarkedFilter { view: View::All, limit: LOOKED_AT, ..MarkedFilter::default() };
    let rows = blocking(move || store.marked(&filter)).await??;
    let current = desk.workspace.to_string_lossy().into_owned();
    let mut counts = BTreeMap::from([(current.clone(), 0)]);
    for row in rows {
        *counts.entry(row.row.workspace).or_default() += 1;
    }
    let view = |(path, sessions): (String, usize)| WorkspaceView {
        name: path.rsplit('/').find(|part| !part.is_empty()).unwrap_or("/").to_owned(),
        current: path == current,
        path,
        sessions,
    };
    Ok(Json(WorkspaceList { workspaces: counts.into_iter().map(view).collect() }))
}

#[derive(Serialize, ToSchema)]
pub struct AgentList {
    agents: Vec<AgentView>,
    problems: Vec<ProblemView>,
}

#[derive(Serialize, ToSchema)]
pub struct AgentView {
    name: String,
    description: String,
    /// How it is mentioned; empty for the usual one.
    called: String,
    model: Option<String>,
    tools: Option<Vec<String>>,
    of_project: bool,
    /// It lies in your settings folder and can be changed here.
    yours: bool,
}

/// What is wrong with a file, and where.
#[derive(Serialize, ToSchema)]
pub struct ProblemView {
    file: String,
    what: String,
}

fn problem_view(problem: skills::Problem) -> ProblemView {
    ProblemView { file: problem.file.display().to_string(), what: problem.what }
}

/// Agents that can be worked with
#[utoipa::path(get, path = "/agents", params(PlaceQuery), responses((status = 200, body = AgentList)), tag = "catalog")]
pub async fn agents(State(desk): State<SharedDesk>, Query(place): Query<PlaceQuery>) -> Answer<Json<AgentList>> {
    let (home, workspace) = (desk.home.clone(), desk.folder(place.workspace())?);
    let (agents, problems) = blocking(move || Agent::all(&home, &workspace)).await?;
    let view = |agent: Agent| AgentView {
        called: if agent.name == DEFAULT { String::new() } else { format!("@{}", agent.name) },
        yours: !agent.of_project && !agent.bundled,
        model: agent.model.as_ref().map(ToString::to_string),
        name: agent.name,
        description: agent.description,
        tools: agent.tools,
        of_project: agent.of_project,
    };
    Ok(Json(AgentList {
        agents: agents.into_iter().map(view).collect(),
        problems: problems.into_iter().map(problem_view).collect(),
    }))
}

#[derive(Serialize, ToSchema)]
pub struct SkillList {
    skills: Vec<SkillView>,
    problems: Vec<ProblemView>,
}

#[derive(Serialize, ToSchema)]
pub struct SkillView {
    name: String,
    called: String,
    description: String,
    /// The folder it lies in.
    place: String,
    of_project: bool,
    /// It lies in your settings folder and can be changed here.
    yours: bool,
}

/// Skills that can be called
#[utoipa::path(get, path = "/skills", params(PlaceQuery), responses((status = 200, body = SkillList)), tag = "catalog")]
pub async fn skills(State(desk): State<SharedDesk>, Query(place): Query<PlaceQuery>) -> Answer<Json<SkillList>> {
    let (home, workspace) = (desk.home.clone(), desk.folder(place.workspace())?);
    let Skills { found, problems } = blocking(move || Skills::find(&home, &workspace)).await?;
    let own = desk.home.config.join("skills");
    let view = |skill: skills::Skill| SkillView {
        // One that calls itself otherwise than its folder is changed where it lies.
        yours: skill.folder == own.join(&skill.name),
        called: format!("/{}", skill.name),
        name: skill.name,
        description: skill.description,
        place: if skill.bundled { String::new() } else { skill.folder.display().to_string() },
        of_project: skill.of_project,
    };
    Ok(Json(SkillList {
        skills: found.into_iter().map(view).collect(),
        problems: problems.into_iter().map(problem_view).collect(),
    }))
}

#[derive(Serialize, ToSchema)]
pub struct CommandList {
    commands: Vec<CommandView>,
}

#[derive(Serialize, ToSchema)]
pub struct CommandView {
    /// As it is written: `/review`, `@reviewer`.
    typed: String,
    arguments: String,
    description: String,
    /// `command`, `skill`, `prompt`, `agent` or `source`.
    kind: String,
}

/// What can be called by name in what is said
#[utoipa::path(get, path = "/commands", params(PlaceQuery), responses((status = 200, body = CommandList)), tag = "catalog")]
pub async fn commands(State(desk): State<SharedDesk>, Query(place): Query<PlaceQuery>) -> Answer<Json<CommandList>> {
    let (engine, workspace) = (desk.engine.clone(), desk.folder(place.workspace())?);
    let (here, at) = (desk.workspace.clone(), workspace.clone());
    let found = blocking(move || engine.callables(&workspace)).await?;
    let named = desk.named_sources(at == here).await;
    let named =
        named.into_iter().filter(|typed| !found.iter().any(|callable| &callable.typed == typed)).collect::<Vec<_>>();
    let named = named.into_iter().map(|typed| CommandView {
        typed,
        arguments: String::new(),
        description: "The tools of this source".to_owned(),
        kind: "source".to_owned(),
    });
    let commands = found.into_iter().map(|callable| CommandView {
        typed: callable.typed,
        arguments: callable.arguments,
        description: callable.description,
        kind: match callable.kind {
            CallableKind::Command => "command",
            CallableKind::Skill => "skill",
            CallableKind::Prompt => "prompt",
            CallableKind::Agent => "agent",
            CallableKind::Source => "source",
        }
        .to_owned(),
    });
    Ok(Json(CommandList { commands: commands.chain(named).collect() }))
}

impl Desk {
    /// The sources that may be used, as they are named in what is said. One whose tools nobody has asked for yet
    /// is among them: it is asked when it is named.
    async fn named_sources(&self, with_projects: bool) -> Vec<String> {
        // What is wrong with the settings is told where they are.
        let Ok(list) = self.source_list().await else { return Vec::new() };
        let all = list.sources.all();
        let usable = all.iter().map(|source| &source.config).filter(|config| {
            config.enabled && list.trust.allows(config) && (with_projects || matches!(config.origin, Origin::User))
        });
        usable.map(|config| format!("@{}", config.name)).collect()
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct FilesQuery {
    workspace: Option<String>,
    /// The beginning of a path or name, or a part of it.
    #[serde(default)]
    q: String,
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
}

#[derive(Serialize, ToSchema)]
pub struct FileList {
    files: Vec<FileView>,
}

/// Paths that can be mentioned
#[utoipa::path(get, path = "/files", params(FilesQuery), responses((status = 200, body = FileList)), tag = "catalog")]
pub async fn files(State(desk): State<SharedDesk>, Query(query): Query<FilesQuery>) -> Answer<Json<FileList>> {
    let limit = query.limit.unwrap_or(30);
    if limit == 0 || limit > 200 {
        return Err(Problem::bad("`limit` is from 1 to 200."));
    }
    let workspace = desk.folder(query.workspace.as_deref())?;
    let files = blocking(move || files::find(&workspace, &query.q, limit)).await?;
    Ok(Json(FileList { files }))
}
