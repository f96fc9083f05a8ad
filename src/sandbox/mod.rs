//! Under construction by the room's owner.
