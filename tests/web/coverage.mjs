// coverage.mjs: claims about the coverage page. See test_coverage.sh for where its pages come from.
import { existsSync, readFileSync } from "node:fs";
import { allRows, claim, finish, open, press, same, settle, tiles } from "./browser.mjs";

const grouped = (n) => n.toLocaleString("en-US");
const of = (hit, all) => `${grouped(hit)} of ${grouped(all)}`;
const json = (name) => JSON.parse(readFileSync(`${name}.json`, "utf8"));

function wantedTiles(t) {
    const all = {
        Lines: [t.lines_hit, t.lines],
        Branches: [t.branches_hit, t.branches],
        Functions: [t.functions_hit, t.functions],
        Blocks: [t.blocks_hit, t.blocks],
    };
    const shown = Object.entries(all).filter(([, [, n]]) => n > 0);
    return Object.fromEntries(shown.map(([name, [hit, n]]) => [name, of(hit, n)]));
}

const share = (hit, all) => (all ? `${grouped(hit)}/${grouped(all)}` : "\u2013");
const numbersOf = (cell) => cell.replace(/^[0-9.]+ %/, "");

// fewer steps to see all rows
const tall = { viewport: { width: 1280, height: 3000 } };

// ---- numbers ------------------------------------------------------------------------------------

async function the_page_has_the_numbers_of_the_json_export(name) {
    const wanted = json(name);
    const page = await open(`${name}.html`, "#files?sort=name", tall);
    same(`${name}: totals`, wantedTiles(wanted.totals), await tiles(page));
    const rows = await allRows(page);
    same(`${name}: number of files`, wanted.files.length, rows.length);
    const byPath = (a, b) => (a.path < b.path ? -1 : 1);
    [...wanted.files].sort(byPath).forEach(({ path, totals: t }, i) => {
        const cells = rows[i].cells;
        const figures = [cells[0], numbersOf(cells[2]), cells[3], numbersOf(cells[4]), numbersOf(cells[5])];
        same(`${name}: ${path}`, [
            path,
            share(t.lines_hit, t.lines),
            grouped(t.lines - t.lines_hit),
            share(t.functions_hit, t.functions),
            share(t.branches_hit, t.branches),
        ], figures);
    });
    await page.context().close();
}

async function every_line_of_a_file_shows_its_count() {
    const file = json("small").files.find((f) => f.path === "main.lua");
    const page = await open("small.html", "#file/main.lua");
    const lines = await page.$$eval(".line[aria-rowindex]", (rows) =>
        rows.map((row) => ({
            line: Number(row.getAttribute("aria-rowindex")),
            count: row.querySelector(".line-count").textContent,
            branches: row.querySelector(".line-branches").textContent,
            text: row.querySelector("code").textContent,
            state: row.className.match(/is-(hit|partial|missed|dead|plain)/)[1],
        })),
    );
    const source = readFileSync("main.lua", "utf8").trimEnd().split("\n");
    same("the source is shown", source, lines.map((line) => line.text));
    const wanted = source.map((_, i) => {
        const known = file.lines.find((line) => line.line === i + 1);
        return known ? String(known.hits) : "";
    });
    // the export shows a tested line as hit once; the page shows that it never ran
    wanted[13] = "0";
    same("each line has its count", wanted, lines.map((line) => line.count));
    const states = Object.fromEntries(lines.map((line) => [line.line, line.state]));
    same("states", ["hit", "partial", "missed", "hit", "dead", "plain"], [4, 7, 11, 14, 15, 2].map((l) => states[l]));
    same("branches", ["2/2", "1/2", "0/2"], [4, 7, 11].map((l) => lines[l - 1].branches));
    await page.context().close();
}

// ---- moving about -------------------------------------------------------------------------------

const names = async (page) => (await allRows(page)).map((row) => row.cells[0]);

async function columns_sort() {
    const page = await open("large.html", "#files", tall);
    const missed = async () => (await allRows(page)).map((row) => Number(row.cells[3].replace(",", "")));
    const isDescending = (list) => list.every((n, i) => i === 0 || list[i - 1] >= n);
    claim("most missed lines first", isDescending(await missed()));
    await page.click("[role=columnheader] >> text=Missed");
    claim("and last", isDescending((await missed()).reverse()));
    await page.click("[role=columnheader] >> text=File");
    const list = await names(page);
    same("by name", [...list].sort(), list);
    claim("the head says so", await page.$("[role=columnheader][aria-sort=ascending] >> text=File"));
    claim("the address says so", page.url().endsWith("sort=name"), page.url());
    await page.context().close();
}

async function the_keyboard_goes_everywhere() {
    const page = await open("small.html");
    const selected = () => page.$eval(".table [aria-selected=true]", (row) => row.textContent);
    claim("a folder comes first", (await selected()).includes("lib/"), await selected());
    await press(page, "j");
    claim("j goes down", (await selected()).includes("util.lua"));
    await press(page, "k", "ArrowLeft");
    same("left closes a folder", 2, (await allRows(page)).length);
    await press(page, "ArrowRight");
    same("right opens it", 3, (await allRows(page)).length);
    await press(page, "End", "Enter");
    claim("Enter opens a file", page.url().includes("#file/main.lua"), page.url());
    const line = () => page.$eval(".panel h2", (head) => head.textContent);
    same("the first missed section is selected", "Line 7", await line());
    await press(page, "n");
    same("n goes to the next one", "Line 11", await line());
    await press(page, "p");
    same("p goes back", "Line 7", await line());
    claim("a partial line says what is missing", (await page.textContent(".panel")).includes("2 of 3 blocks"));
    await press(page, "j", "ArrowDown", "k");
    same("lines by j and k", "Line 8", await line());
    await press(page, "u");
    claim("u goes back to the list", (await selected()).includes("main.lua"));
    await press(page, "3");
    claim("3 shows functions", (await page.$("[role=tab][aria-selected=true] >> text=Functions")) !== null);
    await press(page, "?");
    claim("? shows the keys", await page.isVisible("dialog >> text=search files"));
    await press(page, "Escape");
    claim("Escape closes them", (await page.$("dialog")) === null);
    await page.context().close();
}

async function the_browser_goes_back_and_a_link_restores_the_view() {
    const page = await open("small.html");
    await press(page, "End", "Enter", "n");
    const link = page.url();
    await page.goBack();
    await settle(page);
    claim("back shows the list", await page.isVisible(".tabs"));
    const other = await open("small.html", new URL(link).hash);
    same("a link shows the line", "Line 11", await other.textContent(".panel h2"));
    await other.context().close();
    const filtered = await open("small.html", "#file/main.lua?line=4&context=1&theme=dark");
    same("and the filter", "1", await filtered.inputValue("select"));
    same("and the theme", "dark", await filtered.evaluate(() => document.documentElement.dataset.theme));
    await filtered.context().close();
    const unknown = await open("small.html", "#file/no/such.lua");
    claim("an unknown file is reported", await unknown.isVisible("text=This page has no file no/such.lua"));
    await unknown.context().close();
    await page.context().close();
}

async function search_finds(page, text, wanted, summary) {
    await page.fill(".search input", text);
    await page.waitForFunction((start) => document.querySelector(".search-summary").textContent.startsWith(start), summary, { timeout: 5000 })
        .catch(async () => claim(`search for ${text}`, false, await page.textContent(".search-summary")));
    const found = await page.$$eval(".found-item", (items) =>
        items.map((item) => `${item.querySelector(".found-kind").textContent} ${item.querySelector(".found-where").textContent}`),
    );
    same(`search for ${text}`, wanted, found);
}

async function search_goes_through_names_and_sources() {
    const page = await open("small.html");
    await press(page, "/");
    const works = ["function main.lua:4", "function main.lua:11", "line main.lua:3", "line main.lua:10", "line main.lua:13"];
    await search_finds(page, "work", works, "5 found");
    await search_finds(page, "^local.*\\(n\\)$", ["line main.lua:3", "line main.lua:10"], "2 found");
    await search_finds(page, "util.lua", ["file "], "1 found");
    await search_finds(page, "leaf(", ["line lib/util.lua:3", "line main.lua:5"], "2 found; taken as plain text");
    await search_finds(page, "WORK", [], "0 found");
    await page.context().close();
}

async function what_is_found_opens() {
    const page = await open("small.html");
    await press(page, "/");
    await page.keyboard.type("os\\.exit");
    await page.waitForSelector(".found-item");
    await press(page, "Enter");
    claim("the line opens", page.url().includes("#file/main.lua?line=14"), page.url());
    same("and is selected", "Line 14", await page.textContent(".panel h2"));
    await page.context().close();
}

// ---- contexts -----------------------------------------------------------------------------------

async function a_context_recolours_the_page() {
    const page = await open("small.html");
    same("all lines", "11 of 12", (await tiles(page)).Lines);
    await page.selectOption("select", { label: "first test" });
    await settle(page);
    same("lines of one context", "2 of 12", (await tiles(page)).Lines);
    same("what contexts do not know is not shown", ["Lines"], Object.keys(await tiles(page)));
    await press(page, "End", "Enter");
    const states = await page.$$eval(".line[aria-rowindex]", (rows) =>
        rows.map((row) => row.className.match(/is-(hit|other|missed|dead|plain)/)[1]),
    );
    same("only its lines are hit", [4], states.flatMap((state, i) => (state === "hit" ? [i + 1] : [])));
    same("lines that no context hit stay missed", [11], states.flatMap((state, i) => (state === "missed" ? [i + 1] : [])));
    await press(page, "Escape");
    same("Escape takes the filter away", "8 of 9", (await tiles(page)).Lines);
    await page.context().close();

    const list = await open("small.html", "#contexts");
    const rows = (await allRows(list)).map((row) => row.cells);
    // line 1 of lib/util.lua: no context alone; line 4: both; line 4 of main.lua: the first test alone
    same("contexts", [["(no context)", "2", "1", "1"], ["first test", "2", "1", "2"]], rows);
    await list.context().close();

    const sole = await open("small.html", "#folders?sole=1");
    same("lines that one context hits", "2 of 12", (await tiles(sole)).Lines);
    await sole.context().close();
}

// what app/tests.lua of test_coverage.sh does, worked out by hand
async function a_recorded_program_shows_which_test_hit_a_line() {
    const page = await open("recorded.html", "#file/app/cart.lua?line=12");
    const contexts = async () =>
        page.$$eval(".contexts button", (list) => list.map((b) => [...b.children].map((c) => c.textContent)));
    same("both tests add", [["it adds up", "2"], ["discounts", "1"]], await contexts());
    const cell = (line, name) => page.textContent(`#line-${line} .line-${name}`);
    same("three times in all", "3", await cell(12, "count"));
    same("nothing is negative", ["0", "1/2"], [await cell(9, "count"), await cell(8, "branches")]);
    await page.click("#line-16");
    same("only one discounts", [["discounts", "1"]], await contexts());
    claim("and the page reports it", await page.isVisible("text=Hit by this context only"));
    await page.click(".contexts button");
    await settle(page);
    same("a click filters by it", "1", await cell(12, "count"));
    await page.context().close();
}

// ---- looks --------------------------------------------------------------------------------------

async function it_is_light_or_dark_as_the_system_is() {
    const color = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await open("small.html", "", { colorScheme: "light" });
    const dark = await open("small.html", "", { colorScheme: "dark" });
    const [day, night] = [await color(light), await color(dark)];
    claim("they differ", day !== night, day);
    await press(light, "t");
    same("t changes it", night, await color(light));
    await light.context().close();
    await dark.context().close();
}

async function without_javascript_there_is_a_table() {
    const page = await open("small.html", "", { javaScriptEnabled: false });
    const text = await page.locator("table").innerText();
    same("all rows", ["File", "All", "lib/util.lua", "main.lua"], text.split("\n").map((row) => row.split("\t")[0]));
    claim("with percentages", text.includes("91.6 % (11 of 12)") || text.includes("91.7 % (11 of 12)"), text);
    await page.screenshot({ path: "without-javascript.png" });
    await page.context().close();
}

async function it_prints_all_rows() {
    const page = await open("large.html", "#files");
    await page.emulateMedia({ media: "print" });
    await settle(page);
    same("rows", 300, (await page.$$(".table [role=row][aria-rowindex]")).length);
    claim("no buttons", !(await page.isVisible(".tools")));
    await page.context().close();
}

// ---- hostile ------------------------------------------------------------------------------------

async function hostile_names_stay_names() {
    const wanted = json("hostile");
    const page = await open("hostile.html", "#files?sort=name");
    const elements = await page.evaluate(() => ({
        scripts: [...document.scripts].filter((s) => s.type !== "application/json").length,
        blocks: document.querySelectorAll("script[type='application/json']").length,
        others: document.querySelectorAll("iframe, img, object, embed, link, base, form").length,
    }));
    same("elements", { scripts: 1, blocks: 2 + 2 * wanted.files.length, others: 0 }, elements);
    same("files", wanted.files.length, (await allRows(page)).length);
    const text = (await names(page)).join("\n");
    claim("no character turns the writing direction", !/[\u202a-\u202e\u2066-\u2069]/.test(text));
    claim("they are spelled out", text.includes("right \\u{202E} to left"));
    claim("markup is text", text.includes("</script><script>alert(1)</script>"));
    for (let i = 0; i < wanted.files.length; i++) {
        const hash = `#file/${wanted.files[i].path.split("/").map(encodeURIComponent).join("/")}`;
        await page.evaluate((to) => (location.hash = to), hash);
        await settle(page);
        const head = (await page.textContent(".panel-part.functions")) ?? "";
        claim(`file ${i} opens and lists its functions`, head.startsWith("Functions 2"), head);
        claim("a missing source is reported", await page.isVisible("text=The source is not here"));
    }
    await page.context().close();
}

// ---- size ---------------------------------------------------------------------------------------

async function two_thousand_files_open_at_once() {
    const begin = Date.now();
    const page = await open("huge.html", "#files?sort=name");
    const elapsed = Date.now() - begin;
    await page.waitForSelector(".table-row.is-selected");
    const first = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
    console.log(`2,000 files: first picture after ${Math.round(first)} ms, all read after ${elapsed} ms`);
    // 180,000 of 400,000 would be half; every tenth file is missed, and a fifth of the others
    same("lines", "288,000 of 400,000", (await tiles(page)).Lines);
    same("files", "2001", await page.getAttribute(".table", "aria-rowcount"));
    const shown = await page.$$(".table [role=row]");
    claim("only rows that are seen exist", shown.length < 80, shown.length);
    await press(page, "End");
    claim("the last one can be reached", (await page.textContent(".table [aria-selected=true]")).includes("file1999.lua"));
    await page.selectOption("select", { label: "odd" });
    await settle(page);
    same("a filter reads all files", "144,000 of 400,000", (await tiles(page)).Lines);
    await press(page, "/");
    await page.keyboard.type("table_of_1998\\[200\\]");
    await page.waitForFunction(() => document.querySelector(".search-summary").textContent === "1 found", null, { timeout: 20000 });
    await press(page, "Enter");
    claim("and so does the search", page.url().includes("file1998.lua?"), page.url());
    await page.context().close();
}

async function where_it_is_narrow_the_list_has_the_room() {
    const page = await open("small.html", "", { viewport: { width: 390, height: 800 } });
    await settle(page);
    const heights = await page.$$eval(".tile", (list) => list.map((tile) => tile.getBoundingClientRect().height));
    claim("figures are as high as their texts", heights.length > 0 && heights.every((height) => height < 120), heights);
    claim("nothing is wider than the page", await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await page.context().close();
}

async function screenshots() {
    for (const [scheme, width] of [["light", 1400], ["dark", 1400], ["light", 600], ["dark", 600]]) {
        const options = { colorScheme: scheme, viewport: { width, height: 900 } };
        for (const [name, hash] of [["large", ""], ["small", "#file/main.lua?line=7"], ["small", "#contexts"]]) {
            const page = await open(`${name}.html`, hash, options);
            await settle(page);
            const view = hash.replace(/^#([a-z]*).*/, "$1") || "folders";
            await page.screenshot({ path: `${view}-${scheme}-${width}.png` });
            await page.context().close();
        }
    }
}

for (const name of ["empty", "small", "large"]) await the_page_has_the_numbers_of_the_json_export(name);
await every_line_of_a_file_shows_its_count();
await columns_sort();
await the_keyboard_goes_everywhere();
await the_browser_goes_back_and_a_link_restores_the_view();
await search_goes_through_names_and_sources();
await what_is_found_opens();
await a_context_recolours_the_page();
if (existsSync("recorded.html")) {
    await the_page_has_the_numbers_of_the_json_export("recorded");
    await a_recorded_program_shows_which_test_hit_a_line();
}
await it_is_light_or_dark_as_the_system_is();
await without_javascript_there_is_a_table();
await it_prints_all_rows();
await hostile_names_stay_names();
await two_thousand_files_open_at_once();
await where_it_is_narrow_the_list_has_the_room();
await screenshots();
await finish();
