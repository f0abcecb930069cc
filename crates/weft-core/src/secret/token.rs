//! Keys that say what they are by how they begin.

use super::{Finding, Kind, Severity, shape};

/// The letters that the body of a key is made of.
#[derive(Debug, Clone, Copy)]
enum Alphabet {
    /// Letters and digits.
    Plain,
    /// And `_`.
    Snake,
    /// And `_` and `-`.
    Word,
    /// And `_`, `-` and `.`.
    Dotted,
    /// Capitals and digits.
    Upper,
    Hex,
    /// And `/`.
    Path,
}

impl Alphabet {
    const fn has(self, byte: u8) -> bool {
        match self {
            Self::Plain => byte.is_ascii_alphanumeric(),
            Self::Snake => byte.is_ascii_alphanumeric() || byte == b'_',
            Self::Word => shape::is_word(byte),
            Self::Dotted => shape::is_word(byte) || byte == b'.',
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Path => shape::is_word(byte) || byte == b'/',
        }
    }
}

/// One known form: a beginning, and how many of which letters follow.
#[derive(Debug)]
pub struct Token {
    pub prefix: &'static str,
    kind: Kind,
    alphabet: Alphabet,
    shortest: usize,
    longest: usize,
}

const fn kind(name: &'static str, words: &'static str, severity: Severity) -> Kind {
    Kind { name, words, severity, certain: true }
}

const fn token(prefix: &'static str, kind: Kind, alphabet: Alphabet, shortest: usize, longest: usize) -> Token {
    Token { prefix, kind, alphabet, shortest, longest }
}

const ANTHROPIC: Kind = kind("anthropic_key", "an Anthropic key", Severity::High);
const OPENAI: Kind = kind("openai_key", "an OpenAI key", Severity::High);
const GITHUB: Kind = kind("github_pat", "a GitHub token", Severity::High);
const GITLAB: Kind = kind("gitlab_token", "a GitLab token", Severity::High);
const SLACK: Kind = kind("slack_token", "a Slack token", Severity::High);
const STRIPE: Kind = kind("stripe_key", "a Stripe key", Severity::Critical);
const AWS: Kind = kind("aws_credentials", "an AWS key", Severity::Critical);
const GOOGLE: Kind = kind("google_key", "a Google key", Severity::High);
const PACKAGES: Kind = kind("registry_token", "a package registry token", Severity::High);
const MODELS: Kind = kind("model_key", "a model provider's key", Severity::High);
const CLOUD: Kind = kind("cloud_token", "a cloud provider's token", Severity::High);
const SERVICE: Kind = kind("service_token", "a service's token", Severity::High);
const WEBHOOK: Kind = kind("webhook", "a webhook address", Severity::Medium);
const JWT: Kind = kind("jwt", "a signed token (JWT)", Severity::High);
const AGE: Kind = kind("private_key", "a private key", Severity::Critical);

const LONG: usize = 1_024;

pub static TOKENS: &[Token] = &[
    token("sk-ant-", ANTHROPIC, Alphabet::Word, 24, LONG),
    token("sk-proj-", OPENAI, Alphabet::Word, 24, LONG),
    token("sk-svcacct-", OPENAI, Alphabet::Word, 24, LONG),
    token("sk-admin-", OPENAI, Alphabet::Word, 24, LONG),
    token("sk-or-v1-", MODELS, Alphabet::Hex, 48, 128),
    token("sk-", OPENAI, Alphabet::Plain, 32, 64),
    token("ghp_", GITHUB, Alphabet::Plain, 36, 255),
    token("gho_", GITHUB, Alphabet::Plain, 36, 255),
    token("ghu_", GITHUB, Alphabet::Plain, 36, 255),
    token("ghs_", GITHUB, Alphabet::Plain, 36, 255),
    token("ghr_", GITHUB, Alphabet::Plain, 36, 255),
    token("github_pat_", GITHUB, Alphabet::Snake, 40, 255),
    token("glpat-", GITLAB, Alphabet::Dotted, 20, 255),
    token("gldt-", GITLAB, Alphabet::Word, 20, 255),
    token("glrt-", GITLAB, Alphabet::Dotted, 20, 255),
    token("glptt-", GITLAB, Alphabet::Word, 20, 255),
    token("glcbt-", GITLAB, Alphabet::Word, 20, 255),
    token("xoxb-", SLACK, Alphabet::Word, 20, 255),
    token("xoxp-", SLACK, Alphabet::Word, 20, 255),
    token("xoxa-", SLACK, Alphabet::Word, 20, 255),
    token("xoxr-", SLACK, Alphabet::Word, 20, 255),
    token("xoxs-", SLACK, Alphabet::Word, 20, 255),
    token("xoxe-", SLACK, Alphabet::Word, 20, 255),
    token("xoxe.", SLACK, Alphabet::Dotted, 20, 255),
    token("xoxo-", SLACK, Alphabet::Word, 20, 255),
    token("xapp-", SLACK, Alphabet::Word, 20, 255),
    token("hooks.slack.com/services/", WEBHOOK, Alphabet::Path, 30, 255),
    token("discord.com/api/webhooks/", WEBHOOK, Alphabet::Path, 60, 255),
    token("discordapp.com/api/webhooks/", WEBHOOK, Alphabet::Path, 60, 255),
    token("sk_live_", STRIPE, Alphabet::Plain, 16, 255),
    token("rk_live_", STRIPE, Alphabet::Plain, 16, 255),
    token("sk_test_", STRIPE, Alphabet::Plain, 16, 255),
    token("rk_test_", STRIPE, Alphabet::Plain, 16, 255),
    token("whsec_", STRIPE, Alphabet::Plain, 24, 255),
    token("AKIA", AWS, Alphabet::Upper, 16, 16),
    token("ASIA", AWS, Alphabet::Upper, 16, 16),
    token("AIza", GOOGLE, Alphabet::Word, 35, 35),
    token("GOCSPX-", GOOGLE, Alphabet::Word, 24, 40),
    token("ya29.", GOOGLE, Alphabet::Dotted, 40, LONG),
    token("npm_", PACKAGES, Alphabet::Plain, 36, 40),
    token("pypi-AgE", PACKAGES, Alphabet::Word, 50, LONG),
    token("dckr_pat_", PACKAGES, Alphabet::Word, 20, 64),
    token("rubygems_", PACKAGES, Alphabet::Hex, 48, 48),
    token("cio", PACKAGES, Alphabet::Plain, 32, 32),
    token("hf_", MODELS, Alphabet::Plain, 30, 64),
    token("gsk_", MODELS, Alphabet::Plain, 40, 80),
    token("xai-", MODELS, Alphabet::Plain, 60, 128),
    token("pplx-", MODELS, Alphabet::Plain, 40, 80),
    token("r8_", MODELS, Alphabet::Plain, 36, 48),
    token("dapi", CLOUD, Alphabet::Hex, 32, 32),
    token("dop_v1_", CLOUD, Alphabet::Hex, 64, 64),
    token("doo_v1_", CLOUD, Alphabet::Hex, 64, 64),
    token("hvs.", CLOUD, Alphabet::Word, 24, 255),
    token("pscale_tkn_", CLOUD, Alphabet::Dotted, 32, 64),
    token("sbp_", CLOUD, Alphabet::Hex, 40, 40),
    token("shpat_", SERVICE, Alphabet::Hex, 32, 32),
    token("shpss_", SERVICE, Alphabet::Hex, 32, 32),
    token("sq0atp-", SERVICE, Alphabet::Word, 22, 22),
    token("sq0csp-", SERVICE, Alphabet::Word, 43, 43),
    token("SG.", SERVICE, Alphabet::Dotted, 60, 80),
    token("lin_api_", SERVICE, Alphabet::Plain, 32, 64),
    token("ntn_", SERVICE, Alphabet::Plain, 40, 64),
    token("figd_", SERVICE, Alphabet::Word, 36, 64),
    token("sntrys_", SERVICE, Alphabet::Word, 40, 255),
    token("NRAK-", SERVICE, Alphabet::Upper, 27, 27),
    token("ATATT3xFfGF0", SERVICE, Alphabet::Word, 40, 255),
    token("AGE-SECRET-KEY-1", AGE, Alphabet::Upper, 50, 64),
];

impl Token {
    /// The key that begins at `start`, if it is one.
    pub fn at(&self, text: &[u8], start: usize) -> Option<Finding> {
        let rest = text.get(start..)?;
        let body = rest.strip_prefix(self.prefix.as_bytes())?;
        // Base64 has slashes too, but none of the letters that most keys begin with.
        let in_path = text.get(start.wrapping_sub(1)) == Some(&b'/') && self.prefix.contains(['-', '_', '/']);
        if !(in_path || shape::begins_anew(text, start)) {
            return None;
        }
        let length = body.iter().take(self.longest + 1).take_while(|byte| self.alphabet.has(**byte)).count();
        let length = before_a_head(body.get(..length)?);
        if length < self.shortest || length > self.longest || shape::is_blank(body.get(..length)?) {
            return None;
        }
        Some(Finding { kind: self.kind, start, end: start + self.prefix.len() + length })
    }
}

/// Where a private key's head follows at once, its dashes are not part of this key.
fn before_a_head(body: &[u8]) -> usize {
    memchr::memmem::find(body, b"-----").unwrap_or(body.len())
}

/// A key of a known form that begins exactly here.
pub fn any_at(text: &[u8], start: usize) -> Option<Finding> {
    TOKENS.iter().find_map(|token| token.at(text, start))
}

/// Three parts in base64, of which the first two are JSON.
pub fn jwt(text: &[u8], start: usize) -> Option<Finding> {
    const SHORTEST_PART: usize = 10;
    if !shape::begins_anew(text, start) {
        return None;
    }
    let mut at = start;
    for part in 0..3 {
        let rest = text.get(at..)?;
        let length = rest.iter().take_while(|byte| shape::is_word(**byte)).count();
        let length = before_a_head(rest.get(..length)?);
        if length < SHORTEST_PART || (part < 2 && !rest.starts_with(b"eyJ")) {
            return None;
        }
        at += length;
        if part < 2 {
            if text.get(at) != Some(&b'.') {
                return None;
            }
            at += 1;
        }
    }
    Some(Finding { kind: JWT, start, end: at })
}
