#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_model::provider::{Protocol, fuzzing};

fuzz_target!(|bytes: &[u8]| fuzzing::check(Protocol::Gemini, bytes));
