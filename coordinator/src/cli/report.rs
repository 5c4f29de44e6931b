//! `pgsurge report`: makes the pages of results again, from their files.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Parser;

use crate::experiment::page_of;
use crate::picture;

/// Make report.html of results again, from the files in their folder
#[derive(Clone, Debug, Parser)]
#[command(name = "report", display_name = "pgsurge-report", bin_name = "pgsurge report", version = super::version::number())]
pub struct ReportArgs {
    /// folder of results, of a run or of an experiment; repeatable
    #[arg(value_name = "DIR", required = true)]
    pub folders: Vec<PathBuf>,
}

/// Makes the pages and returns what to tell on stdout: where they are.
///
/// # Errors
/// A folder holds no results, or its page cannot be written.
pub fn report(args: &ReportArgs) -> Result<String> {
    let mut told = String::new();
    for folder in &args.folders {
        let page = folder.join(picture::PAGE);
        let made = match page_of(folder)? {
            Some(sheet) => sheet.write(folder),
            None => picture::write(folder),
        };
        let made = made.map_err(|(_, error)| error);
        made.with_context(|| format!("cannot make {}", page.display()))?;
        told.push_str(&page.display().to_string());
        told.push('\n');
    }
    Ok(told)
}
