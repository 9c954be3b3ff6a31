// run.tsx: what is known of the run: the figures at the top, its facts and diagnostics.
import { count, things } from "../common/format";
import { visible, visibleText } from "../common/visible";
import { type Index, type Run, isSeen } from "./data";
import { isWaiting } from "./measure";
import { changeOf, share, time } from "./units";

const nameOf = (run: Run) => visibleText(run.label || [run.program, run.script].filter(Boolean).join(" "));

/** What the page is about: the program, and the file that was shown. */
export function subject({ run, base }: Index): string {
    const named = (of: Run) => [nameOf(of), visibleText(of.fileName)].filter(Boolean).join(", ");
    if (!base) return named(run);
    if (nameOf(base) !== nameOf(run) || !run.fileName) return `${named(base)} \u2192 ${named(run)}`;
    return `${nameOf(run)}, ${visibleText(base.fileName)} \u2192 ${visibleText(run.fileName)}`;
}

function Tile({ name, value, note }: { name: string; value: string; note?: string }) {
    return (
        <div class="tile" data-name={name}>
            <span class="tile-name">{name}</span>
            <span class="tile-value">{value}</span>
            {note && <span class="tile-note">{note}</span>}
        </div>
    );
}

/** The whole runs of both sides, where there are several: row 0 of the functions. */
function medians({ methods }: Index) {
    const { base, ...now } = methods[0];
    const { run, noise } = base!;
    return {
        now: { ...now, off: now.total - run.now.total },
        before: { ...base!, off: base!.total - run.before.total },
        noise: { time: noise.total, run: run.noise.total },
    };
}

function Comparison({ index, base }: { index: Index; base: Run }) {
    const { run, methods } = index;
    const number = (state: string) => methods.filter((m) => m.index > 0 && m.base?.state === state).length;
    const before = base.runs > 1 ? `median of ${base.runs} runs` : visibleText(base.fileName) || nameOf(base);
    const { now, before: was, noise } = run.runs + base.runs > 2 ? medians(index) : { now: run, before: base, noise: { time: 0, run: 0 } };
    const grown = (from: number, to: number, chance: number) =>
        `${changeOf(run, from, to)}${chance && Math.abs(to - from) <= chance ? ", may be chance" : ""}`;
    return (
        <section class="tiles" aria-label="Summary">
            {index.hasTimes && <Tile name="Time before" value={time(run, was.total)} note={before} />}
            {index.hasTimes && <Tile name="Time" value={time(run, now.total)} note={grown(was.total, now.total, noise.time)} />}
            {index.hasTimes && isWaiting(index) && (
                <Tile name="Run time" value={time(run, now.total - now.off)} note={grown(was.total - was.off, now.total - now.off, noise.run)} />
            )}
            {index.hasCalls && <Tile name="Calls" value={count(now.calls)} note={`${count(was.calls)} before`} />}
            <Tile name="Changed functions" value={count(number("changed"))} note={`${count(number("new"))} new, ${count(number("gone"))} gone`} />
        </section>
    );
}

/** What became of the process that recorded. */
const states: Record<string, string> = { sealed: "complete", unsealed: "killed", snapshot: "a snapshot", live: "still running" };

/** How many, and one in how much time. */
const passesOf = (run: Run) => (run.passes ? `${count(run.passes)}, one in ${time({ ...run, unit: "ns" }, run.period)}` : "");

const callsOf = (run: Run, functions: string) => (run.callsLost ? `${count(run.callsLost)} of them lost, of ${functions}` : `of ${functions}`);

export function Summary({ index }: { index: Index }) {
    const { run, threads, methods } = index;
    if (index.base) return <Comparison index={index} base={index.base} />;
    const functions = things(methods.filter(isSeen).length, "function");
    const how = run.isEstimated ? `${run.clock}, ${run.mode} estimate` : `${run.clock}, ${run.mode}`;
    const process = run.isMerged ? "several runs" : run.pid ? `process ${run.pid}` : "";
    const life = run.isImported ? process : [process, run.state === "sealed" ? "" : states[run.state]].filter(Boolean).join(", ");
    const [tool, ...rest] = visibleText(run.version).split(" ");
    return (
        <section class="tiles" aria-label="Summary">
            {index.hasTimes && <Tile name={run.unit === "ns" ? "Time" : "Counts"} value={time(run, run.total)} note={how} />}
            {index.hasCalls && <Tile name="Calls" value={count(run.calls + run.callsLost)} note={callsOf(run, functions)} />}
            {!index.hasCalls && <Tile name="Functions" value={functions.replace(/ .*/, "")} note="calls were not counted" />}
            <Tile name="Threads" value={count(threads.length)} note={life} />
            {run.passes > 0 && (
                <Tile name={run.isImported ? "Samples" : "Passes"} value={count(run.passes)} note={`one in ${time({ ...run, unit: "ns" }, run.period)}`} />
            )}
            {index.hasTimes && run.collectorTotal > 0 && (
                <Tile name="Collector" value={share(run, run.collector)} note={collectorOf(run)} />
            )}
            {index.hasTimes && isWaiting(index) && <Tile name="Waiting" value={share(run, run.off)} note={time(run, run.off)} />}
            {run.hasMemory && <Tile name="Allocated" value={count(run.bytes)} note={`bytes in ${things(run.objects, "object")}`} />}
            {index.hasTimes && run.cost > 0 && (
                <Tile name="Overhead" value={share(run, run.cost)} note={`about ${time(run, run.cost)}, contained in the times`} />
            )}
            {run.isImported && <Tile name="Imported" value={tool} note={rest.join(" ") || "the profile of another tool"} />}
        </section>
    );
}

const troublesOf = (run: Run) => run.losses.length + run.diagnostics.filter(([, , , kind]) => kind !== "N").length;

/** What a reader must know before believing figures: what was lost, repaired, misused or estimated. */
export function Warnings({ index, onMore }: { index: Index; onMore: () => void }) {
    const { run, recorded } = index;
    const n = recorded.reduce((all, of) => all + troublesOf(of), 0);
    const parts = [];
    if (run.when) parts.push(`only what ${visibleText(run.when)} counts`);
    if (run.focus) parts.push(`only calls of ${visibleText(run.focus)}`);
    if (run.hidden) parts.push(`${things(run.hidden, "function")} folded into callers`);
    if (index.hasTimes && recorded.some((of) => of.mode !== run.mode))
        parts.push(`${recorded.map((of) => of.mode).join(" before, ")} after: times of different modes may differ by themselves`);
    if (index.base && run.runs + index.base.runs > 2)
        parts.push(
            `figures of functions are medians of ${things(index.base.runs, "run")} before and ${run.runs} after; call paths are those of the run of median time`,
        );
    if (recorded.some((of) => of.isFromEdges)) parts.push("call paths are estimated from callers and callees");
    if (!index.hasTree) parts.push("no call paths were recorded, only functions");
    if (n) parts.push(things(n, "diagnostic"));
    if (!parts.length) return null;
    const description = parts.join("; ");
    return (
        <p class="note">
            {description[0].toUpperCase() + description.slice(1)}.{" "}
            <button type="button" class="link" onClick={onMore}>
                Details
            </button>
        </p>
    );
}

/** What weighs most in the run, each with the command that shows it. */
/** Names stand between backticks. */
const sentence = (text: string) =>
    visibleText(text[0].toUpperCase() + text.slice(1))
        .split("`")
        .map((part, i) => (i % 2 ? <b>{part}</b> : part));

export function Findings({ index }: { index: Index }) {
    if (!index.findings.length) return null;
    return (
        <ul class="findings" aria-label="What weighs most">
            {index.findings.map(([text, command]) => (
                <li key={command}>
                    {sentence(text)}. <code>{visibleText(command)}</code>
                </li>
            ))}
        </ul>
    );
}

// ---- facts and diagnostics ---------------------------------------------------------------------

function measuredOf(run: Run): string {
    const calls = run.hasCalls ? "exact calls" : "no calls";
    const noun = run.unit === "ns" ? " time" : "";
    if (!run.hasTimes) return `${calls}, no times`;
    if (run.isEstimated) return `${calls}; ${run.clock}${noun} by ${run.mode} estimate (\u00b1: 95 % interval)`;
    return `${calls} and ${run.clock}${noun}${run.isImported || !run.source ? "" : ` (clock: ${run.source})`}`;
}

function collectorOf(run: Run): string {
    const finalizers = run.collectorTotal > run.collector ? `; ${share(run, run.collectorTotal)} with finalizers` : "";
    return `${time(run, run.collector)}${finalizers}${run.isCollectorCharged ? "; included in its callers" : ""}`;
}

function factsOf(run: Run): [string, string][] {
    const facts: [string, string][] = [
        ["profile", run.fileName],
        ["program", run.program],
        ["label", run.label],
        ["script", run.script],
        ["arguments", run.arguments],
        ["working directory", run.folder],
        ["interpreter", run.interpreter],
        ["labels", run.labels.split(",").join(", ")],
        ["process", run.isMerged ? "several runs" : run.pid ? String(run.pid) : ""],
        ["recorded", run.started ? new Date(run.started).toLocaleString("sv-SE") : ""],
        ["for", run.unit === "ns" && run.wall ? time(run, run.wall) : ""],
        ["stopped for", run.unit === "ns" && run.stopped ? time(run, run.stopped) : ""],
        ["state", run.isImported ? "" : states[run.state]],
        ["imported", run.isImported ? `from ${run.version}` : ""],
        ["measured", measuredOf(run)],
        ["call paths", run.isFromEdges ? "estimated from callers and callees" : run.hasTree ? "" : "not recorded"],
        ["granularity", run.isImported ? "" : run.grain],
        ["collector", run.hasTimes && run.collectorTotal ? `${share(run, run.collector)}: ${collectorOf(run)}` : ""],
        ["waiting", run.hasTimes && run.off ? `${share(run, run.off)}: ${time(run, run.off)}` : ""],
        ["allocated", run.hasMemory ? `${count(run.bytes)} bytes in ${things(run.objects, "object")}` : ""],
        ["overhead", run.cost ? `about ${time(run, run.cost)} (${share(run, run.cost)}), contained in the times` : ""],
        [run.isImported ? "samples" : "passes", passesOf(run)],
        ["host", [run.host, run.module].filter(Boolean).join(", ")],
        ["options", run.options],
        ["recorder", run.isImported ? "" : run.version],
        ["size", `${count(run.fileBytes)} bytes`],
    ];
    return facts.filter(([, value]) => value);
}

function Facts({ name, run }: { name: string; run: Run }) {
    return (
        <section class="panel-part facts" aria-label={name}>
            <h2>{name}</h2>
            <dl>
                {factsOf(run).map(([label, value]) => (
                    <div key={label}>
                        <dt>{label}</dt>
                        <dd>{visible(value)}</dd>
                    </div>
                ))}
            </dl>
        </section>
    );
}

const kinds: Record<string, string> = {
    L: "lost",
    R: "repaired",
    H: "mistake of the program",
    E: "surroundings",
    N: "normal",
};

function Diagnostics({ name, run }: { name: string; run: Run }) {
    const isNormal = ([, , , kind]: Run["diagnostics"][number]) => Number(kind === "N");
    const list = [...run.diagnostics].sort((a, b) => isNormal(a) - isNormal(b));
    return (
        <section class="panel-part" aria-label={name}>
            <h2>{name}</h2>
            {!list.length && !run.losses.length && <p class="dim">Nothing was lost, repaired or misused.</p>}
            <ul class="losses">
                {run.losses.map((loss, i) => (
                    <li key={i}>{visible(loss)}</li>
                ))}
            </ul>
            <table class="diagnostics">
                <tbody>
                    {list.map(([of, text, n, kind]) => (
                        <tr key={of} class={kind === "N" ? "dim" : ""}>
                            <td class="is-number">{count(n)}</td>
                            <th scope="row">{visible(of)}</th>
                            <td>{kinds[kind]}</td>
                            <td>{visible(text)}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </section>
    );
}

function Notes({ name, notes }: { name: string; notes: string[] }) {
    if (!notes.length) return null;
    return (
        <section class="panel-part" aria-label={name}>
            <h2>{name}</h2>
            <ul>
                {notes.map((note, i) => (
                    <li key={i}>{visible(note)}</li>
                ))}
            </ul>
        </section>
    );
}

export function RunPage({ index }: { index: Index }) {
    const [first, second] = index.recorded;
    const when = (run: Run) => (!second ? "" : run === first ? " before" : " after");
    return (
        <div class="run-page" role="region" aria-label="About the run" tabIndex={0}>
            {index.recorded.map((run) => (
                <Facts key={when(run)} name={`The run${when(run)}`} run={run} />
            ))}
            {index.recorded.map((run) => (
                <Diagnostics key={when(run)} name={`Diagnostics${when(run)}`} run={run} />
            ))}
            {index.recorded.map((run) => (
                <Notes key={when(run)} name={`Notes${when(run)}`} notes={run.notes} />
            ))}
        </div>
    );
}
