//! What all charts have in common: lines that differ in dash and mark as well as in colour, and no colour of
//! their own for text and ground: the page's style sheet gives them those of light or dark.

use plotly::common::{
    DashType, ErrorData, ErrorType, Line, Marker, MarkerSymbol, Mode, Orientation, Title,
};
use plotly::layout::{
    Annotation, Axis, AxisType, HoverMode, Legend, Margin, RangeMode, Shape, ShapeLayer, ShapeLine,
    ShapeType,
};
use plotly::{Configuration, Layout, Plot, Scatter};

use super::series::Points;

/// Told apart with any kind of colour vision, on white and on black.
const COLOURS: [&str; 6] = ["#0077bb", "#ee7733", "#009988", "#cc3377", "#997700", "#7755bb"];
const CLEAR: &str = "rgba(0,0,0,0)";
/// Fewer points than this are marked one by one.
const MARKED_MOST: usize = 60;
const HEIGHT_PX: usize = 340;

/// A chart with its words.
pub(super) struct Chart {
    /// Name within the page.
    pub(super) id: &'static str,
    /// What it shows.
    pub(super) title: String,
    /// How to read it.
    pub(super) note: String,
    plot: Plot,
    x: Axis,
    y: Axis,
    marks: Vec<Mark>,
    /// The last point of each line, as far as there is one.
    newest: Vec<Option<f64>>,
    /// Lines so far.
    series: usize,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mark {
    /// In seconds since the measured part began.
    pub(super) from_s: f64,
    /// Its end; the same where it was a moment.
    pub(super) until_s: f64,
    /// In a few words.
    pub(super) label: String,
}

impl Chart {
    /// With the titles of its axes.
    pub(super) fn new(id: &'static str, title: &str, [x, y]: [&str; 2]) -> Self {
        let axis = |title: &str| Axis::new().title(Title::with_text(title)).auto_margin(true);
        Self {
            id,
            title: title.to_owned(),
            note: String::new(),
            plot: Plot::new(),
            x: axis(x),
            y: axis(y).range_mode(RangeMode::ToZero),
            marks: Vec::new(),
            newest: Vec::new(),
            series: 0,
        }
    }

    /// Over the time of the measured part.
    pub(super) fn over_time(id: &'static str, title: &str, y: &str) -> Self {
        Self::new(id, title, ["seconds since the start", y])
    }

    /// Says how to read it.
    pub(super) fn noted(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// Steps of powers of ten from left to right.
    pub(super) fn log_x(mut self) -> Self {
        self.x = self.x.type_(AxisType::Log);
        self
    }

    /// Steps of powers of ten upwards.
    pub(super) fn log_y(mut self) -> Self {
        self.y = self.y.type_(AxisType::Log);
        self
    }

    /// Names places of the axis from left to right.
    pub(super) fn ticks(mut self, places: Vec<f64>, names: Vec<String>) -> Self {
        self.x = self.x.tick_values(places).tick_text(names);
        self
    }

    /// Adds a line.
    pub(super) fn line(self, name: &str, points: &Points) -> Self {
        self.line_with_bars(name, points, &[])
    }

    /// Adds a line whose points have intervals, as far as they are known.
    pub(super) fn line_with_bars(
        mut self,
        name: &str,
        points: &Points,
        bars: &[Option<(f64, f64)>],
    ) -> Self {
        let (x, y): (Vec<f64>, Vec<Option<f64>>) = points.iter().copied().unzip();
        let mode = if points.len() <= MARKED_MOST { Mode::LinesMarkers } else { Mode::Lines };
        let colour = COLOURS[self.series % COLOURS.len()];
        let trace = Scatter::new(x, y)
            .name(plain(name))
            .mode(mode)
            .line(Line::new().color(colour).width(1.8).dash(dash(self.series)))
            .marker(Marker::new().symbol(symbol(self.series)).size(7).color(colour));
        let trace = if bars.is_empty() { trace } else { trace.error_y(error_bars(points, bars)) };
        self.plot.add_trace(trace);
        self.newest.push(points.last().and_then(|&(_, y)| y));
        self.series += 1;
        self
    }

    /// Marks what happened.
    pub(super) fn marked(mut self, marks: &[Mark]) -> Self {
        self.marks.extend_from_slice(marks);
        self
    }

    /// The last point of each line.
    pub(super) fn newest(&self) -> &[Option<f64>] {
        &self.newest
    }

    /// Data, layout and configuration as JSON, safe inside of a script element.
    pub(super) fn json(mut self) -> String {
        let layout = Layout::new()
            .height(HEIGHT_PX)
            .auto_size(true)
            .margin(Margin::new().left(70).right(20).top(30).bottom(50))
            .paper_background_color(CLEAR)
            .plot_background_color(CLEAR)
            .hover_mode(HoverMode::XUnified)
            .show_legend(true)
            .legend(Legend::new().orientation(Orientation::Horizontal).y(1.12).x(0.0))
            .shapes(self.marks.iter().map(shape).collect())
            .annotations(self.marks.iter().map(annotation).collect())
            .x_axis(self.x)
            .y_axis(self.y);
        self.plot.set_layout(layout);
        self.plot.set_configuration(Configuration::new().responsive(true).display_logo(false));
        self.plot.to_json().replace('<', "\\u003c")
    }
}

/// Up and down from each point.
fn error_bars(points: &Points, bars: &[Option<(f64, f64)>]) -> ErrorData {
    let reach = |of: fn(f64, (f64, f64)) -> f64| -> Vec<f64> {
        let bars = bars.iter().copied().chain(std::iter::repeat(None));
        let reach = points.iter().zip(bars).map(|(&(_, y), bar)| y.zip(bar));
        reach.map(|known| known.map_or(0.0, |(y, bar)| of(y, bar).max(0.0))).collect()
    };
    ErrorData::new(ErrorType::Data)
        .array(reach(|y, (_, high)| high - y))
        .array_minus(reach(|y, (low, _)| y - low))
        .symmetric(false)
}

/// The library takes some of HTML's elements for what they are.
fn plain(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// The look of the n-th line: dashes and marks repeat after different numbers of lines, so that no two of thirty have both.
fn dash(n: usize) -> DashType {
    match n % 6 {
        0 => DashType::Solid,
        1 => DashType::Dash,
        2 => DashType::Dot,
        3 => DashType::DashDot,
        4 => DashType::LongDash,
        _ => DashType::LongDashDot,
    }
}

fn symbol(n: usize) -> MarkerSymbol {
    match n % 5 {
        0 => MarkerSymbol::Circle,
        1 => MarkerSymbol::Square,
        2 => MarkerSymbol::Diamond,
        3 => MarkerSymbol::TriangleUp,
        _ => MarkerSymbol::Cross,
    }
}

fn shape(mark: &Mark) -> Shape {
    let line = ShapeLine::new().color("#cc3311").width(1.0).dash(DashType::Dot);
    Shape::new()
        .shape_type(ShapeType::Rect)
        .layer(ShapeLayer::Below)
        .x_ref("x")
        .y_ref("paper")
        .x0(mark.from_s)
        .x1(mark.until_s)
        .y0(0.0)
        .y1(1.0)
        .fill_color("rgba(204,51,17,0.12)")
        .line(line)
}

fn annotation(mark: &Mark) -> Annotation {
    Annotation::new()
        .x_ref("x")
        .y_ref("paper")
        .x(mark.from_s)
        .y(1.0)
        .show_arrow(false)
        .text_angle(-90.0)
        .x_anchor(plotly::common::Anchor::Right)
        .y_anchor(plotly::common::Anchor::Top)
        .text(plain(&mark.label))
}
