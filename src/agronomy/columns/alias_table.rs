//! Names of columns in files of displays and farm software, by canonical column.
//!
//! Sources are files of Ag Leader, SMS, Deere and Climate displays in public repositories, some abbreviated again by R, and
//! the local service.

use crate::columns::canonical::{DRY_YIELD, WET_YIELD};

/// Parts of names that mean something else: goals and recommendations, zones, projected coordinates, offsets,
/// calibration, quality of the position, and rates of nutrients that are computed from the rate of a product.
pub(crate) const OTHER_PARTS: &[&str] = &[
    "goal",
    "recom",
    "zone",
    "utm",
    "easting",
    "northing",
    "offset",
    "calib",
    "slope",
    "bias",
    "dop",
    "gps_stat",
    "diff_",
    "gl_mas",
    "rate__ma",
    "area_count",
    "prod_ac",
    "prod_ha",
    "flw_v",
    "flow_v",
];

/// Names of ids, in addition to those that end in `_id`.
pub(crate) const IDS: &[&str] = &["id", "fid", "oid", "gid", "objectid", "uuid", "guid"];

/// Canonical name, unit that the names state, names without separators: English, French, German, Spanish, Portuguese.
pub(crate) const ALIASES: &[(&str, &str, &str)] = &[
    (
        "time",
        "",
        "isotime timestamp utctimestamp datetime gpstime gpstim time timelapse timeutc localtime zeit uhrzeit heure \
         hora",
    ),
    ("date", "", "date datestamp datum fecha logdate gpsdate utcdate"),
    ("longitude", "", "longitude lon long lng longitud"),
    ("latitude", "", "latitude lat latitud"),
    ("interval", "", "interval cycle cycles cycletime duration logginginterval duree dauer duracion"),
    ("interval", "s", "durtns"),
    ("distance", "", "distance dist dstnc distanc distancetravelled distancetraveled strecke distancia"),
    ("distance", "ft", "dstncf"),
    (
        "swath_width",
        "",
        "swathwidth swath swathwi swthwdth swthw swthwidth workingwidth width largeur largeurdetravail arbeitsbreite \
         breite ancho anchodetrabajo largura larguradetrabalho",
    ),
    ("heading", "", "heading track course bearing machineheading piste kurs fahrtrichtung rumbo"),
    ("heading", "deg", "hdngdg trckd"),
    (
        "speed",
        "",
        "speed groundspeed vehiclespeed vehiclspeed gpsspeed velocity vitesse geschwindigkeit velocidad velocidade",
    ),
    ("speed", "mph", "spdmp"),
    ("speed", "km/h", "vitessekm"),
    ("elevation", "", "elevation elev elevatn elevtn altitude alt gpsaltitude altura hoehe hohe altitud"),
    ("elevation", "m", "zmetrs"),
    ("pass_number", "", "pass passnum passnumber passno passnm passage pasada passada"),
    ("section", "", "section sectionid boomsection"),
    ("machine", "", "machine machineid serial serialnumber"),
    (
        "working",
        "",
        "working workstate wrkstt headerdown headerstatus headerstat header boomon boomstatus clutchon status",
    ),
    ("flow", "", "flow massflow cropflow grainflow cropflwm crpflwm debit durchfluss flujo fluxo"),
    ("flow", "lb/s", "flwlbs"),
    (
        "moisture",
        "",
        "moisture moistur mostr moist grainmoisture humidite humedad umidade feuchte feuchtigkeit kornfeuchte",
    ),
    (
        "yield_wet_mass",
        "",
        "yieldwetmass wetmass wetmassyield yldmasswet yldmassw yldmssw yieldmasswet massyieldwet rendmassh",
    ),
    (
        "yield_dry_mass",
        "",
        "yielddrymass drymass drymassyield yldmassdry yldmassd yldmssd yieldmassdry massyielddry rendmasss",
    ),
    (
        "yield_dry_matter",
        "",
        "yielddrymatter drymatteryield drymatter dmyield yielddm trockenmasse trockenmasseertrag tmertrag ertragtm \
         rendementms matieresecheha",
    ),
    ("yield_wet_volume", "", "yieldwetvolume wetvolume yldvolwet yldvolwe yldvlw yieldvolwet volyieldwet rendvolh"),
    ("yield_dry_volume", "", "yielddryvolume dryvolume yldvoldry yldvoldr yldvld yieldvoldry volyielddry rendvols"),
    ("yield_dry_volume", "bu/ac", "drybuac"),
    ("yield_wet_volume", "bu/ac", "wetbuac"),
    (
        WET_YIELD,
        "",
        "wetyield yieldwet yldwet wetyld ertragfeucht ertragnass feuchtertrag nassertrag frischertrag rendementhumide \
         rendhumide rendimientohumedo rendhumedo produtividadeumida rendimentoumido",
    ),
    (
        DRY_YIELD,
        "",
        "dryyield yielddry ylddry dryyld ertragtrocken trockenertrag rendementsec rendsec rendimientoseco rendseco \
         produtividadeseca rendimentoseco",
    ),
    (
        "yield",
        "",
        "yield vryieldvol vryieldvolume vryieldmas vryieldmass yieldvol yieldvolume yieldmass grainyield cropyield \
         yld yldvol yldmass rendement ertrag kornertrag rendimiento rendimien rendimient rinde rendimento \
         produtividade produtivid produtivida",
    ),
    ("protein", "", "protein proteine proteina eiweiss"),
    (
        "target_rate",
        "",
        "targetrate target targtrt tgtrate tgtratel tgtratek ratetarget targetpop targetpopulation sollmenge \
         dosecible dosisobjetivo",
    ),
    (
        "applied_rate",
        "",
        "appliedrate appldrate appldrt rateappld rateapplied rtapdms rtapdct rtapdliq rtapd vrappratev vrappratem \
         vrapprate actualrate population appliedpop seedingrate vrseedrate istmenge doseappliquee dosisaplicada \
         asappliedrate tasaaplicada tasaaplicad",
    ),
    ("control_rate", "", "controlrate cntrlrt"),
    ("depth", "", "depth seeddepth seedingdepth plantingdepth"),
    ("down_force", "", "downforce"),
    ("singulation", "", "singulation singulatn"),
    ("skips", "", "skips"),
    ("doubles", "", "doubles multiples"),
    ("product", "", "product productname produkt produit producto"),
    ("variety", "", "variety varietyname hybrid sorte variete variedad cultivar"),
    ("crop", "", "crop cropname grain kultur culture cultivo"),
    ("operator", "", "operator operatorname driver fahrer operateur operador"),
    ("field", "", "field fieldname schlag parcelle parcela lote talhao"),
    ("load", "", "load loadname"),
];

/// Labels of SMS, whose signs other than letters and digits become `_` in a .dbf, which truncates them: canonical name,
/// label, and the units that the label can end with.
pub(crate) const LABELS: &[(&str, &str, &[&str])] = &[
    ("distance", "distance", &["ft", "m"]),
    ("swath_width", "swth_wdth", &["ft", "m"]),
    ("heading", "track", &["deg"]),
    ("interval", "duration", &["s"]),
    ("elevation", "elevation", &["ft", "m"]),
    ("moisture", "moisture", &["%"]),
    ("flow", "crop_flw_m_", &["lb/s", "tonne/h"]),
    ("yield_wet_mass", "yld_mass_wet_", &["lb/ac", "tonne/ha"]),
    ("yield_dry_mass", "yld_mass_dry_", &["lb/ac", "tonne/ha"]),
    ("yield_wet_volume", "yld_vol_wet_", &["bu/ac", "m3/ha"]),
    ("yield_dry_volume", "yld_vol_dry_", &["bu/ac", "m3/ha"]),
    ("speed", "speed", &["mph", "km/h"]),
    ("target_rate", "tgt_rate", &["lb/ac", "kg/ha", "l/ha", "ksds/ac", "gal/ac", "g/ha"]),
    ("swath_width", "largeur_de_travail", &[""]),
];
