//! Register of diagnostic codes: one row per code, with its severity and its documentation.

use std::fmt;

/// How much a diagnostic matters to a user of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Severity {
    /// Data are lost, or values are suspect.
    Error,
    /// Something was repaired, assumed or is missing.
    Warning,
    /// For information only.
    Info,
}

impl Severity {
    /// All severities, the most severe first.
    pub const ALL: &'static [Self] = &[Self::Error, Self::Warning, Self::Info];

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

macro_rules! codes {
    ($($name:ident = $text:literal, $severity:ident, $documentation:literal;)+) => {
        /// The kind of a diagnostic.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $documentation] $name,)+
            /// A code of another release, read from a pickle.
            Other(&'static str),
        }

        impl Code {
            /// All codes of this release, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// Its stable name, such as `no-shx`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)+
                    Self::Other(text) => text,
                }
            }

            /// Its severity.
            #[must_use]
            pub const fn severity(self) -> Severity {
                match self {
                    $(Self::$name => Severity::$severity,)+
                    Self::Other(_) => Severity::Warning,
                }
            }

            /// What was found and done about it, as a clause without a full stop. It is the message if all cases are
            /// equal.
            #[must_use]
            pub const fn documentation(self) -> &'static str {
                match self {
                    $(Self::$name => $documentation,)+
                    Self::Other(_) => "a diagnostic of another release",
                }
            }
        }
    };
}

codes! {
    RefusedName = "refused-name", Warning,
        "a member whose name is empty or leads out of the archive was left out; an error where the layer needs it";
    RefusedLink = "refused-link", Warning,
        "a symbolic link was left out and not followed; an error where the layer needs it";
    UnreadableMember = "unreadable-member", Error,
        "a member is damaged, encrypted, too large or contradicts the archive, and was left out";
    DuplicateMember = "duplicate-member", Warning,
        "two members have one name; the first is read, and neither where their contents differ";
    MoreMembers = "more-members", Warning, "so many more members were left out that only their count is given";
    NestedArchive = "nested-archive", Warning,
        "an archive inside an archive or a folder was not read: layers are next to it, or it is deeper than the limit";
    CutArchive = "cut-archive", Error,
        "with `strict=False`: a zip is truncated, and its members were found by their own headers";
    CutMember = "cut-member", Error, "with `strict=False`: a member is truncated, and only what is there was read";
    DirectoryDamaged = "directory-damaged", Error,
        "with `strict=False`: the directory of a zip is damaged, and its members were found by their own headers";
    MemberLost = "member-lost", Error,
        "with `strict=False`: the .shp or the .dbf could not be read, so the layer lacks geometries or columns";
    SidecarLost = "sidecar-lost", Error,
        "a file next to the records could not be read, so coordinate system, encoding, units or metadata are lost";

    NoShp = "no-shp", Info, "there is no .shp, so the layer is a table without geometries";
    NoDbf = "no-dbf", Warning, "there is no .dbf, so the layer has no columns but its geometry";
    NoShx = "no-shx", Warning, "there is no index (.shx), so the records were read one after the other";
    ShxDamaged = "shx-damaged", Error,
        "with `strict=False`: the index is damaged and was ignored, so geometries may belong to other rows where the \
         records have another order";
    ShxLength = "shx-length", Warning, "the index has another length than it declares; its real length was used";
    RecordLengths = "record-lengths", Warning,
        "the index gives records another length than they have in the .shp, which was used";
    OutOfOrder = "out-of-order", Info, "the records have another order than the index; rows follow the index";
    ShpLength = "shp-length", Warning, "the .shp has another length than it declares";
    ShpTrailing = "shp-trailing", Warning, "bytes after the declared end of the .shp were left out";
    ShpSeams = "shp-seams", Warning, "bytes between two records belong to none of them or to both";
    RecordNumbers = "record-numbers", Error,
        "without an index: the numbers of records have gaps, so geometries may be missing or belong to other rows";
    ShpDamaged = "shp-damaged", Error,
        "with `strict=False`: the .shp is damaged; geometries from this record on, or of single records, are lost";
    RowMismatch = "row-mismatch", Error,
        "with `strict=False`: .shp and .dbf have different counts of records; the rows that only one has are lost";
    BrokenShape = "broken-shape", Error, "records that contradict themselves were read as null geometries";
    ShortRecord = "short-record", Warning, "records declare fewer bytes than their shapes need; the shapes decided";
    LongRecord = "long-record", Error, "records are longer than their shapes need; what their counts leave out is lost";
    MixedShapes = "mixed-shapes", Warning,
        "records of another shape type than the header declares were kept, with the Z and M that they have";
    MissingZ = "missing-z", Warning, "records without Z in a layer that declares it were read with a Z of 0";
    OpenRing = "open-ring", Warning, "rings that were open were closed";
    PartStart = "part-start", Warning, "a first part that did not start at vertex 0 was read from there";
    ShortPart = "short-part", Error,
        "parts have too few vertices for a line or a ring; some are None in a `GeoDataFrame`";
    EntangledRings = "entangled-rings", Error,
        "which rings are holes of which would take too long to tell; each was read as a polygon of its own";
    MissingM = "missing-m", Info, "vertices without M in a layer that has M were given NaN";
    NoDataM = "no-data-m", Info, "M values that mean `no data` were read as NaN";
    NoDataZ = "no-data-z", Warning,
        "Z values that mean `no data` or are no finite numbers were kept; GeoJSON has their geometries without Z";
    NoDataCoordinate = "no-data-coordinate", Error,
        "coordinates that mean `no data` or are no finite numbers were kept; GeoJSON has null geometries for them, \
         and areas and lengths that geopandas takes of them mean nothing";
    NoDataRing = "no-data-ring", Error,
        "polygons with a ring that begins or ends in a vertex that is no number cannot be closed and were read as \
         null geometries";

    NoPrj = "no-prj", Warning, "there is no .prj, so the coordinate system is unknown";
    CrsUnknown = "crs-unknown", Warning,
        "the .prj is empty or its text is not understood, so the coordinate system is unknown";
    CrsByCode = "crs-by-code", Warning,
        "the .prj holds a code such as `EPSG:4326` and no well-known text; the code was taken";
    CrsWithoutProjjson = "crs-without-projjson", Warning,
        "the coordinate system is known, but PROJJSON cannot express it, so GeoParquet has `null`";
    DatumOffset = "datum-offset", Info,
        "the datum is near WGS 84 but not the same; the message says how far off coordinates in WGS 84 may be";

    DbfDamaged = "dbf-damaged", Error,
        "with `strict=False`: the .dbf is damaged; the rows from this record on are lost";
    DbfNoTerminator = "dbf-no-terminator", Warning,
        "the field table has no end mark; the header length was used instead";
    DbfPadding = "dbf-padding", Warning, "bytes between the field table and the records were left out";
    DbfUnusedBytes = "dbf-unused-bytes", Warning, "records have more bytes than the fields need; the rest was left out";
    DbfMoreRecords = "dbf-more-records", Error, "records after those that the header declares were left out";
    DbfLength = "dbf-length", Error,
        "bytes after the last record were left out, or a byte is missing before the end mark";
    DeletedRows = "deleted-rows", Info, "records that are marked as deleted were left out";
    OddMark = "odd-mark", Warning, "records are marked neither as kept nor as deleted and were kept";
    LowerCaseType = "lower-case-type", Warning,
        "types of columns are lower-case letters and were read as capital ones; other readers take such columns for \
         text";
    UnnamedColumn = "unnamed-column", Warning, "a column without a name was named by its position";
    NameCut = "name-cut", Warning, "a column name is cut inside its last letter, which was left out";
    ControlInName = "control-in-name", Warning,
        "a column name has control characters or marks of the writing direction, which were kept";
    DuplicateColumn = "duplicate-column", Warning,
        "several columns have one name; written files and GeoJSON number the later ones, and methods that take a name \
         refuse it";
    BinaryColumn = "binary-column", Info, "the column has a binary type and was read as bytes";
    Memo = "memo", Error, "the column points into a memo file; the pointers were read as text";
    UnknownType = "unknown-type", Warning, "the column has a type that is not known and was read as text";

    BadNumber = "bad-number", Error, "cells that are no number were read as null";
    BadDate = "bad-date", Error, "cells that are no date were read as null";
    BadLogical = "bad-logical", Error, "cells that are no logical were read as null";
    BlankLogical = "blank-logical", Info, "blank logicals were read as null";
    LogicalDigit = "logical-digit", Warning, "logicals written as 1 and 0 were read as true and false";
    AmbiguousDate = "ambiguous-date", Warning,
        "dates such as 01/02/2024 were read month first, as January 2; where they are day first, read the column as \
         text with hl.open(types={...: \"string\"}) and take the dates from that";
    DayFirst = "day-first-date", Error,
        "dates such as 31/01/2024 can only be day first and are null; dates of this column with a day of 12 or less \
         were read month first, which is likely wrong: read the column as text with hl.open(types={...: \"string\"}) \
         and take the dates from that";
    IntegerWithDecimals = "integer-with-decimals", Warning,
        "the column is declared without decimals but has some, or a number too large for its type: it was read as \
         float64";
    IntegerWithExponent = "integer-with-exponent", Info,
        "whole numbers with an exponent, such as 1e17, were read as integers";
    DigitsLost = "digits-lost", Error,
        "whole numbers have more digits than float64 holds and were rounded; of a .dbf, hl.open(types={...: \
         \"string\"}) reads all digits";
    LeadingBlanks = "leading-blanks", Info, "leading blanks of text were kept";
    AfterNul = "after-nul", Warning, "what follows a NUL in a cell was left out";
    TextRecoded = "text-recoded", Warning,
        "text that is not valid UTF-8, which is declared or assumed, was read as Windows-1252; or bytes that Windows-1252 \
         leaves undefined (0x81, 0x8D, 0x8F, 0x90, 0x9D) became control characters";
    TextUndeclared = "text-undeclared", Info,
        "text without a declared encoding was read as UTF-8, in which it is valid";
    Utf8DeclaredAnsi = "utf8-declared-ansi", Error,
        "text that the archive declares as Windows-1252 or ISO-8859-1 is valid UTF-8 with letters beyond ASCII; \
         `encoding=\"utf-8\"` reads it as such";
    TextLost = "text-lost", Error,
        "bytes that stand for nothing in the encoding of the text were lost, and U+FFFD stands in their place; \
         encoding=... reads it in another";
    Latin1 = "latin-1", Warning, "the text is not UTF-8 and was read as Latin-1; `encoding` reads it as another";
    CpgIgnored = "cpg-ignored", Warning, "the .cpg or .cst names no known encoding and was ignored";
    CpgHabit = "cpg-habit", Warning,
        "the .cpg or .cst names an encoding in a form that other readers do not know; its number was taken";

    MetadataIgnored = "metadata-ignored", Warning,
        "the sidecar with units is not the JSON that was expected, so the units are unknown";
    UnitsByCutName = "units-by-cut-name", Warning,
        "the name of a column is cut; its unit is that of the only attribute of the sidecar that begins with it";
    UnitsUnmatched = "units-unmatched", Info, "the sidecar states units of columns that the layer does not have";

    NoPosition = "no-position", Warning, "records without latitude or longitude have no geometry";
    BadPosition = "bad-position", Error,
        "records with a latitude beyond 90 or a longitude beyond 180 degrees have no geometry";
    BadTime = "bad-time", Error, "cells that are no time were read as null";
    AmbiguousTime = "ambiguous-time", Error,
        "times that the clocks of the zone show twice are null; `fold` says which is meant";
    NonexistentTime = "nonexistent-time", Error, "times that the clocks of the zone leave out are null";
    NoZone = "no-zone", Warning,
        "FMIS: times state no zone, so the column has times without one, or text where others state one";
    NoLineEnd = "no-line-end", Error, "FMIS: no line end follows the last record, so its last cell may be cut";
    IdJump = "id-jump", Error, "FMIS: ids do not follow one another, so records may be missing or stand twice";
    NoRecords = "no-records", Warning, "FMIS: the table holds no record";
    NoJobdata = "no-jobdata", Warning, "FMIS: there is no jobdata.xml, so nothing says what the job was";
    NoByteOrderMark = "no-byte-order-mark", Warning,
        "FMIS: the table was read as UTF-16, as its NULs show, though it does not begin with the mark of that";
    FmisDamaged = "fmis-damaged", Error,
        "FMIS, with `strict=False`: records that do not fit their layout were left out";
    StepWithoutValues = "step-without-values", Info, "FMIS: steps without a value of any section were left out";
    TrailingTab = "trailing-tab", Info, "FMIS: blank cells at the ends of records were left out";
    RenamedColumn = "renamed-column", Warning,
        "FMIS and grain carts: a column without a name of its own was given another";
    SectionNumber = "section-number", Warning,
        "FMIS: a section has no number and got that of its position, or the number of one before it";

    ShortRow = "short-row", Error, "grain carts, with `strict=False`: cells that rows lack at their ends are null";
    LongRow = "long-row", Error, "grain carts, with `strict=False`: cells beyond those of the header row were left out";
    OddQuote = "odd-quote", Error,
        "grain carts, with `strict=False`: rows whose quotes do not match were read with the quotes as letters";
    NulRemoved = "nul-removed", Error, "grain carts, with `strict=False`: NULs were removed from the text";
    TrailingComma = "trailing-comma", Info, "grain carts: commas at the ends of rows were left out";
    BlankRow = "blank-row", Info, "grain carts: rows without any value were left out";
    RepeatedKey = "repeated-key", Warning, "grain carts: a key of the header stands twice; its first value was kept";
    TotalDiffers = "total-differs", Error,
        "grain carts: a total of the header is not the sum of its loads, so loads may be missing; both were kept";
    BushelsTruncated = "bushels-truncated", Warning,
        "grain carts: bushels are cut off instead of rounded and were kept";
    TimeCut = "time-cut", Warning, "grain carts: times lack the last digit of their seconds and were kept as text";
    UtcDoubtful = "utc-doubtful", Error,
        "grain carts: times that are labelled UTC may be local time; they were kept without a zone";
    NoUnits = "no-units", Warning, "grain carts: there is no row of units, so the units are unknown";
    UnitsIgnored = "units-ignored", Warning,
        "grain carts: the row of units has more cells than the header row, so the units are unknown";
}

impl Code {
    /// The code with this name, if this release has it.
    #[must_use]
    pub fn from_name(text: &str) -> Option<Self> {
        Self::ALL.iter().find(|code| code.as_str() == text).copied()
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_written_in_one_form() {
        for code in Code::ALL {
            let (text, sentence) = (code.as_str(), code.documentation());
            assert_eq!(Code::from_name(text), Some(*code), "{text} is there twice");
            assert!(
                text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'),
                "{text}"
            );
            assert!(!sentence.ends_with('.') && !sentence.contains(['|', '\n']), "{text}: {sentence}");
        }
    }
}
