//! Path prefixes of the dispatch service and the legacy order service.

use crate::query::Query;
use crate::routes::Route;
use headland_api::Service;

/// Address of a dispatch service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// The dispatch service.
    Dispatch,
    /// The legacy order service at the first of its two addresses, which share one state.
    LegacyDispatch,
    /// The legacy order service at the second address.
    LegacyOrders,
}

impl Address {
    /// Returns the address of a path.
    pub(crate) fn from_path(path: &str) -> Option<Self> {
        let first = path.strip_prefix('/')?.split('/').next()?;
        [Self::Dispatch, Self::LegacyDispatch, Self::LegacyOrders]
            .into_iter()
            .find(|address| address.path().strip_prefix('/').is_some_and(|own| own.eq_ignore_ascii_case(first)))
    }

    /// Returns the path without a trailing slash.
    pub(crate) const fn path(self) -> &'static str {
        match self {
            Self::Dispatch => "/dispatch",
            Self::LegacyDispatch => "/legacy-dispatch",
            Self::LegacyOrders => "/legacy-orders",
        }
    }

    /// Routes a request below this address.
    pub(crate) fn route(self, method: &str, path: &str, query: &Query) -> Route {
        let service = if self == Self::Dispatch { Service::Dispatch } else { Service::LegacyOrders };
        Route::find_in(service, method, path.get(self.path().len()..).unwrap_or_default(), query)
    }
}
