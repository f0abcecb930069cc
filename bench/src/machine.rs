//! What the figures were measured on.

use crate::process;

pub struct Machine {
    pub cpu: String,
    pub cores: usize,
    pub memory_gb: f64,
    pub kernel: String,
    pub commit: String,
    pub date: String,
}

impl Machine {
    pub fn look() -> Self {
        let uname = rustix::system::uname();
        Self {
            cpu: field("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown".to_owned()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_gb: field("/proc/meminfo", "MemTotal")
                .and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok())
                .map_or(0.0, |kilobytes| kilobytes / 1024.0 / 1024.0),
            kernel: format!("{} {}", uname.sysname().to_string_lossy(), uname.release().to_string_lossy()),
            commit: commit().unwrap_or_else(|| "unknown".to_owned()),
            date: jiff::Timestamp::from_microsecond(i64::try_from(process::now_micros()).unwrap_or(0))
                .map_or_else(|_| String::new(), |now| now.strftime("%Y-%m-%d").to_string()),
        }
    }
}

fn field(path: &str, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn commit() -> Option<String> {
    let mut command = process::command("git");
    command.args(["describe", "--always", "--dirty", "--abbrev=12"]);
    let run = process::run(command).ok()?;
    Some(String::from_utf8_lossy(&run.output.stdout).trim().to_owned())
}
