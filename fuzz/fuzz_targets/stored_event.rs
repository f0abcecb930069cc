#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_core::stored;

// What can be read can be written and read again.
fuzz_target!(|input: (u16, &[u8])| {
    let (kind, data) = input;
    if let Ok(event) = stored::decode(kind, data) {
        let written = stored::encode(&event).unwrap();
        assert!(stored::decode(written.kind, &written.data).is_ok());
    }
});
