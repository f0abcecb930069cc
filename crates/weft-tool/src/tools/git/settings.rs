//! Settings under which git runs no programs but itself. A repository's own settings come with the
//! repository, and many of them name programs: filters, hooks, monitors, viewers, drivers. All of
//! these are put back to what the person's own settings say, or to nothing.

/// What holds for every run.
const FIXED: [(&str, &str); 30] = [
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.alternateRefsCommand", "false"),
    ("core.quotePath", "false"),
    ("core.safecrlf", "false"),
    ("diff.external", ""),
    ("diff.ignoreSubmodules", "dirty"),
    ("diff.noprefix", "false"),
    ("diff.mnemonicPrefix", "false"),
    ("diff.orderFile", "/dev/null"),
    ("interactive.diffFilter", ""),
    ("log.showSignature", "false"),
    ("merge.verifySignatures", "false"),
    ("blame.ignoreRevsFile", ""),
    ("color.ui", "false"),
    ("column.ui", "never"),
    ("advice.statusHints", "false"),
    ("commit.verbose", "false"),
    ("commit.template", "/dev/null"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("safe.bareRepository", "explicit"),
    ("status.submoduleSummary", "false"),
    ("submodule.recurse", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("fetch.writeCommitGraph", "false"),
    ("push.recurseSubmodules", "no"),
    ("protocol.ext.allow", "never"),
    ("rerere.enabled", "false"),
];
/// More than any honest repository has; each costs room in the environment.
const MOST: usize = 300;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Settings {
    pairs: Vec<(String, String)>,
    /// A setting of the repository by which a remote would be another than it seems.
    pub leads_astray: Option<String>,
    /// The remotes that settings name; git knows older ways, which any command can write to.
    pub remotes: Vec<String>,
    /// The person signs their commits, which needs their keys.
    pub signs: bool,
}

impl Settings {
    /// For the run that asks what the settings are; it starts nothing.
    pub fn fixed() -> Self {
        let pairs = FIXED.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Self { pairs, ..Self::default() }
    }

    /// For all other runs; `listed` is what `git config --list --show-scope -z` says.
    pub fn harmless(listed: &str) -> Result<Self, String> {
        let mut settings = Self::fixed();
        let mut fields = listed.split('\0');
        let mut own = Vec::new();
        let mut foreign: Vec<&str> = Vec::new();
        while let (Some(scope), Some(entry)) = (fields.next(), fields.next()) {
            let (key, value) = entry.split_once('\n').unwrap_or((entry, "true"));
            if let Some(remote) = key.strip_prefix("remote.").and_then(|rest| rest.strip_suffix(".url")) {
                settings.remotes.push(remote.to_owned());
            }
            if matches!(scope, "system" | "global") {
                own.push((key, value));
                if key == "commit.gpgsign" {
                    settings.signs = matches!(value.to_ascii_lowercase().as_str(), "true" | "yes" | "on" | "1");
                }
            } else if !foreign.contains(&key) {
                if leads_astray(key) {
                    settings.leads_astray = Some(key.to_owned());
                }
                if neutral(key).is_some() {
                    foreign.push(key);
                }
            }
        }
        if foreign.len() > MOST {
            return Err(format!("This repository's settings name more than {MOST} programs. Not done."));
        }
        for key in foreign {
            settings.pairs.extend(neutral(key).map(|value| (key.to_owned(), value.to_owned())));
            if let Some(driver) = key.strip_prefix("filter.").and_then(|rest| rest.rsplit_once('.')) {
                settings.pairs.push((format!("filter.{}.required", driver.0), "false".to_owned()));
            }
            let said = own.iter().filter(|(known, _)| *known == key);
            settings.pairs.extend(said.map(|(key, value)| ((*key).to_owned(), (*value).to_owned())));
        }
        Ok(settings)
    }

    /// As variables: a key with any letter in it comes through unharmed.
    pub fn variables(&self) -> Vec<(String, String)> {
        let numbered = self.pairs.iter().enumerate().flat_map(|(number, (key, value))| {
            [(format!("GIT_CONFIG_KEY_{number}"), key.clone()), (format!("GIT_CONFIG_VALUE_{number}"), value.clone())]
        });
        [("GIT_CONFIG_COUNT".to_owned(), self.pairs.len().to_string())].into_iter().chain(numbered).collect()
    }
}

/// Other addresses, somebody in between, or nobody who checks who answers.
fn leads_astray(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let (section, name) = (key.split('.').next().unwrap_or_default(), key.rsplit('.').next().unwrap_or_default());
    match section {
        "url" => name.ends_with("insteadof"),
        "http" => {
            ["proxy", "ssl", "schannel"].iter().any(|start| name.starts_with(start))
                || ["curloptresolve", "cookiefile", "savecookies", "followredirects", "pinnedpubkey"].contains(&name)
        }
        "remote" => name.starts_with("proxy"),
        _ => false,
    }
}

/// What a setting that names a program becomes. `None` if it does not. Of a remote's own programs git
/// takes the first that is named, so those are settled where it is told what to do.
fn neutral(key: &str) -> Option<&'static str> {
    let key = key.to_ascii_lowercase();
    let (section, name) = (key.split('.').next().unwrap_or_default(), key.rsplit('.').next().unwrap_or_default());
    match (section, name) {
        ("filter", "clean" | "smudge" | "process")
        | ("diff", "command" | "textconv")
        | ("credential", "helper")
        | ("core", "askpass" | "gitproxy")
        | ("trailer", "command" | "cmd") => Some(""),
        // Which fails, so that what it would have decided is left to people.
        ("merge", "driver")
        | ("gpg", "program" | "defaultkeycommand")
        | ("sequence" | "core", "editor")
        | ("tar", "command")
        | ("remote", "vcs")
        | ("commit" | "tag" | "push", "gpgsign") => Some("false"),
        ("core", "sshcommand") => Some("ssh"),
        // Newer git knows hooks by settings too, which no folder for hooks turns off.
        ("hook", "command") => Some("true"),
        _ => None,
    }
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
