//! Pages of experiments: what was found, lines over what was varied, a table.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use askama::Template;

use super::PAGE;
use super::chart::Chart;
use super::page::{Drawn, charting_script};
use super::series::Points;

/// A page.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    /// Its heading.
    pub title: String,
    /// What was found, in a sentence.
    pub found: String,
    /// It is an answer, not a failure to find one.
    pub good: bool,
    /// Pictures of it.
    pub curves: Vec<Curves>,
    /// Heading of the table.
    pub heading: Vec<String>,
    /// Its rows.
    pub rows: Vec<Vec<String>>,
}

/// Lines over one axis.
#[derive(Clone, Debug, Default)]
pub struct Curves {
    /// Name within the page.
    pub id: &'static str,
    /// What they show.
    pub title: String,
    /// How to read them.
    pub note: String,
    /// Titles of the axes.
    pub axes: [&'static str; 2],
    /// Powers of ten upwards.
    pub log_y: bool,
    /// Name and points of each.
    pub lines: Vec<(String, Points)>,
}

#[derive(Template)]
#[template(path = "sheet.html")]
struct Page<'a> {
    sheet: &'a Sheet,
    style: &'static str,
    script: &'static str,
    charting: &'a str,
    charts: Vec<Drawn>,
}

impl From<&Curves> for Chart {
    fn from(curves: &Curves) -> Self {
        let chart = Self::new(curves.id, &curves.title, curves.axes).noted(curves.note.as_str());
        let chart = if curves.log_y { chart.log_y() } else { chart };
        curves.lines.iter().fold(chart, |chart, (name, points)| chart.line(name, points))
    }
}

impl Sheet {
    /// Writes it into a folder. On failure names the file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), (PathBuf, io::Error)> {
        let path = folder.join(PAGE);
        let written = || {
            let mut out = BufWriter::new(File::create(&path)?);
            let page = Page {
                sheet: self,
                style: include_str!("page.css"),
                script: include_str!("page.js"),
                charting: &charting_script(),
                charts: self.curves.iter().map(|curves| Drawn::from(Chart::from(curves))).collect(),
            };
            page.write_into(&mut out)?;
            out.flush()?;
            out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
        };
        written().map_err(|error| (path.clone(), error))
    }
}
