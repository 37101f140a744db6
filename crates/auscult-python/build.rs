//! What linkers other than Linux's must be told about a module whose symbols come from the interpreter.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
