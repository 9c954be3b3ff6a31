// speedscope.mjs FILE...: what the Sandwich view of speedscope shows of each, as
// "FILE: name self total, ..." in us, most self time first; of a name its first word.
import { createRequire } from "node:module";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const { chromium } = createRequire(`${process.env.QPROF_BUILD}/web/package.json`)("playwright-core");
const speedscope = `${process.env.MODULES}/node_modules/speedscope/dist/release/index.html`;
const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--allow-file-access-from-files",
        "--use-gl=angle", // it draws with WebGL
        "--use-angle=swiftshader",
        "--enable-unsafe-swiftshader",
    ],
});

// "5.00µs (20%)" is 5; a number without a unit is of ns
function micros(text) {
    const [, number, unit] = /^([\d.,]+)(ns|µs|ms)?/.exec(text);
    const scale = { ns: 0.001, µs: 1, ms: 1000 }[unit ?? "ns"];
    return Number(number.replaceAll(",", "")) * scale;
}

async function figures(page) {
    const cells = await page.$$eval("table tr", (rows) =>
        rows.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.innerText.trim())),
    );
    return cells
        .filter((row) => row.length === 3 && row[0].includes("%"))
        .map(([total, self, name]) => ({ name, self: micros(self), total: micros(total) }))
        .filter((row) => row.self > 0)
        .sort((a, b) => b.self - a.self)
        .map((row) => `${row.name.match(/^\w+/)[0]} ${row.self} ${row.total}`);
}

for (const file of process.argv.slice(2)) {
    const name = basename(file);
    const bytes = readFileSync(file).toString("base64");
    const script = `speedscope.loadFileFromBase64(${JSON.stringify(name)},"${bytes}")`;
    writeFileSync(`${name}.js`, script);
    const page = await browser.newPage({ viewport: { width: 1100, height: 600 } });
    page.on("pageerror", (error) => console.log(`${name} fails: ${error.message}`));
    page.on("dialog", (dialog) => {
        console.log(`${name} alerts: ${dialog.message()}`);
        dialog.dismiss();
    });
    await page.goto(`${pathToFileURL(speedscope)}#localProfilePath=${resolve(`${name}.js`)}`);
    await page.waitForFunction(() => document.body.innerText.includes("Sandwich"));
    await page.keyboard.press("3");
    // its rows come after its header, when the list knows its height
    await page.waitForFunction(() =>
        [...document.querySelectorAll("table td")].some((cell) => cell.innerText.includes("%")),
    );
    console.log(`${name}: ${(await figures(page)).join(", ")}`);
    await page.close();
}
await browser.close();
