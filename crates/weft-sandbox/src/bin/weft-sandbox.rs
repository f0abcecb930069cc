//! The helper as a small program of its own. It is installed beside `weft`.

fn main() -> std::process::ExitCode {
    weft_sandbox::helper::main()
}
