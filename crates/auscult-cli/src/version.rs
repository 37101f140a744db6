//! What `--version` says.

/// Version and the facts of the build.
pub(crate) fn long() -> String {
    let switch = |on: bool| if on { "yes" } else { "no" };
    [
        env!("CARGO_PKG_VERSION").to_owned(),
        format!("commit:     {}", env!("AUSCULT_COMMIT")),
        format!("compiler:   {}", env!("AUSCULT_COMPILER")),
        format!("target:     {} ({})", env!("AUSCULT_TARGET"), env!("AUSCULT_PROFILE")),
        format!("model file: version {}", auscult::model_file::VERSION),
        format!("parquet:    {}", switch(cfg!(feature = "parquet"))),
        format!("opus:       {}", switch(cfg!(feature = "opus"))),
        format!("training:   {}", switch(cfg!(feature = "training"))),
    ]
    .join("\n")
}
