//! The grammar of DCASE file names. Only the base name counts.

use crate::metrics::{Domain, Label};

/// What the base name of a clip says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClipName {
    /// The section or machine id, two digits.
    pub section: String,
    /// The domain, where the name tells it.
    pub domain: Option<Domain>,
    /// `train` or `test`, where the name tells it: `Some(true)` for train.
    pub is_train: Option<bool>,
    /// The label, where the name tells it.
    pub label: Option<Label>,
    /// The running number.
    pub index: u32,
    /// Everything behind the number; empty if there is nothing.
    pub attributes: String,
}

/// Reads a base name without its extension; `None` if it follows no known grammar.
///
/// - 2020: `normal_id_00_00000000`, hidden `id_01_00000000`;
/// - since 2021: `section_00_source_train_normal_0000_car_B1_spd_31V`, hidden `section_00_0000`,
///   `section_00_test_0000` or `section_03_source_test_0000`. Each word between section and number
///   may be missing: the renamed clips of `RoboticArm` 2024 lack `test`.
///
/// # Examples
///
/// ```
/// use auscult_eval::datasets::parse_name;
///
/// let name = parse_name("section_00_target_test_anomaly_0003_volt_1.5_wt_50").unwrap();
/// assert_eq!((name.index, name.attributes.as_str()), (3, "volt_1.5_wt_50"));
/// assert_eq!(parse_name("recording 7"), None);
/// ```
pub fn parse_name(stem: &str) -> Option<ClipName> {
    let words: Vec<&str> = stem.split('_').collect();
    match words.as_slice() {
        ["section", section, rest @ ..] => since_2021(section, rest),
        ["id", section, index] => of_2020(None, section, index),
        [label, "id", section, index] => {
            let label = match *label {
                "normal" => Label::Normal,
                "anomaly" => Label::Anomaly,
                _ => return None,
            };
            of_2020(Some(label), section, index)
        }
        _ => None,
    }
}

fn of_2020(label: Option<Label>, section: &str, index: &str) -> Option<ClipName> {
    Some(ClipName {
        section: digits(section, 2)?.to_owned(),
        domain: None,
        is_train: None,
        label,
        index: digits(index, 8)?.parse().ok()?,
        attributes: String::new(),
    })
}

fn since_2021(section: &str, mut words: &[&str]) -> Option<ClipName> {
    let domain = take(&mut words, |word| match word {
        "source" => Some(Domain::Source),
        "target" => Some(Domain::Target),
        _ => None,
    });
    let is_train = take(&mut words, |word| match word {
        "train" => Some(true),
        "test" => Some(false),
        _ => None,
    });
    let label = take(&mut words, |word| match word {
        "normal" => Some(Label::Normal),
        "anomaly" => Some(Label::Anomaly),
        _ => None,
    });
    let (index, attributes) = words.split_first()?;
    Some(ClipName {
        section: digits(section, 2)?.to_owned(),
        domain,
        is_train,
        label,
        index: digits(index, 4)?.parse().ok()?,
        attributes: attributes.join("_"),
    })
}

/// The first word, if it means something, and then the words go on behind it.
fn take<T>(words: &mut &[&str], meaning: impl Fn(&str) -> Option<T>) -> Option<T> {
    let (first, rest) = words.split_first()?;
    let found = meaning(first)?;
    *words = rest;
    Some(found)
}

fn digits(text: &str, count: usize) -> Option<&str> {
    (text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit())).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_grammar_is_read() {
        let parse = |stem| parse_name(stem).unwrap_or_else(|| panic!("{stem}"));
        let name = parse("normal_id_02_00000123");
        assert_eq!(
            (name.section.as_str(), name.label, name.index),
            ("02", Some(Label::Normal), 123)
        );
        assert_eq!(parse("id_01_00000007").label, None);
        let name = parse("section_00_source_train_normal_0000_car_B1_spd_31V_mic_1");
        assert_eq!((name.domain, name.is_train), (Some(Domain::Source), Some(true)));
        assert_eq!(name.attributes, "car_B1_spd_31V_mic_1");
        assert_eq!(parse("section_03_source_test_0000").domain, Some(Domain::Source));
        assert_eq!(parse("section_00_0012").index, 12);
        assert_eq!(parse("section_00_test_0012").index, 12);
        assert_eq!(parse("section_00_target_test_normal_0001_").attributes, "");
    }

    #[test]
    fn renamed_clips_of_the_robotic_arm_lack_a_word() {
        let name = parse_name("section_00_source_normal_0035_weight15_BckgF").unwrap();
        assert_eq!((name.label, name.is_train), (Some(Label::Normal), None));
        assert_eq!(name.attributes, "weight15_BckgF");
    }

    #[test]
    fn other_names_are_not_guessed_at() {
        for stem in [
            "",
            "normal",
            "section_00",
            "section_0_0000",
            "anomaly_id_1_00000000",
            "my_normal_pump",
            "section_00_machine_0001_",
            "id_01_0000",
        ] {
            assert_eq!(parse_name(stem), None, "{stem}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused_without_a_panic(stem in ".{0,60}") {
            let _ = parse_name(&stem);
        }
    }
}
