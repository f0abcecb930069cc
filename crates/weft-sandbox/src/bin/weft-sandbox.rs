//! The helper as a program of its own, for programs that use Weft's crates and cannot call
//! `weft_sandbox::dispatch` in their own `main`.

fn main() -> std::process::ExitCode {
    weft_sandbox::helper::main()
}
