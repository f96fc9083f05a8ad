//! Crops: their names, the weight of a bushel and the market moisture.
//!
//! Sources, by the letters at each row. Weights: A, USDA ERS, Agricultural Handbook 697 (1992), table 6; B, grades of 7 CFR
//! 810 as test weights; C, densities of grain in an operator's manual of John Deere, OMN300820; D, crop provisions of the
//! FCIC. Moistures: E, standard moistures of the `GrainGage` manual of Juniper Systems after University of Florida, AG442
//! (2020); F, specifications of dry grain of the Canadian Grain Commission as printed by Saskatchewan Pulse Growers; G, crop
//! provisions of the FCIC, 7 CFR 457. Sources differ for sorghum, oats, rye, canola, sunflower, wheat, rice, lentils and beans;
//! `market_moisture` overrides the moisture.

use crate::columns::aliases::without_accent;
use headland_reader::layer::units::KG_PER_POUND;

/// A crop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crop {
    /// The English name.
    pub name: &'static str,
    /// Pounds in a bushel; `None` for crops that no market measures in bushels.
    pub pounds_per_bushel: Option<f64>,
    /// Percent of water at which the crop is sold; `None` for crops that are sold as harvested.
    pub market_moisture: Option<f64>,
    /// Other names, separated by commas, in lower case without accents: English, French, German, Spanish, Portuguese.
    pub other_names: &'static str,
}

const fn crop(name: &'static str, pounds: f64, moisture: f64, other_names: &'static str) -> Crop {
    Crop { name, pounds_per_bushel: Some(pounds), market_moisture: Some(moisture), other_names }
}

/// A crop that is sold by its mass as harvested.
const fn fresh_crop(name: &'static str, other_names: &'static str) -> Crop {
    Crop { name, pounds_per_bushel: None, market_moisture: None, other_names }
}

/// All crops, by their English name.
pub const CROPS: &[Crop] = &[
    // A, B; E.
    crop("barley", 48.0, 14.5, "orge, orge d hiver, gerste, wintergerste, sommergerste, braugerste, cebada, cevada"),
    // A, C (navy beans); F.
    crop(
        "bean",
        60.0,
        15.0,
        "beans, dry bean, edible bean, navy bean, pinto bean, black bean, kidney bean, haricot, haricot sec, \
         frijol, frijoles, poroto, feijao",
    ),
    // A; F.
    crop("canola", 50.0, 10.0, "rapeseed, oilseed rape, osr, colza, raps, winterraps, sommerraps"),
    // A, B; E.
    crop(
        "corn",
        56.0,
        15.5,
        "maize, grain corn, mais, mais grain, maiz, maiz grano, milho, milho grao, kornermais, koernermais, field \
         corn",
    ),
    // The weight is that of A for beans; F.
    crop("faba bean", 60.0, 16.0, "fababean, fava bean, broad bean, feverole, ackerbohne, ackerbohnen, haba, habas"),
    // A, C; F.
    crop("flax", 56.0, 10.0, "flaxseed, linseed, lin, lin oleagineux, lein, ollein, lino, linhaca"),
    // A; F (green lentils).
    crop(
        "lentil",
        60.0,
        14.0,
        "green lentil, large green lentil, small green lentil, lentille, linse, linsen, lenteja, lentilha",
    ),
    // A, B.
    crop("oats", 32.0, 14.0, "oat, avoine, hafer, winterhafer, sommerhafer, avena, aveia"),
    // A, C; F.
    crop(
        "pea",
        60.0,
        16.0,
        "dry pea, field pea, pois, pois sec, pois proteagineux, erbse, erbsen, futtererbse, futtererbsen, \
         kornererbse, kornererbsen, guisante, arveja, ervilha",
    ),
    fresh_crop("potato", "pomme de terre, pommes de terre, kartoffel, kartoffeln, papa, patata, batata inglesa"),
    // A, B; G.
    crop("rice", 45.0, 12.0, "rough rice, paddy, paddy rice, riz, riz paddy, reis, arroz"),
    // A, B, C.
    crop("rye", 56.0, 14.0, "seigle, roggen, winterroggen, sommerroggen, centeno, centeio"),
    fresh_crop("seed cotton", "cotton, coton, coton graine, baumwolle, algodon, algodao"),
    // A, B; G.
    crop("sorghum", 56.0, 14.0, "milo, grain sorghum, sorgho, sorghumhirse, kornersorghum, sorgo"),
    // A, B; E.
    crop("soybean", 60.0, 13.0, "soy, soya, soya bean, soja, sojabohne, sojabohnen"),
    fresh_crop(
        "sugar beet",
        "sugarbeet, beet, betterave, betterave sucriere, zuckerrube, zuckerruben, zuckerruebe, zuckerrueben, \
         remolacha, beterraba",
    ),
    // Sources give 24 to 32 pounds; the local service uses 24. E.
    crop("sunflower", 24.0, 10.0, "tournesol, sonnenblume, sonnenblumen, girasol, girassol"),
    // D, which other sources give as 48 to 56; the moisture is that of rye.
    crop("triticale", 50.0, 14.0, "wintertriticale, sommertriticale"),
    // A, B; E.
    crop(
        "wheat",
        60.0,
        13.5,
        "ble, ble tendre, ble dur, ble d hiver, weizen, winterweizen, sommerweizen, weichweizen, hartweizen, durum, \
         trigo, trigo duro",
    ),
];

/// Words of a class of grain that has the crop's own weight and moisture: market classes, season, use, trait and culture.
const CLASSES: &str = "grain grains wet dry hrd hard sft soft rd red wht white spr spring wtr wntr winter durum drm \
                       yellow yel ylw feed malting malt milling edible oil waxy long medium short hrs hrw srw sww hrsw \
                       hrww srww two six row organic conventional conv gmo non rr rr1 rr2 rr2x rr2y ll xtend enlist \
                       irrigated dryland hiver printemps invierno inverno";

/// Longer texts are remarks, not names.
const MOST_WORDS: usize = 8;

impl Crop {
    /// The crop of this name, in any letter case, with or without accents: a known name, its plural, or one with words of
    /// a class before or behind it, such as `Corn - Grain`, `SOYBEANS-RR`, `WHEAT_HRD_RD_SPR`. Other words, such as those of
    /// silage, make it another crop.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        let letters: String = name.chars().flat_map(char::to_lowercase).map(without_accent).collect();
        let words: Vec<&str> =
            letters.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        if words.len() > MOST_WORDS {
            return None;
        }
        // The longest name first: `seed cotton` before `cotton`.
        (1..=words.len()).rev().find_map(|length| {
            words.windows(length).enumerate().find_map(|(start, run)| {
                let mut others = words
                    .iter()
                    .enumerate()
                    .filter(|(place, _)| *place < start || *place >= start.saturating_add(length));
                others
                    .all(|(_, word)| CLASSES.split(' ').any(|class| class == *word))
                    .then(|| Self::named(&run.join(" ")))?
            })
        })
    }

    fn named(name: &str) -> Option<&'static Self> {
        let is_name = |known: &str| {
            known == name || name.strip_suffix('s') == Some(known) || name.strip_suffix("es") == Some(known)
        };
        CROPS.iter().find(|crop| is_name(crop.name) || crop.other_names.split(", ").any(is_name))
    }

    /// Kilograms in a bushel; `None` for crops that no market measures in bushels.
    #[must_use]
    pub fn kg_per_bushel(&self) -> Option<f64> {
        self.pounds_per_bushel.map(|pounds| pounds * KG_PER_POUND)
    }
}
