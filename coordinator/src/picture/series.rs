//! Rows over time, thinned out as they are read, so that neither a page nor the memory to make it grows with
//! the length of a run.

/// A figure at moments, in seconds since the measured part began; a gap where there is none.
pub type Points = Vec<(f64, Option<f64>)>;

/// A row that can stand for several.
pub(super) trait Join {
    /// Takes the next row in: counts add up, of percentiles the greatest stays (those of a whole cannot be had
    /// from those of its parts).
    fn join(&mut self, next: &Self);
}

/// At most so many rows, each for as many as needed.
#[derive(Clone, Debug)]
pub(super) struct Thinned<T> {
    rows: Vec<T>,
    most: usize,
    /// Rows that each one stands for.
    group: usize,
    /// Rows that the last one stands for.
    open: usize,
}

impl<T: Join> Thinned<T> {
    pub(super) fn new(most: usize) -> Self {
        Self { rows: Vec::new(), most, group: 1, open: 0 }
    }

    pub(super) fn push(&mut self, row: T) {
        match self.rows.last_mut() {
            Some(last) if self.open < self.group => {
                last.join(&row);
                self.open += 1;
            }
            _ => {
                if self.rows.len() == self.most {
                    self.halve();
                }
                self.rows.push(row);
                self.open = 1;
            }
        }
    }

    fn halve(&mut self) {
        let mut halved: Vec<T> = Vec::with_capacity(self.most);
        for (place, row) in self.rows.drain(..).enumerate() {
            match halved.last_mut() {
                Some(last) if place % 2 == 1 => last.join(&row),
                _ => halved.push(row),
            }
        }
        self.rows = halved;
        self.group *= 2;
    }

    pub(super) fn rows(&self) -> &[T] {
        &self.rows
    }

    /// Takes the last row off, if it is one that stands for itself.
    pub(super) fn pop_if(&mut self, is_one: impl FnOnce(&T) -> bool) {
        if self.open == 1 && self.rows.len() > 1 && self.rows.last().is_some_and(is_one) {
            self.rows.pop();
            self.open = self.group;
        }
    }

    pub(super) fn last_mut(&mut self) -> Option<&mut T> {
        self.rows.last_mut()
    }

    /// How many rows each one stands for.
    pub(super) fn group(&self) -> usize {
        self.group
    }

    /// A figure of each row.
    pub(super) fn points(
        &self,
        at: impl Fn(&T) -> f64,
        figure: impl Fn(&T) -> Option<f64>,
    ) -> Points {
        self.rows.iter().map(|row| (at(row), figure(row))).collect()
    }
}

/// The greater of two figures that may be missing.
pub(super) fn greater(one: &mut Option<f64>, other: Option<f64>) {
    *one = match (*one, other) {
        (Some(a), Some(b)) => Some(a.max(b)),
        (a, b) => a.or(b),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Row(f64, u64);

    impl Join for Row {
        fn join(&mut self, next: &Self) {
            self.1 += next.1;
        }
    }

    #[test]
    fn rows_stay_few_and_lose_nothing() {
        let mut thinned = Thinned::new(10);
        for second in 0..1003 {
            thinned.push(Row(f64::from(second), 1));
        }
        let rows = thinned.rows();
        assert!((5..=10).contains(&rows.len()), "{rows:?}");
        assert_eq!(rows.iter().map(|row| row.1).sum::<u64>(), 1003);
        let (last, whole) = rows.split_last().expect("there are some");
        assert!(whole.iter().all(|row| row.1 == thinned.group() as u64), "{rows:?}");
        assert!(last.1 <= thinned.group() as u64, "{rows:?}");
        let begins: Vec<f64> = rows.iter().map(|row| row.0).collect();
        let expected: Vec<f64> = (0..rows.len()).map(|n| (n * thinned.group()) as f64).collect();
        assert_eq!(begins, expected);
    }

    #[test]
    fn a_last_row_can_be_taken_off_where_it_stands_for_itself() {
        let mut thinned = Thinned::new(4);
        (0..3).for_each(|second| thinned.push(Row(f64::from(second), 1)));
        thinned.pop_if(|row| row.0 < 2.0);
        assert_eq!(thinned.rows().len(), 3);
        thinned.pop_if(|row| row.0 >= 2.0);
        assert_eq!(thinned.rows().len(), 2);
        (2..6).for_each(|second| thinned.push(Row(f64::from(second), 1)));
        assert_eq!((thinned.group(), thinned.rows().len()), (2, 3));
        thinned.pop_if(|_| true);
        assert_eq!(thinned.rows().len(), 3, "it stands for two");
    }

    #[test]
    fn few_rows_are_left_alone() {
        let mut thinned = Thinned::new(10);
        (0..10).for_each(|second| thinned.push(Row(f64::from(second), 7)));
        assert_eq!(thinned.group(), 1);
        let points = thinned.points(|row| row.0, |row| Some(row.1 as f64));
        assert_eq!(points.len(), 10);
        assert_eq!(points[9], (9.0, Some(7.0)));
    }
}
