"""Clients that the local service makes: they keep its limits, not those of real services."""

from __future__ import annotations

import asyncio

import pytest

import headland as hl


def test_client_of_a_service_without_a_limit_never_waits_for_one() -> None:
    with hl.Sandbox.demo() as service, service.client() as client:
        assert client.budget().remaining is None
        for _ in range(40):
            client.job_data.list(page_size=1).first()


def test_client_keeps_the_limits_of_its_service_and_takes_options() -> None:
    limits = ((7, 10.0), (3, 2.0))
    with hl.Sandbox(rate_limits=limits, small_jobs=1) as service, service.client(accept="xml") as client:
        assert [(window.calls, window.seconds) for window in client.budget().windows] == list(limits)
        assert client.job_data.list()[0]["id"]
    with hl.Sandbox.demo() as service, service.client(access_key=service.other_access_key) as client:
        job_id = service.truth[0]["job_id"]
        with pytest.raises(hl.HeadlandError):
            client.job_data.get(job_id)


def test_async_client_of_a_service_has_its_limits() -> None:
    async def first(service: hl.Sandbox) -> object:
        async with service.async_client() as client:
            assert (await client.budget()).remaining is None
            async for job in client.job_data.list():
                return job["id"]
        return None

    with hl.Sandbox.demo() as service:
        assert asyncio.run(first(service))
