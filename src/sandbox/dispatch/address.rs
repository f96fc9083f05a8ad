//! Path prefixes of the dispatch service and the legacy order service.

use crate::api::Service;
use crate::sandbox::query::Query;
use crate::sandbox::routes::Route;

/// Address of a dispatch service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sandbox) enum Address {
    /// The dispatch service.
    Dispatch,
    /// The legacy order service at the first of its two addresses, which share one state.
    LegacyDispatch,
    /// The legacy order service at the second address.
    LegacyOrders,
}

impl Address {
    /// Returns the address of a path.
    pub(in crate::sandbox) fn from_path(path: &str) -> Option<Self> {
        let first = path.strip_prefix('/')?.split('/').next()?;
        [Self::Dispatch, Self::LegacyDispatch, Self::LegacyOrders]
            .into_iter()
            .find(|address| address.path().strip_prefix('/').is_some_and(|own| own.eq_ignore_ascii_case(first)))
    }

    /// Returns the path without a trailing slash.
    pub(in crate::sandbox) const fn path(self) -> &'static str {
        match self {
            Self::Dispatch => "/dispatch",
            Self::LegacyDispatch => "/legacy-dispatch",
            Self::LegacyOrders => "/legacy-orders",
        }
    }

    /// Routes a request below this address.
    pub(in crate::sandbox) fn route(self, method: &str, path: &str, query: &Query) -> Route {
        let service = if self == Self::Dispatch { Service::Dispatch } else { Service::LegacyOrders };
        Route::find_in(service, method, path.get(self.path().len()..).unwrap_or_default(), query)
    }
}
