//! The page as a whole: safe, sound, small and readable.

use auscult::{ClipCondition, FrontEndSettings, Verdict};

use super::*;
use crate::{
    ReportSound,
    testing::{assert_well_formed, attribute_values, clip_with, sample, sample_with},
};

#[test]
fn the_first_screen_answers_five_questions_and_says_so_to_programs() {
    let sample = sample();
    let page = sample.input().written_at(1_780_488_000.0).render();
    for answer in ["well", "since", "differs", "sure", "do"] {
        assert_eq!(page.matches(&format!("data-answer=\"{answer}\"")).count(), 1, "{answer}");
    }
    assert!(page.contains("<main data-state=\"alert\" data-changed=\"false\">"));
    assert!(page.contains("3 clips \u{b7} written 3 Jun 2026, 12:00 UTC"));
    assert!(page.contains("Pump 3 sounds unusual at times</h1>"));
    assert!(page.contains("None of 20 left-out normal clips from 4 visits was as far"));
}

#[test]
fn a_changed_run_says_what_differs_and_what_to_do() {
    let sample = sample();
    let changed =
        crate::testing::changed(&["8 dB quieter at 2-8 kHz"], "check the microphone <first>");
    let page = sample.input().with_changed(Some(changed)).render();
    assert!(page.contains("data-changed=\"true\""));
    assert!(page.contains("Most clips differ the same way: 8 dB quieter at 2-8 kHz."));
    assert!(page.contains("Check the microphone &lt;first&gt;."));
    assert!(page.contains("would be called changed in at most 5 % of runs."));
    assert_well_formed(&page);
}

#[test]
fn only_the_script_of_the_page_may_run() {
    use sha2::Digest;
    let digest = sha2::Sha256::digest(PLAYER.source.as_bytes());
    assert_eq!(
        crate::encode::base64_of(&digest),
        PLAYER.sha256,
        "openssl dgst -sha256 -binary src/player.js | base64 > src/player.js.sha256"
    );
    let page = sample().input().render();
    assert!(page.contains(&format!("script-src 'sha256-{}'", PLAYER.sha256)));
    assert!(!PLAYER.source.contains("</script"));
}

#[test]
fn every_front_end_gives_a_well_formed_page() {
    for name in FrontEndSettings::NAMES {
        let sample = sample_with(&FrontEndSettings::named(name, None).unwrap());
        let page = sample.input().render();
        assert_well_formed(&page);
        assert!(page.contains("<article class=\"card kind\""), "{name}: no kind of anomaly");
    }
}

#[test]
fn links_lead_to_places_on_the_page() {
    let page = sample().input().render();
    let ids = attribute_values(&page, " id=\"");
    let links = attribute_values(&page, " href=\"#");
    assert!(links.len() >= 4);
    for link in links {
        assert!(ids.contains(&link), "#{link} is nowhere");
    }
    for labels in attribute_values(&page, "aria-labelledby=\"") {
        assert!(labels.split(' ').all(|label| ids.contains(&label)), "{labels} is nowhere");
    }
}

#[test]
fn markup_in_any_string_stays_text() {
    let attack = "\"><script>alert('a')</script><img src=x onerror=alert(1)>&";
    let mut sample = sample();
    for clip in &mut sample.clips {
        attack.clone_into(&mut clip.path);
        clip.truth = Some(attack.to_owned());
        if let Some(sound) = &mut clip.sound {
            sound.nearest_label = Some(attack.to_owned());
        }
        if let Some(explanation) = &mut clip.explanation {
            attack.clone_into(&mut explanation.summary);
            for band in &mut explanation.bands {
                attack.clone_into(&mut band.sentence);
            }
        }
    }
    sample.notes.push(attack.to_owned());
    let input = Report { title: attack, version: attack, ..sample.input() };
    let page = input.render();
    assert_eq!(page.matches("<script").count(), 1, "the page's own");
    assert!(!page.contains("<img"));
    assert!(page.contains("&lt;script&gt;alert(&#39;a&#39;)&lt;/script&gt;"));
    assert_well_formed(&page);
}

#[test]
fn nothing_is_loaded_from_elsewhere() {
    let page = sample().input().render();
    for attribute in [" src=\"", " href=\""] {
        for address in attribute_values(&page, attribute) {
            assert!(address.starts_with("data:") || address.starts_with('#'), "{address}");
        }
    }
    assert!(!page.contains("http://") && !page.contains("https://") && !page.contains("@import"));
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    assert!(sample().input().render() == sample().input().render());
}

#[test]
fn odd_scores_and_missing_parts_never_break_the_page() {
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0, 1e308, 1e-320];
    let mut sample = sample();
    sample.clips = odd.map(|score| clip_with(score, Verdict::Anomalous)).to_vec();
    let mut short = clip_with(0.0, Verdict::Normal);
    short.scored = None;
    short.condition = ClipCondition::TooShort { samples: 3, needed: 1_600 };
    sample.clips.push(short);
    assert_well_formed(&sample.input().render());
    sample.clips.truncate(1);
    assert_well_formed(&sample.input().render());
    sample.clips.clear();
    assert_well_formed(&sample.input().render());
}

#[test]
fn a_model_of_one_clip_has_a_page_without_promise() {
    let mut sample = sample();
    sample.model = sample.model.with_only(&[0]).unwrap();
    sample.clips.truncate(1);
    let scored = sample.model.judge(sample.clips[0].scored.clone().unwrap().score);
    sample.clips[0].scored = Some(scored);
    let page = sample.input().render();
    assert!(page.contains("record at least 19 more, on several visits"));
    assert!(page.contains("There are no such scores"));
    assert_well_formed(&page);
}

#[test]
fn three_hundred_clips_with_six_kinds_of_ten_seconds_stay_below_five_megabytes() {
    use auscult::random::Random;
    let mut sample = sample();
    let mut random = Random::of(3, &[]);
    // Louder and rougher than any recording of a machine: as large as it gets.
    let mut noise = || (0..160_000).map(|_| random.symmetric(0.2)).collect::<Vec<f32>>();
    let quiet = ReportClip { sound: None, ..sample.clips[0].clone() };
    sample.clips.extend(std::iter::repeat_n(quiet, 297));
    for at in 0..6 {
        let sound = crate::hearing::is_heard(at as usize * 320_000, 320_000).then(|| ReportSound {
            sample_rate: 16_000,
            samples: noise(),
            nearest: Some(noise()),
            nearest_label: None,
        });
        // Another shape for each, so that they are kinds of their own.
        let tone: Vec<f32> =
            (0..16_000).map(|i| (i as f32 * 0.06 * 2_f32.powi(at)).sin()).collect();
        let octaves = crate::difference::ThirdOctaves::of(&tone, 16_000);
        let silence = crate::difference::ThirdOctaves::of(&vec![0.0; 16_000], 16_000);
        let clip = &mut sample.clips[at as usize];
        clip.scored.clone_from(&clip_with(99.0 - f64::from(at), Verdict::Anomalous).scored);
        (clip.sound, clip.difference) = (sound, Some(octaves.against(&silence, None)));
    }
    let size = sample.input().render().len();
    assert!(size < 5_000_000, "{size} bytes");
    sample.clips.iter_mut().for_each(|clip| clip.sound = None);
    let size = sample.input().render().len();
    assert!(size < 500_000, "{size} bytes without sound");
}

/// Ink and paper in the style sheet that must be distinguishable: at 4.5 for text and 3 for shapes
/// (WCAG 2.2, success criteria 1.4.3 and 1.4.11).
#[test]
fn colours_have_enough_contrast_in_light_and_dark() {
    let sheets = [auscult_page::STYLE, STYLE]
        .map(|style| style.split_once("prefers-color-scheme: dark").unwrap());
    let light = sheets.map(|(light, _)| light).concat();
    let dark = sheets.map(|(_, dark)| dark).concat();
    for sheet in [&light, &dark] {
        for paper in ["paper", "raised"] {
            for ink in ["normal", "anomalous", "undecided", "unscored"] {
                assert_contrast(sheet, ink, paper, 4.5);
            }
        }
        assert_contrast(sheet, "threshold", "paper", 4.5);
        for state in ["state-normal", "state-alert", "state-alarm", "state-changed"] {
            assert_contrast(sheet, state, &format!("{state}-paper"), 4.5);
        }
        assert_contrast(sheet, "louder", "paper", 3.0);
        assert_contrast(sheet, "quieter", "paper", 3.0);
        assert_contrast(sheet, "bar", "paper", 3.0);
        for step in 0..9 {
            let ink = if step < 6 { "ink" } else { "paper" };
            assert_contrast(sheet, ink, &format!("heat-{step}"), 4.5);
        }
    }
}

fn assert_contrast(sheet: &str, ink: &str, paper: &str, needed: f64) {
    let [lighter, darker] = {
        let mut both = [luminance(sheet, ink), luminance(sheet, paper)];
        both.sort_by(|a, b| b.total_cmp(a));
        both
    };
    let contrast = (lighter + 0.05) / (darker + 0.05);
    assert!(contrast >= needed, "{ink} on {paper}: {contrast:.2}, needed {needed}");
}

/// Relative luminance of a colour of the style sheet, as WCAG defines it.
fn luminance(sheet: &str, name: &str) -> f64 {
    let (_, after) = sheet.split_once(&format!("--{name}: #")).unwrap();
    let channel = |at: usize| {
        let share = f64::from(u8::from_str_radix(&after[at..at + 2], 16).unwrap()) / 255.0;
        if share <= 0.040_45 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * channel(0) + 0.7152 * channel(2) + 0.0722 * channel(4)
}
