// store.mjs: claims about the pages of a server. See test_store.sh for its store.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { allRows, claim, finish, grouped, open, press, same, settle, time } from "./browser.mjs";

const address = process.argv[2];
const read = (name) => JSON.parse(readFileSync(name, "utf8"));
const axe = readFileSync(createRequire(`${process.env.QPROF_BUILD}/web/package.json`).resolve("axe-core"), "utf8");

async function shown(path, options) {
    const page = await open(`${address}${path}`, "", options);
    await page.waitForSelector("main");
    await settle(page);
    return page;
}

const seriesOf = (rows) => rows.map(({ byHead }) => [byHead[Object.keys(byHead)[0]], byHead.Profiles, byHead.Calls, byHead.Time, byHead["Time/profile"]]);
const spelled = (row) => [row.key || "none", grouped(row.profiles), grouped(row.calls), time(row.self), time(row.self_each)];

async function the_start_page_has_the_series() {
    for (const by of ["version", "day"]) {
        const page = await shown(`?by=${by}`);
        const wanted = read(`series-${by}.json`).series.map(spelled);
        same(`series by ${by}`, by === "day" ? wanted.reverse() : wanted, seriesOf(await allRows(page)));
        claim("no name runs", (await page.evaluate(() => window.pwned)) === undefined);
        await page.context().close();
    }
}

async function the_form_leads_to_the_pages() {
    const page = await shown("");
    await page.selectOption("select[name=service]", "web");
    await page.selectOption("select[name=version]", "1.2");
    await page.click("text=Choose");
    await page.waitForURL(/version=1.2/);
    same("what was chosen stays", ["web", "1.2"], await page.$$eval("select", ([service, version]) => [service.value, version.value]));
    await page.click("text=Flame graph");
    await page.waitForSelector(".flame");
    claim("what is shown is named", (await page.textContent(".subject")).includes("fleet.db: service web, version 1.2"));
    await page.evaluate(() => (location.hash = "#functions"));
    await page.waitForSelector(".table");
    const rows = (await allRows(page)).map(({ byHead }) => [byHead.Function, byHead.Calls, byHead.Self]).sort();
    same("functions", read("top.json").methods.filter((m) => m.calls).map((m) => [m.name, grouped(m.calls), time(m.self)]).sort(), rows);
    await page.click(".home");
    await page.waitForSelector(".choice");
    same("the way back has the choice", ["web", "1.2"], await page.$$eval("select", ([service, version]) => [service.value, version.value]));
    await page.context().close();
}

async function versions_are_compared() {
    const page = await shown("?service=web");
    same("the last two versions are offered", ["1.1", "1.2"], await page.$$eval("input[name=base], input[name=new]", (all) => all.map(({ value }) => value)));
    await page.click("text=Compare");
    await page.waitForSelector(".table");
    const rows = (await allRows(page)).map(({ byHead, cells }) => [byHead.Function ?? cells[1], byHead["Calls before"], byHead.Calls]).sort();
    same("changes", read("diff.json").rows.map((r) => [r.name, grouped(r.calls.base), grouped(r.calls.new)]).sort(), rows);
    await page.context().close();
}

async function dead_code_is_listed() {
    const page = await shown("?service=web");
    await page.click("text=Never called");
    await page.waitForSelector(".table");
    const { dead, functions } = read("dead.json");
    same("rows", dead.map((d) => [d.name, `${d.file}:${d.line}`]).sort(), (await allRows(page)).map(({ cells }) => cells).sort());
    same("of how many", `of ${grouped(functions)} functions`, await page.textContent("[data-name='Never called'] .tile-note"));
    await page.context().close();
}

async function the_keyboard_chooses_a_row() {
    const page = await shown("?by=version&service=web");
    await page.focus(".table");
    await press(page, "j");
    await page.keyboard.press("Enter");
    await page.waitForURL(/version=1.2/);
    await page.waitForSelector(".table");
    same("the version of the row", "3", await page.textContent("[data-name=Profiles] .tile-value"));
    await press(page, "t");
    same("dark", "dark", await page.evaluate(() => document.documentElement.dataset.theme));
    await page.context().close();
}

async function slow_requests_lead_to_their_calls() {
    const page = await shown("?service=shop");
    await page.click("text=Slow requests");
    await page.waitForSelector(".table");
    const { requests } = read("slow.json");
    const rows = (await allRows(page)).map(({ byHead }) => [byHead.Endpoint, byHead.Version, byHead.Host, byHead.Elapsed, byHead.Waiting, byHead.Calls]);
    same("slow requests", requests.map((r) => [r.endpoint, r.version, r.host, time(r.elapsed_ns), r.suspended_ns ? time(r.off_ns + r.suspended_ns) : "\u2013", grouped(r.calls)]), rows);
    await page.fill("input[name=endpoint]", "POST *");
    await page.click("text=Choose");
    await page.waitForURL(/endpoint=POST/);
    same("of one endpoint", ["POST /buy"], (await allRows(page)).map(({ byHead }) => byHead.Endpoint));
    claim("the rest of the choice stays", page.url().includes("service=shop"));
    await page.keyboard.press("Enter");
    await page.waitForSelector(".timeline");
    const [buy] = requests.filter((r) => r.endpoint === "POST /buy");
    same("the request is named", `Request that was kept whole: POST /buy, ${time(buy.elapsed_ns)}, waiting ${time(buy.suspended_ns)}`, await page.textContent(".note"));
    same("its calls", [["coroutine.yield", "1"], ["wait", "1"], ["work", "2"]],
        (await allRows(page)).map(({ byHead }) => [byHead.Function, byHead.Calls]).filter(([name]) => /yield|wait|work/.test(name)).sort());
    await page.click(".home");
    await page.waitForSelector(".choice");
    claim("the way back leads to the list", /\/slow\?.*endpoint=POST/.test(page.url()), page.url());
    await page.context().close();
}

async function all_is_accessible() {
    const pages = { slow: "slow", start: "", window: "window?service=web", diff: "diff?service=web&base=1.1&new=1.2", dead: "dead" };
    const kinds = { light: {}, dark: { colorScheme: "dark" }, narrow: { colorScheme: "dark", viewport: { width: 420, height: 800 } } };
    for (const [name, path] of Object.entries(pages))
        for (const [kind, options] of Object.entries(kinds)) {
            const page = await shown(path, options);
            await page.evaluate(axe);
            same(`${name}: one first heading`, 1, await page.locator("h1").count());
            const { violations } = await page.evaluate(() => axe.run(document));
            for (const { id, help, nodes } of violations)
                claim(`${name}, ${kind}: ${id}`, false, { help, where: nodes.map(({ target }) => target.join(" ")) });
            const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
            claim(`${name}, ${kind}: nothing is wider than the window`, wide <= 0, wide);
            await page.screenshot({ path: `${name}-${kind}.png` });
            await page.context().close();
        }
}

await the_start_page_has_the_series();
await the_form_leads_to_the_pages();
await versions_are_compared();
await dead_code_is_listed();
await the_keyboard_chooses_a_row();
await slow_requests_lead_to_their_calls();
await all_is_accessible();
await finish();
