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
    pub axes: [String; 2],
    /// Powers of ten upwards.
    pub log_y: bool,
    /// Names of the places 0, 1, 2 ... of the axis from left to right; none where it is one of numbers.
    pub places: Vec<String>,
    /// What is drawn.
    pub lines: Vec<Curve>,
}

/// One line.
#[derive(Clone, Debug, Default)]
pub struct Curve {
    /// What it is of.
    pub name: String,
    /// Where it goes.
    pub points: Points,
    /// Where each true point lies, if that is known; fewer than points, or none, where it is not.
    pub bars: Vec<Option<(f64, f64)>>,
}

impl Curve {
    /// Without bars.
    pub fn new(name: impl Into<String>, points: Points) -> Self {
        Self { name: name.into(), points, bars: Vec::new() }
    }
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
        let chart = Self::new(curves.id, &curves.title, [&curves.axes[0], &curves.axes[1]])
            .noted(curves.note.as_str());
        let chart = if curves.log_y { chart.log_y() } else { chart };
        let chart = if curves.places.is_empty() {
            chart
        } else {
            let places = (0..curves.places.len()).map(|place| place as f64).collect();
            chart.ticks(places, curves.places.clone())
        };
        let lines = curves.lines.iter();
        lines.fold(chart, |chart, line| chart.line_with_bars(&line.name, &line.points, &line.bars))
    }
}

impl Sheet {
    /// Writes it into a folder. On failure names the file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), (PathBuf, io::Error)> {
        self.write_to(&folder.join(PAGE))
    }

    /// Writes it. On failure names the file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write_to(&self, path: &Path) -> Result<(), (PathBuf, io::Error)> {
        let written = || {
            let mut out = BufWriter::new(File::create(path)?);
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
        written().map_err(|error| (path.to_owned(), error))
    }
}
