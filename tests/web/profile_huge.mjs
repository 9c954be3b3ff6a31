// profile_huge.mjs: claims about the page of a million call paths; it says how long things take. Times
// are no claims: docs/profile-html.md holds those that were measured on an idle machine.
import { statSync } from "node:fs";
import { claim, finish, open, press, same, settle, timed } from "./browser.mjs";

const MOST_BYTES = 8 << 20;

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

await a_million_paths_are_shown_and_zoomed();
await finish();
