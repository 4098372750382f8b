//! [`Figures`]: what was measured, and its medians.

use serde::Serialize;

use crate::contender::Name;
use crate::workload::{Unit, Workload};

/// All figures of all rounds.
#[derive(Debug, Default)]
pub(super) struct Figures(Vec<(Workload, Name, f64)>);

/// One line of the output for machines.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Median {
    workload: Workload,
    contender: Name,
    unit: Unit,
    median: f64,
}

impl Figures {
    pub(super) fn add(&mut self, workload: Workload, contender: Name, figure: f64) {
        self.0.push((workload, contender, figure));
    }

    /// The median of all rounds, or `None` if the contender is not in this workload, or has always failed.
    pub(super) fn median(&self, workload: Workload, contender: Name) -> Option<f64> {
        let of_this = self
            .0
            .iter()
            .filter(|(its, whose, _)| *its == workload && *whose == contender);
        let mut figures: Vec<f64> = of_this.map(|(_, _, figure)| *figure).collect();
        figures.sort_unstable_by(f64::total_cmp);
        let middle = figures.len() / 2;
        match figures.len() {
            0 => None,
            odd if odd % 2 == 1 => Some(figures[middle]),
            _ => Some(f64::midpoint(figures[middle - 1], figures[middle])),
        }
    }

    /// The peer with the smallest median, tokio included.
    pub(super) fn fastest_peer(
        &self,
        workload: Workload,
        contenders: &[Name],
    ) -> Option<(Name, f64)> {
        contenders
            .iter()
            .filter(|contender| **contender != Name::Ours)
            .filter_map(|peer| Some((*peer, self.median(workload, *peer)?)))
            .min_by(|one, other| one.1.total_cmp(&other.1))
    }

    pub(super) fn medians(&self, workloads: &[Workload], contenders: &[Name]) -> Vec<Median> {
        let mut medians = Vec::new();
        for workload in workloads {
            for contender in contenders {
                if let Some(median) = self.median(*workload, *contender) {
                    medians.push(Median {
                        workload: *workload,
                        contender: *contender,
                        unit: workload.unit(),
                        median,
                    });
                }
            }
        }
        medians
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(figures: &[f64]) -> Figures {
        let mut all = Figures::default();
        for figure in figures {
            all.add(Workload::Ask, Name::Ours, *figure);
            all.add(Workload::Ask, Name::Actix, figure * 2.0);
            all.add(Workload::Ask, Name::Tokio, figure * 3.0);
        }
        all
    }

    #[test]
    fn a_median_is_in_the_middle() {
        let median = |figures: &[f64]| of(figures).median(Workload::Ask, Name::Ours);
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[7.0]), Some(7.0));
        assert_eq!(median(&[9.0, 1.0]), Some(5.0));
        assert_eq!(median(&[9.0, 1.0, 2.0]), Some(2.0));
    }

    #[test]
    fn we_are_no_peer_of_ours() {
        let figures = of(&[1.0]);
        let fastest = figures.fastest_peer(Workload::Ask, &Name::ALL);
        assert_eq!(fastest, Some((Name::Actix, 2.0)));
        assert_eq!(figures.fastest_peer(Workload::Ask, &[Name::Ours]), None);
    }

    #[test]
    fn machines_read_names_and_units() {
        let figures = of(&[1.5]);
        let medians = figures.medians(&[Workload::Ask], &[Name::Ours]);
        assert_eq!(
            serde_json::to_string(&medians).unwrap(),
            r#"[{"workload":"ask","contender":"ours","unit":"ns","median":1.5}]"#
        );
        for workload in Workload::ALL {
            let name = serde_json::to_string(&workload).unwrap();
            assert_eq!(name, format!("\"{workload}\""));
        }
    }
}
