//! The chart: a panel for each workload, a bar for each contender. Bars begin at zero, so their lengths are in proportion within a
//! panel; the figure stands beside each, since some peers take fifty times as long.

use std::fmt::Write as _;

use crate::contender::Name;
use crate::workload::{Unit, Workload};

use super::figures::Figures;
use super::table::figure;

const COLUMNS: usize = 4;
const PANEL_WIDTH: usize = 280;
/// How wide a chart is at least, in panels: the line below them needs the room.
const LEAST: usize = 2;
const MARGIN: usize = 20;
const TITLE: usize = 30;
const BAR: usize = 14;
const BAR_STEP: usize = 20;
/// Where bars begin in a panel: right of the names.
const NAMES: usize = 58;
/// How long the longest bar is: there is room for a figure right of it.
const LONGEST: usize = 150;

pub(super) fn svg(workloads: &[Workload], contenders: &[Name], figures: &Figures) -> String {
    let panel_height = TITLE + contenders.len() * BAR_STEP + MARGIN;
    let width = workloads.len().clamp(LEAST, COLUMNS) * PANEL_WIDTH + MARGIN;
    let height = workloads.len().div_ceil(COLUMNS) * panel_height + 2 * MARGIN;
    let mut svg = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="sans-serif" font-size="12">
<title>Time for each operation and memory for each idle actor: medians of one run; shorter is better</title>
<rect width="100%" height="100%" fill="#ffffff"/>
"##
    );
    for (number, workload) in workloads.iter().enumerate() {
        let x = MARGIN + number % COLUMNS * PANEL_WIDTH;
        let y = MARGIN + number / COLUMNS * panel_height;
        let _ = writeln!(svg, r#"<g transform="translate({x} {y})">"#);
        panel(&mut svg, *workload, contenders, figures);
        svg.push_str("</g>\n");
    }
    let _ = writeln!(
        svg,
        r##"<text x="{MARGIN}" y="{}" fill="#57606a">Medians of one run; shorter is better. Each panel has a scale of its own, from zero.</text>"##,
        height - MARGIN / 2
    );
    svg.push_str("</svg>\n");
    svg
}

fn panel(svg: &mut String, workload: Workload, contenders: &[Name], figures: &Figures) {
    let unit = match workload.unit() {
        Unit::Ns => "ns",
        Unit::Bytes => "bytes",
    };
    let _ = writeln!(
        svg,
        r##"<text y="14" font-weight="bold" fill="#24292f">{workload}, {unit}</text>"##
    );
    let medians = contenders
        .iter()
        .map(|contender| (*contender, figures.median(workload, *contender)));
    let largest = medians
        .clone()
        .filter_map(|(_, median)| median)
        .fold(f64::MIN_POSITIVE, f64::max);
    for (number, (contender, median)) in medians.enumerate() {
        let y = TITLE + number * BAR_STEP;
        bar(svg, y, contender, median, largest);
    }
}

fn bar(svg: &mut String, y: usize, contender: Name, median: Option<f64>, largest: f64) {
    let text = y + BAR - 3;
    let _ = writeln!(
        svg,
        r##"<text x="{}" y="{text}" text-anchor="end" fill="#24292f">{contender}</text>"##,
        NAMES - 6
    );
    let (length, label) = match median {
        Some(median) => (LONGEST as f64 * median / largest, figure(median)),
        None => (0.0, "none".to_owned()),
    };
    let colour = match contender {
        Name::Ours => "#0969da",
        Name::Tokio => "#57606a",
        Name::Actix | Name::Kameo | Name::Ractor | Name::Xtra => "#afb8c1",
    };
    let _ = writeln!(
        svg,
        r#"<rect x="{NAMES}" y="{y}" width="{length:.1}" height="{BAR}" fill="{colour}"/>"#
    );
    let _ = writeln!(
        svg,
        r##"<text x="{:.1}" y="{text}" fill="#57606a">{label}</text>"##,
        NAMES as f64 + length + 5.0
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_contender_has_a_bar_in_proportion() {
        let mut figures = Figures::default();
        figures.add(Workload::Ask, Name::Ours, 50.0);
        figures.add(Workload::Ask, Name::Tokio, 200.0);
        let svg = svg(
            &[Workload::Ask],
            &[Name::Ours, Name::Tokio, Name::Xtra],
            &figures,
        );
        for length in ["width=\"37.5\"", "width=\"150.0\"", "width=\"0.0\""] {
            assert!(svg.contains(length), "{length} in {svg}");
        }
    }

    #[test]
    fn the_chart_of_one_workload_has_room_for_the_line_below_it() {
        let svg = svg(&[Workload::Ask], &[Name::Ours], &Figures::default());
        assert!(svg.contains("viewBox=\"0 0 580 "), "{svg}");
    }
}
