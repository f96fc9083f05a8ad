//! Register of diagnostic codes: one row per code, with its severity and its documentation.

use std::fmt;

pub use super::code_enum::Severity;
use super::code_enum::codes;

codes! {
    RefusedName = "refused-name", Warning,
        "a member with an empty name or a path outside the archive was left out; an error if the layer needs it";
    RefusedLink = "refused-link", Warning,
        "a symbolic link was left out and not followed; an error if the layer needs it";
    UnreadableMember = "unreadable-member", Error,
        "a member is damaged, encrypted, too large or inconsistent with the archive, and was left out";
    DuplicateMember = "duplicate-member", Warning,
        "two members have the same name; the first is read, or neither if their contents differ";
    MoreMembers = "more-members", Warning, "more members were left out than are listed; only their number is reported";
    NestedArchive = "nested-archive", Warning,
        "an archive inside an archive or a folder was not read: layers are next to it, or it is nested deeper than the \
         limit";
    CutArchive = "cut-archive", Error,
        "with `strict=False`: a zip is truncated; its members were found by their local headers";
    CutMember = "cut-member", Error, "with `strict=False`: a member is truncated; only its remaining bytes were read";
    DirectoryDamaged = "directory-damaged", Error,
        "with `strict=False`: the central directory of a zip is damaged; its members were found by their local headers";
    MemberLost = "member-lost", Error,
        "with `strict=False`: the .shp or the .dbf could not be read, so the layer lacks geometries or columns";
    SidecarLost = "sidecar-lost", Error,
        "a file next to the records could not be read, so coordinate system, encoding, units or metadata are lost";

    NoShp = "no-shp", Info, "there is no .shp, so the layer is a table without geometries";
    NoDbf = "no-dbf", Warning, "there is no .dbf, so the geometry is the only column of the layer";
    NoShx = "no-shx", Warning, "there is no index (.shx), so the records were read sequentially";
    ShxDamaged = "shx-damaged", Error,
        "with `strict=False`: the index is damaged and was ignored; if the records have another order, geometries may \
         be assigned to the wrong rows";
    ShxLength = "shx-length", Warning,
        "the length of the index differs from the length in its header; its actual length was used";
    RecordLengths = "record-lengths", Warning,
        "record lengths in the index differ from those in the .shp, which were used";
    OutOfOrder = "out-of-order", Info, "the records have another order than the index; rows follow the index";
    ShpLength = "shp-length", Warning, "the length of the .shp differs from the length in its header";
    ShpTrailing = "shp-trailing", Warning, "bytes after the declared end of the .shp were left out";
    ShpSeams = "shp-seams", Warning, "records have gaps between them or overlap: bytes belong to no record or to two";
    RecordNumbers = "record-numbers", Error,
        "without an index: the record numbers are not consecutive, so geometries may be missing or assigned to the \
         wrong rows";
    ShpDamaged = "shp-damaged", Error,
        "with `strict=False`: the .shp is damaged; geometries from this record on, or of single records, are lost";
    RowMismatch = "row-mismatch", Error,
        "with `strict=False`: the .shp and the .dbf have different record counts; rows that only one of them has are \
         lost";
    BrokenShape = "broken-shape", Error, "inconsistent records were read as null geometries";
    ShortRecord = "short-record", Warning,
        "records declare fewer bytes than their shapes need; the sizes of the shapes were used";
    LongRecord = "long-record", Error,
        "records are longer than their part and point counts require; the rest of their bytes is lost";
    MixedShapes = "mixed-shapes", Warning,
        "records of another shape type than the header declares were kept, with their own Z and M";
    MissingZ = "missing-z", Warning, "records without Z in a layer that declares it were read with a Z of 0";
    OpenRing = "open-ring", Warning, "open rings were closed";
    PartStart = "part-start", Warning, "a first part that does not start at vertex 0 was read from vertex 0";
    ShortPart = "short-part", Error,
        "parts have too few vertices for a line or a ring; some are None in a `GeoDataFrame`";
    EntangledRings = "entangled-rings", Error,
        "assigning holes to outer rings would take too long; each ring was read as a separate polygon";
    RingDirection = "ring-direction", Warning,
        "rings with the direction of holes are outside of the outer rings; each was read as a polygon of its own, as if its \
         writer did not reverse it";
    MissingM = "missing-m", Info, "vertices without M in a layer with M were read with an M of NaN";
    NoDataM = "no-data-m", Info, "M values that mean `no data` were read as NaN";
    NoDataZ = "no-data-z", Warning,
        "Z values that mean `no data` or are not finite were kept; GeoJSON has their geometries without Z, and `to_crs` of \
         geopandas loses their positions unless `frame.geometry = frame.force_2d()` is called first";
    NoDataCoordinate = "no-data-coordinate", Error,
        "coordinates that mean `no data` or are not finite were kept; GeoJSON has null geometries for them, and their \
         areas and lengths in geopandas are meaningless";
    MValues = "m-values", Info, "geometries have M values; GeoJSON and GeoParquet have no M and leave them out";
    Triangles = "triangles", Info,
        "geometries are surfaces of triangles; GeoJSON and GeoParquet have them as polygons, one for each triangle";
    NoDataRing = "no-data-ring", Error,
        "polygons with a ring whose first or last vertex is not a number cannot be closed; they were read as null \
         geometries";

    NoPrj = "no-prj", Warning, "there is no .prj, so the coordinate system is unknown";
    CrsUnknown = "crs-unknown", Warning,
        "the .prj is empty or cannot be parsed, so the coordinate system is unknown";
    CrsByCode = "crs-by-code", Warning,
        "the .prj contains a code such as `EPSG:4326` instead of well-known text; the code was used";
    CrsCodeContradicts = "crs-code-contradicts", Warning,
        "the .prj states a code whose system differs from its own text; the text was used";
    CrsCodeUnverified = "crs-code-unverified", Info,
        "the .prj states a code that headland does not know, or its text has a projection or a datum that headland does \
         not know, so they cannot be compared; the text was used";
    OwnPlane = "own-plane", Info,
        "coordinates cannot be transformed to WGS 84, since the shift of the datum or the projection is unknown; areas, \
         swaths and maps are computed in the plane of the layer's own system";
    CrsWithoutProjjson = "crs-without-projjson", Warning,
        "the coordinate system is known, but PROJJSON cannot express it, so GeoParquet has `null`";
    DatumOffset = "datum-offset", Info,
        "the datum is close to WGS 84 but not the same; the message states the largest error of coordinates in WGS 84";

    DbfDamaged = "dbf-damaged", Error,
        "with `strict=False`: the .dbf is damaged; the rows from this record on are lost";
    DbfNoTerminator = "dbf-no-terminator", Warning,
        "the field table has no terminator (0x0D); the header length was used instead";
    DbfPadding = "dbf-padding", Warning, "bytes between the field table and the records were left out";
    DbfUnusedBytes = "dbf-unused-bytes", Warning, "records have more bytes than the fields need; the rest was left out";
    DbfMoreRecords = "dbf-more-records", Error, "records beyond the declared record count were left out";
    DbfLength = "dbf-length", Error,
        "bytes after the last record were left out, or a byte is missing before the end-of-file mark (0x1A)";
    DeletedRows = "deleted-rows", Info, "records marked as deleted were left out";
    OddMark = "odd-mark", Warning, "records have an invalid deletion flag, neither a blank nor `*`, and were kept";
    LowerCaseType = "lower-case-type", Warning,
        "column types are lower-case letters and were read as the upper-case ones; other readers read such columns as \
         text";
    UnnamedColumn = "unnamed-column", Warning, "a column without a name was named by its position";
    NameCut = "name-cut", Warning, "a column name is truncated inside its last character, which was left out";
    ControlInName = "control-in-name", Warning,
        "a column name contains control characters or bidirectional formatting characters, which were kept";
    DuplicateColumn = "duplicate-column", Warning,
        "several columns have the same name; written files and GeoJSON number the later ones, and methods that select \
         by name reject it";
    BinaryColumn = "binary-column", Info, "the column has a binary type and was read as bytes";
    Memo = "memo", Error, "the column points into a memo file; the pointers were read as text";
    UnknownType = "unknown-type", Warning, "the column has an unknown type and was read as text";

    BadNumber = "bad-number", Error, "cells that are not numbers were read as null";
    BadDate = "bad-date", Error, "cells that are not dates were read as null";
    BadLogical = "bad-logical", Error, "cells that are not logicals were read as null";
    BlankLogical = "blank-logical", Info, "blank logicals were read as null";
    LogicalDigit = "logical-digit", Warning, "logicals written as 1 and 0 were read as true and false";
    AmbiguousDate = "ambiguous-date", Warning,
        "dates such as 01/02/2024 were read month first, as January 2; if they are day first, read the column as text \
         with hl.open(types={...: \"string\"}) and pass its `format` to `Layer.with_time`";
    DayFirst = "day-first-date", Error,
        "dates such as 31/01/2024 can only be day first and are null; dates of this column with a day of 12 or less \
         were read month first, which is likely wrong: read the column as text with hl.open(types={...: \"string\"}) \
         and pass its `format` to `Layer.with_time`";
    IntegerWithDecimals = "integer-with-decimals", Warning,
        "the column is declared without decimals but contains decimals or a number too large for its type; it was read \
         as float64";
    IntegerWithExponent = "integer-with-exponent", Info,
        "whole numbers with an exponent, such as 1e17, were read as integers";
    DigitsLost = "digits-lost", Error,
        "whole numbers have more digits than float64 can represent and were rounded; for a .dbf, hl.open(types={...: \
         \"string\"}) reads all digits";
    LeadingBlanks = "leading-blanks", Info, "leading blanks of text were kept";
    AfterNul = "after-nul", Warning, "text after a NUL in a cell was left out";
    TextRecoded = "text-recoded", Warning,
        "text declared or assumed to be UTF-8 is not valid UTF-8 and was read as Windows-1252; or bytes undefined in \
         Windows-1252 (0x81, 0x8D, 0x8F, 0x90, 0x9D) became control characters";
    TextUndeclared = "text-undeclared", Info,
        "text without a declared encoding is valid UTF-8 and was read as UTF-8";
    Utf8DeclaredAnsi = "utf8-declared-ansi", Error,
        "text that the archive declares as Windows-1252 or ISO-8859-1 is valid UTF-8 with non-ASCII characters; \
         `encoding=\"utf-8\"` reads it as UTF-8";
    TextLost = "text-lost", Error,
        "bytes that are invalid in the encoding of the text were lost and replaced by U+FFFD; read it in another \
         encoding with `encoding`";
    Latin1 = "latin-1", Warning,
        "the text is not UTF-8 and was read as Latin-1; pass `encoding` to read it in another encoding";
    CpgIgnored = "cpg-ignored", Warning, "the .cpg or .cst names an unknown encoding and was ignored";
    CpgHabit = "cpg-habit", Warning,
        "the .cpg or .cst names an encoding in a form that other readers do not recognise; its number was used";

    MetadataIgnored = "metadata-ignored", Warning,
        "the sidecar with units does not have the expected JSON format, so the units are unknown";
    UnitsByCutName = "units-by-cut-name", Warning,
        "the name of a column is truncated; its unit is that of the only attribute of the sidecar that begins with \
         this name";
    UnitsUnmatched = "units-unmatched", Info, "the sidecar states units of columns that the layer does not have";

    NoPosition = "no-position", Warning, "records without latitude or longitude have no geometry";
    BadPosition = "bad-position", Error,
        "records with a latitude beyond 90 or a longitude beyond 180 degrees have no geometry";
    BadTime = "bad-time", Error, "cells that are not times were read as null";
    AmbiguousTime = "ambiguous-time", Error,
        "local times that occur twice, when clocks go back, are null where the order of rows does not show which is meant; \
         select one with `fold`";
    NonexistentTime = "nonexistent-time", Error, "local times that do not exist, because clocks go forward, are null";
    NoZone = "no-zone", Warning,
        "FMIS: times have no time zone, so the column has times without a zone, or text if other times have a zone";
    NoLineEnd = "no-line-end", Error, "FMIS: no line end follows the last record, so its last cell may be truncated";
    IdJump = "id-jump", Error, "FMIS: ids are not consecutive, so records may be missing or duplicated";
    NoRecords = "no-records", Warning, "FMIS: the table has no records";
    NoJobdata = "no-jobdata", Warning, "FMIS: there is no jobdata.xml, so the description of the job is missing";
    NoByteOrderMark = "no-byte-order-mark", Warning,
        "FMIS: the table has no byte order mark, but was read as UTF-16 because it contains NULs";
    FmisDamaged = "fmis-damaged", Error,
        "FMIS, with `strict=False`: records that do not match their layout were left out";
    StepWithoutValues = "step-without-values", Info, "FMIS: steps without a value for any section were left out";
    TrailingTab = "trailing-tab", Info, "FMIS: blank cells at the ends of records were left out";
    RenamedColumn = "renamed-column", Warning,
        "FMIS and grain carts: a column without a unique name was renamed";
    SectionNumber = "section-number", Warning,
        "FMIS: a section has no number and was numbered by its position, or has the number of an earlier section";

    ShortRow = "short-row", Error,
        "grain carts, with `strict=False`: rows have fewer cells than the header row; the missing cells are null";
    LongRow = "long-row", Error, "grain carts, with `strict=False`: cells beyond those of the header row were left out";
    OddQuote = "odd-quote", Error,
        "grain carts, with `strict=False`: rows with unbalanced quotes were read with the quotes as characters";
    NulRemoved = "nul-removed", Error, "grain carts, with `strict=False`: NULs were removed from the text";
    TrailingComma = "trailing-comma", Info, "grain carts: commas at the ends of rows were left out";
    BlankRow = "blank-row", Info, "grain carts: rows without any value were left out";
    RepeatedKey = "repeated-key", Warning, "grain carts: a key of the header occurs twice; its first value was kept";
    TotalDiffers = "total-differs", Error,
        "grain carts: a total in the header differs from the sum of the loads, so loads may be missing; both were kept";
    BushelsTruncated = "bushels-truncated", Warning,
        "grain carts: bushels are truncated instead of rounded; they were kept unchanged";
    TimeCut = "time-cut", Warning, "grain carts: times lack the last digit of their seconds and were kept as text";
    UtcDoubtful = "utc-doubtful", Error,
        "grain carts: times labelled UTC may be local times; they were kept without a zone";
    NoUnits = "no-units", Warning, "grain carts: there is no row of units, so the units are unknown";
    UnitsIgnored = "units-ignored", Warning,
        "grain carts: the row of units has more cells than the header row, so the units are unknown";

    ColumnNotUsed = "column-not-used", Info,
        "harmonising: columns whose name or unit says what they are, and why they are not used";
    UnitUnknown = "unit-unknown", Warning,
        "harmonising: the unit of a column is unknown, so it has no harmonised column; `units` states it";
    UnitsContradict = "units-contradict", Error,
        "harmonising: stated units contradict each other, so masses or areas may be wrong; `units` states others";
    ColumnsContradict = "columns-contradict", Warning,
        "harmonising: wet and dry yields are exchanged, or masses no longer follow from columns that were changed afterwards";
    SeveralBases = "several-bases", Warning,
        "concatenating: dry masses of a column have several moisture bases, such as those of several crops";
    FieldUnknown = "field-unknown", Warning,
        "concatenating: nothing names the field of some jobs, so it is null in their rows";
    CropContradicts = "crop-contradicts", Warning,
        "harmonising: the stated crop, that of the job and that of its rows differ; the first of these is used";
    TotalContradicts = "total-contradicts", Warning,
        "harmonising and map: the rows hold another mass, product or ground than the job or `total` states";
    CropUnknown = "crop-unknown", Warning,
        "harmonising: the crop or its market moisture is unknown, so there is no dry mass; `crop` states it";
    TargetNotLogged = "target-not-logged", Warning,
        "harmonising: a target rate of 0 in every row was not logged and is null";
    DateAssumed = "date-assumed", Warning, "harmonising: times of day without a date are on 1970-01-01; `job` gives the date";
    DateOrderUnknown = "date-order-unknown", Warning,
        "harmonising: day and month of dates cannot be distinguished, so there is no time; `Layer.with_time` reads them";
    NumbersInText = "numbers-in-text", Info, "harmonising: a column has numbers in texts, which were read";
    TimesMissing = "times-missing", Warning, "harmonising: rows have no time, because their cells are empty";
    EpochAssumed = "epoch-assumed", Info,
        "harmonising: numbers can be seconds since 1970 or those of GPS since 1980, and are read as the former; the start \
         of the `job` tells them apart";
    TimeUnreadable = "time-unreadable", Warning, "harmonising: times have no known form, or none by which a machine works";

    StepsComputed = "steps-computed", Info,
        "cleaning: the interval or the distance of rows is not logged and was computed from other columns";
    IntervalAssumed = "interval-assumed", Warning, "nothing shows the interval of rows, which is 1 s or that of whole numbers";
    MassAssumed = "mass-assumed", Warning,
        "a mass is one of several that are possible: of a yield or ground without a moisture or a mass, or of flow and yield that \
         differ";
    GroundIncomplete = "ground-incomplete", Warning,
        "the ground of some rows was not counted, or not completely: a width or distance that no machine has, polygons without an \
         area or around a point, positions that stay, turns of a working machine, rows far apart, or swaths that cross";
    MachinesUnknown = "machines-unknown", Warning,
        "rows are of several machines that no column tells apart; their tracks do";
    NoGrain = "no-grain", Info,
        "cleaning: ground was driven with the header down without grain for longer than any delay, and counts as no ground";
    MachinesDiffer = "machines-differ", Warning,
        "machines measure yields on neighbouring ground that differ by more than 10 %; their sensors are not calibrated alike";
    FlowChanges = "flow-changes", Warning,
        "from some row on, yields or rates are higher or lower: a sensor was calibrated, or a column changes its unit";
    FlowUnusual = "flow-unusual", Warning,
        "the flow stays the same for long, or is not 0 where nothing is cut; its values are kept";
    RowsOutside = "rows-outside", Info, "cleaning: rows are outside of the boundary; they are used";
    RowsMissing = "rows-missing", Warning,
        "rows are further from the row before than the distance that they log, as where rows are missing between them";
    RowsNotInOrder = "rows-not-in-order", Error,
        "the rows are in no order of a log, so that nothing tells their steps and passes";
    NoValues = "no-values", Info,
        "values that no sensor measures, such as -999 or 65,535, are null";
    IntervalContradicts = "interval-contradicts", Warning,
        "harmonising: the interval contradicts times, or distances and speeds; where it was logged, these are used";
    HeadingContradicts = "heading-contradicts", Warning,
        "cleaning: the logged headings are not those of the motion, whose direction is used";
    WorkingContradicts = "working-contradicts", Warning,
        "most of the grain or product is on rows that do not work by their state, which is not used";
    WidthContradicts = "width-contradicts", Info,
        "the width differs from the distance between neighbouring passes, or polygons from distance x width; nothing is corrected";
    YieldHigh = "yield-high", Warning,
        "cleaning: the mean yield is above any that a field of this crop had; a unit or a column of the flow may be wrong";
    RateHigh = "rate-high", Info, "cleaning: rates are far above all others; they are used as they are";
    AppliedTwice = "applied-twice", Info,
        "cleaning: a part of the product was applied on ground that was covered before, and raises the mean of the map";
    MoistureUnusual = "moisture-unusual", Info, "the moisture is unusual for grain, or does not change; its values are kept";
    MuchLeftOut = "much-left-out", Warning,
        "cleaning: much of the mass, product or ground that was logged is not in the result";
    MeanContradicts = "mean-contradicts", Warning,
        "cleaning: the mean of the rows that are used differs from that of all rows on the ground that they cover, grain is logged \
         while the machine stands or on ground that other rows cover, or rows count with more ground than they log";
    JobTwice = "job-twice", Warning,
        "the same rows are there twice: in one layer the second ones are left out, of several layers all count";
    NotShifted = "not-shifted", Warning,
        "cleaning: the delay of the flow was not found, so the flow stays where the display put it";
    PositionsWander = "positions-wander", Warning,
        "cleaning: neighbouring passes overlap and leave gaps, since positions wander; harvested passes meet in the middle";
    MeanUnknown = "mean-unknown", Warning,
        "field means: the mean yield is null, since no dry mass or no ground is known";
    MassUnknown = "mass-unknown", Warning,
        "map: no flow, yield or rate is in a known unit, so only the ground is mapped";
    MapScaled = "map-scaled", Info,
        "map: the masses are multiplied by a factor, so that they sum to a weighed total";
    OutsidePlots = "outside-plots", Info,
        "map: a part of the worked ground is in no plot";
    PlotsOverlap = "plots-overlap", Warning,
        "map: plots overlap, so that the ground there counts in each of them";
    ZonesOverlap = "zones-overlap", Warning,
        "rates: zones of the prescription overlap with different rates; the first zone counts";
    ProductContradicts = "product-contradicts", Warning,
        "rates: the products of the job and of its prescription or its description differ; they are compared all the same";
    OutsideBoundary = "outside-boundary", Warning, "cleaning: no row is inside of the boundary";

    RxNotOneSet = "rx-not-one-set", Error,
        "prescriptions: the archive is not exactly one shapefile, which is all that the service accepts";
    RxFileMissing = "rx-file-missing", Error, "prescriptions: a .shp, .shx or .dbf is missing";
    RxFolder = "rx-folder", Error, "prescriptions: the zip has a folder, which displays do not search";
    RxNotPolygons = "rx-not-polygons", Error, "prescriptions: shapes are not polygons";
    RxNoFeatures = "rx-no-features", Error, "prescriptions: there is no zone";
    RxNullShape = "rx-null-shape", Error, "prescriptions: zones have no shape, or an empty one";
    RxInvalidRing = "rx-invalid-ring", Error,
        "prescriptions: rings are not closed, have no area, cross or touch themselves, share a side, run around the globe, or \
         are holes outside of their outer ring; zones are valid as `is_valid` of shapely has it";
    RxNotWgs84 = "rx-not-wgs84", Error, "prescriptions: the coordinate system is not WGS 84";
    RxOutsideDegrees = "rx-outside-degrees", Error, "prescriptions: coordinates are not degrees, or not finite";
    RxLatitudeFirst = "rx-latitude-first", Error, "prescriptions: latitudes are where longitudes belong";
    RxOutsideBoundary = "rx-outside-boundary", Error, "prescriptions: no zone is inside of the boundary";
    RxZonesOverlap = "rx-zones-overlap", Error, "prescriptions: zones overlap, so that two rates apply";
    RxPartsOverlap = "rx-parts-overlap", Error,
        "prescriptions: polygons of one zone overlap, so that displays apply its rate twice or not at all there; \
         `union_all` of shapely unites them";
    RxDeletedRows = "rx-deleted-rows", Warning,
        "prescriptions: rows are marked as deleted, which some displays ignore; write the file without them";
    RxOutOfOrder = "rx-out-of-order", Warning,
        "prescriptions: the index has the shapes in another order, so that some displays apply the rates of other zones";
    RateMissing = "rate-missing", Error, "prescriptions: there is no column of rates";
    RateText = "rate-text", Error, "prescriptions: the column of rates contains texts";
    RateNull = "rate-null", Error, "prescriptions: zones have no rate";
    RateUnreadable = "rate-unreadable", Error, "prescriptions: rates are not numbers";
    RateNegative = "rate-negative", Error, "prescriptions: rates are negative";
    RateNotFinite = "rate-not-finite", Error, "prescriptions: rates are not finite";
    RateAmbiguous = "rate-ambiguous", Warning, "prescriptions: several columns can be the rate; `rate` names it";
    RateAssumed = "rate-assumed", Info,
        "prescriptions: the only column of numbers that is no id and no size is read as the rate; `RATE` names it";
    RateAllZero = "rate-all-zero", Warning, "prescriptions: no zone has a rate above 0, so that nothing is applied";
    RateUnitsMixed = "rate-units-mixed", Error,
        "prescriptions: zones state several units, and displays read all rates in one";
    RateOutlier = "rate-outlier", Warning, "prescriptions and rates: rates are above ten times the median, or codes such as 65,535";
    RateRounded = "rate-rounded", Warning, "prescriptions: rates are rounded to 6 decimals";
    RateToZero = "rate-to-zero", Warning,
        "prescriptions: rates become 0 by rounding to `step` or to 6 decimals, so that nothing is applied there";
    RateWithoutZone = "rate-without-zone", Warning,
        "prescriptions: a mapping has rates of zones that are not there";
    RxZOrM = "rx-z-or-m", Warning, "prescriptions: shapes have Z or M, which some displays refuse";
    BoundaryGap = "boundary-gap", Warning, "prescriptions: a part of the boundary is in no zone";
    BoundaryOverhang = "boundary-overhang", Warning, "prescriptions: zones extend beyond the boundary";
    GeometryNotChecked = "geometry-not-checked", Warning,
        "prescriptions: zones have too many edges to find out whether they cross";
    Sliver = "sliver", Warning, "prescriptions: zones are narrower than a metre; `min_area` merges small ones";
    ZoneLost = "zone-lost", Warning, "prescriptions: zones that are smaller than a centimetre were left out";
    ManyZones = "many-zones", Warning, "prescriptions: there are more zones than displays accept";
    RxNameLong = "rx-name-long", Warning, "prescriptions: the name has more than 20 characters";
    RxNameNotAscii = "rx-name-not-ascii", Warning, "prescriptions: the name has characters that are not ASCII";
    RxFileLarge = "rx-file-large", Warning, "prescriptions: the file is larger than 20 MB";
    DisplayLimit = "display-limit", Error, "prescriptions: a documented limit of the display is exceeded";
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
