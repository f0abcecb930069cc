//! A file that begins with YAML between `---` lines, as agents, skills and commands do.

use serde::de::DeserializeOwned;

/// The front matter as a type of the caller's, and the text below it. A file without one is all
/// text.
pub fn read<T: DeserializeOwned + Default>(text: &str) -> Result<(T, String), String> {
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let Some(rest) = text.strip_prefix("---\n") else { return Ok((T::default(), text.trim().to_owned())) };
    let (head, body) = match rest.strip_prefix("---\n") {
        Some(body) => ("", body),
        None => rest
            .split_once("\n---\n")
            .or_else(|| rest.strip_suffix("\n---").map(|head| (head, "")))
            .ok_or("the front matter has no closing `---` line")?,
    };
    if head.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
        return Ok((T::default(), body.trim().to_owned()));
    }
    let fields = serde_saphyr::from_str(head).map_err(|error: serde_saphyr::Error| {
        let number = error.location().map_or(1, |place| place.line() as usize);
        let line = head.lines().nth(number.saturating_sub(1)).unwrap_or_default().trim();
        format!("line {} of the file, `{line}`, cannot be read", number + 1)
    })?;
    Ok((fields, body.trim().to_owned()))
}

/// A list that people write as one, or as words with commas between.
#[derive(Debug, Clone, PartialEq, serde::Deserialize)]
#[serde(untagged)]
pub enum Names {
    List(Vec<String>),
    Words(String),
}

impl Names {
    pub fn into_list(self) -> Vec<String> {
        match self {
            Self::List(names) => names,
            Self::Words(words) => {
                let names = words.split([',', ' ']).map(str::trim).filter(|name| !name.is_empty());
                names.map(str::to_owned).collect()
            }
        }
    }
}
