//! The event types of the page, made from those of the engine: reads the Rust source, follows what serde's
//! attributes say, and writes TypeScript. What it does not understand is an error, never a guess.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Fields, GenericArgument, Ident, Item, LitInt, LitStr, PathArguments, Token, Type, Variant};

/// Types whose JSON is written by hand in Rust, and what it is.
const BY_HAND: &[(&str, &str)] = &[("ModelName", "string")];

#[derive(Clone)]
enum Shape {
    Struct(Vec<Attribute>, Fields),
    Enum(Vec<Attribute>, Vec<Variant>),
    /// An id: a number here, a short text in JSON.
    Text(Vec<Attribute>),
}

/// Everything that was declared in the files read, by name.
#[derive(Default)]
pub struct Declared(BTreeMap<String, Shape>);

impl Declared {
    pub fn read(&mut self, source: &str) {
        for item in syn::parse_file(source).unwrap().items {
            match item {
                Item::Struct(item) if is_serialized(&item.attrs) => {
                    self.0.insert(item.ident.to_string(), Shape::Struct(item.attrs, item.fields));
                }
                Item::Enum(item) if is_serialized(&item.attrs) => {
                    self.0.insert(item.ident.to_string(), Shape::Enum(item.attrs, item.variants.into_iter().collect()));
                }
                Item::Macro(item) if item.mac.path.is_ident("events") => {
                    let Kinds(variants) = item.mac.parse_body().unwrap();
                    let attributes = syn::parse_quote!(#[serde(tag = "type", rename_all = "snake_case")]);
                    self.0.insert("Event".to_owned(), Shape::Enum(vec![attributes], variants));
                }
                Item::Macro(item) if item.mac.path.is_ident("id") => {
                    let Named { attributes, name } = item.mac.parse_body().unwrap();
                    self.0.insert(name.to_string(), Shape::Text(attributes));
                }
                _ => {}
            }
        }
    }

    /// The declarations of these types and of all that they are made of. `renamed` names some otherwise.
    pub fn write(&self, roots: &[&str], renamed: &[(&str, &str)]) -> String {
        let mut writer =
            Writer { declared: self, renamed, seen: BTreeSet::new(), waiting: Vec::new(), text: String::new() };
        writer.waiting.extend(roots.iter().rev().map(|&root| root.to_owned()));
        while let Some(name) = writer.waiting.pop() {
            if writer.seen.insert(name.clone()) {
                writer.declare(&name);
            }
        }
        writer.text
    }
}

/// The body of `events!`: documented numbers with names, each name being the type of its payload.
struct Kinds(Vec<Variant>);

impl Parse for Kinds {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut variants = Vec::new();
        while !input.is_empty() {
            let attributes = input.call(Attribute::parse_outer)?;
            input.parse::<LitInt>()?;
            let name: Ident = input.parse()?;
            input.parse::<Token![,]>()?;
            variants.push(syn::parse_quote!(#(#attributes)* #name(#name)));
        }
        variants.push(syn::parse_quote!(
            /// Written by a newer Weft.
            Unknown(Unknown)
        ));
        Ok(Self(variants))
    }
}

/// The body of `id!`.
struct Named {
    attributes: Vec<Attribute>,
    name: Ident,
}

impl Parse for Named {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        Ok(Self { attributes: input.call(Attribute::parse_outer)?, name: input.parse()? })
    }
}

fn is_serialized(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("derive")
            && attribute
                .parse_args_with(Punctuated::<syn::Path, Token![,]>::parse_terminated)
                .unwrap()
                .iter()
                .any(|path| path.segments.last().is_some_and(|segment| segment.ident == "Serialize"))
    })
}

/// What serde is told about a type, a variant or a field, as far as it changes what is written.
#[derive(Default)]
struct Told {
    tag: Option<String>,
    content: Option<String>,
    snake_case: bool,
    rename: Option<String>,
    transparent: bool,
    untagged: bool,
    flatten: bool,
    skipped: bool,
    may_be_absent: bool,
}

fn told(attributes: &[Attribute]) -> Told {
    let mut told = Told::default();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
        let read = attribute.parse_nested_meta(|meta| {
            let name = meta.path.require_ident()?.to_string();
            let value = if meta.input.peek(Token![=]) { Some(meta.value()?.parse::<LitStr>()?.value()) } else { None };
            match (name.as_str(), value) {
                ("tag", value) => told.tag = value,
                ("content", value) => told.content = value,
                ("rename", value) => told.rename = value,
                ("rename_all", Some(style)) if style == "snake_case" => told.snake_case = true,
                ("transparent", None) => told.transparent = true,
                ("untagged", None) => told.untagged = true,
                ("flatten", None) => told.flatten = true,
                ("skip" | "skip_serializing", None) => told.skipped = true,
                ("skip_serializing_if", Some(_)) => told.may_be_absent = true,
                // These change only what is read.
                ("default" | "deny_unknown_fields" | "other" | "alias" | "skip_deserializing" | "borrow", _) => {}
                (other, _) => return Err(meta.error(format!("the page's types know nothing of serde's `{other}`"))),
            }
            Ok(())
        });
        if let Err(error) = read {
            panic!("{error}");
        }
    }
    told
}

/// What stands before an item as `///`, as one text.
fn documentation(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        syn::Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value().trim().to_owned()),
            _ => None,
        },
        _ => None,
    });
    lines.collect::<Vec<_>>().join(" ")
}

fn comment(attributes: &[Attribute], indent: &str) -> String {
    let text = documentation(attributes);
    if text.is_empty() { String::new() } else { format!("{indent}/** {} */\n", text.replace("*/", "* /")) }
}

fn snake(name: &str) -> String {
    let mut text = String::new();
    for (place, letter) in name.char_indices() {
        if letter.is_uppercase() && place > 0 {
            text.push('_');
        }
        text.extend(letter.to_lowercase());
    }
    text
}

struct Writer<'a> {
    declared: &'a Declared,
    renamed: &'a [(&'a str, &'a str)],
    seen: BTreeSet<String>,
    waiting: Vec<String>,
    text: String,
}

impl Writer<'_> {
    fn declare(&mut self, name: &str) {
        let shown = self.shown(name);
        if let Some((_, json)) = BY_HAND.iter().find(|(by_hand, _)| *by_hand == name) {
            let _ = write!(self.text, "\nexport type {shown} = {json};\n");
            return;
        }
        let shape = self.declared.0.get(name).cloned();
        match shape.unwrap_or_else(|| panic!("`{name}` is part of an event, and nothing says how it is written")) {
            Shape::Text(attributes) => {
                let _ = write!(self.text, "\n{}export type {shown} = string;\n", comment(&attributes, ""));
            }
            Shape::Struct(attributes, fields) => {
                let json = self.structure(&fields, &told(&attributes), "");
                let declaration = match json.strip_prefix('{') {
                    Some(body) if !json.contains("\n} & ") => format!("export interface {shown} {{{body}\n"),
                    _ => format!("export type {shown} = {json};\n"),
                };
                let _ = write!(self.text, "\n{}{declaration}", comment(&attributes, ""));
            }
            Shape::Enum(attributes, variants) => {
                let told = told(&attributes);
                let mut lines = String::new();
                for variant in &variants {
                    let json = self.variant(variant, &told);
                    let _ = write!(lines, "\n{}  | {json}", comment(&variant.attrs, "  "));
                }
                let _ = write!(self.text, "\n{}export type {shown} ={lines};\n", comment(&attributes, ""));
            }
        }
    }

    fn shown(&self, name: &str) -> String {
        let found = self.renamed.iter().find(|(old, _)| *old == name);
        found.map_or(name, |(_, new)| *new).to_owned()
    }

    fn structure(&mut self, fields: &Fields, of: &Told, indent: &str) -> String {
        match fields {
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                let inner = fields.unnamed.first().unwrap();
                self.json(&inner.ty)
            }
            Fields::Named(_) if of.transparent => panic!("a transparent type with named fields"),
            Fields::Named(fields) => {
                let mut lines = String::from("{\n");
                let mut beside = String::new();
                for field in &fields.named {
                    let told = told(&field.attrs);
                    if told.skipped {
                        continue;
                    }
                    if told.flatten {
                        beside = format!("{beside} & {}", self.json(&field.ty));
                        continue;
                    }
                    lines += &comment(&field.attrs, &format!("{indent}  "));
                    let name = told.rename.unwrap_or_else(|| field.ident.as_ref().unwrap().to_string());
                    // What is left out when there is none is never `null`.
                    let (sign, json) = match option(&field.ty) {
                        Some(inner) if told.may_be_absent => ("?", self.json(inner)),
                        _ => (if told.may_be_absent { "?" } else { "" }, self.json(&field.ty)),
                    };
                    let _ = writeln!(lines, "{indent}  {name}{sign}: {json};");
                }
                format!("{lines}{indent}}}{beside}")
            }
            Fields::Unit | Fields::Unnamed(_) => panic!("a shape that no event has had so far"),
        }
    }

    fn variant(&mut self, variant: &Variant, of: &Told) -> String {
        let own = told(&variant.attrs);
        let plain = variant.ident.to_string();
        let name = own.rename.unwrap_or_else(|| if of.snake_case { snake(&plain) } else { plain });
        assert!(!of.untagged, "an untagged enum: what it is cannot be told from its JSON");
        let none = Told::default();
        match (&of.tag, &of.content, &variant.fields) {
            (None, _, Fields::Unit) => format!("'{name}'"),
            (None, _, fields) => format!("{{ {name}: {} }}", self.structure(fields, &none, "    ")),
            (Some(tag), _, Fields::Unit) => format!("{{ {tag}: '{name}' }}"),
            (Some(tag), Some(content), fields) => {
                format!("{{ {tag}: '{name}'; {content}: {} }}", self.structure(fields, &none, "    "))
            }
            (Some(tag), None, fields @ Fields::Unnamed(_)) => {
                format!("({{ {tag}: '{name}' }} & {})", self.structure(fields, &none, "    "))
            }
            (Some(tag), None, fields @ Fields::Named(_)) => {
                let body = self.structure(fields, &none, "    ");
                body.replacen('{', &format!("{{\n      {tag}: '{name}';"), 1)
            }
        }
    }

    fn json(&mut self, of: &Type) -> String {
        match of {
            Type::Reference(reference) => self.json(&reference.elem),
            Type::Path(path) => {
                let segment = path.path.segments.last().unwrap();
                let inner: Vec<&Type> = match &segment.arguments {
                    PathArguments::AngleBracketed(list) => list.args.iter().filter_map(type_argument).collect(),
                    PathArguments::None | PathArguments::Parenthesized(_) => Vec::new(),
                };
                self.named(&segment.ident.to_string(), &inner)
            }
            _ => panic!("a type that no event has had so far"),
        }
    }

    fn named(&mut self, name: &str, inner: &[&Type]) -> String {
        match (name, inner) {
            ("String" | "str" | "char", []) => "string".to_owned(),
            ("bool", []) => "boolean".to_owned(),
            ("Value", []) => "unknown".to_owned(),
            ("u8" | "u16" | "u32" | "u64" | "usize" | "i8" | "i16" | "i32" | "i64" | "isize" | "f32" | "f64", []) => {
                "number".to_owned()
            }
            ("Box" | "Arc" | "Rc" | "Cow", [inner]) => self.json(inner),
            ("Option", [inner]) => format!("{} | null", self.json(inner)),
            ("Vec" | "VecDeque" | "BTreeSet" | "HashSet", [inner]) => {
                let each = self.json(inner);
                if each.contains(' ') { format!("({each})[]") } else { format!("{each}[]") }
            }
            ("Map" | "BTreeMap" | "HashMap", [_, value]) => format!("Record<string, {}>", self.json(value)),
            (name, []) => {
                self.waiting.push(name.to_owned());
                self.shown(name)
            }
            (name, _) => panic!("`{name}` with arguments is not known here"),
        }
    }
}

fn type_argument(argument: &GenericArgument) -> Option<&Type> {
    if let GenericArgument::Type(inner) = argument { Some(inner) } else { None }
}

fn option(of: &Type) -> Option<&Type> {
    let Type::Path(path) = of else { return None };
    let segment = path.path.segments.last().filter(|segment| segment.ident == "Option")?;
    let PathArguments::AngleBracketed(list) = &segment.arguments else { return None };
    list.args.first().and_then(type_argument)
}
