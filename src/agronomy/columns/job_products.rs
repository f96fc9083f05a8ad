//! Products of a job as the service reports them, and their entry in the metadata of a layer.

use serde::{Deserialize, Serialize};

use super::derived::HECTARE;

/// Metadata of a layer: the products that the service reports of its job, as JSON.
pub(crate) const JOB_TOTALS: &str = "headland:job_totals";

/// A product of a job as the service reports it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct JobProduct {
    /// The name.
    pub name: Option<String>,
    /// What was applied, in the unit of the display.
    pub amount: Option<f64>,
    /// Square metres.
    pub area: Option<f64>,
    /// Harvested kilograms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_weight: Option<f64>,
    /// Planted kilograms per hectare of the area.
    #[serde(default)]
    pub weight_per_ha: Option<f64>,
}

impl JobProduct {
    /// Planted kilograms.
    pub(crate) fn weight(&self) -> Option<f64> {
        Some(self.weight_per_ha? * self.area? / HECTARE)
    }
}

/// The entry of a layer's metadata for products that report an amount or an area.
pub(crate) fn totals_entry(products: &[JobProduct]) -> Option<String> {
    let is_known = |product: &JobProduct| product.amount.is_some() || product.area.is_some();
    products.iter().any(is_known).then(|| serde_json::to_string(products).ok()).flatten()
}
