//! What all requests share.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio_util::sync::CancellationToken;
use weft_engine::{Engine, Home};
use weft_knowledge::Shelf;
use weft_research::Corpora;

use crate::assets::Assets;
use crate::backstage::Backstage;
use crate::inbox::Inbox;
use crate::once::SaidOnce;
use crate::uploads::Uploads;

/// What a server is made of.
pub struct Parts {
    pub engine: Engine,
    pub home: Home,
    /// The folder it was started in, where new sessions work unless they say otherwise.
    pub workspace: PathBuf,
    pub backstage: Arc<dyn Backstage>,
    pub knowledge: Arc<Shelf>,
    pub corpora: Arc<Corpora>,
    pub version: &'static str,
    /// Serves the web app from this folder instead of from the binary, for those who change it.
    pub assets: Option<PathBuf>,
}

pub struct Desk {
    pub engine: Engine,
    pub home: Home,
    pub workspace: PathBuf,
    pub backstage: Arc<dyn Backstage>,
    pub knowledge: Arc<Shelf>,
    pub corpora: Arc<Corpora>,
    pub version: &'static str,
    pub assets: Assets,
    pub inbox: Inbox,
    pub uploads: Uploads,
    /// What was said under ids of the clients' own.
    pub said: SaidOnce,
    /// Held by whoever replaces something that is kept as a whole, from looking at it until it is written.
    pub replacing: tokio::sync::Mutex<()>,
    /// Cancelled when the server ends, so that streams end with it.
    pub closing: CancellationToken,
    /// Ended only to begin anew.
    again: Arc<AtomicBool>,
}

pub type SharedDesk = Arc<Desk>;

impl Desk {
    /// `again` is set when the server is to begin anew.
    pub fn new(parts: Parts, closing: CancellationToken, again: Arc<AtomicBool>) -> SharedDesk {
        let inbox = Inbox::start(&parts.engine, closing.clone());
        Arc::new(Self {
            uploads: Uploads::new(parts.home.data.join("uploads")),
            said: SaidOnce::default(),
            inbox,
            engine: parts.engine,
            home: parts.home,
            workspace: parts.workspace,
            backstage: parts.backstage,
            knowledge: parts.knowledge,
            corpora: parts.corpora,
            version: parts.version,
            assets: Assets::new(parts.assets),
            replacing: tokio::sync::Mutex::new(()),
            closing,
            again,
        })
    }

    /// Ends the server when what it answers now is sent, and has it begin anew with whatever the disk then holds.
    pub fn start_again(&self) {
        self.again.store(true, Ordering::SeqCst);
        self.closing.cancel();
    }
}
