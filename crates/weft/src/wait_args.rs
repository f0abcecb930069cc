//! How long work without a screen waits for answers to what sources ask while their calls run.

use std::time::Duration;

use clap::Args;

#[derive(Debug, Args, Default)]
pub struct WaitArgs {
    /// How long a source's question waits for `weft answer` in another terminal, before it is declined
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    pub wait: u64,
}

impl WaitArgs {
    pub const fn patience(&self) -> Duration {
        Duration::from_secs(self.wait)
    }
}
