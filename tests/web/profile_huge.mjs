// profile_huge.mjs: claims about the page of a million call paths; it says how long things take. Times
// are no claims: docs/profile-html.md holds those that were measured on an idle machine.
import { statSync } from "node:fs";
import { claim, finish, open, press, same, settle, timed } from "./browser.mjs";

const MOST_BYTES = 8 << 20;
const PATHS = 1_000_000;

async function drawn(page) {
    await page.waitForFunction(() => {
        const canvas = document.querySelector(".flame-box canvas");
        return canvas && canvas.height > 10;
    });
    await settle(page);
}

async function a_million_paths_are_shown_and_zoomed() {
    const { size } = statSync("huge.html");
    claim(`the page has at most ${MOST_BYTES} bytes`, size <= MOST_BYTES, size);
    const page = await timed("first picture", async () => {
        const opened = await open("huge.html", "#flame");
        await drawn(opened);
        return opened;
    });
    await press(page, "ArrowDown", "ArrowDown", "ArrowDown");
    await timed("zoom", () => press(page, "Enter"), page);
    claim("the address holds the zoom", /at=\d+/.test(page.url()), page.url());
    await timed("zoom out", () => press(page, "Home"), page);
    same("all of it again", false, /at=/.test(page.url()));
    await timed("search", async () => {
        await page.fill("#search", "function_1..$");
        await settle(page);
    }, page);
    claim("says what it found", /^100 functions, /.test(await page.textContent(".search-field [role=status]")));
    await page.fill("#search", "");
    await page.locator(".flame-box").focus();
    await timed("bottom-up", async () => {
        await press(page, "b");
        await drawn(page);
    }, page);
    await timed("zoom there", () => press(page, "Enter"), page);
    await press(page, "Home", "ArrowRight");
    await timed("zoom there again", () => press(page, "Enter"), page);
    await timed("focus", async () => {
        await press(page, "b", "ArrowDown", "ArrowDown", "ArrowDown", "f");
        await drawn(page);
    }, page);
    await timed("call tree", () => press(page, "4"), page);
    await page.context().close();
}

/** How often each piece of the page's code has run since the last time. */
async function runs(session) {
    const { result } = await session.send("Profiler.takePreciseCoverage");
    return result.flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges.map(({ count }) => count)));
}

async function a_key_of_the_search_looks_at_each_path_once() {
    const page = await open("huge.html", "#flame");
    await drawn(page);
    const session = await page.context().newCDPSession(page);
    await session.send("Profiler.enable");
    await session.send("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
    for (const tab of ["flame", "functions", "bottomup", "tree", "threads"]) {
        await page.evaluate((to) => (location.hash = to), tab);
        await settle(page);
        await page.focus("#search");
        for (const key of "fu1") {
            await runs(session);
            await timed(`${tab}: the key ${key}`, () => press(page, key), page);
            const counts = await runs(session);
            const most = Math.max(...counts);
            const all = counts.reduce((sum, count) => sum + count, 0);
            claim(`${tab}: ${key} looks at each path once`, most >= PATHS && most <= PATHS + 1, most);
            claim(`${tab}: ${key} does nothing else for each path`, all < 2.2 * PATHS, all);
        }
        await page.fill("#search", "");
        await settle(page);
    }
    await page.context().close();
}

await a_million_paths_are_shown_and_zoomed();
await a_key_of_the_search_looks_at_each_path_once();
await finish();
