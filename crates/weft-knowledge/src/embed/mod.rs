//! Words to vectors: the models, and the lexical fallback.
