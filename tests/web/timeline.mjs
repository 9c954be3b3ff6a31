// timeline.mjs: claims about the timeline of the profile page. See test_timeline.sh and timeline.c, whose
// table the figures of "small" follow from by hand.
import { readFileSync, statSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { allRows, claim, finish, grouped, open, press, ready, same, settle, time, timed } from "./browser.mjs";

const MS = 1e6;
const about = (page) => page.textContent(".timeline .flame-about");
const shown = async (page, hash) => {
    const opened = page ?? (await ready("small.html", hash));
    await opened.waitForSelector(".timeline-box canvas");
    await settle(opened);
    return opened;
};
const figures = async (page) => (await allRows(page)).map(({ cells }) => [cells[0], cells[2], cells[3], cells[5]]).sort();
const param = (page, key) => new URLSearchParams(new URL(page.url()).hash.split("?")[1]).get(key) ?? "";
const rangeOf = (page) => param(page, "t").split("~").map(Number);

/** Where a moment and a lane's row are on the screen, while all of the run is seen: y as lanes.ts lays out. */
async function place(page, at, end, y) {
    const box = await page.locator(".timeline-box canvas").boundingBox();
    return [box.x + (at / end) * box.width, box.y + y];
}
const MAIN = 22, WORKER = 22 + 4 * 18 + 6 + 22, COROUTINE = WORKER + 18 + 6 + 22;
const middle = (lane, depth) => lane + depth * 18 + 9;

async function figures_of_the_whole_are_those_worked_out_by_hand() {
    const page = await shown(null, "#timeline");
    const wanted = [
        ["function_1", "1", "500.000 ms", "1.000 s"], // 1000 - 300 - 200
        ["function_2", "2", "300.000 ms", "300.000 ms"], // 200 + 100 less 1 ns; the outer one's total
        ["function_3", "3", "500.000 ms", "500.000 ms"], // 1 ns + 200 + 400 less the pause of 100
        ["function_4", "2", "200.000 ms", "200.000 ms"],
        ["function_5", "1", "300.000 ms", "600.000 ms"], // 800 less pauses of 200; less the call's 300
    ];
    same("functions", wanted, await figures(page));
    const head = await page.textContent(".selection-head");
    claim("calls", head.includes("9 calls") && !head.includes("before"), head);
    claim("all that is charged", head.includes("1.800 s in functions"), head);
    await page.context().close();
}

async function figures_of_a_part_count_what_lies_in_it() {
    const page = await shown(null, `#timeline?range=${250 * MS}~${500 * MS}`);
    const wanted = [
        ["function_1", "1", "100.000 ms", "250.000 ms"], // less function_2 from 250 to 400
        ["function_2", "2", "150.000 ms", "150.000 ms"],
        ["function_3", "1", "200.000 ms", "200.000 ms"], // paused from 250 to 300
        ["function_4", "1", "100.000 ms", "100.000 ms"], // the one at 500 is not in it any more
        ["function_5", "1", "0 ns", "200.000 ms"],
    ];
    same("functions", wanted, await figures(page));
    claim("its name", (await page.textContent(".selection-head")).startsWith("The selected time"));
    await page.selectOption("[aria-label=Thread]", { label: "worker" });
    await settle(page);
    same("of one thread", [wanted[3]], await figures(page));
    await page.context().close();
}

async function the_mouse_selects_calls_and_times() {
    const page = await shown(null, "#timeline");
    await page.mouse.click(...(await place(page, 700 * MS, 1000 * MS, middle(MAIN, 1))));
    await settle(page);
    claim("a call", (await about(page)).startsWith("function_3200.000 ms in all, 200.000 ms itselfbegins at 600.000000 msmain, depth 2"), await about(page));
    await page.mouse.click(...(await place(page, 400 * MS, 1000 * MS, middle(COROUTINE, 1))));
    await settle(page);
    claim("one that was paused", (await about(page)).startsWith("function_3300.000 ms in all, 300.000 ms itself, paused for 100.000 ms"), await about(page));
    const wanted = [["function_3", "1", "300.000 ms", "300.000 ms"], ["function_5", "1", "0 ns", "300.000 ms"]];
    same("what happened in it, on its thread", wanted, await figures(page));
    const [x, y] = await place(page, 250 * MS, 1000 * MS, middle(MAIN, 0));
    const [to] = await place(page, 500 * MS, 1000 * MS, 0);
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move((x + to) / 2, y);
    await page.mouse.move(to, y);
    await page.mouse.up();
    await settle(page);
    const range = param(page, "range").split("~").map(Number);
    claim("a drag selects a time", Math.abs(range[0] - 250 * MS) < 2 * MS && Math.abs(range[1] - 500 * MS) < 2 * MS, range);
    await press(page, "Escape");
    same("Escape takes it away", "", param(page, "range"));
    await page.mouse.click(...(await place(page, 500 * MS, 1000 * MS, middle(WORKER, 0) - 20)));
    await settle(page);
    same("a thread's name closes it", "2", param(page, "closed"));
    await page.context().close();
}

async function the_wheel_zooms_where_the_mouse_is() {
    const page = await shown(null, "#timeline");
    const [x, y] = await place(page, 200 * MS, 1000 * MS, middle(MAIN, 1));
    await page.mouse.move(x, y);
    await page.keyboard.down("Control");
    for (let i = 0; i < 100; i++) await page.mouse.wheel(0, -120);
    await page.keyboard.up("Control");
    await settle(page);
    const [from, to] = rangeOf(page);
    claim("down to a nanosecond", to - from >= 0.99 && to - from < 1.01, [from, to]);
    claim("around the mouse", Math.abs(from - 200 * MS) < MS, from);
    const [a] = rangeOf(page);
    await page.mouse.wheel(400, 0);
    await settle(page);
    claim("sideways goes along", rangeOf(page)[0] > a, rangeOf(page));
    await page.context().close();
}

async function the_keyboard_goes_from_call_to_call() {
    const page = await shown(null, "#timeline");
    const steps = [
        ["ArrowRight", "function_11.000 s in all"], // nothing was selected: the first one
        ["ArrowDown", "function_2300.000 ms in all, 200.000 ms itself"],
        ["ArrowRight", "function_3200.000 ms in all"],
        ["ArrowLeft", "function_2300.000 ms in all"],
        ["ArrowDown", "function_2100.000 ms in all"],
        ["ArrowDown", "function_31 ns in all, 1 ns itselfbegins at 200.000000 msmain, depth 4"],
        ["ArrowDown", "function_31 ns in all"],
    ];
    for (const [key, text] of steps) {
        await press(page, key);
        claim(`${key}: ${text}`, (await about(page)).startsWith(text), await about(page));
    }
    await press(page, "Enter");
    const [from, to] = rangeOf(page);
    claim("Enter goes close to it", from < 200 * MS && to > 200 * MS + 1 && to - from <= 2, [from, to]);
    const colors = await page.evaluate(([row, below]) => {
        const canvas = document.querySelector(".timeline-box canvas");
        const { data } = canvas.getContext("2d").getImageData(canvas.width / 2, 0, 1, below + 1);
        return [row, below].map((y) => data.slice(4 * y, 4 * y + 4).join());
    }, [middle(MAIN, 3), middle(MAIN, 4)]);
    claim("which fills the picture", colors[0].endsWith(",255") && colors[0] !== colors[1], colors);
    await press(page, "ArrowUp", "-", "-");
    claim("up to the caller", (await about(page)).startsWith("function_2100.000 ms"), await about(page));
    claim("and farther away", rangeOf(page)[1] - rangeOf(page)[0] > 2 * (to - from), rangeOf(page));
    const before = rangeOf(page);
    await press(page, ".");
    claim(". scrolls forward", rangeOf(page)[0] > before[0], [before, rangeOf(page)]);
    await press(page, ",", "+");
    claim("+ is closer", rangeOf(page)[1] - rangeOf(page)[0] < before[1] - before[0]);
    await press(page, "Home");
    same("all of it", "", param(page, "t"));
    await press(page, "o");
    claim("o opens the function", /#function\/2/.test(page.url()), page.url());
    await page.context().close();
}

async function a_search_goes_from_call_to_call() {
    const page = await shown(null, "#timeline?search=%5Efunction_4%24");
    await page.locator(".timeline-box").focus();
    await press(page, "n");
    claim("the first one", (await about(page)).includes("begins at 300.000000 ms"), await about(page));
    await press(page, "n");
    claim("the next one", (await about(page)).includes("begins at 500.000000 ms"), await about(page));
    await press(page, "p");
    claim("and back", (await about(page)).includes("begins at 300.000000 ms"), await about(page));
    same("it alone is in the list", ["function_4"], (await figures(page)).map(([name]) => name));
    await page.context().close();
}

async function marks_are_gone_to_and_are_harmless() {
    const page = await shown(null, "#timeline");
    await press(page, "m");
    same("the first", "<b>first</b> request\\x0Aat 250.000000 ms", await about(page));
    await press(page, "m");
    same("the second", "secondat 550.000000 ms", await about(page));
    await press(page, "+", "+", "+", "+", "M");
    same("back", "<b>first</b> request\\x0Aat 250.000000 ms", await about(page));
    const [from, to] = rangeOf(page);
    claim("it comes into sight", from < 250 * MS && to > 250 * MS, [from, to]);
    same("no markup", 0, await page.locator(".flame-about b b").count());
    await page.context().close();
}

/** What functions did in a part, call by call and pair by pair. */
function naive(items, from, to) {
    const calls = items.filter((c) => c.kind === "call" && c.begin < to && c.end >= from);
    const length = (c) => Math.min(c.end, to) - Math.max(c.begin, from);
    const sums = new Map();
    for (const c of calls) {
        const own = sums.get(c.method) ?? { calls: 0, self: 0, total: 0 };
        const isInside = (a, b) => a.thread === b.thread && a.depth > b.depth && a.begin >= b.begin && a.end <= b.end;
        const children = calls.filter((x) => isInside(x, c) && x.depth === c.depth + 1);
        own.calls++;
        own.self += length(c) - children.reduce((all, x) => all + length(x), 0);
        if (!calls.some((x) => x.method === c.method && isInside(c, x))) own.total += length(c);
        sums.set(c.method, own);
    }
    return [...sums].map(([method, s]) => [`function_${method}`, grouped(s.calls), time(s.self), time(s.total)]).sort();
}

async function figures_are_those_of_a_naive_count() {
    const items = JSON.parse(readFileSync("many.json", "utf8"));
    const end = Math.max(...items.map((item) => item.end));
    for (const [from, to] of [[0.1, 0.12], [0.5, 0.51], [0.7, 0.7001]].map((part) => part.map((n) => Math.round(n * end)))) {
        const page = await ready("many.html", `#timeline?range=${from}~${to}`);
        await shown(page);
        const wanted = naive(items, from, to);
        claim("there are some", wanted.length > 3, wanted);
        same(`from ${from} to ${to}`, wanted, await figures(page));
        await page.context().close();
    }
}

/** Whatever its unit, in ns. */
function ns(text) {
    const [, number, unit] = text.match(/^([\d,.]+) (\w+)$/);
    return Number(number.replaceAll(",", "")) * { s: 1e9, ms: 1e6, us: 1e3, ns: 1 }[unit];
}

/** Every beginning and end is rounded to a nanosecond, and the text to a thousandth of its unit. */
function isNear([, calls, self, total], m) {
    const within = (text, value) => Math.abs(ns(text) - value) <= 2 * m.calls + value / 1000 + 2;
    return calls === grouped(m.calls) && within(self, m.self) && within(total, m.total);
}

async function a_recorded_trace_has_the_figures_of_its_profile() {
    const { methods } = JSON.parse(readFileSync("traced.json", "utf8"));
    const page = await ready("traced.html", "#timeline");
    await shown(page);
    const rows = new Map((await figures(page)).map((row) => [row[0], row]));
    const wanted = methods.filter((m) => m.calls > 0);
    same("as many functions", wanted.length, rows.size);
    for (const m of wanted) {
        const row = rows.get(m.name) ?? ["", "0", "0 ns", "0 ns"];
        claim(`figures of ${m.name}`, isNear(row, m), { row, m });
    }
    await page.context().close();
}

async function a_link_restores_the_timeline() {
    const hash = `#timeline?t=${100 * MS}~${500 * MS}&call=1~1&closed=2&theme=dark`;
    const page = await shown(null, hash);
    const text = await page.locator("main").innerText();
    const picture = await page.locator(".timeline-box canvas").screenshot();
    await page.reload();
    await shown(page);
    same("words", text, await page.locator("main").innerText());
    claim("picture", picture.equals(await page.locator(".timeline-box canvas").screenshot()));
    same("dark", "dark", await page.evaluate(() => document.documentElement.dataset.theme));
    await page.context().close();
    const odd = await shown(null, "#timeline?t=-5~x&call=9~9&range=7~3");
    claim("what is not a place is the whole", (await odd.textContent(".selection-head")).startsWith("All that is seen1.000 s"));
    await odd.context().close();
}

async function other_pages_have_no_timeline() {
    const page = await ready("none.html", "#timeline");
    same("no view", 0, await page.locator("[role=tab] >> text=Timeline").count());
    await page.context().close();
}

/** Durations of calls and pauses as the bytes of a page have them. */
function spansOf(file) {
    const text = readFileSync(file, "utf8");
    const block = (id) => text.match(new RegExp(`id="${id}">([^<]*)<`))[1];
    const bytes = gunzipSync(Buffer.from(block("spans"), "base64"));
    const { threads } = JSON.parse(block("timeline"));
    const [nCalls, nPauses] = [1, 2].map((i) => threads.reduce((sum, thread) => sum + thread[i], 0));
    let at = 0;
    const column = (n) => Array.from({ length: n }, () => {
        let value = 0;
        for (let scale = 1; ; scale *= 128) {
            value += (bytes[at] & 127) * scale;
            if (bytes[at++] < 128) return value;
        }
    });
    const [, , , calls] = [column(nCalls), column(nCalls), column(nCalls), column(nCalls)];
    const [, pauses] = [column(nPauses), column(nPauses)];
    return { calls, pauses };
}

async function a_million_calls_are_shown_and_zoomed() {
    const { size } = statSync("large.html");
    claim("the page has at most 8 MB", size <= 8 << 20, size);
    const all = JSON.parse(readFileSync("large.json", "utf8"));
    const [calls, pauses] = ["call", "pause"].map((kind) => all.filter((item) => item.kind === kind).map((item) => item.end - item.begin));
    const page = await timed("first picture", async () => shown(await ready("large.html", "#timeline")));
    const note = await page.textContent(".timeline .note");
    same("the page reports what is missing",
        `The ${grouped(calls.length - 500000)} shortest calls are left out; the ${grouped(pauses.length - 500000)} shortest pauses are left out.`, note);
    const kept = spansOf("large.html");
    for (const [what, all, here] of [["calls", calls, kept.calls], ["pauses", pauses, kept.pauses]]) {
        same(`${what} that are kept`, 500000, here.length);
        const shortest = Math.ceil(here.reduce((a, b) => Math.min(a, b)) * 9 / 8); // durations within an eighth count as equal
        const longer = (durations) => durations.filter((x) => x >= shortest).sort((a, b) => a - b).join();
        claim(`they are the longest ${what}`, longer(all) === longer(here));
    }
    const head = await page.textContent(".selection-head");
    claim("half a million are there", head.includes("500,000 calls"), head);
    await press(page, "ArrowRight", "ArrowRight", "ArrowDown");
    await timed("zoom", () => press(page, "Enter"), page);
    await timed("farther", () => press(page, "-"), page);
    await timed("zoom out", () => press(page, "Home"), page);
    await timed("search", async () => {
        await page.fill("#search", "function_1$");
        await settle(page);
    }, page);
    await page.context().close();
}

/** Of a trace of which 100,001 calls and more are not drawn: functions are in the window what trace stat says. */
async function the_table_of_a_window_is_that_of_trace_stat() {
    for (const name of readFileSync("windows", "utf8").trim().split("\n")) {
        const [from, to] = name.split("~").map(Number);
        const { calls: functions } = JSON.parse(readFileSync(`stat.${name}.json`, "utf8"));
        const page = await ready("long.html", `#timeline?range=${from}~${to}`);
        await shown(page);
        const note = await page.textContent(".timeline .note");
        claim("calls are left out", /shortest calls are left out of the picture; the table counts them/.test(note), note);
        const wanted = functions.map((f) => [f.name, grouped(f.calls), time(f.self), time(f.total)]).sort();
        claim("there are some", wanted.length > 1, wanted);
        same(`from ${from} to ${to}`, wanted, await figures(page));
        await page.context().close();
    }
    const page = await ready("long.html", "#timeline?range=1000001~1000002");
    await shown(page);
    const head = await page.textContent(".selection-head");
    claim("what is no whole slice is one", head.includes("whole slices of"), head);
    await page.context().close();
}

/** The profile has one call of functions 1 to 3, which were resumed 0, 1000 and 2000 times. */
async function resumes_are_beside_calls() {
    const page = await ready("small.html", "#functions?sort=name");
    const heads = await page.$$eval("[role=columnheader]", (list) => list.map((head) => head.textContent.replace(/[\u25b4\u25be]/, "")));
    const at = heads.indexOf("Resumes");
    const shown = (await allRows(page)).map(({ cells }) => [cells[0], cells[heads.indexOf("Calls")], cells[at]]);
    same("resumes", [["function_1", "1", "0"], ["function_2", "1", "1,000"], ["function_3", "1", "2,000"]], shown);
    await press(page, "End", "Enter");
    const facts = await page.$$eval(".this-function dl > div", (list) => list.map((fact) => [...fact.children].map((cell) => cell.textContent)));
    same("of a function", [["calls", "1"], ["resumes", "2,000"]], facts.slice(0, 2));
    await page.context().close();
}

/** In a trace of one function whose calls are all on one path, on one thread. */
async function a_function_is_the_same_in_all_views_and_in_the_report() {
    const m = JSON.parse(readFileSync("traced.json", "utf8")).methods.find(({ name }) => name === "mid");
    const wanted = [grouped(m.calls), time(m.self), time(m.total)];
    same("calls, by hand", 60, m.calls);
    for (const view of ["functions", "tree", "timeline"]) {
        const page = view === "timeline" ? await shown(await ready("traced.html", "#timeline")) : await ready("traced.html", `#${view}`);
        for (let i = 0; view === "tree" && i < 20; i++) {
            const isClosed = await page.$(".table [aria-selected=true][aria-expanded=false]");
            await press(page, ...(isClosed ? ["ArrowRight", "j"] : ["j"]));
        }
        const [found] = (await figures(page)).filter(([name]) => name.includes("mid"));
        // the ends of calls in a trace are rounded to nanoseconds
        const isSame = view === "timeline" ? isNear(found, m) : JSON.stringify(found.slice(1)) === JSON.stringify(wanted);
        claim(view, isSame, { wanted, found });
        await page.context().close();
    }
    const { files } = JSON.parse(readFileSync("traced-lines.json", "utf8"));
    const { lines } = files.find(({ path }) => path === "traced.lua");
    const page = await ready("traced.html", "#source/0?line=2");
    const about = await page.textContent("[aria-label=Details]");
    claim("the function of a line", about.includes(`60 calls, ${time(m.self)} itself, ${time(m.total)} in all`), about);
    const counts = await page.$$eval(".source .line[aria-rowindex]", (rows) => rows.map((row) => row.querySelector(".line-figure").textContent.trim()));
    same("counts of its lines", lines.map(({ count }) => grouped(count)), counts.slice(0, lines.length));
    await page.context().close();
}

async function screenshots() {
    for (const [name, hash] of [["small", "#timeline?call=3~1"], ["many", "#timeline"]])
        for (const [scheme, width] of [["light", 1400], ["dark", 1400], ["light", 600]]) {
            const page = await ready(`${name}.html`, hash, { colorScheme: scheme, viewport: { width, height: 900 } });
            await shown(page);
            await page.screenshot({ path: `${name}-${scheme}-${width}.png` });
            await page.context().close();
        }
}

await figures_of_the_whole_are_those_worked_out_by_hand();
await figures_of_a_part_count_what_lies_in_it();
await the_mouse_selects_calls_and_times();
await the_wheel_zooms_where_the_mouse_is();
await the_keyboard_goes_from_call_to_call();
await a_search_goes_from_call_to_call();
await marks_are_gone_to_and_are_harmless();
await figures_are_those_of_a_naive_count();
await a_recorded_trace_has_the_figures_of_its_profile();
await a_link_restores_the_timeline();
await other_pages_have_no_timeline();
await a_million_calls_are_shown_and_zoomed();
await the_table_of_a_window_is_that_of_trace_stat();
await a_function_is_the_same_in_all_views_and_in_the_report();
await resumes_are_beside_calls();
await screenshots();
await finish();
