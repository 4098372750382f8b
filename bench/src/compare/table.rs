//! The table, in Markdown and aligned, so that it reads well in a terminal too.

use crate::contender::Name;
use crate::workload::{Unit, Workload};

use super::figures::Figures;

const ABSENT: &str = "-";

pub(super) fn markdown(workloads: &[Workload], contenders: &[Name], figures: &Figures) -> String {
    let mut header = vec!["workload".to_owned(), "unit".to_owned()];
    header.extend(contenders.iter().map(Name::to_string));
    header.push("fastest peer / ours".to_owned());
    header.push("tokio / ours".to_owned());
    let mut rows = vec![header];
    rows.extend(
        workloads
            .iter()
            .map(|workload| row(*workload, contenders, figures)),
    );
    aligned(&rows)
}

fn row(workload: Workload, contenders: &[Name], figures: &Figures) -> Vec<String> {
    let unit = match workload.unit() {
        Unit::Ns if workload == Workload::Fair => "ns, p99",
        Unit::Ns => "ns",
        Unit::Bytes => "bytes",
    };
    let mut row = vec![workload.to_string(), unit.to_owned()];
    row.extend(contenders.iter().map(|contender| {
        let median = figures.median(workload, *contender);
        median.map_or_else(|| ABSENT.to_owned(), figure)
    }));
    let ours = figures.median(workload, Name::Ours);
    let fastest = figures.fastest_peer(workload, contenders);
    row.push(match ours.zip(fastest) {
        Some((ours, (peer, figure))) => format!("{:.2} ({peer})", figure / ours),
        None => ABSENT.to_owned(),
    });
    row.push(match ours.zip(figures.median(workload, Name::Tokio)) {
        Some((ours, tokio)) => format!("{:.2}", tokio / ours),
        None => ABSENT.to_owned(),
    });
    row
}

/// A figure with as many digits as it is good for.
pub(super) fn figure(figure: f64) -> String {
    if figure < 100.0 {
        format!("{figure:.1}")
    } else {
        format!("{figure:.0}")
    }
}

fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let widths: Vec<usize> = (0..columns)
        .map(|column| rows.iter().map(|row| row[column].len()).max().unwrap_or(0))
        .collect();
    let mut lines: Vec<String> = rows.iter().map(|row| line(row, &widths)).collect();
    let rules: Vec<String> = widths
        .iter()
        .enumerate()
        .map(|(column, width)| match column {
            0 => "-".repeat(*width),
            _ => format!("{}:", "-".repeat(width - 1)),
        })
        .collect();
    lines.insert(1, line(&rules, &widths));
    lines.join("\n") + "\n"
}

fn line(cells: &[String], widths: &[usize]) -> String {
    let cells = cells
        .iter()
        .zip(widths)
        .enumerate()
        .map(|(column, (cell, width))| match column {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
    format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_the_medians_and_the_ratios() {
        let mut figures = Figures::default();
        figures.add(Workload::Fair, Name::Ours, 50.0);
        figures.add(Workload::Fair, Name::Tokio, 200.0);
        figures.add(Workload::Fair, Name::Actix, 120.0);
        let contenders = [Name::Ours, Name::Tokio, Name::Actix, Name::Xtra];
        assert_eq!(
            markdown(&[Workload::Fair], &contenders, &figures),
            "\
| workload |    unit | ours | tokio | actix | xtra | fastest peer / ours | tokio / ours |
| -------- | ------: | ---: | ----: | ----: | ---: | ------------------: | -----------: |
| fair     | ns, p99 | 50.0 |   200 |   120 |    - |        2.40 (actix) |         4.00 |
"
        );
    }
}
