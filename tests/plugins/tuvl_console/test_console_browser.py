"""The console in a real browser: it goes on by itself, and is worked by keyboard."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import pytest

from tuvl_core import Principal

pytestmark = pytest.mark.service("chromium")


@asynccontextmanager
async def browser_page(width, height, scheme):
    import shutil

    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = await browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        page.problems = []
        page.on("console", lambda message: page.problems.append(message.text))
        page.on("pageerror", lambda error: page.problems.append(str(error)))
        page.on("dialog", lambda dialog: asyncio.ensure_future(dialog.accept()))
        yield page
        await browser.close()


async def press(page, name):
    """Come to a button by the Tab key alone, and press it."""
    await page.evaluate("document.activeElement.blur()")
    for _ in range(40):
        await page.keyboard.press("Tab")
        text = await page.evaluate("document.activeElement.textContent.trim()")
        if text == name:
            await page.keyboard.press("Enter")
            return
    raise AssertionError(f"{name!r} is out of reach of the keyboard")


@pytest.mark.parametrize(
    ("width", "height", "scheme"), [(1280, 900, "light"), (390, 844, "dark")], ids=["desk", "phone"]
)
async def test_a_run_is_watched_paused_steered_and_aborted(desk, width, height, scheme):
    async with desk() as (service, url), browser_page(width, height, scheme) as page:
        await page.goto(f"{url}/console")
        await page.wait_for_selector("text=Nothing runs right now.")
        live = await service.start("desk", principal=Principal.local())
        await page.click(f"a[href='/console/runs/{live.run_id}']")
        await page.wait_for_selector("#node-work.current")
        await page.wait_for_selector("#node-lookup.active")
        assert await page.locator("#node-fail.current").count() == 0

        await press(page, "Pause work")
        await page.wait_for_selector("#numbers .badge.paused")
        await page.wait_for_selector("text=pause by operator")
        await press(page, "Resume work")
        await page.wait_for_selector("#numbers .badge.running")

        await page.fill("input[name=text]", "be brief")
        await page.keyboard.press("Enter")
        await page.wait_for_selector("text=steer by operator")
        assert await page.input_value("input[name=text]") == ""

        assert await page.evaluate("document.documentElement.scrollWidth") <= width
        await press(page, "Abort work")
        await page.wait_for_selector("text=abort by operator")
        await page.wait_for_selector("#facts .badge.stopped")
        await page.wait_for_selector("#controls:not(:has(button))", state="attached")
        assert (await live.wait()).status == "stopped"
        assert page.problems == []


async def test_signing_in_takes_a_token(desk):
    async with desk(dev=False) as (_, url), browser_page(800, 600, "light") as page:
        await page.goto(f"{url}/console")
        await page.fill("#token", "acme/op/run:read/agent:observe")
        await page.keyboard.press("Enter")
        await page.wait_for_selector("text=Live runs")
        assert "op" in await page.inner_text(".who")
        assert await page.evaluate("document.cookie") == ""
        await press(page, "Sign out")
        await page.wait_for_selector("text=Sign in")
