// profile.mjs: claims about the profile page. See test_profile.sh for where its pages come from.
import { readFileSync } from "node:fs";
import { allRows, claim, finish, open, press, same, settle } from "./browser.mjs";

const report = JSON.parse(readFileSync("work.json", "utf8"));
const tree = JSON.parse(readFileSync("tree.json", "utf8"));
const grouped = (n) => n.toLocaleString("en-US");

function time(ns) {
    for (const [size, unit] of [[1e9, "s"], [1e6, "ms"], [1e3, "us"]])
        if (ns >= size) return `${(ns / size).toFixed(3)} ${unit}`;
    return `${ns} ns`;
}

async function ready(file, hash, options) {
    const page = await open(file, hash, options);
    await page.waitForSelector(".flame, .table, .function-page");
    await settle(page);
    return page;
}

async function functions_have_the_numbers_of_the_report() {
    const page = await ready("work.html", "#functions?sort=-self");
    const rows = (await allRows(page)).map(({ cells }) => [cells[0], cells[2], cells[3], cells[5]]);
    const wanted = report.methods.filter((m) => m.calls > 0).map((m) => [m.name, grouped(m.calls), time(m.self), time(m.total)]);
    const byName = (a, b) => (a.join("\u0000") < b.join("\u0000") ? -1 : 1);
    same("functions", [...wanted].sort(byName), [...rows].sort(byName));
    await page.context().close();
}

async function the_call_tree_has_the_numbers_of_the_report() {
    const page = await ready("work.html", "#tree");
    await press(page, "Home");
    for (let i = 0; i < tree.nodes.length; i++) await press(page, "ArrowRight", "j");
    const rows = await allRows(page);
    const paths = tree.nodes.filter((node) => node.parent !== null);
    claim("every call path can be opened", rows.length >= paths.length, { rows: rows.length, paths: paths.length });
    const shown = rows.map(({ cells }) => `${cells[2]} ${cells[3]} ${cells[5]}`);
    for (const node of paths)
        claim(`path ${node.id}`, shown.includes(`${grouped(node.calls)} ${time(node.self)} ${time(node.total)}`), node);
    await page.context().close();
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
    same("it calls nobody", [], await list("Callees"));
    const calls = report.methods.find((m) => m.name === "leaf").calls;
    const sum = await page.$$eval("[aria-label=Callers] .edge .dim", (cells) =>
        cells.reduce((n, cell) => n + Number(cell.textContent.replace(/[^0-9]/g, "")), 0),
    );
    same("callers' calls add up", calls, sum);
    await page.context().close();
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
    const row = await page.locator("tr").nth(1).innerText();
    claim("the hottest function comes first", row.startsWith(`${top.name}\t${grouped(top.calls)}`), row);
    await page.context().close();
}

async function screenshots() {
    for (const [scheme, width] of [["light", 1400], ["dark", 600]]) {
        for (const view of ["flame", "functions", "tree"]) {
            const page = await ready("work.html", `#${view}`, { colorScheme: scheme, viewport: { width, height: 900 } });
            await page.screenshot({ path: `${view}-${scheme}-${width}.png` });
            await page.context().close();
        }
    }
}

await functions_have_the_numbers_of_the_report();
await the_call_tree_has_the_numbers_of_the_report();
await the_flame_graph_zooms_and_tells_what_is_selected();
await a_function_stands_between_callers_and_callees();
await names_stay_names();
await without_times_calls_take_their_place();
await without_javascript_there_is_a_table();
await screenshots();
await finish();
