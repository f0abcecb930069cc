//! A person's own words for where work stands, and the colours of statuses and labels.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Where a piece of work stands, in the person's own words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Status {
    #[schema(min_length = 1, max_length = 60)]
    pub name: String,
    /// Whether there is still something to do.
    #[serde(default)]
    pub category: Category,
    #[serde(default)]
    pub icon: Icon,
    /// Without one it is drawn in the colour of the text.
    #[serde(default)]
    pub colour: Option<Colour>,
    /// A letter or digit: pressed after `s`, it gives a session this status.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 1, pattern = "^[a-z0-9]$")]
    pub shortcut: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    #[default]
    Open,
    Closed,
}

/// The pictures that the page has for statuses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Icon {
    #[default]
    Circle,
    Half,
    Eye,
    Check,
    Cross,
    Pause,
    Flag,
    Star,
    Clock,
    Bolt,
}

/// One colour for light screens and one for dark ones, as `#rrggbb`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Colour {
    #[schema(pattern = "^#[0-9a-fA-F]{6}$")]
    pub light: String,
    #[schema(pattern = "^#[0-9a-fA-F]{6}$")]
    pub dark: String,
}

impl Colour {
    fn new(light: &str, dark: &str) -> Self {
        Self { light: light.to_owned(), dark: dark.to_owned() }
    }

    /// The page puts them into styles, so nothing but a colour may be in them.
    pub fn is_one(&self) -> bool {
        [&self.light, &self.dark].into_iter().all(|text| {
            text.strip_prefix('#')
                .is_some_and(|digits| digits.len() == 6 && digits.bytes().all(|b| b.is_ascii_hexdigit()))
        })
    }
}

/// What there is before a person has words of their own.
pub fn usual() -> Vec<Status> {
    use Category::{Closed, Open};
    let status = |name: &str, category, icon, light: &str, dark: &str, shortcut: &str| Status {
        name: name.to_owned(),
        category,
        icon,
        colour: Some(Colour::new(light, dark)),
        shortcut: Some(shortcut.to_owned()),
    };
    vec![
        status("Todo", Open, Icon::Circle, "#5b6270", "#a5adba", "1"),
        status("In progress", Open, Icon::Half, "#2b62a8", "#7fb2f0", "2"),
        status("Needs review", Open, Icon::Eye, "#8a5a12", "#e8b86d", "3"),
        status("Done", Closed, Icon::Check, "#247438", "#7cc48d", "4"),
        status("Cancelled", Closed, Icon::Cross, "#b3261e", "#f28b82", "5"),
    ]
}

/// A status as it may lie in the file: earlier versions kept only names.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Stored {
    Name(String),
    Whole(Status),
}

impl From<Stored> for Status {
    fn from(stored: Stored) -> Self {
        match stored {
            Stored::Whole(status) => status,
            Stored::Name(name) => usual().into_iter().find(|status| status.name == name).unwrap_or(Self {
                name,
                category: Category::default(),
                icon: Icon::default(),
                colour: None,
                shortcut: None,
            }),
        }
    }
}
