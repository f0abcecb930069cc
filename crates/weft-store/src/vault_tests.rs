#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

use std::os::unix::fs::PermissionsExt;

use super::*;

const KEY: &str = "sk-very-secret-0123456789";

fn vault_on(folder: &Path, machine: &str) -> Vault {
    let id = folder.join(machine);
    std::fs::write(&id, format!("{machine}\n")).unwrap();
    Vault::on_machine(folder.join("vault"), id)
}

#[test]
fn keeps_a_key_over_restarts_and_never_in_the_open() {
    let folder = tempfile::tempdir().unwrap();
    let vault = vault_on(folder.path(), "first");
    assert_eq!(vault.names().unwrap(), Vec::<String>::new());
    assert_eq!(vault.get("anthropic").unwrap(), None);
    vault.set("anthropic", &Secret::new(KEY)).unwrap();

    let again = vault_on(folder.path(), "first");
    assert_eq!(again.names().unwrap(), ["anthropic"]);
    assert!(again.key.lock().unwrap().is_none(), "names must not derive the key");
    let found = again.get("anthropic").unwrap().unwrap();
    assert_eq!(found.expose(), KEY);
    assert_eq!(again.get("openai").unwrap(), None);

    for entry in std::fs::read_dir(folder.path().join("vault")).unwrap() {
        let path = entry.unwrap().path();
        assert!(!String::from_utf8_lossy(&std::fs::read(&path).unwrap()).contains(KEY));
        if path.extension().is_none_or(|extension| extension != "lock") {
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{}", path.display());
        }
    }
    assert!(!format!("{found:?} {again:?}").contains(KEY));

    assert!(again.remove("anthropic").unwrap());
    assert!(!again.remove("anthropic").unwrap());
    assert_eq!(again.get("anthropic").unwrap(), None);
}

#[test]
fn another_machine_is_told_to_enter_the_key_again_and_can() {
    let folder = tempfile::tempdir().unwrap();
    vault_on(folder.path(), "first").set("openai", &Secret::new(KEY)).unwrap();

    let elsewhere = vault_on(folder.path(), "second");
    let error = elsewhere.get("openai").unwrap_err();
    assert_eq!(error, VaultError::Sealed { name: "openai".to_owned() });
    assert!(error.to_string().contains("weft auth openai"));
    elsewhere.set("openai", &Secret::new("sk-new")).unwrap();
    assert_eq!(elsewhere.get("openai").unwrap().unwrap().expose(), "sk-new");
}

#[test]
fn a_sealed_key_cannot_be_passed_off_as_another_providers() {
    let folder = tempfile::tempdir().unwrap();
    let vault = vault_on(folder.path(), "first");
    vault.set("openai", &Secret::new(KEY)).unwrap();
    let text = std::fs::read_to_string(vault.file()).unwrap();
    std::fs::write(vault.file(), text.replace("openai", "gemini")).unwrap();
    assert_eq!(vault.get("gemini"), Err(VaultError::Sealed { name: "gemini".to_owned() }));
}

#[test]
fn without_a_machine_id_the_installation_has_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let vault = || Vault::on_machine(folder.path().join("vault"), folder.path().join("missing"));
    vault().set("openai", &Secret::new(KEY)).unwrap();
    assert_eq!(vault().get("openai").unwrap().unwrap().expose(), KEY);
    std::fs::remove_file(folder.path().join("vault/install-id")).unwrap();
    assert_eq!(vault().get("openai"), Err(VaultError::Sealed { name: "openai".to_owned() }));
}

#[test]
fn a_broken_file_is_named_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let vault = vault_on(folder.path(), "first");
    vault.make_folder().unwrap();
    std::fs::write(vault.file(), "{ not a vault").unwrap();
    let error = vault.set("openai", &Secret::new(KEY)).unwrap_err();
    assert!(matches!(&error, VaultError::Damaged { path, .. } if path.ends_with("credentials.enc")), "{error}");
    assert_eq!(std::fs::read_to_string(vault.file()).unwrap(), "{ not a vault");
    std::fs::write(vault.file(), r#"{"format": 9, "keys": {}}"#).unwrap();
    assert!(matches!(vault.names(), Err(VaultError::Newer { found: 9, .. })));
}

#[test]
fn every_profile_has_keys_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let vault = |profile: Option<&str>| vault_on(folder.path(), "first").with_profile(profile);
    vault(None).set("openai", &Secret::new("mine")).unwrap();
    vault(Some("work")).set("openai", &Secret::new("theirs")).unwrap();
    let key = |profile: Option<&str>| vault(profile).get("openai").unwrap().map(|secret| secret.expose().to_owned());
    assert_eq!(key(None).as_deref(), Some("mine"));
    assert_eq!(key(Some("default")).as_deref(), Some("mine"));
    assert_eq!(key(Some("work")).as_deref(), Some("theirs"));
    assert_eq!(key(Some("other")), None);
    assert_eq!(vault(None).names().unwrap(), ["openai"]);
    assert_eq!(vault(Some("work")).names().unwrap(), ["openai"]);
    assert!(vault(Some("work")).remove("openai").unwrap());
    assert_eq!(key(None).as_deref(), Some("mine"));
}
