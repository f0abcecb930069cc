//! Which language a file is written in, and whether it is code or a document.

use crate::chunk::{Domain, Language};

/// By the end of the name, by names that are known, and by the first line of scripts.
pub(crate) fn of(path: &str, head: &[u8]) -> Option<Language> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let known = match name {
        "Makefile" | "makefile" | "Dockerfile" | "Justfile" | "justfile" => None,
        "Gemfile" | "Rakefile" => Some(Language::Ruby),
        "README" | "LICENSE" | "CHANGELOG" | "NOTICE" | "AUTHORS" => Some(Language::Text),
        ".bashrc" | ".profile" | ".bash_profile" => Some(Language::Bash),
        _ => None,
    };
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    known.or_else(|| ending.as_deref().and_then(by_ending)).or_else(|| by_first_line(head))
}

fn by_ending(ending: &str) -> Option<Language> {
    Some(match ending {
        "rs" => Language::Rust,
        "py" | "pyi" => Language::Python,
        "ts" | "mts" | "cts" => Language::TypeScript,
        "tsx" => Language::Tsx,
        "js" | "mjs" | "cjs" | "jsx" => Language::JavaScript,
        "go" => Language::Go,
        "java" => Language::Java,
        "c" | "h" => Language::C,
        "cc" | "cpp" | "cxx" | "hpp" | "hh" | "hxx" | "ipp" => Language::Cpp,
        "cs" => Language::CSharp,
        "rb" | "rake" => Language::Ruby,
        "php" => Language::Php,
        "sh" | "bash" | "zsh" => Language::Bash,
        "md" | "markdown" | "mdx" => Language::Markdown,
        "html" | "htm" | "xhtml" => Language::Html,
        "pdf" => Language::Pdf,
        "docx" => Language::Docx,
        "txt" | "text" | "rst" | "adoc" => Language::Text,
        "json" | "jsonc" => Language::Json,
        "yaml" | "yml" => Language::Yaml,
        "toml" => Language::Toml,
        "xml" | "svg" => Language::Xml,
        "css" | "scss" | "less" => Language::Css,
        "sql" => Language::Sql,
        _ => return None,
    })
}

fn by_first_line(head: &[u8]) -> Option<Language> {
    let line = head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line);
    let has = |word: &str| line.contains(word);
    if has("bash") || line.trim_end().ends_with("sh") {
        Some(Language::Bash)
    } else if has("python") {
        Some(Language::Python)
    } else if has("node") {
        Some(Language::JavaScript)
    } else if has("ruby") {
        Some(Language::Ruby)
    } else if has("php") {
        Some(Language::Php)
    } else {
        None
    }
}

pub(crate) fn domain(language: Option<Language>) -> Domain {
    match language {
        Some(Language::Markdown | Language::Html | Language::Pdf | Language::Docx | Language::Text) => {
            Domain::Documents
        }
        Some(
            Language::Rust
            | Language::Python
            | Language::TypeScript
            | Language::Tsx
            | Language::JavaScript
            | Language::Go
            | Language::Java
            | Language::C
            | Language::Cpp
            | Language::CSharp
            | Language::Ruby
            | Language::Php
            | Language::Bash
            | Language::Json
            | Language::Yaml
            | Language::Toml
            | Language::Xml
            | Language::Css
            | Language::Sql,
        )
        | None => Domain::Code,
    }
}
