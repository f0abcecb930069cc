//! The keychain of the person's desktop: the Secret Service (GNOME Keyring, KWallet, KeePassXC) on
//! their own bus. Where none runs, or it is locked, that is said at once and quietly; nobody is asked
//! for a password, and nothing waits longer than [`PATIENCE`].
//!
//! The bus is spoken to by hand (`bus`, `wire`), for these few calls, which block: `rustbus` opens sockets
//! that started programs inherit, libdbus is C, and `zbus` would be some ten crates more and an async
//! conversation. Should more of the bus ever be needed, `zbus` is the one to take.

mod bus;
mod wire;

use std::path::Path;
use std::time::Duration;

use self::bus::{Bus, BusError, Call};
use self::wire::{Reader, Writer};
use crate::vault::Secret;

/// For everything that one key takes.
const PATIENCE: Duration = Duration::from_secs(5);
const SERVICE: &str = "org.freedesktop.secrets";
const ROOT: &str = "/org/freedesktop/secrets";
/// Stands for "no object".
const NOTHING: &str = "/";

/// Where the keychain is; nothing is opened before a key is put in or taken out.
#[derive(Debug, Clone)]
pub struct Keychain {
    addresses: String,
}

#[derive(Debug, thiserror::Error)]
pub enum KeychainError {
    #[error("it is locked. Unlock it, for example by signing in to your desktop")]
    Locked,
    #[error("{0}")]
    Away(String),
}

impl From<BusError> for KeychainError {
    fn from(error: BusError) -> Self {
        Self::Away(error.to_string())
    }
}

/// Whose key, of which vault. Not secret.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Label<'a> {
    pub profile: &'a str,
    pub name: &'a str,
    /// Homes of their own have keys of their own.
    pub folder: &'a Path,
}

impl Keychain {
    /// The one of this desktop session, if there may be one. `env` looks up environment variables.
    pub fn find(env: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let set = |name: &str| env(name).filter(|value| !value.is_empty());
        let addresses = set("DBUS_SESSION_BUS_ADDRESS").or_else(|| {
            let socket = Path::new(&set("XDG_RUNTIME_DIR")?).join("bus");
            socket.exists().then(|| format!("unix:path={}", socket.display()))
        });
        addresses.map(|addresses| Self { addresses })
    }

    pub(crate) fn set(&self, label: Label<'_>, secret: &Secret) -> Result<(), KeychainError> {
        let mut open = Open::new(self)?;
        let collection = open.collection()?;
        let attributes = label.attributes();
        let mut body = Writer::default();
        body.array(8, |items| {
            items.align(8);
            items.string("org.freedesktop.Secret.Item.Label");
            items.signature("s");
            items.string(&format!("Weft: key for {}", label.name));
            items.align(8);
            items.string("org.freedesktop.Secret.Item.Attributes");
            items.signature("a{ss}");
            items.dictionary(&borrowed(&attributes));
        });
        body.align(8);
        body.string(&open.session);
        body.bytes(&[]);
        body.bytes(secret.expose().as_bytes());
        body.string("text/plain");
        body.truth(true);
        let made = open.call(&collection, "Collection", "CreateItem", "a{sv}(oayays)b", body)?.string();
        match made.as_deref() {
            Some(NOTHING) => Err(KeychainError::Locked),
            Some(_) => Ok(()),
            None => Err(BusError::Unreadable.into()),
        }
    }

    pub(crate) fn get(&self, label: Label<'_>) -> Result<Option<Secret>, KeychainError> {
        let mut open = Open::new(self)?;
        let Some(item) = open.items(label)?.into_iter().next() else { return Ok(None) };
        let mut body = Writer::default();
        body.string(&open.session);
        let mut answer = open.call(&item, "Item", "GetSecret", "o", body)?;
        let secret = read_secret(&mut answer).ok_or(BusError::Unreadable)?;
        Ok(Some(secret))
    }

    pub(crate) fn remove(&self, label: Label<'_>) -> Result<(), KeychainError> {
        let mut open = Open::new(self)?;
        for item in open.items(label)? {
            let prompt = open.call(&item, "Item", "Delete", "", Writer::default())?.string();
            if prompt.as_deref() != Some(NOTHING) {
                return Err(KeychainError::Locked);
            }
        }
        Ok(())
    }
}

/// Over the person's own bus, which nobody else reads, keys go as they are.
fn read_secret(answer: &mut Reader) -> Option<Secret> {
    answer.structure();
    answer.string()?;
    answer.bytes()?;
    let value = std::str::from_utf8(answer.bytes()?).ok()?;
    Some(Secret::new(value))
}

impl Label<'_> {
    fn attributes(self) -> [(&'static str, String); 3] {
        [
            ("service", format!("weft:{}", self.profile)),
            ("account", self.name.to_owned()),
            ("vault", self.folder.to_string_lossy().into_owned()),
        ]
    }
}

fn borrowed<'a>(attributes: &'a [(&'static str, String)]) -> Vec<(&'a str, &'a str)> {
    attributes.iter().map(|(key, value)| (*key, value.as_str())).collect()
}

/// A conversation with the service.
struct Open {
    bus: Bus,
    session: String,
}

impl Open {
    fn new(keychain: &Keychain) -> Result<Self, KeychainError> {
        let mut open = Self { bus: Bus::connect(&keychain.addresses, PATIENCE)?, session: String::new() };
        let mut body = Writer::default();
        body.string("plain");
        body.signature("s");
        body.string("");
        let mut answer = open.call(ROOT, "Service", "OpenSession", "sv", body)?;
        let session = match answer.signature().as_deref() {
            Some("s") => answer.string().and_then(|_| answer.string()),
            _ => None,
        };
        open.session = session.ok_or(BusError::Unreadable)?;
        Ok(open)
    }

    fn call(
        &mut self,
        path: &str,
        interface: &str,
        member: &str,
        signature: &str,
        body: Writer,
    ) -> Result<Reader, BusError> {
        let interface = format!("org.freedesktop.Secret.{interface}");
        self.bus.call(Call { destination: SERVICE, path, interface: &interface, member, signature, body })
    }

    /// Where new keys go, unlocked.
    fn collection(&mut self) -> Result<String, KeychainError> {
        let mut body = Writer::default();
        body.string("default");
        let found = self.call(ROOT, "Service", "ReadAlias", "s", body)?.string().ok_or(BusError::Unreadable)?;
        let found = if found == NOTHING { format!("{ROOT}/collection/login") } else { found };
        self.unlock(&found)?;
        Ok(found)
    }

    /// Unlocks what needs no password; a service that wants to ask for one is not let.
    fn unlock(&mut self, object: &str) -> Result<(), KeychainError> {
        let mut body = Writer::default();
        body.array(4, |items| items.string(object));
        let mut answer = self.call(ROOT, "Service", "Unlock", "ao", body)?;
        let unlocked = answer.strings().ok_or(BusError::Unreadable)?;
        if unlocked.iter().any(|known| known == object) {
            return Ok(());
        }
        if let Some(prompt) = answer.string().filter(|prompt| prompt != NOTHING) {
            self.call(&prompt, "Prompt", "Dismiss", "", Writer::default())?;
        }
        Err(KeychainError::Locked)
    }

    fn items(&mut self, label: Label<'_>) -> Result<Vec<String>, KeychainError> {
        let mut body = Writer::default();
        body.dictionary(&borrowed(&label.attributes()));
        let mut answer = self.call(ROOT, "Service", "SearchItems", "a{ss}", body)?;
        let (Some(mut unlocked), Some(locked)) = (answer.strings(), answer.strings()) else {
            return Err(BusError::Unreadable.into());
        };
        for item in locked {
            self.unlock(&item)?;
            unlocked.push(item);
        }
        Ok(unlocked)
    }
}
