// main.tsx: the pages of a store: where its profiles are chosen, and functions that none of them called.
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import "../common/style.css";
import "./store.css";
import { count, things } from "../common/format";
import { Help, type KeyList } from "../common/help";
import { useKeys } from "../common/keys";
import { List } from "../common/list";
import { type Go, type Place, usePlace } from "../common/place";
import { type Column, numberColumn } from "../common/table";
import { themeOf, useTheme } from "../common/theme";
import { visible, visibleText } from "../common/visible";
import { time } from "../profile/units";
import { Chart } from "./chart";
import { type Dead, type SeriesRow, type Slow, addressOf, store } from "./data";
import { Choice, Compare, Endpoints } from "./form";

const keyList: KeyList = [
    ["j k \u2193 \u2191", "next, previous row"],
    ["Enter", "choose the profiles of the row, or show its request"],
    ["t", "light or dark"],
    ["?", "this list"],
];

interface ViewProps {
    place: Place;
    go: Go;
}

const ROW_HEIGHT = 30;
const ROWS_MOST = 20;

/** The height of so many rows, so that a page can be longer than the window. */
const heightOf = (rows: number) => ({ height: `${ROW_HEIGHT * (Math.min(Math.max(rows, 2), ROWS_MOST) + 1) + 2}px` });

function Tile({ name, value, note }: { name: string; value: string; note?: string }) {
    return (
        <div class="tile" data-name={name}>
            <span class="tile-name">{name}</span>
            <span class="tile-value">{value}</span>
            {note && <span class="tile-note">{note}</span>}
        </div>
    );
}

// ---- series ------------------------------------------------------------------------------------

const heads: Record<string, string> = { day: "Day (UTC)", hour: "Hour (UTC)", version: "Version", service: "Service", host: "Host" };

function seriesColumns(rows: SeriesRow[]): Column<SeriesRow>[] {
    const { by = "day", unit = "ns", hasCalls } = store;
    const most = Math.max(...rows.map(([, , , , , self]) => self), 1);
    const span = (value: number) => time({ unit }, value);
    const columns: Column<SeriesRow>[] = [
        { id: "key", head: heads[by], rank: 0, value: ([key]) => key, cell: ([key]) => <span class="fn-name">{visible(key) || <span class="dim">none</span>}</span> },
        {
            id: "bar",
            head: "",
            title: "Time of one profile",
            width: 140,
            rank: 4,
            value: ([, , , , , self]) => self,
            cell: ([, , , , , self]) => (
                <span class="bar" aria-hidden="true">
                    <span style={{ width: `${(100 * self) / most}%` }} />
                </span>
            ),
        },
        numberColumn("profiles", "Profiles", "", 90, 1, ([, profiles]) => profiles),
    ];
    if (hasCalls) columns.push(numberColumn("calls", "Calls", "Of all functions in all of them", 130, 2, ([, , calls]) => calls ?? -1, ([, , calls]) => (calls === null ? "" : count(calls))));
    columns.push(numberColumn("self", "Time", "Of all functions in all of them", 120, 3, ([, , , self]) => self, ([, , , self]) => span(self)));
    if (hasCalls) columns.push(numberColumn("calls-each", "Calls/profile", "Of one profile on average", 120, 3, ([, , , , calls]) => calls ?? -1, ([, , , , calls]) => (calls === null ? "" : count(calls))));
    columns.push(numberColumn("self-each", "Time/profile", "Of one profile on average", 120, 0, ([, , , , , self]) => self, ([, , , , , self]) => span(self)));
    return columns;
}

/** The start page of the profiles of a row. */
function narrowed(key: string): string {
    const { by = "day" } = store;
    if (by === "version" || by === "service") return addressOf("/", { [by]: key });
    if (by === "host") return addressOf("/", { label: `host=${key}` });
    const begin = new Date(`${key.replace(" ", "T")}${by === "hour" ? "" : "T00:00"}Z`);
    const end = new Date(begin.getTime() + (by === "hour" ? 3600e3 : 24 * 3600e3));
    return addressOf("/", { since: begin.toISOString().slice(0, 16), until: end.toISOString().slice(0, 16), by: "hour" });
}

function Start({ place, go }: ViewProps) {
    const { series, lines = [], profiles = 0, all = 0, unit = "ns", by = "day" } = store;
    const sum = (at: 2 | 3) => (series ?? []).reduce((n, row) => n + (row[at] ?? 0), 0);
    const isTimed = by === "day" || by === "hour";
    return (
        <>
            <section class="tiles" aria-label="Summary">
                <Tile name="Profiles" value={count(profiles)} note={`of ${count(all)}`} />
                {series && store.hasCalls && <Tile name="Calls" value={count(sum(2))} />}
                {series && <Tile name={unit === "ns" ? "Time" : "Counts"} value={time({ unit }, sum(3))} note="of all functions" />}
                <Tile name="Services" value={count(store.services?.length ?? 0)} note={things(store.versions?.length ?? 0, "version")} />
                <Tile name="Hosts" value={count(store.hosts?.length ?? 0)} />
            </section>
            <Choice />
            <Compare />
            {lines.length > 0 && <Chart />}
            {series && (
                <div class="list" style={heightOf(series.length)}>
                    <List
                        label="Series"
                        rows={series}
                        columns={seriesColumns(series)}
                        order={isTimed ? "-key" : "key"}
                        keyOf={([key]) => key}
                        place={place}
                        go={go}
                        onOpen={([key]) => key && key !== "unknown" && location.assign(narrowed(key))}
                        empty={all ? "No profile fits. Choose others above." : "No profile is in the store: qprof store import"}
                    />
                </div>
            )}
        </>
    );
}

// ---- dead code ---------------------------------------------------------------------------------

const deadColumns: Column<Dead>[] = [
    { id: "name", head: "Function", rank: 0, value: ([name]) => name.toLowerCase(), cell: ([name]) => <span class="fn-name">{visible(name.slice(0, 300))}</span> },
    {
        id: "place",
        head: "File:Line",
        rank: 0,
        value: ([, module, file, line]) => `${file || module}:${String(line).padStart(9, "0")}`,
        cell: ([, module, file, line]) => (
            <span class="file-name dim">
                {visible(file || module)}
                {file && line > 0 && `:${line}`}
            </span>
        ),
    },
];

function DeadCode({ place, go }: ViewProps) {
    const { dead = [], functions = 0, profiles = 0 } = store;
    return (
        <>
            <section class="tiles" aria-label="Summary">
                <Tile name="Never called" value={count(dead.length)} note={`of ${things(functions, "function")}`} />
                <Tile name="Profiles" value={count(profiles)} note="none of them called these" />
            </section>
            {!store.isCoverage && (
                <p class="note">
                    Not all profiles list functions that were not called: record with <code>-collect=profile,coverage</code>.
                </p>
            )}
            <List
                label="Functions never called"
                rows={dead}
                columns={deadColumns}
                order="place"
                keyOf={(row) => row.join("\n")}
                place={place}
                go={go}
                onOpen={() => {}}
                empty="Each function was called."
            />
        </>
    );
}

// ---- slow requests -----------------------------------------------------------------------------

const ns = { unit: "ns" };

/** As the tables of the command line: 2026-11-26 10:30:05. */
const moment = (ms: number) => (ms ? new Date(ms).toISOString().slice(0, 19).replace("T", " ") : "unknown");

const textColumn = (id: string, head: string, width: number, rank: number, of: (row: Slow) => string, isDim = false): Column<Slow> => ({
    id, head, width, rank, value: (row) => of(row).toLowerCase(), cell: (row) => <span class={isDim ? "dim" : ""}>{visible(of(row).slice(0, 200))}</span>,
});

const slowColumns: Column<Slow>[] = [
    { id: "endpoint", head: "Endpoint", rank: 0, value: ([, , , , , , endpoint]) => endpoint.toLowerCase(), cell: ([, , , , , , endpoint]) => <span class="fn-name">{visible(endpoint.slice(0, 300))}</span> },
    textColumn("service", "Service", 110, 2, ([, , , , , , , service]) => service),
    textColumn("version", "Version", 80, 1, ([, , , , , , , , version]) => version),
    textColumn("host", "Host", 110, 3, ([, , , , , , , , , host]) => host, true),
    numberColumn("elapsed", "Elapsed", "From its begin to its end", 100, 0, ([, elapsed]) => elapsed, ([, elapsed]) => time(ns, elapsed)),
    numberColumn("waiting", "Waiting", "The part of it off the processor, or suspended", 100, 1, ([, , waiting]) => waiting, ([, , waiting]) => (waiting ? time(ns, waiting) : "\u2013")),
    numberColumn("calls", "Calls", "That began in it", 80, 3, ([, , , calls]) => calls),
    textColumn("outcome", "Outcome", 80, 2, ([, , , , , outcome]) => outcome),
    { id: "begun", head: "Began (UTC)", width: 165, rank: 4, value: ([, , , , begun]) => begun, cell: ([, , , , begun]) => <span class="dim">{moment(begun)}</span> },
    textColumn("trace", "Trace", 280, 5, ([, , , , , , , , , , trace]) => trace, true),
];

function SlowRequests({ place, go }: ViewProps) {
    const { slow = [], requests = 0, profiles = 0 } = store;
    return (
        <>
            <section class="tiles" aria-label="Summary">
                <Tile name="Requests" value={count(requests)} note={requests > slow.length ? `the ${count(slow.length)} slowest are listed` : "kept whole"} />
                <Tile name="Profiles" value={count(profiles)} />
            </section>
            <Endpoints />
            <List
                label="Slow requests"
                rows={slow}
                columns={slowColumns}
                order="-elapsed"
                keyOf={([number]) => String(number)}
                place={place}
                go={go}
                onOpen={([number]) => location.assign(`${addressOf("/request", { show: String(number) })}#timeline${place.with.theme ? `?theme=${place.with.theme}` : ""}`)}
                empty="No request was kept whole. Record with -slowest=8/60s."
            />
        </>
    );
}

// ---- the page ----------------------------------------------------------------------------------

const titles = { start: "Store", dead: "Never called", slow: "Slow requests", trouble: "Store" };

/** What is chosen, in words. */
const chosen = [
    store.service && `service ${store.service}`,
    store.version && `version ${store.version}`,
    store.since && `since ${store.since}`,
    store.until && `until ${store.until}`,
    ...store.labels,
]
    .filter(Boolean)
    .join(", ");

function App() {
    const [place, go] = usePlace();
    const [hasHelp, setHelp] = useState(false);
    const isStart = store.view === "start";
    const subject = visibleText([store.store, isStart ? "" : chosen].filter(Boolean).join(": "));
    const toggleTheme = () => go({ with: { theme: themeOf(place.with.theme) === "dark" ? "light" : "dark" } });
    useTheme(place.with.theme);
    useKeys({ t: toggleTheme, "?": () => setHelp(true) });
    useEffect(() => {
        document.title = [titles[store.view], subject].filter(Boolean).join(" \u2013 ");
    }, []);
    return (
        <>
            <header class="top">
                <nav class="crumbs" aria-label="Where you are">
                    {!isStart && (
                        <a class="home" href={store.home}>
                            Store
                        </a>
                    )}
                    <h1 class="brand">{isStart ? <a href="/">Store</a> : store.view === "trouble" ? "Not shown" : titles[store.view]}</h1>
                    <span class="subject">{subject}</span>
                </nav>
                <span class="tools">
                    <button type="button" class="plain" title="Light or dark (t)" aria-label="Light or dark" onClick={toggleTheme}>
                        {"\u25d1"}
                    </button>
                    <button type="button" class="plain" title="Keys (?)" aria-label="Keys" onClick={() => setHelp(true)}>
                        ?
                    </button>
                </span>
            </header>
            <main>
                <div class={`overview ${store.view === "dead" || store.view === "slow" ? "" : "is-long"}`}>
                    {store.note && (
                        <p class="note" role="alert">
                            {visible(store.note)}
                        </p>
                    )}
                    {store.view === "start" && <Start place={place} go={go} />}
                    {store.view === "dead" && <DeadCode place={place} go={go} />}
                    {store.view === "slow" && <SlowRequests place={place} go={go} />}
                    {store.view === "trouble" && (
                        <p>
                            <a class="link" href={store.home}>
                                Choose again
                            </a>
                        </p>
                    )}
                </div>
            </main>
            {hasHelp && <Help keys={keyList} onClose={() => setHelp(false)} />}
        </>
    );
}

render(<App />, document.getElementById("app")!);
