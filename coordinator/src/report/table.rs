//! Columns that line up: the first to the left, the others to the right, two blanks between.

use std::io::{self, Write};

/// Rows of text, the first of them the heading.
pub(super) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with this heading and no rows.
    pub(super) fn new(heading: &[&str]) -> Self {
        Self { rows: vec![heading.iter().map(|&cell| cell.to_owned()).collect()] }
    }

    /// Adds a row; it may be longer than the heading, then the last cell is a remark, to the left.
    pub(super) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Prints it, without trailing blanks.
    pub(super) fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let columns = self.rows.first().map_or(0, Vec::len);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let separator = if column == 0 { "" } else { "  " };
                let padded = match widths.get(column) {
                    Some(&width) if column == 0 => format!("{cell:<width$}"),
                    Some(&width) => format!("{cell:>width$}"),
                    None => cell.clone(),
                };
                line.push_str(separator);
                line.push_str(&padded);
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn columns_line_up_and_remarks_hang_out() {
        let mut table = Table::new(&["agent", "n"]);
        table.row(vec!["a".into(), "1000".into()]);
        table.row(vec!["long-name".into(), "7".into(), "lost".into()]);
        let mut out = Vec::new();
        table.print(&mut out).expect("a vector takes everything");
        let expected = "agent         n\na          1000\nlong-name     7  lost\n";
        assert_eq!(String::from_utf8_lossy(&out), expected);
    }
}
