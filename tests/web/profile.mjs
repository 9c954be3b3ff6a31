// profile.mjs: claims about the profile page. See test_profile.sh for where its pages come from.
import { readFileSync } from "node:fs";
import { allRows, claim, estimate, finish, grouped, known, methodNamed, open, press, ready, same, selectPath, settle, threadName, time } from "./browser.mjs";

const report = JSON.parse(readFileSync("work.json", "utf8"));
const tree = JSON.parse(readFileSync("tree.json", "utf8"));
async function functions_have_the_numbers_of_the_report(file, { methods }) {
    const page = await ready(file, "#functions?sort=-self");
    const rows = (await allRows(page)).map(({ cells }) => [cells[0], cells[2], cells[3], cells[5]]);
    const wanted = methods.filter((m) => m.calls > 0 || m.total > 0).map((m) => [m.name, grouped(m.calls), time(m.self), time(m.total)]);
    const byName = (a, b) => (a.join("\u0000") < b.join("\u0000") ? -1 : 1);
    same(`functions of ${file}`, [...wanted].sort(byName), [...rows].sort(byName));
    await page.context().close();
}

async function the_call_tree_has_the_numbers_of_the_report(file, tree, ...keys) {
    const page = await ready(file, "#tree");
    await press(page, ...keys, "Home");
    for (let i = 0; i < tree.nodes.length; i++) {
        const isClosed = await page.$(".table [aria-selected=true][aria-expanded=false]");
        await press(page, ...(isClosed ? ["ArrowRight", "j"] : ["j"])); // in an open row it goes to the first callee
    }
    const rows = await allRows(page);
    const paths = tree.nodes.filter((node) => node.parent);
    claim(`${file}: each row has a name`, rows.every(({ cells }) => /[^▾]/.test(cells[0])), rows);
    claim(`${file}: every call path can be opened`, rows.length >= paths.length, { rows: rows.length, paths: paths.length });
    const shown = rows.map(({ cells }) => `${cells[2]} ${cells[3]} ${cells[5]}`);
    for (const node of paths)
        claim(`${file}: path ${node.id}`, shown.includes(`${grouped(node.calls)} ${time(node.self)} ${time(node.total)}`), node);
    await page.context().close();
    return rows.filter(({ cells }) => !/^▾thread \d/.test(cells[0])).length;
}

async function recursion_collapses_into_the_outer_call() {
    const collapsed = JSON.parse(readFileSync("collapsed.json", "utf8"));
    const rows = await the_call_tree_has_the_numbers_of_the_report("work.html", collapsed, "e");
    claim("there are no other paths", rows === collapsed.nodes.filter((node) => node.parent).length, rows);
    const page = await ready("work.html", "#tree");
    await page.click("text=Collapse recursion");
    await settle(page);
    claim("the address holds it", /recursion=collapsed/.test(page.url()), page.url());
    claim("and it is named", (await page.textContent(".chips")).includes("Recursion"));
    await page.click(".chip");
    await settle(page);
    claim("and taken back", !/recursion/.test(page.url()), page.url());
    await page.context().close();
}

/** Pages that were made with an option: only what it leaves is in them. */
async function a_page_of_a_part_has_the_numbers_of_the_report() {
    for (const part of ["collapsed", "when", "hidden-page", "focus-page"]) {
        const wanted = JSON.parse(readFileSync(`${part}.json`, "utf8"));
        const rows = await the_call_tree_has_the_numbers_of_the_report(`${part}.html`, wanted);
        same(`${part}: paths`, wanted.nodes.filter((node) => node.parent).length, rows);
        await functions_have_the_numbers_of_the_report(`${part}.html`, JSON.parse(readFileSync(`${part}-functions.json`, "utf8")));
    }
}

async function the_flame_graph_zooms_and_tells_what_is_selected() {
    const page = await ready("work.html", "");
    const about = () => page.textContent(".flame-about");
    const first = await about();
    await press(page, "ArrowDown", "ArrowDown");
    claim("down goes to a callee", (await about()) !== first, first);
    const deeper = await about();
    await press(page, "Enter");
    claim("Enter zooms, and the address holds it", /at=\d+/.test(page.url()), page.url());
    same("on the selected frame", deeper, await about());
    const link = new URL(page.url()).hash;
    await press(page, "u", "u");
    const box = await page.locator(".flame canvas").boundingBox();
    await page.mouse.move(box.x + 20, box.y + 5);
    await settle(page);
    same("the mouse selects", first, await about());
    const again = await ready("work.html", link);
    same("a link restores the zoom", deeper, await again.textContent(".flame-about"));
    await again.context().close();
    await page.context().close();
}

async function a_function_stands_between_callers_and_callees() {
    const page = await ready("work.html", "#functions?search=%5Eleaf%24");
    claim("a search leaves what fits", (await allRows(page)).length === 1);
    await press(page, "Enter");
    const list = (label) => page.$$eval(`[aria-label=${label}] .fn-name`, (names) => names.map((name) => name.textContent).sort());
    // even calls it last of all: its frame is gone by then, and odd is the caller
    const callers = (await list("Callers")).filter((name) => ["even", "odd"].includes(name));
    same("who calls it", ["odd"], callers);
    same("it has no callees", [], await list("Callees"));
    const calls = report.methods.find((m) => m.name === "leaf").calls;
    const sum = await page.$$eval("[aria-label=Callers] .edge .dim", (cells) =>
        cells.reduce((n, cell) => n + Number(cell.textContent.replace(/[^0-9]/g, "")), 0),
    );
    same("callers' calls add up", calls, sum);
    await page.context().close();
}

// ---- parts of the run ------------------------------------------------------------------------------

const rowsOf = (methods) =>
    methods.filter((m) => m.calls > 0).map((m) => [m.name, grouped(m.calls), time(m.self), time(m.total)]).sort();

async function functionRows(page) {
    const rows = await allRows(page);
    return rows.map(({ cells }) => [cells[0], cells[2], cells[3], cells[5]]).sort();
}

async function a_focus_and_hidden_functions_leave_the_numbers_of_the_report() {
    const page = await ready("work.html", "#functions");
    const [odd, even] = [await methodNamed(page, "odd"), await methodNamed(page, "even")];
    await page.context().close();
    for (const [part, hash] of [["hidden", `hide=${even}`], ["focus", `focus=${odd}`], ["both", `focus=${odd}&hide=${even}`]]) {
        const shown = await ready("work.html", `#functions?${hash}`);
        const wanted = JSON.parse(readFileSync(`${part}.json`, "utf8")).methods;
        same(part, rowsOf(wanted), await functionRows(shown));
        await shown.context().close();
    }
}

async function the_keyboard_folds_and_takes_it_back() {
    const page = await ready("work.html", "#functions?search=%5Eeven%24");
    const all = report.methods.filter((m) => m.calls > 0).length;
    await press(page, "x", "Escape");
    same("one row less", all - 1, (await allRows(page)).length);
    await press(page, "r");
    same("all rows", all, (await allRows(page)).length);
    await press(page, "1", "ArrowDown", "ArrowDown", "f");
    claim("focus is in the address", /focus=\d+/.test(page.url()), page.url());
    claim("and named", (await page.textContent(".chips")).includes("Focus"));
    await page.context().close();
}

/** In a run without times: which path is the hottest is not left to chance. */
async function the_keyboard_goes_to_the_source_of_what_is_selected() {
    const views = { "#functions?search=%5Eleaf%24": "leaf", "#tree": "main chunk of work.lua", "#flame": "main chunk of work.lua" };
    for (const [hash, name] of Object.entries(views)) {
        const page = await ready("counts.html", hash);
        const selected = () => page.textContent(".is-selected, .flame-about b");
        for (let row = 0; row < 40 && !(await selected()).includes(name); row++) await press(page, "j");
        await press(page, "s");
        claim(`${hash}: the text is there`, (await page.locator("main").innerText()).includes("local function leaf(n)"));
        await page.context().close();
    }
}

async function a_function_without_source_says_so() {
    const page = await ready("counts.html", "#functions?search=%5Ecoroutine.wrap%24");
    await press(page, "s");
    same("s", "coroutine.wrap has no source: it is not of a file.", await page.textContent("[role=status].message"));
    await press(page, "j");
    same("the next key takes it away", "", await page.textContent("[role=status].message"));
    await page.context().close();
}

async function threads_have_the_numbers_of_the_report() {
    const all = JSON.parse(readFileSync("threads.json", "utf8")).threads;
    const threads = all.filter((t) => t.calls > 0 || t.total > 0 || t.open_frames > 0); // as report --threads
    claim("one of them did nothing", threads.length < all.length, all);
    const page = await ready("work.html", "#threads");
    same("as many as the report says", String(threads.length), await page.textContent("[data-name=Threads] .tile-value"));
    const shown = (await allRows(page)).map(({ cells }) => [cells[0], cells[1], cells[6], cells[8]]).sort();
    const wanted = threads.map((t) => [grouped(t.number), threadName(t.name), grouped(t.calls), time(t.total)]).sort();
    same("threads", wanted, shown);
    const state = (await allRows(page)).map(({ cells }) => [cells[1], cells[2]]).sort();
    same("states", threads.map((t) => [threadName(t.name), !t.alive ? "ended" : t.suspended ? "suspended" : "alive"]).sort(), state);
    // Which thread took longest is left to chance: one that was interrupted.
    const selected = () => page.$eval(".table [role=row][aria-selected=true]", (row) => row.firstChild.textContent);
    for (let i = 0; i < threads.length && (await selected()) !== "1"; i++) await press(page, "j");
    await press(page, "Enter", "3");
    const first = await functionRows(page);
    same("functions of the thread", rowsOf(JSON.parse(readFileSync("thread1.json", "utf8")).methods), first);
    await page.context().close();
}

async function frames_from_below_add_up_as_a_naive_count_does() {
    const page = await ready("work.html", "#bottomup");
    const names = new Map(tree.methods.map((m) => [m.id, m.name]));
    const byId = new Map(tree.nodes.map((node) => [node.id, node]));
    const nameOf = (node) => names.get(node?.method);
    const inverted = new Map(); // "leaf < odd < even": self time of the first
    for (const node of tree.nodes.filter((n) => n.parent !== null && n.method))
        for (let at = node, key = ""; at?.method; at = byId.get(at.parent)) {
            key += key ? ` < ${nameOf(at)}` : nameOf(at);
            const known = inverted.get(key) ?? { self: 0, n: 0 };
            inverted.set(key, { self: known.self + node.self, n: known.n + 1 });
        }
    const wanted = [...inverted].filter(([key, { self }]) => /^(leaf|odd|even) < /.test(key) && self > 0);
    claim("there are some", wanted.length > 10, wanted.length);
    for (const [key, { self, n }] of wanted.slice(0, 12)) {
        const at = [];
        for (const name of key.split(" < ")) at.push(await methodNamed(page, name));
        await page.evaluate((hash) => (location.hash = hash), `#bottomup?at=${at.join(".")}`);
        await settle(page);
        const about = await page.textContent(".flame-about");
        // the report rounds each path to a nanosecond, the page their sum
        const near = Array.from({ length: n + 1 }, (_, i) => time(self + i - Math.floor(n / 2)));
        const isSo = near.some((text) => about.includes(`${text} (`)) && about.startsWith(key.split(" < ").pop());
        claim(key, isSo, { about, self });
    }
    await page.context().close();
}

async function callers_and_callees_are_those_of_the_detail() {
    for (const name of ["odd", "leaf"]) {
        const detail = JSON.parse(readFileSync(`detail-${name}.json`, "utf8"));
        const page = await ready("work.html", `#functions?search=%5E${name}%24`);
        await press(page, "Enter");
        for (const label of ["Callers", "Callees"]) {
            const shown = await page.$$eval(`[aria-label=${label}] .edge`, (rows) =>
                rows.map((row) => [".fn-name", ".dim", ".edge-time"].map((of) => row.querySelector(of).textContent)),
            );
            const calls = (n) => `${grouped(n)} call${n === 1 ? "" : "s"}`;
            const wanted = detail[label.toLowerCase()].map((e) => [e.name + (e.recursive ? " *" : ""), calls(e.calls), time(e.time)]);
            same(`${label} of ${name}`, wanted.sort(), shown.sort());
        }
        await page.context().close();
    }
}

async function lines_have_the_numbers_of_annotate() {
    const { files } = JSON.parse(readFileSync("annotate.json", "utf8"));
    const page = await ready("work.html", "#source");
    await press(page, "Enter");
    const shown = await page.$$eval(".source .line[aria-rowindex]", (rows) =>
        rows.map((row) => [".line-number", ".line-figure", ".line-mark"].map((part) => row.querySelector(part).textContent)),
    );
    const mark = (l) => (l.missed ? (l.blocks > 1 ? "+#" : "#") : l.blocks > 1 ? "+" : "|");
    const wanted = files[0].lines.map((l) => [String(l.line), l.count === null ? "" : grouped(l.count), mark(l)]);
    same("counts and marks", wanted, shown.filter(([, , m]) => m));
    claim("the text is there", (await page.textContent(".source")).includes("local function leaf(n)"));
    await press(page, "Home");
    const blocks = await page.locator("[aria-label=Blocks] li").count();
    same("blocks of line 1", files[0].lines.find((l) => l.line === 1).blocks, blocks);
    const link = new URL(page.url()).hash;
    const again = await ready("work.html", link);
    same("a link restores the line", "Line 1", await again.textContent(".panel h2"));
    await again.context().close();
    await page.context().close();
}

async function a_text_that_must_not_be_seen_stays_out() {
    for (const [file, is] of [["outside.html", false], ["inside.html", true], ["named.html", true], ["beside.html", false]]) {
        const text = readFileSync(file, "utf8");
        claim(`${file} ${is ? "has" : "lacks"} the text`, text.includes("changed since, and secret") === is);
    }
}

// ---- two runs -------------------------------------------------------------------------------------

async function changes_are_those_of_the_diff() {
    const diff = JSON.parse(readFileSync("diff.json", "utf8"));
    const page = await ready("diff.html", "#changes?measure=time");
    const signed = (n, text) => (n === 0 ? "0" : `${n < 0 ? "\u2212" : "+"}${text(Math.abs(n))}`);
    const wanted = diff.rows.map((r) => [r.name, time(r.self.base), time(r.self.new), signed(r.self.change, time), signed(r.calls.change, grouped)]);
    const rows = (await allRows(page)).map(({ cells }) => [cells[1], cells[3], cells[4], cells[5], cells[9]]);
    same("rows", [...wanted].sort(), [...rows].sort());
    same("the largest first", wanted[0][0], rows[0][0]);
    const whole = await page.textContent("[data-name=Time] .tile-note");
    claim("the whole change", whole.startsWith(signed(diff.whole.total.change, time)), whole);
    await page.context().close();
}

async function paths_of_two_runs_are_those_of_the_diff() {
    const diff = JSON.parse(readFileSync("paths.json", "utf8"));
    const page = await ready("diff.html", "#flame?measure=time");
    claim("colours are changes", (await page.textContent(".legend")).includes("less of its own"));
    await selectPath(page, "lua", "main chunk of work.lua");
    const text = await page.textContent(".flame-about");
    const path = diff.rows.find((r) => r.path.join("/") === "lua/main chunk of work.lua");
    claim("total of a path", text.includes(time(path.total.new)), { text, path });
    await press(page, "w");
    claim("widths of the run before", /side=base/.test(page.url()), page.url());
    await page.context().close();
}

// ---- everything else ------------------------------------------------------------------------------

async function estimates_show_their_intervals() {
    const sampled = JSON.parse(readFileSync("sampled.json", "utf8"));
    const page = await ready("sampled.html", "#functions?sort=-self");
    const cells = new Map((await allRows(page)).map(({ cells: row }) => [row[0], row[3]]));
    for (const m of sampled.methods.filter((x) => x.calls > 0 && x.self_half > 0))
        same(`interval of ${m.name}`, known(m.self, m.self_half), estimate(cells.get(m.name)));
    claim("there are some", sampled.methods.some((m) => m.self_half > 0));
    await page.context().close();
}

async function a_link_restores_every_view() {
    const hashes = [
        "#flame?color=time&theme=dark", "#functions?sort=name&search=e", "#tree?sort=-self", "#threads?sort=name", "#run",
        "#source?sort=file", "#bottomup?color=time",
    ];
    for (const hash of hashes) {
        const page = await ready("work.html", "");
        await page.evaluate((to) => (location.hash = to), hash);
        await settle(page);
        const before = await page.locator("main").innerText();
        await page.reload();
        await page.waitForSelector(".flame, .table, .run-page");
        await settle(page);
        same(hash, before, await page.locator("main").innerText());
        same(`${hash}: one tab`, 1, await page.locator("[role=tab][aria-selected=true]").count());
        if (hash.includes("dark")) same("dark", "dark", await page.evaluate(() => document.documentElement.dataset.theme));
        await page.context().close();
    }
}

async function hostile_names_are_harmless() {
    const hostile = JSON.parse(readFileSync("hostile.json", "utf8"));
    for (const view of ["functions", "flame", "tree", "bottomup", "threads", "run"]) {
        const page = await ready("hostile.html", `#${view}`);
        same(`${view}: scripts`, 1, await page.evaluate(() => [...document.scripts].filter((s) => !s.type).length));
        same(`${view}: nothing ran`, undefined, await page.evaluate(() => window.pwned));
        same(`${view}: no image`, 0, await page.locator("img").count());
        if (view === "functions") {
            const rows = await allRows(page);
            same("all functions", hostile.methods.filter((m) => m.calls > 0).length, rows.length);
            const text = rows.map(({ cells }) => cells[0]).join("\n");
            for (const part of ["\\x1B[31mred", "\\u{202E}", "\"quoted\" & 'single'", "<img src=x onerror=window.pwned=1>"])
                claim(`shown: ${part}`, text.includes(part), text.slice(0, 600));
            claim("no hidden character", !/[\u0000-\u0008\u001b\u202e]/.test(text));
        }
        await page.context().close();
    }
}

async function names_stay_names() {
    const page = await ready("work.html", "#functions");
    same("scripts", 1, await page.evaluate(() => [...document.scripts].filter((s) => !s.type).length));
    const names = (await allRows(page)).map(({ cells }) => cells[0]);
    claim("markup is text", names.some((name) => name.includes("</script><b>named")), names);
    await page.context().close();
}

async function without_times_calls_take_their_place() {
    const page = await ready("counts.html", "");
    claim("calls", (await page.textContent(".flame-about")).includes("call"));
    claim("no time", (await page.$("[data-name=Time]")) === null);
    await page.context().close();
}

async function without_javascript_there_is_a_table() {
    const page = await open("work.html", "", { javaScriptEnabled: false });
    const [top] = [...report.methods].sort((a, b) => b.self - a.self);
    const [run, functions] = await page.locator("table").allInnerTexts();
    const { program, calls, total } = report.run;
    same("what it is about", [`Program\t${program}`, "Script\twork.lua", "Profile\twork.qprof", `Time\t${time(total)}`, `Calls\t${grouped(calls)}`], run.split("\n"));
    same("the hottest function comes first", [top.name, grouped(top.calls), time(top.self), time(top.total)].join("\t"), functions.split("\n")[1]);
    await page.context().close();
}

async function where_it_is_narrow_the_order_can_be_seen() {
    for (const sort of ["-total", "calls", "-self"]) {
        const page = await ready("work.html", `#functions?sort=${sort}`, { viewport: { width: 390, height: 800 } });
        const heads = await page.$$eval("[role=columnheader][aria-sort]", (list) => list.map((head) => head.getAttribute("aria-sort")).filter((by) => by !== "none"));
        same(`sorted by ${sort}`, [sort.startsWith("-") ? "descending" : "ascending"], heads);
        await page.context().close();
    }
}

async function screenshots() {
    for (const [scheme, width] of [["light", 1400], ["dark", 600]]) {
        const page = await ready("work.html", "#flame", { colorScheme: scheme, viewport: { width, height: 900 } });
        for (const view of ["flame", "bottomup", "functions", "tree", "source", "threads", "run"]) {
            await page.evaluate((hash) => (location.hash = hash), `#${view}`);
            await settle(page);
            await page.screenshot({ path: `${view}-${scheme}-${width}.png` });
        }
        await page.context().close();
    }
}

await functions_have_the_numbers_of_the_report("work.html", report);
await where_it_is_narrow_the_order_can_be_seen();
await the_call_tree_has_the_numbers_of_the_report("work.html", tree);
await recursion_collapses_into_the_outer_call();
await a_page_of_a_part_has_the_numbers_of_the_report();
await the_flame_graph_zooms_and_tells_what_is_selected();
await a_function_stands_between_callers_and_callees();
await a_focus_and_hidden_functions_leave_the_numbers_of_the_report();
await the_keyboard_folds_and_takes_it_back();
await the_keyboard_goes_to_the_source_of_what_is_selected();
await a_function_without_source_says_so();
await threads_have_the_numbers_of_the_report();
await frames_from_below_add_up_as_a_naive_count_does();
await callers_and_callees_are_those_of_the_detail();
await lines_have_the_numbers_of_annotate();
await a_text_that_must_not_be_seen_stays_out();
await changes_are_those_of_the_diff();
await paths_of_two_runs_are_those_of_the_diff();
await estimates_show_their_intervals();
await a_link_restores_every_view();
await hostile_names_are_harmless();
await names_stay_names();
await without_times_calls_take_their_place();
await without_javascript_there_is_a_table();
await screenshots();
await finish();
