//! Vectors for texts, from a provider that speaks OpenAI's `/embeddings` or from Voyage, which is
//! nearly the same.
//!
//! One request at a time, as it is: dividing up, trying again and hiding secrets is the caller's part.

use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;
use weft_core::{Failure, FailureKind};

use super::http::Endpoint;
use super::{Protocol, ProviderConfig, Secret};

/// An answer has about ten letters for each number of a vector.
const LARGEST_ANSWER: usize = 64 * 1024 * 1024;

/// What a text is, for models that read questions in another way than passages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Passage,
    Question,
}

/// One model of one provider.
pub struct Embeddings {
    config: ProviderConfig,
    endpoint: Endpoint,
    model: String,
    dimension: usize,
    /// The provider is told the dimension, which not all understand.
    asks_dimension: bool,
}

impl Embeddings {
    /// The name of the provider whose dialect differs.
    pub const VOYAGE: &str = "voyage";

    /// Voyage, which is nobody's provider of conversations.
    pub fn voyage() -> ProviderConfig {
        ProviderConfig {
            key_env: vec!["VOYAGE_API_KEY".to_owned()],
            base_url_env: vec!["VOYAGE_BASE_URL".to_owned()],
            needs_key: true,
            ..ProviderConfig::new(Self::VOYAGE, Protocol::Chat, "https://api.voyageai.com/v1")
        }
    }

    /// How long the vectors of a model are, where that is known.
    pub fn known_dimension(model: &str) -> Option<usize> {
        const KNOWN: [(&str, usize); 13] = [
            ("text-embedding-3-small", 1536),
            ("text-embedding-3-large", 3072),
            ("text-embedding-ada-002", 1536),
            ("voyage-3-large", 1024),
            ("voyage-3.5", 1024),
            ("voyage-3.5-lite", 1024),
            ("voyage-code-3", 1024),
            ("voyage-law-2", 1024),
            ("voyage-finance-2", 1024),
            ("nomic-embed-text", 768),
            ("mxbai-embed-large", 1024),
            ("bge-m3", 1024),
            ("all-minilm", 384),
        ];
        let bare = model.rsplit('/').next().unwrap_or(model);
        let bare = bare.split(':').next().unwrap_or(bare);
        KNOWN.iter().find(|(known, _)| *known == bare).map(|(_, dimension)| *dimension)
    }

    /// `dimension` is what the person says of the model; without it the model must be a known one.
    pub fn new(
        config: ProviderConfig,
        key: Option<Secret>,
        model: &str,
        dimension: Option<usize>,
    ) -> Result<Self, Failure> {
        let name = Arc::clone(&config.name);
        match config.protocol {
            Protocol::Chat | Protocol::Responses => {}
            Protocol::Anthropic | Protocol::Gemini => {
                let message = format!("{name} does not offer embeddings that Weft knows how to ask for.");
                return Err(Failure::new(FailureKind::Config, message));
            }
        }
        let known = Self::known_dimension(model);
        let Some(wanted) = dimension.or(known).filter(|dimension| (1..=16_384).contains(dimension)) else {
            let message = format!(
                "How long the vectors of `{name}/{model}` are is not known. Say it with `weft config set knowledge.dimension NUMBER`."
            );
            return Err(Failure::new(FailureKind::Config, message));
        };
        let key = key.filter(|key| !key.is_empty());
        if config.needs_key && key.is_none() {
            let variable = config.key_env.first().map(|variable| format!("Set {variable}, or run")).unwrap_or_default();
            let message = format!("There is no key for {name}. {variable} `weft auth {name}`.");
            return Err(Failure::new(FailureKind::Auth, message));
        }
        let endpoint = Endpoint::new(Arc::clone(&name), &config.base_url, &config.headers, key, config.idle_timeout)?;
        // A model is asked for its own length in vain, and refuses to be asked where it knows only one.
        let asks_dimension = known.is_some_and(|known| known != wanted);
        Ok(Self { config, endpoint, model: model.to_owned(), dimension: wanted, asks_dimension })
    }

    pub const fn dimension(&self) -> usize {
        self.dimension
    }

    /// Vectors of different names are never compared.
    pub fn name(&self) -> String {
        format!("{}/{}", self.config.name, self.model)
    }

    /// One vector for each text, in order.
    pub async fn embed(&self, texts: &[String], purpose: Purpose) -> Result<Vec<Vec<f32>>, Failure> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let mut body = json!({"model": self.model, "input": texts});
        if let Some(body) = body.as_object_mut() {
            if self.is_voyage() {
                let kind = match purpose {
                    Purpose::Passage => "document",
                    Purpose::Question => "query",
                };
                body.insert("input_type".to_owned(), kind.into());
            } else {
                body.insert("encoding_format".to_owned(), "float".into());
            }
            if self.asks_dimension {
                let name = if self.is_voyage() { "output_dimension" } else { "dimensions" };
                body.insert(name.to_owned(), self.dimension.into());
            }
        }
        let auth = self.endpoint.key().map(|key| self.config.protocol.auth(&self.config.name, key)).transpose()?;
        let body = body.to_string().into_bytes();
        let answer = self.endpoint.ask("/embeddings", auth, body, LARGEST_ANSWER).await?;
        self.read(&answer, texts.len())
    }

    fn is_voyage(&self) -> bool {
        &*self.config.name == Self::VOYAGE
    }

    fn read(&self, answer: &[u8], wanted: usize) -> Result<Vec<Vec<f32>>, Failure> {
        let wrong = |what: String| Failure::new(FailureKind::Protocol, what);
        let answer: Answer = serde_json::from_slice(answer)
            .map_err(|_| wrong(format!("What {} sent is no list of vectors. Check its address.", self.config.name)))?;
        let mut vectors: Vec<Vec<f32>> = vec![Vec::new(); wanted];
        for one in answer.data {
            if one.embedding.len() != self.dimension {
                // Trying again gives the same.
                let message = format!(
                    "`{}` gives vectors of {} numbers, not of {}. Say it with `weft config set knowledge.dimension {}`.",
                    self.name(),
                    one.embedding.len(),
                    self.dimension,
                    one.embedding.len()
                );
                return Err(Failure::new(FailureKind::Config, message));
            }
            let place = vectors.get_mut(one.index).filter(|place| place.is_empty());
            let place = place.ok_or_else(|| wrong(format!("{} sent a vector nobody asked for.", self.config.name)))?;
            *place = one.embedding;
        }
        if vectors.iter().any(Vec::is_empty) {
            return Err(wrong(format!("{} sent fewer vectors than texts it was given.", self.config.name)));
        }
        Ok(vectors)
    }
}

impl fmt::Debug for Embeddings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Embeddings").field("model", &self.name()).finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<OneVector>,
}

#[derive(Deserialize)]
struct OneVector {
    index: usize,
    embedding: Vec<f32>,
}
