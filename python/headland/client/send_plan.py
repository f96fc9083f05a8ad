"""Plans of sends: what a prescription map would collide with at a field computer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from headland.client.calls import AsyncCalls, Calls
    from headland.client.map_file import MapFile
    from headland.records import FieldComputerDetail, PrescriptionMapItem


class SendPlan(NamedTuple):
    """The effect of a send, of which nothing was sent."""

    file_name: str | None
    """The file name of the map; ``None`` if it is unknown and nothing is queued that could have it."""
    computer: FieldComputerDetail
    """The field computer, with its `device_type`; of a device that the service does not describe, as some legacy ones,
    only `id`, `name` and `uri`."""
    queued: list[PrescriptionMapItem]
    """The maps that are queued for it."""
    conflicts: tuple[str, ...]
    """Why the map would be refused; empty if it can be sent."""
    notes: tuple[str, ...]
    """What a legacy device would do. The service does not state which devices are legacy ones."""

    def __repr__(self) -> str:
        """Return the plan in lines: map and field computer, then conflicts and notes."""
        name = self.file_name or "the map"
        state = f"{len(self.queued)} queued" if self.queued else "nothing queued"
        kind = self.computer.get("device_type") or "unknown device"
        computer = f"{self.computer.get('name') or self.computer['id']} ({kind}, {state})"
        lines = [f"{name} for {computer}: {'refused' if self.conflicts else 'can be sent'}"]
        lines += [f"  conflict: {text}" for text in self.conflicts]
        lines += [f"  note: {text}" for text in self.notes]
        return "\n".join(lines)


class SendPlans:
    """Planning a send with a synchronous client."""

    __slots__ = ()

    _calls: Calls

    def plan(self, rx: MapFile | str | int, field_computer_id: str | int) -> SendPlan:
        """Show what a send would collide with; sends nothing.

        It takes two calls: the field computer and its queue. The list of field computers is read too, if the service
        does not describe this one, as some legacy devices. The file name of a map that this client did not upload takes
        one more, if other maps are queued.

        Args:
            rx: A prescription, a path or bytes as for `upload`, or the id of an uploaded map. A file is checked as for
                `upload`; of a path without a file, the name is planned.
            field_computer_id: Id of the field computer.

        Returns:
            The plan: `conflicts`, for which the service would refuse the map, and `notes` on legacy devices.

        Raises:
            NotFound: There is no such field computer or map.

        Examples:
            >>> plan = client.prescription_maps.plan(map_id, computer_id)

        """
        return SendPlan(**self._calls.plan_send(rx, field_computer_id))


class AsyncSendPlans:
    """Planning a send with an asynchronous client."""

    __slots__ = ()

    _calls: AsyncCalls

    async def plan(self, rx: MapFile | str | int, field_computer_id: str | int) -> SendPlan:
        """Like `Client.prescription_maps.plan`, as a coroutine."""
        fields: dict[str, Any] = await self._calls.plan_send(rx, field_computer_id)
        return SendPlan(**fields)
