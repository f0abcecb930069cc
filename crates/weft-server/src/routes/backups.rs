//! Copies of the database: which there are, a new one now, and the way back to one. Weft itself makes one a
//! day, and takes the newest good one when the database is damaged.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;
use weft_store::audit::Category;

use super::blocking;
use crate::desk::{Desk, SharedDesk};
use crate::extract::Path;
use crate::problem::{Answer, Problem};

#[derive(Debug, Serialize, ToSchema)]
pub struct BackupList {
    /// Where they lie.
    folder: String,
    /// The newest first.
    backups: Vec<BackupView>,
    /// So many are kept; older ones go.
    kept: usize,
    /// The one that the next start goes back to, if somebody asked for that.
    restoring: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct BackupView {
    name: String,
    taken_at: i64,
    bytes: u64,
}

/// The copies of the database that there are
#[utoipa::path(get, path = "/backups", responses((status = 200, body = BackupList)), tag = "backups")]
pub async fn list(State(desk): State<SharedDesk>) -> Answer<Json<BackupList>> {
    blocking(move || desk.backups()).await.map(Json)
}

/// Copy the database now
#[utoipa::path(post, path = "/backups", responses((status = 201, body = BackupList)), tag = "backups")]
pub async fn make(State(desk): State<SharedDesk>) -> Answer<(StatusCode, Json<BackupList>)> {
    desk.engine
        .store()
        .backup()
        .await
        .map_err(|error| Problem::from(error).with("advice", "See that there is room on the disk, then try again."))?;
    let list = blocking(move || desk.backups()).await?;
    Ok((StatusCode::CREATED, Json(list)))
}

/// Go back to a copy: the server starts again with it, and what there is now is kept aside
#[utoipa::path(post, path = "/backups/{name}/restore", params(("name" = String, Path)), responses((status = 202, body = BackupList)), tag = "backups")]
pub async fn restore(
    State(desk): State<SharedDesk>,
    Path(name): Path<String>,
) -> Answer<(StatusCode, Json<BackupList>)> {
    let running = desk.engine.store().counts()?.running;
    if running > 0 {
        let message = "Sessions are at work. Stop them first: what they do now would be lost.";
        return Err(Problem::conflict("busy", message).with("running", running));
    }
    let (store, wanted) = (desk.engine.store().clone(), name.clone());
    if !blocking(move || store.go_back_to(&wanted)).await?? {
        return Err(Problem::missing("There is no such backup, or it is damaged."));
    }
    desk.note_change(Category::Config, "backup.restored", "restore", &name);
    let list = blocking({
        let desk = SharedDesk::clone(&desk);
        move || desk.backups()
    })
    .await?;
    desk.start_again();
    Ok((StatusCode::ACCEPTED, Json(list)))
}

/// Stay with what there is: takes a wish to go back that was not carried out yet back
#[utoipa::path(delete, path = "/backups/restore", responses((status = 200, body = BackupList)), tag = "backups")]
pub async fn stay(State(desk): State<SharedDesk>) -> Answer<Json<BackupList>> {
    let list = blocking(move || desk.engine.store().stay().map(|()| desk.backups()));
    Ok(Json(list.await??))
}

impl Desk {
    fn backups(&self) -> BackupList {
        let backups = self.engine.store().backups().into_iter().map(|copy| BackupView {
            name: copy.path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            taken_at: copy.taken_at.0,
            bytes: std::fs::metadata(&copy.path).map(|file| file.len()).unwrap_or_default(),
        });
        BackupList {
            folder: self.home.backups().display().to_string(),
            backups: backups.collect(),
            kept: weft_store::BACKUPS_KEPT,
            restoring: self.engine.store().goes_back_to(),
        }
    }
}
