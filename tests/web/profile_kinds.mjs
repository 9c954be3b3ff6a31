// profile_kinds.mjs: claims about the pages of profiles that lack something: of samples from outside,
// of other tools, of coverage alone, of deep recursions, and of two runs. See test_profile_kinds.sh.
import { readFileSync } from "node:fs";
import { allRows, claim, estimate, finish, grouped, known, open, press, ready, same, selectPath, settle, threadName, time } from "./browser.mjs";

const json = (file) => JSON.parse(readFileSync(file, "utf8"));
const change = (row) => Math.abs(row.self.new - row.self.base);
const mostChanged = (rows) => rows.reduce((most, row) => (change(row) > change(most) ? row : most));
const isSeen = (m) => m.calls > 0 || m.total > 0;
const tabs = (page) => page.$$eval("[role=tab]", (list) => list.map((tab) => tab.textContent));
const heads = (page) => page.$$eval("[role=columnheader]", (list) => list.map((head) => head.textContent.replace(/[\u25b4\u25be]/, "")));
const tileTexts = (page) => page.$$eval(".tile", (list) => list.map((tile) => tile.innerText.replace(/\n+/g, " | ")));

// ---- uncounted calls --------------------------------------------------------------------------------

/** A page without calls has the functions of the report and reports that calls are missing. */
async function functions_without_counted_calls_are_shown(name) {
    const report = json(`${name}.json`);
    const page = await ready(`${name}.html`, "#functions?sort=name");
    const isTime = report.run.unit === "ns";
    const unit = isTime ? known : grouped;
    const shown = (cell) => (isTime ? estimate(cell) : cell);
    const wanted = report.methods.filter(isSeen).map((m) => [m.name, unit(m.self, m.self_half), unit(m.total, m.total_half)]);
    claim(`${name}: there are some`, wanted.length >= 3, wanted);
    same(`${name}: functions`, wanted.sort(), (await allRows(page)).map(({ cells }) => [cells[0], shown(cells[2]), shown(cells[4])]).sort());
    claim(`${name}: no column of calls`, !(await heads(page)).includes("Calls"), await heads(page));
    const tiles = await tileTexts(page);
    claim(`${name}: how many functions`, tiles.includes(`Functions | ${wanted.length} | calls were not counted`), tiles);
    claim(`${name}: no calls, no overhead, no process 0`, !/Calls|Overhead|process 0\b/.test(tiles.join(" ")), tiles);
    for (const view of ["flame", "tree", "bottomup", "threads"]) {
        await page.evaluate((hash) => (location.hash = hash), `#${view}`);
        await settle(page);
        claim(`${name}: ${view} counts no calls`, !/\b0 calls\b|Calls/.test(await page.locator("main").innerText()));
    }
    await page.evaluate(() => (location.hash = "#run"));
    await settle(page);
    const facts = await page.locator(".run-page").innerText();
    claim(`${name}: the run has no calls`, facts.includes("no calls; "), facts);
    claim(`${name}: nor was it process 0 in 1970`, !/process\s+0\b|1970/.test(facts), facts);
    await page.context().close();

    const plain = await open(`${name}.html`, "", { javaScriptEnabled: false });
    const [run, functions] = await plain.locator("table").allInnerTexts();
    claim(`${name}: also without JavaScript`, functions.split("\n").length === wanted.length + 1, functions);
    claim(`${name}: in time alone`, functions.startsWith("Function\tSelf\tTotal") && !run.includes("Calls"), functions);
    await plain.context().close();
}

async function two_runs_without_counted_calls_are_compared_by_time() {
    const page = await ready("uncounted.html", "#functions");
    claim("no column of calls", !(await heads(page)).some((head) => head.startsWith("Calls")), await heads(page));
    const wanted = json("samples.json").methods.filter(isSeen).map((m) => [m.name, time(m.self), time(m.total)]);
    claim("there are some", wanted.length >= 3, wanted);
    const rows = (await allRows(page)).map(({ cells }) => [cells[0], cells[2], cells[5]]);
    same("functions", wanted.sort(), rows.map((row) => row.map((cell) => cell.replace(/\u00b1.*/, ""))).sort());
    await page.evaluate(() => (location.hash = "#changes"));
    await settle(page);
    claim("nor there", !(await heads(page)).some((head) => head.startsWith("Calls")), await heads(page));
    claim("no card of calls", !(await tileTexts(page)).join().includes("Calls"), await tileTexts(page));
    await page.context().close();
}

async function an_average_is_of_recorded_calls() {
    const leaf = json("some.json").methods.find((m) => m.name === "leaf");
    same("calls, and those recorded", [3, 2], [leaf.calls, leaf.hits]);
    const page = await ready("some.html", "#functions");
    await press(page, "o");
    const facts = await page.$$eval(".this-function dl > div", (list) => list.map((fact) => [...fact.children].map((cell) => cell.textContent)));
    const wanted = [["average self", Math.floor(leaf.self / 2)], ["shortest self", leaf.min], ["longest self", leaf.max]];
    same("of one call", wanted.map(([name, value]) => [name, time(value)]), facts.slice(-3));
    await page.context().close();
}

/** Frames of the graph from below are numbered as they are made: after a focus there are fewer of them. */
async function a_selected_frame_that_focus_takes_away_is_let_go() {
    const page = await ready("none.html", "#bottomup");
    const name = () => page.textContent(".flame-about b");
    await press(page, "ArrowRight", "ArrowLeft");
    same("what is called most", "leaf", await name());
    await press(page, "f");
    claim("there is a focus", /focus=\d+/.test(page.url()), page.url());
    same("and what it is on", "leaf", await name());
    await press(page, "r");
    claim("all is shown again", !/focus=/.test(page.url()), page.url());
    await page.context().close();
}

async function an_import_says_what_it_is_of() {
    const page = await ready("edges.html", "");
    const tiles = await tileTexts(page);
    claim("imported", tiles.some((tile) => tile.startsWith("Imported | callgrind")), tiles);
    claim("its paths are estimates", (await page.textContent(".note")).startsWith("Call paths are estimated from callers and callees."));
    await page.context().close();
}

// ---- functions without paths ------------------------------------------------------------------------

async function coverage_alone_has_functions_and_no_paths() {
    const report = json("coverage.json");
    const page = await ready("coverage.html", "");
    same("views", ["Functions", "Sources", "Threads", "Run"], await tabs(page));
    const wanted = report.methods.filter((m) => m.calls > 0).map((m) => [m.name, grouped(m.calls)]).sort();
    same("functions", wanted, (await allRows(page)).map(({ cells }) => [cells[0], cells[2]]).sort());
    claim("calls", (await tileTexts(page)).some((tile) => tile.startsWith(`Calls | ${grouped(report.run.calls)} |`)));
    claim("why there is no tree", (await page.textContent(".note")).startsWith("No call paths were recorded, only functions."));
    await press(page, "Enter");
    same("no callers", 0, await page.locator("[aria-label=Callers]").count());
    await press(page, "b");
    claim("no key leads to a graph", /#function/.test(page.url()), page.url());
    await page.context().close();
}

// ---- what figures are of ----------------------------------------------------------------------------

async function a_page_says_which_pattern_it_is_of() {
    const page = await ready("when.html", "");
    same("the pattern", "Only what work.mid:->* counts.", (await page.textContent(".note")).replace(/ Details$/, ""));
    await page.context().close();
    const plain = await open("when.html", "", { javaScriptEnabled: false });
    claim("also without JavaScript", (await plain.locator("table").first().innerText()).includes("When\twork.mid:->*"));
    await plain.context().close();
}

async function a_comparison_says_that_modes_differ() {
    const page = await ready("modes.html", "");
    const note = await page.textContent(".note");
    claim("modes", note.startsWith("Exact before, adaptive after: times of different modes may differ by themselves"), note);
    await page.context().close();
}

async function passes_are_called_so() {
    const named = async (file) => (await tileTexts(await ready(file, ""))).filter((tile) => /^(Passes|Samples) /.test(tile)).map((tile) => tile.split(" ")[0]);
    same("of the sampler", ["Passes"], await named("outside.html"));
    same("of another tool", ["Samples"], await named("samples.html"));
}

// ---- waiting, and what was allocated ----------------------------------------------------------------

/** Functions by measure: key of the report, of the function itself and with what it called, and their heads. */
const measures = {
    time: ["self", "total", "Self", "Total", time],
    run: ["self_run", "total_run", "Self run", "Total run", time],
    wait: ["self_off", "total_off", "Self wait", "Total wait", time],
    bytes: ["bytes", "bytes_total", "Bytes", "Bytes total", grouped],
    objects: ["objects", "objects_total", "Objects", "Objects total", grouped],
};

async function functions_are_shown_by_each_measure() {
    const { methods, run } = json("waiting.json");
    const nap = methods.find((m) => m.name === "nap");
    claim("nearly all was waiting", run.waits_known && run.off > run.total / 2 && nap.total_off > run.off / 2, run);
    for (const [measure, [self, total, headSelf, headTotal, text]] of Object.entries(measures)) {
        const page = await ready("waiting.html", `#functions?measure=${measure}`);
        const seen = methods.filter((m) => m[total] > 0);
        claim(`${measure}: there are some`, seen.length >= 3, seen.length);
        const rows = (await allRows(page)).map(({ byHead }) => byHead);
        const shown = new Map(rows.map((row) => [row.Function, row]));
        for (const m of seen) {
            const row = shown.get(m.name) ?? {};
            same(`${measure} of ${m.name}`, [text(m[self]), text(m[total])], [row[headSelf], row[headTotal]]);
            if (measure === "time") same(`of it waiting: ${m.name}`, time(m.self_off), row.Wait);
        }
        const ranked = measure === "time" ? "self_run" : self;
        same(`${measure}: the first one`, methods.reduce((most, m) => (m[ranked] > most[ranked] ? m : most)).name, rows[0].Function);
        await page.context().close();
    }
}

async function paths_are_shown_by_each_measure() {
    const method = (name) => json("waiting.json").methods.find((m) => m.name === name);
    const page = await ready("waiting.html", "#tree");
    const rows = new Map((await allRows(page)).map(({ byHead }) => [byHead["Call path"].replace(/^[\u25be\u25b8]/, ""), byHead]));
    const [work, main] = ["work", "main chunk of waiting.lua"].map(method);
    same("a path waits with what it called, threads that it created among it", time(main.total_off), rows.get(main.name)?.Wait);
    claim("work is on the hottest path", rows.has(work.name), [...rows.keys()]);
    await page.evaluate(() => (location.hash = "#flame?measure=bytes"));
    await settle(page);
    await selectPath(page, "lua", main.name);
    const about = await page.textContent(".flame-about");
    claim("a frame of bytes", about.includes(`${grouped(main.bytes_total)} bytes (`), { about, main });
    same("the next measure", "objects", await press(page, "v").then(() => page.$eval("[aria-label=Measure]", (list) => list.value)));
    await page.context().close();
}

async function runs_that_wait_are_compared_by_run_time() {
    const { rows, judged_by_run } = json("diff-waiting.json");
    claim("they are", judged_by_run);
    const page = await ready("waiting-two.html", "");
    const shown = (await allRows(page)).map(({ byHead }) => byHead);
    same("the first one", rows[0].name, shown[0].Function);
    same("before and after", [time(rows[0].self_run.base), time(rows[0].self_run.new)], [shown[0]["Self run before"], shown[0]["Self run"]]);
    await page.context().close();
}

// ---- depth ------------------------------------------------------------------------------------------

async function the_end_of_a_deep_recursion_can_be_reached() {
    const deepest = 1 + 1 + 1 + 5001 + 1; // thread, lua, main chunk, down(5000) to down(0), bottom
    const page = await ready("deep.html", "");
    const height = () => page.$eval(".flame-box > div", (box) => box.clientHeight);
    await page.waitForFunction((rows) => document.querySelector(".flame-box > div").clientHeight === rows * 19, deepest, { timeout: 10000 }).catch(() => {});
    same("a row for each call", deepest * 19, await height());
    const name = () => page.textContent(".flame-about b");
    for (let i = 0; i < Math.ceil(deepest / 20); i++) await page.keyboard.press("PageDown");
    await settle(page);
    same("the last one", "bottom", await name());
    const { top, seen } = await page.$eval(".flame-box", (box) => ({ top: box.scrollTop, seen: box.clientHeight }));
    claim("is in sight", top + seen >= deepest * 19 - 1 && top <= (deepest - 1) * 19, { top, seen, deepest });
    await press(page, "PageUp");
    same("up again", "down", await name());
    // The text about it may take another line, and the rows below have less room then.
    await page.$eval(".flame-box", (rows) => (rows.scrollTop = rows.scrollHeight));
    await settle(page);
    const box = await page.locator(".flame canvas").boundingBox();
    await page.mouse.move(box.x + 20, box.y + box.height - 8);
    await page.waitForFunction(() => document.querySelector(".flame-about b").textContent === "bottom", null, { timeout: 10000 }).catch(() => {});
    same("the mouse finds it", "bottom", await name());
    await press(page, "Enter");
    const again = await ready("deep.html", new URL(page.url()).hash);
    same("a link leads there", "bottom", await again.textContent(".flame-about b"));
    claim("and shows it", (await again.$eval(".flame-box", (b) => b.scrollTop)) > 4000 * 19);
    await again.context().close();
    await page.context().close();
}

// ---- two runs ---------------------------------------------------------------------------------------

const signed = (n, text) => (n === 0 ? "0" : `${n < 0 ? "\u2212" : "+"}${text(Math.abs(n))}`);

/** Rows whose calls or self time changed: others are on the page and not in the list of differences. */
const changed = (rows) => rows.filter((cells) => [2, 4].some((i) => cells[i] !== "0")).sort();

/** Cells of the functions that changed: name, calls, change, self, change, total, change. */
async function compared(page) {
    const rows = await allRows(page);
    return changed(rows.map(({ cells }) => [0, 2, 3, 4, 6, 7, 9].map((i) => cells[i])));
}

const wantedOf = (rows) =>
    changed(
        rows.map((r) => [
            r.name, grouped(r.calls.new), signed(r.calls.new - r.calls.base, grouped),
            time(r.self.new), signed(r.self.new - r.self.base, time),
            time(r.total.new), signed(r.total.new - r.total.base, time),
        ]),
    );

async function a_thread_of_two_runs_is_compared_alone() {
    const threads = json("diff-threads.json").rows;
    const page = await ready("two.html", "#threads?sort=name&measure=time", { viewport: { width: 1700, height: 800 } });
    const shown = (await allRows(page)).map(({ cells }) => [cells[0], cells[1], cells[4], cells[5], cells[7]]);
    const wanted = threads.map((r) => [threadName(r.name), grouped(r.calls.new), time(r.total.base), time(r.total.new), signed(r.total.new - r.total.base, time)]);
    same("threads", wanted.sort(), shown.sort());
    const name = "thread 3 (part)";
    await page.click(`.table >> text=${name}`);
    await settle(page);
    claim("it opens", /thread=\d+/.test(page.url()), page.url());
    same("and is chosen", name, await page.$eval("[aria-label=Thread]", (list) => list.selectedOptions[0].textContent));
    await page.evaluate(() => (location.hash = location.hash.replace("#flame", "#functions")));
    await settle(page);
    same("its functions", wantedOf(json("diff-thread.json").rows), await compared(page));
    await page.selectOption("[aria-label=Thread]", "0");
    await settle(page);
    same("all functions", wantedOf(json("diff.json").rows), await compared(page));
    await page.context().close();
}

/** Of the selected frame. */
async function aPathIsCompared(page, names) {
    const path = json("diff-paths.json").rows.find((r) => r.path.join("/") === names.join("/"));
    const about = await page.textContent(".flame-about");
    const change = path.total.new - path.total.base;
    claim("of a path, the time before", about.includes(`${time(path.total.base)} (`), { about, path });
    claim("and what it became", about.includes(signed(change, time)), { about, change });
}

async function each_of_two_runs_can_be_seen_alone() {
    const before = json("before.json");
    const page = await ready("two.html", "#functions?measure=time", { viewport: { width: 1700, height: 800 } });
    await press(page, "w");
    claim("no changes", !(await heads(page)).some((head) => head.includes("\u00b1")), await heads(page));
    const wanted = before.methods.filter(isSeen).map((m) => [m.name, grouped(m.calls), time(m.self), time(m.total)]);
    same("functions before", wanted.sort(), (await allRows(page)).map(({ cells }) => [0, 2, 3, 5].map((i) => cells[i])).sort());
    await press(page, "1");
    const first = (await allRows(page))[0].cells;
    const largest = mostChanged(json("diff.json").rows);
    same("changes are of both", [largest.name, time(largest.self.base), time(largest.self.new)], [first[1], first[3], first[4]]);
    await press(page, "2");
    const names = ["lua", "main chunk of two.lua", "coroutine.create", "part"];
    await selectPath(page, ...names.slice(0, 2));
    await aPathIsCompared(page, names.slice(0, 2));
    await press(page, "ArrowDown");
    await selectPath(page, ...names.slice(2));
    await aPathIsCompared(page, names); // a coroutine's, below the call that created it
    await page.context().close();
}

async function both_runs_have_their_diagnostics() {
    const page = await ready("two.html", "#run");
    const parts = await page.$$eval(".run-page h2", (list) => list.map((head) => head.textContent));
    same("parts", ["The run before", "The run after", "Diagnostics before", "Diagnostics after"], parts);
    await page.context().close();
}

async function without_javascript_both_runs_are_told_apart() {
    const { rows } = json("diff.json");
    const [before, after] = [json("before.json").run, json("after.json").run];
    const page = await open("two.html", "", { javaScriptEnabled: false });
    same("it is a comparison", "Profiles compared", await page.textContent("h1"));
    const [runs, functions] = (await page.locator("table").allInnerTexts()).map((text) => text.split("\n").map((row) => row.split("\t")));
    same("sides", ["", "Before", "After", "Change"], runs[0]);
    same("script", ["Script", "two.lua", "two.lua", ""], runs[2]);
    same("files", ["Profile", "before.qprof", "after.qprof", ""], runs[3]);
    const percent = ((100 * Math.abs(after.total - before.total)) / before.total).toFixed(1);
    const sign = after.total < before.total ? "\u2212" : "+";
    same("times", ["Time", time(before.total), time(after.total), `${signed(after.total - before.total, time)} (${sign}${percent} %)`], runs[4]);
    same("heads", ["Function", "Calls before", "Calls", "Change", "Self before", "Self", "Change"], functions[0]);
    const largest = mostChanged(rows);
    const [name, callsBefore, calls, , selfBefore, self, change] = functions[1];
    const wanted = [largest.name, ...[largest.calls.base, largest.calls.new].map(grouped), ...[largest.self.base, largest.self.new].map(time)];
    same("the largest change first", wanted, [name, callsBefore, calls, selfBefore, self]);
    claim("and how large it is", change.startsWith(signed(largest.self.new - largest.self.base, time)), change);
    await page.context().close();
}

async function names_of_files_are_said_and_harmless() {
    const page = await ready("odd.html", "");
    claim("as text", (await page.textContent(".subject")).includes("<b>&\\x1B[31m.qprof"), await page.textContent(".subject"));
    same("no markup", 0, await page.locator(".subject b").count());
    await page.context().close();
    const plain = await open("odd.html", "", { javaScriptEnabled: false });
    claim("also without JavaScript", (await plain.textContent("table")).includes("<b>&\\x1B[31m.qprof"));
    await plain.context().close();
}

async function screenshots() {
    for (const [name, hash] of [
        ["outside", "#functions"], ["outside", "#flame"], ["edges", "#flame"], ["coverage", ""], ["deep", "#flame"],
        ["waiting", "#functions"], ["waiting", "#tree"], ["waiting", "#flame?measure=wait"], ["waiting-two", ""],
        ["two", ""], ["two", "#flame"], ["two", "#threads"], ["two", "#run"], ["two", "#functions?side=base"],
    ])
        for (const [scheme, width] of [["light", 1400], ["dark", 600]]) {
            const page = await ready(`${name}.html`, hash, { colorScheme: scheme, viewport: { width, height: 900 } });
            await page.screenshot({ path: `${name}-${hash.replace(/\W.*/, "") || hash.slice(1, 6)}-${scheme}-${width}.png` });
            await page.context().close();
        }
    const plain = await open("two.html", "", { javaScriptEnabled: false });
    await plain.screenshot({ path: "without-javascript.png" });
    await plain.context().close();
}

await functions_without_counted_calls_are_shown("outside");
await functions_without_counted_calls_are_shown("samples");
await two_runs_without_counted_calls_are_compared_by_time();
await a_page_says_which_pattern_it_is_of();
await a_comparison_says_that_modes_differ();
await an_average_is_of_recorded_calls();
await a_selected_frame_that_focus_takes_away_is_let_go();
await passes_are_called_so();
await an_import_says_what_it_is_of();
await coverage_alone_has_functions_and_no_paths();
await functions_are_shown_by_each_measure();
await paths_are_shown_by_each_measure();
await runs_that_wait_are_compared_by_run_time();
await the_end_of_a_deep_recursion_can_be_reached();
await a_thread_of_two_runs_is_compared_alone();
await each_of_two_runs_can_be_seen_alone();
await both_runs_have_their_diagnostics();
await without_javascript_both_runs_are_told_apart();
await names_of_files_are_said_and_harmless();
await screenshots();
await finish();
