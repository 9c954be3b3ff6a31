// main.tsx: the coverage page: the bar at the top, and below it a list or a file.
import { render } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import "../common/style.css";
import "./cover.css";
import { useIsLoaded } from "../common/data";
import { things } from "../common/format";
import { Help, type KeyList } from "../common/help";
import { useKeys } from "../common/keys";
import { type Go, type Place, usePlace } from "../common/place";
import { SearchDialog } from "../common/search";
import { Tabs } from "../common/tabs";
import { themeOf, useTheme } from "../common/theme";
import { EndOf, visible, visibleText } from "../common/visible";
import { type Index, readIndex } from "./data";
import { FilePage } from "./file";
import { Tiles } from "./figures";
import { type Filter, contextName, figuresOf, isFiltering } from "./filter";
import { finderOf } from "./find";
import { Contexts, Files, Folders, Functions, type ListProps } from "./lists";

const keyList: KeyList = [
    ["/", "search files, functions and source text"],
    ["j k \u2193 \u2191", "next, previous row or line"],
    ["Enter", "open the row"],
    ["\u2192 \u2190", "open, close a folder"],
    ["n p", "next, previous missed section of a file"],
    ["u Backspace", "back to the list"],
    ["1 2 3 4", "folders, files, functions, contexts"],
    ["c", "choose a context"],
    ["t", "light or dark"],
    ["?", "this list"],
    ["Escape", "close what is open; take the filter away"],
];

const index = readIndex();

const views: { id: string; name: string; list: (props: ListProps) => preact.JSX.Element }[] = [
    { id: "folders", name: "Folders", list: Folders },
    { id: "files", name: "Files", list: Files },
    { id: "functions", name: "Functions", list: Functions },
];
if (index.contexts.length) views.push({ id: "contexts", name: "Contexts", list: Contexts });

/** Program or label of the runs: what this page is about. */
function subject(of: Index): string {
    const names = [...new Set(of.runs.map((run) => run.label || [run.program, run.script].filter(Boolean).join(" ")).filter(Boolean))];
    if (names.length <= 2) return names.map(visibleText).join(", ");
    return `${visibleText(names[0])} and ${names.length - 1} more`;
}

function Crumbs({ place, go }: { place: Place; go: Go }) {
    const home = () => go({ view: "folders", with: { line: "", at: place.what, sort: "" } });
    const name = subject(index);
    return (
        <nav class="crumbs" aria-label="Where you are">
            <h1 class="brand">
                <button type="button" onClick={home}>
                    Coverage
                </button>
            </h1>
            {place.view !== "file" && name && <span class="subject">{name}</span>}
            {place.view === "file" && (
                <span class="path">
                    <EndOf text={place.what} />
                </span>
            )}
        </nav>
    );
}

function ContextFilter({ filter, go }: { filter: Filter; go: Go }) {
    if (!index.contexts.length) return null;
    return (
        <span class="filter">
            <select
                id="context"
                aria-label="Context"
                value={String(filter.context)}
                onChange={(event) => {
                    const { value } = event.currentTarget;
                    go({ with: { context: value === "-1" ? "" : value } });
                }}
            >
                <option value="-1">All contexts</option>
                {index.contexts.map((name, i) => (
                    <option key={i} value={String(i)}>
                        {visibleText(contextName(name))}
                    </option>
                ))}
            </select>
            <label title="Lines that exactly one context hit">
                <input
                    type="checkbox"
                    checked={filter.isSole}
                    onChange={(event) => go({ with: { sole: event.currentTarget.checked ? "1" : "" } })}
                />
                hit by one only
            </label>
        </span>
    );
}

function Runs() {
    const [run] = index.runs;
    const started = run?.started ? new Date(run.started).toISOString().slice(0, 19).replace("T", " ") : "";
    const parts = [
        things(index.files.length, "file"),
        [...new Set(index.runs.map((of) => of.labels))].filter(Boolean).map(visibleText).join("; "),
        index.runs.length > 1 ? `${things(index.runs.length, "run")}` : "",
        started && `${index.runs.length > 1 ? "first " : ""}recorded ${started} UTC`,
        index.once ? "counts say whether, not how often" : "",
        index.coverage ? "" : "functions that were never called may be absent",
    ];
    return <p class="runs">{parts.filter(Boolean).join(" \u00b7 ")}</p>;
}

function Warnings() {
    if (!index.warnings.length) return null;
    return (
        <details class="note">
            <summary>{things(index.warnings.length, "warning")}</summary>
            <ul>
                {index.warnings.map((warning, i) => (
                    <li key={i}>{visible(warning)}</li>
                ))}
            </ul>
        </details>
    );
}

function Overview(props: ListProps) {
    const { place, go } = props;
    const view = views.find((v) => v.id === place.view) ?? views[0];
    useEffect(() => {
        document.title = ["Coverage", subject(index)].filter(Boolean).join(" \u2013 ");
    }, []);
    return (
        <div class="overview">
            <Tiles totals={props.figures.all} />
            <Runs />
            <Warnings />
            <Tabs views={views} current={view.id} onChoose={(id) => go({ view: id, with: { at: "", sort: "" } })} />
            <view.list key={view.id} {...props} />
        </div>
    );
}

type Window = "" | "search" | "help";

function usePageKeys(place: Place, go: Go, setOver: (over: Window) => void) {
    const back = () => {
        if (place.view !== "file") return false;
        go({ view: "folders", with: { at: place.what, line: "" } });
        return true;
    };
    const view = (i: number) => () =>
        views[i] ? go({ view: views[i].id, with: { at: "", sort: "", line: "" } }) : false;
    useKeys({
        "/": () => setOver("search"),
        "?": () => setOver("help"),
        t: () => go({ with: { theme: themeOf(place.with.theme) === "dark" ? "light" : "dark" } }),
        c: () => document.getElementById("context")?.focus(),
        u: back,
        Backspace: back,
        1: view(0),
        2: view(1),
        3: view(2),
        4: view(3),
        Escape: () => go({ with: { context: "", sole: "" } }),
    });
}

function App() {
    const [place, go] = usePlace();
    const [over, setOver] = useState<Window>("");
    const isLoaded = useIsLoaded();
    useTheme(place.with.theme);
    usePageKeys(place, go, setOver);

    const { context = "", sole = "" } = place.with;
    const filter = useMemo<Filter>(() => {
        const number = context === "" ? -1 : Number(context);
        return { context: index.contexts[number] === undefined ? -1 : number, isSole: sole === "1" };
    }, [context, sole]);
    const figures = useMemo(() => figuresOf(index, filter), [filter, isLoaded]);
    const file = place.view === "file" ? index.files.find((f) => f.path === place.what) : undefined;
    const finder = useMemo(() => finderOf(index, go), []);
    return (
        <>
            <header class="top">
                <Crumbs place={place} go={go} />
                <span class="tools">
                    <ContextFilter filter={filter} go={go} />
                    <button type="button" class="plain" onClick={() => setOver("search")}>
                        Search <kbd>/</kbd>
                    </button>
                    <button
                        type="button"
                        class="plain"
                        title="Light or dark (t)"
                        aria-label="Light or dark"
                        onClick={() =>
                            go({ with: { theme: themeOf(place.with.theme) === "dark" ? "light" : "dark" } })
                        }
                    >
                        {"\u25d1"}
                    </button>
                    <button type="button" class="plain" title="Keys (?)" aria-label="Keys" onClick={() => setOver("help")}>
                        ?
                    </button>
                </span>
            </header>
            <main class={isFiltering(filter) ? "is-filtered" : ""}>
                {file ? (
                    <FilePage key={file.index} {...{ index, file, figures, filter, place, go }} />
                ) : (
                    <Overview {...{ index, figures, place, go, isLoaded }} />
                )}
                {place.view === "file" && !file && (
                    <p class="note">This page has no file {visible(place.what)}.</p>
                )}
            </main>
            {over === "search" && (
                <SearchDialog finder={finder} show={visible} onClose={() => setOver("")} />
            )}
            {over === "help" && <Help keys={keyList} onClose={() => setOver("")} />}
        </>
    );
}

render(<App />, document.getElementById("app")!);
