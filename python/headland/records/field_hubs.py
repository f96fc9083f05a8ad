# Generated from the table in `src/api`; change that and run `make generate`.
"""The records of `field_hubs` as typed dicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Required, TypedDict

if TYPE_CHECKING:
    import datetime as dt


class FieldHubItem(TypedDict):
    """A field hub in a list.

    Specification 2.1.

    Attributes:
        id: Id of the field hub.
        name: Name given by a user.
        uri: Absolute address of the detail.

    """

    id: str
    name: str | None
    uri: str


class FieldHubReport(TypedDict, total=False):
    """What a field hub reported; the last three fields say what coded ones mean and are not sent.

    Specification 2.4, 6.

    Attributes:
        id: Id of the record, unique and rising: it tells which records are known already.
        device_id: Id of the actual device.
        sub_type: `Field Hub`.
        lat: Latitude, -90 to 90. Unit: degrees.
        lon: Longitude, -180 to 180. Unit: degrees.
        alt: Altitude relative to sea level. Unit: m.
        speed: Speed, 0 to 255. Unit: km/h.
        direction: Track angle, 0 to 360. Unit: degrees.
        valid: Whether a valid position is reported.
        gps_date_time: Time stamp of the GPS; None where there was no fix.
        active: Whether the hub is currently reporting.
        gps_sat: Satellites tracked, 0 to 255. Unit: satellites.
        event: What triggered the report, as a code (section 6); see `event_meaning`.
        gps_fix: Whether the antenna is fixed on satellites.
        rssi: Signal strength, -103 to -85, with decimals; see `rssi_bars`. Unit: dBm.
        ignition: State of the ignition.
        digital_input_1: State of the input; its meaning depends on the application.
        digital_input_2: State of the input; its meaning depends on the application.
        digital_input_3: State of the input; its meaning depends on the application.
        digital_input_4: State of the input; its meaning depends on the application.
        analog_input_1: State of the input, 0 to 15; its meaning depends on the application. Unit: unknown.
        analog_input_2: State of the input, 0 to 15; its meaning depends on the application. Unit: unknown.
        analog_input_3: State of the input, 0 to 15; its meaning depends on the application. Unit: unknown.
        analog_input_4: State of the input, 0 to 15; its meaning depends on the application. Unit: unknown.
        battery_voltage: Voltage of the battery, 0 to 30. Unit: V.
        digital_output_1: State of the output; its meaning depends on the application.
        digital_output_2: State of the output; its meaning depends on the application.
        digital_output_3: State of the output; its meaning depends on the application.
        server_date_time: When the service wrote the record; may be None.
        odometer: Distance between fixed locations, 0 to 4294967295. Unit: hm.
        service: Network service as the hub reports it; may be empty or a technology.
        carrier: Wireless carrier as the hub reports it.
        roam: Empty if unknown, `00` for not roaming, else roaming; see `roaming`.
        rssi_bars: Bars of `rssi`: 5 from -85 dBm up, then 4 from -90, 3 from -95, 2 from -100, 1 from -103,
            else 0. Unit: bars.
        event_meaning: What `event` means; None for a code that is not documented.
        roaming: Whether `roam` says that the hub is roaming; None if unknown.

    """

    id: Required[str]
    device_id: str | None
    sub_type: str | None
    lat: float | None
    lon: float | None
    alt: int | None
    speed: int | None
    direction: int | None
    valid: bool | None
    gps_date_time: dt.datetime | None
    active: bool | None
    gps_sat: int | None
    event: str | None
    gps_fix: bool | None
    rssi: float | None
    ignition: bool | None
    digital_input_1: bool | None
    digital_input_2: bool | None
    digital_input_3: bool | None
    digital_input_4: bool | None
    analog_input_1: float | None
    analog_input_2: float | None
    analog_input_3: float | None
    analog_input_4: float | None
    battery_voltage: float | None
    digital_output_1: bool | None
    digital_output_2: bool | None
    digital_output_3: bool | None
    server_date_time: dt.datetime | None
    odometer: int | None
    service: str | None
    carrier: str | None
    roam: str | None
    rssi_bars: int | None
    event_meaning: str | None
    roaming: bool | None


class FieldHubDetail(TypedDict, total=False):
    """A field hub with its latest report.

    Specification 2.4.

    Attributes:
        id: Id of the field hub.
        name: Name given by a user.
        make: Manufacturer; the detail alone gives it.
        model: Model.
        field_computer: Id of the associated field computer; may be absent.
        report: The latest report.

    """

    id: Required[str]
    name: str | None
    make: str | None
    model: str | None
    field_computer: str | None
    report: FieldHubReport | None
