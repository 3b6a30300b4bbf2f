//! The `teamster` command; everything is in the library.

fn main() -> std::process::ExitCode {
    teamster::cli::main()
}
