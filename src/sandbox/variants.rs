//! Variants: behaviour of real services that differs from the literal specification (field notes), by name.

use headland_base::error::{Error, Kind, Result};

/// Name that enables all variants but [`Variant::TankMixes`], which changes values and not only how they are sent.
pub const WILD: &str = "wild";

/// A row of [`VARIANTS`].
#[derive(Debug)]
pub struct VariantRow {
    /// The variant.
    pub variant: Variant,
    /// Name of the variant.
    pub name: &'static str,
    /// Effect of the variant.
    pub doc: &'static str,
}

/// Defines [`Variant`] and [`VARIANTS`]: name and effect of each variant.
macro_rules! variants {
    ($($variant:ident $name:literal $doc:literal;)+) => {
        /// A variant of the service's behaviour.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Variant {
            $(
                #[doc = concat!("`", $name, "`")]
                $variant,
            )+
        }

        /// All variants.
        pub static VARIANTS: &[VariantRow] =
            &[$(VariantRow { variant: Variant::$variant, name: $name, doc: $doc }),+];
    };
}

variants! {
    PageSizeAsked "page-size-asked" "`PageSize` of a list is the requested size, not the number of its records.";
    ProductionUri "production-uri" "`Uri` values have a production host and mixed-case paths.";
    MoreTime202 "more-time-202" "MORE_TIME_NEEDED has HTTP status 202.";
    NoRetryAfter "no-retry-after" "MORE_TIME_NEEDED has no `Retry-After`, only hh:mm:ss.";
    DateByUpdated "date-by-updated" "`date` selects by the time of update, not of creation.";
    BareItem "bare-item"
        "A list with one item is a bare object; in XML, the lists of a record have no element around it.";
    TextIds "text-ids" "Ids that the specification calls integers are strings in JSON.";
    NumericIds "numeric-ids" "Ids that the specification calls strings are numbers in JSON if they are whole numbers.";
    OddTimes "odd-times" "Times have, in turn, milliseconds, seven digits, an offset, no zone or a space for `T`.";
    DisplayNames "display-names"
        "A job's detail uses display names: `Device File Name`, `Target Rat`, in XML with `_` for the space.";
    NestedJob "nested-job" "A job's detail nests its own fields in `YieldJob`, `SprayerJob` or `PlanterJob`.";
    BareFiles "bare-files" "A job's available files are a list of URLs.";
    CreatedInBody "created-in-body" "201 has the address only in the body, without `Location`.";
    VagueContentType "vague-content-type"
        "Files, and the replies sent instead of them, are `application/octet-stream`.";
    Conflict200 "conflict-200" "A map that is already queued is refused with HTTP 200 and a message.";
    NoPermission401 "no-permission-401" "Data that an access key does not permit are refused with 401, not with 403.";
    ReadOnly405 "read-only-405" "A read-only access key is refused with 405 and its permitted methods, not with 403.";
    XmlDefault "xml-default" "Replies are in XML if `Accept` is absent or prefers neither content type.";
    XmlPrefix "xml-prefix" "Elements in XML have a prefix for their namespace.";
    XmlVendor "xml-vendor" "Roots in XML are `SlingshotIndex` and `SlingshotResponse`, of another namespace.";
    XmlCamel "xml-camel" "Elements in XML begin with a small letter.";
    XmlPlainProlog "xml-plain-prolog" "The prolog of XML names no encoding.";
    XmlNoProlog "xml-no-prolog" "XML has no prolog; this takes precedence over `xml-plain-prolog`.";
    XmlRepeated "xml-repeated"
        "The lists of a record in XML repeat their items without an element around them; this takes precedence over \
         `bare-item`.";
    TankMixes "tank-mixes"
        "Some spraying jobs have two or three products, each with rows of its own at every place.";
    OddGrc "odd-grc"
        "Grain cart files have truncated times, local times under UTC, empty coordinates, a wrong total, truncated \
         bushels, moisture in comments and commas at the ends of rows.";
    Latin1Grc "latin1-grc" "Grain cart files are in Latin-1.";
    BomGrc "bom-grc" "Grain cart files start with a byte order mark; with `latin1-grc`, in turn.";
    LocationGet "location-get" "`Location` of a page of dispatch starts with the word `GET `.";
    LocationNoQuestion "location-no-question" "`Location` of a page of dispatch has no `?` before its first parameter.";
    LocationNoDollar "location-no-dollar"
        "The parameters in `Location` of a page of dispatch have no `$`; with `location-no-question`, all but the \
         first.";
    LocationLast "location-last" "The last page of dispatch also has a `Location`, that of an empty list.";
    NoTotalCount "no-total-count" "Lists of dispatch have no `x-total-count`, even with `$count=true`.";
    NoContent "no-content"
        "POST and PUT of dispatch return 204 without a body, unless `Prefer: return=representation` requests the \
         object.";
    ProblemJson "problem-json" "Errors of dispatch are `application/problem+json` (RFC 9457), not a ServiceResponse.";
    ReleasedOnly "released-only" "The operations of equipment are only the released ones.";
}

/// The enabled variants.
#[derive(Clone, Debug, Default)]
pub(super) struct ActiveVariants(Vec<Variant>);

impl ActiveVariants {
    /// Parses names; `wild` enables those of [`WILD`]. An unknown name is a `Value` error that lists all names.
    pub(super) fn parse(names: &[String]) -> Result<Self> {
        let mut enabled = Vec::new();
        for name in names {
            if name == WILD {
                let all = VARIANTS.iter().map(|row| row.variant);
                enabled.extend(all.filter(|variant| *variant != Variant::TankMixes));
            } else if let Some(row) = VARIANTS.iter().find(|row| row.name == name) {
                enabled.push(row.variant);
            } else {
                let known: Vec<&str> = VARIANTS.iter().map(|row| row.name).collect();
                return Err(Error::new(
                    Kind::Value,
                    format!("`{name}` is not a variant; use {WILD} for all, or any of {}", known.join(", ")),
                ));
            }
        }
        Ok(Self(enabled))
    }

    /// Whether a variant is enabled.
    pub(super) fn has(&self, variant: Variant) -> bool {
        self.0.contains(&variant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_variant_is_an_error_that_lists_the_known() {
        let variants = ActiveVariants::parse(&["more-time-202".to_owned()]).unwrap();
        assert!(variants.has(Variant::MoreTime202) && !variants.has(Variant::NoRetryAfter));
        let wild = ActiveVariants::parse(&[WILD.to_owned()]).unwrap();
        assert!(VARIANTS.iter().all(|row| wild.has(row.variant) != (row.variant == Variant::TankMixes)));
        let error = ActiveVariants::parse(&["tame".to_owned()]).unwrap_err();
        assert_eq!(error.kind(), Kind::Value);
        assert!(VARIANTS.iter().all(|row| error.message().contains(row.name)));
    }
}
