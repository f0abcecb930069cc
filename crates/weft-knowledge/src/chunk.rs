//! A chunk: the piece of a file, document or session that a search finds.
//!
//! The numbers of [`Domain`], [`Kind`] and [`Language`] are stored; they never change and are never
//! used again for something else.

use serde::Serialize;

/// The row of a chunk. A number is used once: a changed chunk gets a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct ChunkId(pub u64);

/// A piece of text with everything a search needs to know of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    pub id: ChunkId,
    pub domain: Domain,
    pub kind: Kind,
    /// Within the workspace, with `/`; of history, the session.
    pub path: String,
    pub language: Option<Language>,
    pub place: Place,
    /// The symbol or the heading; empty where there is none.
    pub name: String,
    /// The names or headings around it, outermost first, divided by ` > `.
    pub context: String,
    pub text: String,
    /// When its file was last changed, or when it happened, in milliseconds since 1970.
    pub time: i64,
}

/// Where a chunk stands in its file. Lines count from one and include the last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    Lines { first: u32, last: u32 },
    Paragraph { id: String, first: u32, last: u32 },
}

impl Place {
    pub fn first_line(&self) -> u32 {
        match self {
            Self::Lines { first, .. } | Self::Paragraph { first, .. } => *first,
        }
    }

    pub fn last_line(&self) -> u32 {
        match self {
            Self::Lines { last, .. } | Self::Paragraph { last, .. } => *last,
        }
    }

    pub fn paragraph(&self) -> Option<&str> {
        match self {
            Self::Lines { .. } => None,
            Self::Paragraph { id, .. } => Some(id),
        }
    }
}

macro_rules! stored_enum {
    ($(#[$about:meta])* $name:ident { $($(#[$what:meta])* $variant:ident = $number:literal, $word:literal;)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$what])* $variant = $number),+ }

        impl $name {
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            pub fn number(self) -> u8 {
                self as u8
            }

            pub fn from_number(number: u8) -> Option<Self> {
                match number { $($number => Some(Self::$variant),)+ _ => None }
            }

            /// The word people use for it, in commands and in JSON.
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.word())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.word())
            }
        }
    };
}
pub(crate) use stored_enum;

stored_enum! {
    /// The three parts of what is known.
    Domain {
        Code = 0, "code";
        Documents = 1, "documents";
        History = 2, "history";
    }
}

stored_enum! {
    /// What a node of the graph is; a chunk has the kind of its node.
    Kind {
        File = 0, "file";
        Module = 1, "module";
        Function = 2, "function";
        Method = 3, "method";
        Struct = 4, "struct";
        Class = 5, "class";
        Enum = 6, "enum";
        Interface = 7, "interface";
        Type = 8, "type";
        Constant = 9, "constant";
        Variable = 10, "variable";
        Field = 11, "field";
        Macro = 12, "macro";
        Test = 13, "test";
        Document = 40, "document";
        Section = 41, "section";
        Paragraph = 42, "paragraph";
        Table = 43, "table";
        Session = 80, "session";
        Turn = 81, "turn";
        Decision = 82, "decision";
        Failure = 83, "failure";
        TaskCompletion = 84, "task_completion";
        Pattern = 85, "pattern";
        Refactoring = 86, "refactoring";
        BugFix = 87, "bug_fix";
        Feature = 88, "feature";
        Commit = 89, "commit";
        Paper = 90, "paper";
        Plan = 91, "plan";
    }
}

stored_enum! {
    /// How one node leads to another. `defines` and `contains` are not stored: they are the parent of
    /// a node.
    EdgeKind {
        Defines = 0, "defines";
        Contains = 1, "contains";
        Imports = 2, "imports";
        Calls = 3, "calls";
        References = 4, "references";
        Extends = 5, "extends";
        Tests = 6, "tests";
        Mentions = 7, "mentions";
        Cites = 8, "cites";
        Changed = 9, "changed";
    }
}

stored_enum! {
    /// The language of a file, where it is known.
    Language {
        Rust = 0, "rust";
        Python = 1, "python";
        TypeScript = 2, "typescript";
        Tsx = 3, "tsx";
        JavaScript = 4, "javascript";
        Go = 5, "go";
        Java = 6, "java";
        C = 7, "c";
        Cpp = 8, "cpp";
        CSharp = 9, "csharp";
        Ruby = 10, "ruby";
        Php = 11, "php";
        Bash = 12, "bash";
        Markdown = 20, "markdown";
        Html = 21, "html";
        Pdf = 22, "pdf";
        Docx = 23, "docx";
        Text = 24, "text";
        Json = 30, "json";
        Yaml = 31, "yaml";
        Toml = 32, "toml";
        Xml = 33, "xml";
        Css = 34, "css";
        Sql = 35, "sql";
    }
}
