// run.tsx: what is known of the run: the figures at the top, its facts and diagnostics, its threads.
import { useMemo } from "preact/hooks";
import { count, things } from "../common/format";
import type { Go, Place } from "../common/place";
import { type Column, Table, sorted } from "../common/table";
import { visible, visibleText } from "../common/visible";
import type { Index, Run, Thread } from "./data";
import { Share } from "./lists";
import { changeOf, share, time } from "./units";

export const subject = (index: Index) => {
    const name = (run: Run) => visibleText(run.label || run.program);
    const [now, before] = [name(index.run), index.base && name(index.base)];
    return before && before !== now ? `${before} \u2192 ${now}` : now;
};

function Tile({ name, value, note }: { name: string; value: string; note?: string }) {
    return (
        <div class="tile" data-name={name}>
            <span class="tile-name">{name}</span>
            <span class="tile-value">{value}</span>
            {note && <span class="tile-note">{note}</span>}
        </div>
    );
}

function Comparison({ index, base }: { index: Index; base: Run }) {
    const { run, methods } = index;
    const number = (state: string) => methods.filter((m) => m.index > 0 && m.base?.state === state).length;
    return (
        <section class="tiles" aria-label="Summary">
            {run.hasTimes && <Tile name="Time before" value={time(run, base.total)} note={visibleText(base.label || base.program)} />}
            {run.hasTimes && <Tile name="Time" value={time(run, run.total)} note={changeOf(run, base.total, run.total)} />}
            <Tile name="Calls" value={count(run.calls)} note={`${count(base.calls)} before`} />
            <Tile name="Changed functions" value={count(number("changed"))} note={`${count(number("new"))} new, ${count(number("gone"))} gone`} />
        </section>
    );
}

export function Summary({ index }: { index: Index }) {
    const { run, threads, methods } = index;
    if (index.base) return <Comparison index={index} base={index.base} />;
    const called = methods.filter((m) => m.index > 0 && m.calls > 0).length;
    const how = run.isEstimated ? `${run.clock}, ${run.mode} estimate` : `${run.clock}, ${run.mode}`;
    return (
        <section class="tiles" aria-label="Summary">
            {run.hasTimes && <Tile name="Time" value={time(run, run.total)} note={how} />}
            <Tile name="Calls" value={count(run.calls)} note={`of ${things(called, "function")}`} />
            <Tile name="Threads" value={count(threads.length)} note={run.isMerged ? "several runs" : `process ${run.pid}, ${run.state}`} />
            {run.hasTimes && (
                <Tile name="Overhead" value={`about ${share(run, run.cost)}`} note={`${time(run, run.cost)}, contained in the times`} />
            )}
        </section>
    );
}

/** What a reader must know before believing figures: what was lost, repaired or misused. */
export function Warnings({ index, onMore }: { index: Index; onMore: () => void }) {
    const n = index.losses.length + index.diagnostics.filter((d) => d.kind !== "N").length;
    const { run } = index;
    const parts = [];
    if (run.focus) parts.push(`only calls of ${visibleText(run.focus)}`);
    if (run.hidden) parts.push(`${things(run.hidden, "function")} folded into callers`);
    if (n) parts.push(things(n, "diagnostic"));
    if (!parts.length) return null;
    return (
        <p class="note">
            {parts.join("; ")}{" "}
            <button type="button" class="link" onClick={onMore}>
                Details
            </button>
        </p>
    );
}

// ---- facts and diagnostics ---------------------------------------------------------------------

function factsOf(run: Run): [string, string][] {
    const measured = !run.hasTimes
        ? "exact calls, no times"
        : run.isEstimated
          ? `exact calls; ${run.clock} time by ${run.mode} estimate (\u00b1: 95 % interval)`
          : `exact calls and ${run.clock} time (clock: ${run.source})`;
    const facts: [string, string][] = [
        ["program", run.program],
        ["label", run.label],
        ["process", run.isMerged ? "several runs" : String(run.pid)],
        ["recorded", new Date(run.started).toLocaleString("sv-SE")],
        ["for", run.unit === "ns" && run.wall ? time(run, run.wall) : ""],
        ["stopped for", run.unit === "ns" && run.stopped ? time(run, run.stopped) : ""],
        ["state", run.state],
        ["measured", measured],
        ["lines", run.grain],
        ["overhead", run.cost ? `about ${time(run, run.cost)} (${share(run, run.cost)}), contained in the times` : ""],
        ["samples", run.passes ? `${count(run.passes)}, one in ${time(run, run.period)}` : ""],
        ["host", [run.host, run.module].filter(Boolean).join(", ")],
        ["options", run.options],
        ["recorder", run.version],
        ["file", `${count(run.fileBytes)} bytes`],
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

function Diagnostics({ index }: { index: Index }) {
    const list = [...index.diagnostics].sort((a, b) => Number(a.kind === "N") - Number(b.kind === "N"));
    return (
        <section class="panel-part" aria-label="Diagnostics">
            <h2>Diagnostics</h2>
            {!list.length && !index.losses.length && <p class="dim">Nothing was lost, repaired or misused.</p>}
            <ul class="losses">
                {index.losses.map((loss, i) => (
                    <li key={i}>{visible(loss)}</li>
                ))}
            </ul>
            <table class="diagnostics">
                <tbody>
                    {list.map((d) => (
                        <tr key={d.name} class={d.kind === "N" ? "dim" : ""}>
                            <td class="is-number">{count(d.count)}</td>
                            <th scope="row">{visible(d.name)}</th>
                            <td>{kinds[d.kind]}</td>
                            <td>{visible(d.text)}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </section>
    );
}

export function RunPage({ index }: { index: Index }) {
    return (
        <div class="run-page">
            {index.base && <Facts name="The run before" run={index.base} />}
            <Facts name={index.base ? "The run after" : "The run"} run={index.run} />
            <Diagnostics index={index} />
            {index.notes.length > 0 && (
                <section class="panel-part" aria-label="Notes">
                    <h2>Notes</h2>
                    <ul>
                        {index.notes.map((note, i) => (
                            <li key={i}>{visible(note)}</li>
                        ))}
                    </ul>
                </section>
            )}
        </div>
    );
}

// ---- threads -----------------------------------------------------------------------------------

const stateOf = (thread: Thread) => (thread.isParked ? "parked" : thread.isAlive ? "alive" : "ended");

function threadColumns({ run }: Index): Column<Thread>[] {
    const number = (id: string, head: string, title: string, width: number, rank: number, value: (row: Thread) => number): Column<Thread> => ({
        id, head, title, width, isNumber: true, rank, value,
        cell: (row) => count(value(row)),
    });
    const columns: Column<Thread>[] = [
        number("ordinal", "No", "In the order of first use", 64, 1, (row) => row.ordinal),
        {
            id: "name",
            head: run.isVirtual ? "Virtual thread" : "Thread",
            rank: 0,
            value: (row) => row.name.toLowerCase(),
            cell: (row) => <span class="fn-name">{visible(row.name)}</span>,
        },
        {
            id: "state",
            head: "State",
            title: "At the end of the recording",
            width: 90,
            rank: 4,
            value: stateOf,
            cell: stateOf,
        },
        number("system", "System id", "Of the system's thread", 100, 5, (row) => row.system),
        number("lives", "Lives", "Threads that used this row in turn", 76, 4, (row) => row.lives),
        number("depth", "Open calls", "When the recording ended", 100, 6, (row) => row.depth),
        number("calls", "Calls", "", 120, 0, (row) => row.calls),
    ];
    if (!run.hasTimes) return columns;
    return [
        ...columns,
        {
            id: "bar",
            head: "",
            width: 130,
            rank: 3,
            value: (row) => row.total,
            cell: (row) => <Share part={row.total} all={run.total} />,
        },
        {
            id: "total",
            head: "Time",
            width: 110,
            isNumber: true,
            rank: 0,
            value: (row) => row.total,
            cell: (row) => time(run, row.total),
        },
        {
            id: "share",
            head: "",
            width: 74,
            isNumber: true,
            rank: 2,
            value: (row) => row.total,
            cell: (row) => <span class="dim">{share(run, row.total)}</span>,
        },
    ];
}

export function Threads({ index, matches, place, go }: {
    index: Index;
    matches: ((name: string) => boolean) | undefined;
    place: Place;
    go: Go;
}) {
    const columns = useMemo(() => threadColumns(index), [index]);
    const sort = place.with.sort || (index.run.hasTimes ? "-total" : "-calls");
    const rows = useMemo(() => {
        const shown = index.threads.filter((thread) => !matches || matches(thread.name));
        return sorted(shown, columns, sort);
    }, [sort, matches]);
    const selected = Math.max(0, rows.findIndex((row) => String(row.root) === place.with.at));
    const open = (row: Thread) => {
        if (!index.base) go({ view: "flame", with: { thread: String(row.root), at: "", sort: "" } });
    };
    return (
        <Table
            label="Threads"
            rows={rows}
            columns={columns}
            sort={sort}
            selected={selected}
            onSort={(next) => go({ with: { sort: next } })}
            onSelect={(i) => go({ with: { at: String(rows[i]?.root ?? "") } })}
            onOpen={open}
        />
    );
}
