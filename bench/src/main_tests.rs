use clap::CommandFactory as _;

use super::*;

/// A release build does not look at this, so the benchmarks ran and a debug build could not start.
#[test]
fn the_command_line_is_sound() {
    Arguments::command().debug_assert();
}
