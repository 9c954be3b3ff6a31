// browser.mjs: what the tests of the pages share: headless Chromium, claims, and rows of lists of
// which only the visible part exists.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const build = process.env.QPROF_BUILD;
const { chromium } = createRequire(`${build}/web/package.json`)("playwright-core");
const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
});
let failures = 0;

export function claim(text, isSo, detail) {
    if (isSo) return;
    failures++;
    console.log(`NOT SO: ${text}`);
    if (detail !== undefined) console.log(`    ${JSON.stringify(detail)}`);
}

export const same = (text, wanted, found) =>
    claim(text, JSON.stringify(wanted) === JSON.stringify(found), { wanted, found });

/** Open a page: a file, or what a server of ours shows, whose pages may lead to others of it. Any request but its own, any
 * error and any word on the console is a failure. */
export async function open(file, hash = "", options = {}) {
    const context = await browser.newContext({
        viewport: { width: 1280, height: 800 },
        ...options,
    });
    const page = await context.newPage();
    const isServed = /^http:/.test(file);
    const url = isServed ? file : `${pathToFileURL(file)}${hash}`;
    page.on("console", (message) => claim(`${file}: nothing on the console`, false, message.text()));
    page.on("pageerror", (error) => claim(`${file}: no error`, false, error.message));
    page.on("dialog", (dialog) => {
        claim(`${file}: no dialog`, false, dialog.message());
        dialog.dismiss();
    });
    page.on("request", (request) => {
        const own = url.replace(/#.*/, "");
        const isOwn = isServed ? request.isNavigationRequest() && request.url().startsWith(new URL(url).origin) : request.url().replace(/#.*/, "") === own;
        claim(`${file}: asks for nothing`, isOwn, request.url());
    });
    await page.goto(url);
    if (options.javaScriptEnabled !== false) await settle(page);
    return page;
}

/** The page has settled: two frames were drawn. */
export const settle = (page) =>
    page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

export async function press(page, ...keys) {
    for (const key of keys) {
        await page.keyboard.press(key);
        await settle(page);
    }
}

/** Selects a path of the flame graph, frame by frame: which one is the longest is left to chance. */
export async function selectPath(page, ...names) {
    for (const [depth, name] of names.entries()) {
        if (depth) await press(page, "ArrowDown");
        for (let i = 0; i < 40 && (await page.textContent(".flame-about b")) !== name; i++) await press(page, "ArrowRight");
    }
}

const seenRows = (page) =>
    page.$$eval(".table [role=row][aria-rowindex]", (rows) => {
        const heads = [...document.querySelectorAll(".table [role=columnheader]")].map((head) => head.textContent);
        const texts = (row) => [...row.children].map((cell) => cell.textContent);
        return rows.map((row) => ({
            index: Number(row.getAttribute("aria-rowindex")) - 2,
            level: Number(row.getAttribute("aria-level")),
            cells: texts(row).filter((_, i) => !heads[i]?.startsWith("Wait")),
            byHead: Object.fromEntries(texts(row).map((text, i) => [(heads[i] ?? "").replace(/[\u25b4\u25be]/, ""), text])),
        }));
    });

/** All rows of the table, in order: scrolls through it. Cells are those of columns that every run has: whether a
 * busy machine made it wait is left to chance. */
export async function allRows(page) {
    const rows = new Map();
    const table = page.locator(".table");
    for (let top = 0; ; ) {
        await table.evaluate((element, to) => (element.scrollTop = to), top);
        await settle(page);
        for (const row of await seenRows(page)) rows.set(row.index, row);
        const { height, all } = await table.evaluate((e) => ({
            height: e.clientHeight,
            all: e.scrollHeight,
        }));
        if (top + height >= all) break;
        top += height - 60;
    }
    return [...rows.values()].sort((a, b) => a.index - b.index);
}

/** Figures of the tiles at the top, by name: "11 of 12". */
export const tiles = (page) =>
    page.$$eval(".tile", (list) =>
        Object.fromEntries(
            list.map((tile) => [tile.dataset.name, tile.querySelector(".tile-of").textContent]),
        ),
    );

/** Elapsed, and what the page's own thread computed: that does not depend on who else is at work. */
export async function timed(what, does, page) {
    const begun = performance.now();
    const before = page && (await computed(page));
    const result = await does();
    const own = page ? `, ${Math.round((await computed(page)) - before)} ms of its own` : "";
    console.log(`    ${what}: ${Math.round(performance.now() - begun)} ms${own}`);
    return result;
}

const sessions = new Map();

async function computed(page) {
    if (!sessions.has(page)) {
        sessions.set(page, await page.context().newCDPSession(page));
        await sessions.get(page).send("Performance.enable", { timeDomain: "threadTicks" });
    }
    const { metrics } = await sessions.get(page).send("Performance.getMetrics");
    return 1000 * metrics.find(({ name }) => name === "TaskDuration").value;
}

// ---- the profile page ---------------------------------------------------------------------------

export const grouped = (n) => n.toLocaleString("en-US");

/** As the page shows it. */
export function time(ns) {
    for (const [size, unit] of [[1e9, "s"], [1e6, "ms"], [1e3, "us"]])
        if (ns >= size) return `${(ns / size).toFixed(3)} ${unit}`;
    return `${ns} ns`;
}

/** An estimate to the second digit of its interval, which is as far as it is known. */
export function known(value, half) {
    const step = 10 ** Math.max(0, Math.floor(Math.log10(half)) - 1);
    return [Math.round(value / step) * step, Math.round(half / step) * step];
}

/** What the page shows of an estimate, in nanoseconds: the value and its interval; 0: it is exact. */
export function estimate(cell) {
    const [value, half = 0] = cell.split("\u00b1").map((text) => {
        const [number, unit] = text.trim().split(" ");
        return Math.round(Number(number.replaceAll(",", "")) * { ns: 1, us: 1e3, ms: 1e6, s: 1e9 }[unit]);
    });
    return [value, half];
}

/** Open a page, and wait for its view. */
export async function ready(file, hash, options) {
    const page = await open(file, hash, options);
    await page.waitForSelector(".flame, .table, .function-page, .source-page, .run-page");
    await settle(page);
    return page;
}

/** What the page calls a thread that reports call ".main_2." */
export const threadName = (name) => {
    const [, first, number] = /^\.(.*)_(\d+)\.$/s.exec(name) ?? [];
    return number ? `thread ${number} (${first})` : name;
};

/** What the page calls a function: its place in the index. */
export const methodNamed = (page, name) =>
    page.evaluate((wanted) => JSON.parse(document.getElementById("index").textContent).methods.findIndex(([n]) => n === wanted), name);

/** Ends the test. */
export async function finish() {
    await browser.close();
    if (!failures) console.log("all claims hold");
    process.exit(failures ? 1 : 0);
}
