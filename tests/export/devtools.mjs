// devtools.mjs FILE...: what the engine of Chrome's developer tools makes of trace events and of
// .cpuprofile files, as "FILE THREAD: name total, ..." and "FILE: name self total line, ..." in us, in
// the order of calls.
import { readFileSync } from "node:fs";

globalThis.window = globalThis;
globalThis.DOMRect = class {};
const engine = `${process.env.MODULES}/node_modules/@paulirish/trace_engine`;
const { Processor } = await import(`${engine}/models/trace/trace.js`);
const { CPUProfileDataModel } = await import(`${engine}/models/cpu_profile/cpu_profile.js`);

const rounded = (us) => Math.round(us * 1e6) / 1e6;

async function showTrace(file, { traceEvents }) {
    const processor = Processor.TraceProcessor.createWithAllHandlers();
    await processor.parse(
        traceEvents.map((event) => ({ cat: "", args: {}, ts: 0, ...event })),
        {},
    );
    for (const { threads } of processor.data.Renderer.processes.values())
        for (const { name, entries } of threads.values())
            console.log(`${file} ${name}: ${entries.map((e) => `${e.name} ${e.dur}`).join(", ")}`);
}

function showProfile(file, profile) {
    const model = new CPUProfileDataModel.CPUProfileDataModel(profile);
    const rows = [];
    const walk = ({ functionName, self, total, lineNumber, children }) => {
        rows.push(`${functionName} ${rounded(self * 1000)} ${rounded(total * 1000)} ${lineNumber + 1}`);
        [...children].sort((a, b) => a.id - b.id).forEach(walk);
    };
    walk(model.profileHead);
    console.log(`${file}: ${rows.join(", ")}`);
}

for (const file of process.argv.slice(2)) {
    const json = JSON.parse(readFileSync(file));
    if (json.traceEvents) await showTrace(file, json);
    else showProfile(file, json);
}
