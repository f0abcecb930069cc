//! Copies of the database: which there are, and a new one now. Weft itself makes one a day, and takes the
//! newest good one when the database is damaged.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use super::blocking;
use crate::desk::{Desk, SharedDesk};
use crate::problem::{Answer, Problem};

#[derive(Debug, Serialize, ToSchema)]
pub struct BackupList {
    /// Where they lie.
    folder: String,
    /// The newest first.
    backups: Vec<BackupView>,
    /// So many are kept; older ones go.
    kept: usize,
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
        }
    }
}
