//! Generates the codes of diagnostics from the register: a `Literal` for Python and the table of
//! `python/docs/archives.md`.

use headland::archive::{Code, Severity};

const SAYS: &str =
    "Generated from the table in `src/reader/archive/diagnostic_code.rs`; change that and run `make generate`.";

/// `python/headland/layer/diagnostic_codes.py`, with its path below `python/headland`.
pub(crate) fn literals() -> (String, String) {
    let codes: String = Code::ALL.iter().map(|code| format!("    \"{code}\",\n")).collect();
    let severities: Vec<String> = Severity::ALL.iter().map(|severity| format!("\"{}\"", severity.as_str())).collect();
    let text = format!(
        "# {SAYS}\n\"\"\"The codes and severities of diagnostics.\"\"\"\n\nfrom typing import Literal\n\n\
         Severity = Literal[{}]\n\"\"\"How much a diagnostic matters.\"\"\"\n\n\
         DiagnosticCode = Literal[\n{codes}]\n\"\"\"The kind of a diagnostic.\"\"\"\n",
        severities.join(", ")
    );
    ("layer/diagnostic_codes.py".to_owned(), text)
}

/// `python/docs/tables/diagnostics.md`, with its path below `python/docs`.
pub(crate) fn table() -> (String, String) {
    let rows: String = Code::ALL
        .iter()
        .map(|code| format!("| `{code}` | {} | {} |\n", code.severity().as_str(), code.documentation()))
        .collect();
    let text = format!("% {SAYS}\n\n| Code | Severity | What was found |\n|---|---|---|\n{rows}");
    ("tables/diagnostics.md".to_owned(), text)
}
