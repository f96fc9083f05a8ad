//! Distinguishes the field boundary, which some exports include, from layers of data.

use super::Layer;

/// Subjects of names and ids in boundaries, from exports of displays and farm software.
const SUBJECTS: [&str; 20] = [
    "field",
    "farm",
    "client",
    "grower",
    "customer",
    "organization",
    "organisation",
    "org",
    "company",
    "business",
    "owner",
    "boundary",
    "bndry",
    "paddock",
    "block",
    "tract",
    "parcel",
    "schlag",
    "betrieb",
    "feld",
];

/// Suffixes of a subject.
const NAME_SUFFIXES: [&str; 3] = ["", "name", "label"];
const ID_SUFFIXES: [&str; 8] = ["id", "uid", "uuid", "guid", "key", "code", "number", "no"];

/// Names and ids without a subject, and measures that programs compute for each polygon.
const OTHER_NAMES: [&str; 15] = [
    "name",
    "label",
    "id",
    "fid",
    "oid",
    "gid",
    "uid",
    "uuid",
    "guid",
    "objectid",
    "globalid",
    "perimeter",
    "shapeleng",
    "shapelength",
    "shapelen",
];

/// Prefixes and units of an area.
const AREA_PREFIXES: [&str; 11] =
    ["", "field", "farm", "boundary", "bndry", "total", "calc", "gross", "net", "legal", "shape"];
const AREA_UNITS: [&str; 10] = ["ac", "acre", "acres", "ha", "hectare", "hectares", "m2", "sqm", "sqft", "acreage"];

/// The longest column name in a .dbf; longer names are truncated.
const MAX_NAME_LENGTH: usize = 10;

/// Meaning of a boundary column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The name of the field.
    Field,
    /// The name of the boundary, if no column names the field.
    Name,
    /// The area that a column states.
    Area,
    /// Another name or an id.
    Other,
}

/// The meaning of a column by its name; `None` if a boundary has no such column.
pub(crate) fn meaning(column: &str) -> Option<Meaning> {
    let is_truncated = column.chars().count() >= MAX_NAME_LENGTH;
    let plain: String = column.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let matches = |start: &str, end: &str| {
        let rest = plain.strip_prefix(start);
        rest == Some(end)
            || (is_truncated && rest.is_some_and(|rest| end.starts_with(rest)))
            || (is_truncated && plain.len() >= 8 && start.starts_with(&plain))
    };
    let matches_any =
        |starts: &[&str], ends: &[&str]| starts.iter().any(|start| ends.iter().any(|end| matches(start, end)));
    if plain.is_empty() {
        None
    } else if matches_any(&["field", "schlag", "feld", "paddock"], &NAME_SUFFIXES) {
        Some(Meaning::Field)
    } else if matches_any(&["name", "label"], &[""]) || matches_any(&["boundary", "bndry"], &NAME_SUFFIXES) {
        Some(Meaning::Name)
    } else if matches_any(&AREA_PREFIXES, &["area"])
        || matches_any(&AREA_PREFIXES, &AREA_UNITS)
        || matches_any(&["area", "fieldarea", "totalarea"], &AREA_UNITS)
    {
        Some(Meaning::Area)
    } else if matches_any(&OTHER_NAMES, &[""])
        || matches_any(&SUBJECTS, &NAME_SUFFIXES)
        || matches_any(&SUBJECTS, &ID_SUFFIXES)
    {
        Some(Meaning::Other)
    } else {
        None
    }
}

/// Whether a layer with these WKB types and columns can be a boundary: only polygons, and only names, ids and areas.
pub(crate) fn can_be_boundary<'a>(types: &[u32], mut columns: impl Iterator<Item = &'a str>) -> bool {
    let is_polygon = |code: &u32| matches!(code % 1000, 3 | 6);
    !types.is_empty() && types.iter().all(is_polygon) && columns.all(|column| meaning(column).is_some())
}

impl Layer {
    /// Whether this layer can be a field boundary. [`boundaries`] decides with the other layers of the archive.
    #[must_use]
    pub fn can_be_boundary(&self) -> bool {
        let columns = self.schema.fields().iter().enumerate().filter(|(index, _)| Some(*index) != self.geometry);
        can_be_boundary(&self.types, columns.map(|(_, field)| field.name().as_str()))
    }
}

/// Decides which layers of an archive are boundaries. If all can be one, none is: an exported outline, or a spot spray
/// without a rate.
#[must_use]
pub fn boundaries(can_be: &[bool]) -> Vec<bool> {
    let has_data = can_be.iter().any(|can_be| !can_be);
    can_be.iter().map(|can_be| *can_be && has_data).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLYGON: u32 = 3;

    fn is_boundary(columns: &[&str]) -> bool {
        can_be_boundary(&[POLYGON], columns.iter().copied())
    }

    /// Columns of boundary exports, truncated to ten letters by the format.
    #[test]
    fn boundary_exports_have_names_ids_and_areas() {
        for columns in [
            &["FIELD", "AREA"][..],
            &["id"],
            &["FID", "NAME"],
            &["CLIENT_NAM", "FARM_NAME", "FIELD_NAME", "BOUNDARY_N", "AREA"],
            &["Grower", "Farm", "Field", "Area_ac"],
            &["ORGANIZATI", "CLIENT", "FARM", "FIELD", "BOUNDARY_I", "Total Acres"],
            &["CustomerNa", "FarmName", "FieldName", "FieldID", "Acres"],
            &["OBJECTID", "Shape_Leng", "Shape_Area", "FIELD_NAME"],
            &["SCHLAGNAME", "BETRIEB", "HA"],
            &[],
        ] {
            assert!(is_boundary(columns), "{columns:?}");
        }
    }

    /// Prescriptions, spot sprays, coverage and soil maps have columns of data.
    #[test]
    fn data_columns_are_not_a_boundary() {
        for columns in [
            &["RATE"][..],
            &["id", "N"],
            &["id", "Nitrogen"],
            &["RATE", "POLY_AREA", "OBJECTTYPE", "OBJECTID", "REGION", "OBJECT", "ZONE", "ZONE_COLOR", "ZONE_AREA"],
            &["FIELD", "PRODUCT", "AREA"],
            &["id", "field_name", "vrappratev", "time", "latitude", "longitude"],
            &["cropId", "fieldName", "totalAcres", "plantedAcr", "fillColor", "farmName"],
            &["FIELD", "Moisture"],
            &["AREA_APPL"],
            &["FIELD_RATE"],
            &["CUST_RATE1"],
            &["Name", "Yld_Vol_Dr"],
            &["Acres", "Crop"],
            &["___"],
        ] {
            assert!(!is_boundary(columns), "{columns:?}");
        }
    }

    #[test]
    fn boundary_needs_polygons_and_a_data_layer() {
        for (types, expected) in
            [(&[3][..], true), (&[3, 6], true), (&[1003], true), (&[1], false), (&[3, 1], false), (&[], false)]
        {
            assert_eq!(can_be_boundary(types, ["AREA"].into_iter()), expected, "{types:?}");
        }
        assert_eq!(boundaries(&[false, true]), [false, true]);
        assert_eq!(boundaries(&[true]), [false], "the only layer");
        assert_eq!(boundaries(&[true, true]), [false, false], "nothing but outlines");
    }

    #[test]
    fn column_names_give_field_and_area() {
        for (column, expected) in [
            ("FIELD_NAME", Meaning::Field),
            ("Field", Meaning::Field),
            ("Name", Meaning::Name),
            ("FIELD_AREA", Meaning::Area),
            ("AREA_HA", Meaning::Area),
            ("FIELD_ID", Meaning::Other),
            ("FARM_NAME", Meaning::Other),
        ] {
            assert_eq!(meaning(column), Some(expected), "{column}");
        }
    }
}
