//! Everything that is known as lines of JSON: a line per node, with the edges that begin at it.

use std::io::Write;

use serde_json::json;

use crate::error::KnowledgeError;
use crate::knowledge::Knowledge;

impl Knowledge {
    pub fn export(&self, to: &mut dyn Write) -> Result<(), KnowledgeError> {
        self.tables.each_symbol(&mut |symbol| {
            let edges: Vec<_> = self
                .tables
                .edges_from(symbol.id)?
                .into_iter()
                .map(|edge| {
                    json!({ "edge": edge.kind, "name": edge.name, "qualifier": edge.qualifier, "line": edge.line })
                })
                .collect();
            let line = json!({
                "path": symbol.path, "line": symbol.first, "end_line": symbol.last, "kind": symbol.kind,
                "domain": symbol.domain, "language": symbol.language, "name": symbol.name,
                "context": symbol.context, "signature": symbol.signature, "doc": symbol.doc,
                "paragraph": symbol.paragraph, "edges": edges,
            });
            writeln!(to, "{line}").map_err(|error| KnowledgeError::Io {
                action: "writing the export".to_owned(),
                detail: error.to_string(),
            })
        })
    }
}
