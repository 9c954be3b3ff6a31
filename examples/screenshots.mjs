// screenshots.mjs: the pictures of the README, docs/page-light.png and docs/page-dark.png: the page of what demo.sh recorded.
//
//     ./examples/demo.sh && node examples/screenshots.mjs
import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const MOST_BYTES = 200 * 1024;

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const { chromium } = createRequire(`${root}/build/web/package.json`)("playwright-core");
execFileSync("bin/qprof", ["html", "-o", "demo.html", "demo.qprof"], { cwd: `${root}/build` });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
for (const colorScheme of ["light", "dark"]) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 880 }, colorScheme });
    await page.goto(pathToFileURL(`${root}/build/demo.html`).href);
    await page.waitForSelector(".flame canvas");
    const path = `${root}/docs/page-${colorScheme}.png`;
    await page.screenshot({ path, animations: "disabled" });
    const { size } = statSync(path);
    if (size > MOST_BYTES) throw new Error(`${path}: ${size} bytes: more than ${MOST_BYTES}`);
    console.log(`Written: ${path}, ${size} bytes`);
}
await browser.close();
