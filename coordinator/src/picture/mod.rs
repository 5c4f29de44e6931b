//! Results as pages: HTML that opens anywhere, without a network and without a server.
//!
//! Reads what results folders hold and knows nothing of how runs come about, so a page can be made again
//! at any time ([`write()`]). In reading order: `source` reads a folder, `charts` has one file a question,
//! `chart` is their common look, `page` is the frame around them. Figures that a page shows are those of
//! the files, never computed a second time.

mod chart;
mod charts;
pub mod live;
mod page;
mod record;
mod series;
mod server;
mod sheet;
mod source;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

pub use page::{charting_script, live_page, run_page};
pub use sheet::{Curve, Curves, Sheet};
pub use source::RunFiles;

/// Name of the page in a results folder.
pub const PAGE: &str = "report.html";

/// Writes the page of the results in this folder into it. On failure names the file.
///
/// # Errors
/// The files cannot be read, or the page cannot be written.
pub fn write(folder: &Path) -> Result<(), (PathBuf, io::Error)> {
    let path = folder.join(PAGE);
    let written = || {
        let files = RunFiles::read(folder).map_err(io::Error::other)?;
        let mut out = BufWriter::new(File::create(&path)?);
        run_page(&mut out, &files)?;
        out.flush()?;
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    };
    written().map_err(|error| (path.clone(), error))
}
