// build.mjs NAME OUT: bundles src/NAME/main.tsx and writes the page as C source.
//
// A page has two parts: what comes before the data (head, styles), and the program that shows
// the data. Its security policy names the digests of both, so that nothing else can run or style
// the page, whatever a profile holds. Same sources, same bytes.
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { build } from "esbuild";

const [name, out] = process.argv.slice(2);

async function bundle() {
    const result = await build({
        entryPoints: [`src/${name}/main.tsx`],
        bundle: true,
        minify: true,
        write: false,
        outdir: "out",
        format: "iife",
        target: ["es2020", "chrome90", "firefox90", "safari15"],
        charset: "ascii",
        legalComments: "none",
        preserveSymlinks: true,
        jsx: "automatic",
        jsxImportSource: "preact",
        logLevel: "warning",
    });
    const text = (ending) => result.outputFiles.find((f) => f.path.endsWith(ending)).text.trim();
    return { script: text(".js"), style: text(".css") };
}

const digest = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

function array(text) {
    const bytes = Buffer.from(text, "latin1");
    if (bytes.some((byte) => byte > 126) || /<\/(script|style)/i.test(text.slice(8, -10)))
        throw new Error("the bundle cannot be put into a page unchanged");
    const rows = [];
    for (let at = 0; at < bytes.length; at += 24)
        rows.push(`    ${[...bytes.subarray(at, at + 24)].join(",")},`);
    return rows.join("\n");
}

const { script, style } = await bundle();
const policy = [
    "default-src 'none'",
    `script-src ${digest(script)}`,
    `style-src ${digest(style)}`,
    "base-uri 'none'",
    `form-action ${name === "store" ? "'self'" : "'none'"}`,
].join("; ");
const head = [
    `<!doctype html>`,
    `<html lang="en">`,
    `<head>`,
    `<meta charset="utf-8">`,
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    `<meta name="viewport" content="width=device-width, initial-scale=1">`,
    `<meta name="color-scheme" content="light dark">`,
    `<meta name="referrer" content="no-referrer">`,
].join("\n");

writeFileSync(
    out,
    `/* The page of web/src/${name}, made by web/build.mjs. */
#include "export/page/page.h"

static const char head[] = {
${array(head)}
};

static const char style[] = {
${array(`<style>${style}</style>`)}
};

static const char script[] = {
${array(`<script>${script}</script>`)}
};

const qp_page qp_page_${name} = {
    {head, sizeof head}, {style, sizeof style}, {script, sizeof script}};
`,
);
