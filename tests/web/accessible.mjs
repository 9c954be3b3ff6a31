// accessible.mjs: what axe-core and the headings of each view say. See test_accessible.sh.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { claim, finish, open, same, settle } from "./browser.mjs";

const axe = readFileSync(createRequire(`${process.env.QPROF_BUILD}/web/package.json`).resolve("axe-core"), "utf8");

const views = {
    "work.html": ["#flame", "#functions", "#function/3", "#tree", "#timeline", "#source/0", "#threads", "#run"],
    "sampled.html": ["#functions"],
    "diff.html": ["#changes"],
    "cover.html": ["#folders", "#functions", "#contexts", "#file/main.lua"],
};

async function check(page, view) {
    await settle(page);
    const { violations } = await page.evaluate(() => axe.run(document));
    for (const { id, help, nodes } of violations)
        claim(`${view}: ${id}`, false, { help, where: nodes.map(({ target }) => target.join(" ")) });
}

for (const [file, hashes] of Object.entries(views))
    for (const hash of hashes) {
        const page = await open(file, hash);
        await page.waitForSelector(".flame, .table, .source, .function-page, .run-page");
        await page.evaluate(axe);
        same(`${file}${hash}: one first heading`, 1, await page.locator("h1").count());
        await check(page, `${file}${hash}, light`);
        await page.emulateMedia({ colorScheme: "dark" });
        await page.setViewportSize({ width: 420, height: 800 });
        await check(page, `${file}${hash}, dark and narrow`);
        await page.context().close();
    }
await finish();
