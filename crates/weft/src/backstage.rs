//! What the server needs of this program: the same things the command line does, for a browser.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use weft_engine::{Home, Loaded};
use weft_mcp::Sources;
use weft_mcp::trust::Trust;
use weft_server::{Backstage, Hook, NewSource, Section, SourceList};

use crate::commands::{config, doctor, sources as source_commands};
use crate::{open, sources};

pub struct Program {
    pub home: Home,
    pub workspace: PathBuf,
    /// The sources that sessions have now.
    pub live: Arc<Sources>,
}

impl Program {
    /// Sessions have what the settings say now with their next turn.
    fn renew_sources(&self) -> Result<(), String> {
        // One after the other: what was read first must not be put in place last.
        static RENEWING: Mutex<()> = Mutex::new(());
        let _renewing = RENEWING.lock().unwrap_or_else(PoisonError::into_inner);
        let configs = self.sources()?.sources.all().iter().map(|source| source.config.clone()).collect();
        let gone = self.live.replace(configs);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                for source in gone {
                    source.close().await;
                }
            });
        }
        Ok(())
    }
}

fn told<T>(done: anyhow::Result<T>) -> Result<T, String> {
    done.map_err(|error| format!("{error:#}"))
}

impl Backstage for Program {
    fn settings(&self) -> Result<Loaded, String> {
        told(open::settings(&self.home, &self.workspace))
    }

    fn change(&self, changes: &[(String, Option<String>)]) -> Result<(), String> {
        told(config::change(&self.home.config_file(), changes))
    }

    fn set_hooks(&self, hooks: &[Hook]) -> Result<(), String> {
        told(config::set_hooks(&self.home.config_file(), hooks))
    }

    fn sources(&self) -> Result<SourceList, String> {
        let settings = self.settings()?;
        let opened = sources::open_to_look(&self.home, &settings.config, &self.workspace);
        Ok(SourceList { sources: opened.sources, trust: Trust::open(&self.home.config), warnings: opened.warnings })
    }

    fn add_source(&self, source: NewSource) -> Result<(), String> {
        told(source_commands::add_from_browser(&self.home, &self.workspace, source))?;
        self.renew_sources()
    }

    fn remove_source(&self, name: &str) -> Result<(), String> {
        let list = self.sources()?;
        let source = list.sources.get(name).map_err(|error| error.to_string())?;
        told(source_commands::remove(&self.home, &source.config, &list.trust))?;
        self.renew_sources()
    }

    fn allow_source(&self, name: &str) -> Result<(), String> {
        let list = self.sources()?;
        let source = list.sources.get(name).map_err(|error| error.to_string())?;
        let confinement = source.config.confinement.clone();
        told(source_commands::allow(&source, &list.trust, confinement, Default::default()))?;
        self.renew_sources()
    }

    fn doctor(&self) -> Vec<Section> {
        doctor::sections(&self.home, &self.workspace)
    }
}
