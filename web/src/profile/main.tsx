// main.tsx: the profile page: the bar at the top, and below it one of the views.
import { render } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import "../common/style.css";
import "./profile.css";
import { useIsLoaded } from "../common/data";
import { count, things } from "../common/format";
import { Help, type KeyList } from "../common/help";
import { useKeys } from "../common/keys";
import { type Go, type Place, usePlace } from "../common/place";
import { patternOf } from "../common/search";
import { themeOf, useTheme } from "../common/theme";
import { visible, visibleText } from "../common/visible";
import { type Index, Tree, readIndex, readTree } from "./data";
import { Flame } from "./flame";
import { FunctionPage } from "./function";
import { CallTree, Functions } from "./lists";
import { share, time } from "./units";

const keyList: KeyList = [
    ["/", "search functions: a regular expression"],
    ["\u2190 \u2192 \u2191 \u2193", "to the neighbour, the caller, the callee"],
    ["Enter", "zoom into the frame, open the row"],
    ["u Backspace", "zoom out, back"],
    ["o", "callers and callees of the function"],
    ["1 2 3", "flame graph, functions, call tree"],
    ["t", "light or dark"],
    ["?", "this list"],
    ["Escape", "close what is open; take the search away"],
];

const index = readIndex();
const views = [
    { id: "flame", name: "Flame graph" },
    { id: "functions", name: "Functions" },
    { id: "tree", name: "Call tree" },
];

const subject = (of: Index) => visibleText(of.run.label || of.run.program);

function Tile({ name, value, note }: { name: string; value: string; note?: string }) {
    return (
        <div class="tile" data-name={name}>
            <span class="tile-name">{name}</span>
            <span class="tile-value">{value}</span>
            {note && <span class="tile-note">{note}</span>}
        </div>
    );
}

function Summary() {
    const { run, threads, methods } = index;
    const called = methods.filter((m) => m.index > 0 && m.calls > 0).length;
    return (
        <section class="tiles" aria-label="Summary">
            {run.hasTimes && <Tile name="Time" value={time(run, run.total)} note={`${run.clock}, ${run.mode}`} />}
            <Tile name="Calls" value={count(run.calls)} note={`of ${things(called, "function")}`} />
            <Tile name="Threads" value={count(threads.length)} note={`process ${run.pid}, ${run.state}`} />
            {run.hasTimes && (
                <Tile name="Overhead" value={`about ${share(run, run.cost)}`} note={`${time(run, run.cost)}, contained in the times`} />
            )}
        </section>
    );
}

function Notes() {
    const notes = [...index.losses, ...index.diagnostics.map(([name, text, n]) => `${name} ${count(n)}: ${text}`)];
    if (!notes.length) return null;
    return (
        <details class="note">
            <summary>{things(notes.length, "diagnostic")}</summary>
            <ul>
                {notes.map((note, i) => (
                    <li key={i}>{visible(note)}</li>
                ))}
            </ul>
        </details>
    );
}

/** Time of the frames that fit, no frame counted inside another one. */
function timeOf(tree: Tree, methods: Set<number>): number {
    const isInside = new Uint8Array(tree.n);
    let sum = 0;
    for (let node = 1; node < tree.n; node++) {
        const isMatch = methods.has(tree.method[node]);
        if (isMatch && !isInside[tree.parent[node]]) sum += tree.total[node];
        isInside[node] = Number(isMatch || isInside[tree.parent[node]]);
    }
    return sum;
}

function useMatching(text: string): Set<number> | undefined {
    return useMemo(() => {
        if (!text) return undefined;
        const { expression } = patternOf(text);
        const fitting = index.methods.filter((m) => m.index > 0 && (expression.test(m.name) || expression.test(m.file)));
        return new Set(fitting.map((m) => m.index));
    }, [text]);
}

function SearchField({ text, matching, tree, go }: {
    text: string;
    matching: Set<number> | undefined;
    tree: Tree | undefined;
    go: Go;
}) {
    const found = useMemo(() => (tree && matching ? timeOf(tree, matching) : 0), [tree, matching]);
    return (
        <span class="search-field">
            <input
                id="search"
                type="search"
                aria-label="Search functions"
                placeholder="Search  /"
                value={text}
                onInput={(event) => go({ with: { search: event.currentTarget.value } })}
                onKeyDown={(event) => {
                    if (event.key === "Escape") go({ with: { search: "" } });
                    if (event.key === "Escape" || event.key === "Enter") event.currentTarget.blur();
                }}
            />
            {matching && (
                <span class="dim" role="status">
                    {things(matching.size, "function")}, {share(index.run, found)}
                </span>
            )}
        </span>
    );
}

function ThreadChoice({ root, go }: { root: number; go: Go }) {
    if (index.threads.length < 2) return null;
    return (
        <select
            aria-label="Thread"
            value={String(root)}
            onChange={(event) => go({ with: { thread: event.currentTarget.value, at: "" } })}
        >
            <option value="0">All threads</option>
            {index.threads.map((thread) => (
                <option key={thread.root} value={String(thread.root)}>
                    {visibleText(thread.name)}
                </option>
            ))}
        </select>
    );
}

function View({ place, go, tree, matching, root }: {
    place: Place;
    go: Go;
    tree: Tree;
    matching: Set<number> | undefined;
    root: number;
}) {
    const props = { index, tree, root, matching, place, go };
    if (place.view === "functions") return <Functions {...props} />;
    if (place.view === "tree") return <CallTree key={root} {...props} />;
    const zoom = Number(place.with.at);
    return (
        <Flame
            index={index}
            tree={tree}
            zoom={zoom > 0 && zoom < tree.n ? zoom : root}
            matching={matching}
            isDark={themeOf(place.with.theme) === "dark"}
            onZoom={(node) => go({ with: { at: node > 0 ? String(node) : "" } })}
            onOpen={(method) => method > 0 && go({ view: "function", what: String(method), with: { at: "" } })}
        />
    );
}

function useTree(): Tree | undefined {
    const [tree, setTree] = useState<Tree>();
    const isLoaded = useIsLoaded();
    useEffect(() => {
        if (isLoaded) readTree(index).then(setTree);
    }, [isLoaded]);
    return tree;
}

function App() {
    const [place, go] = usePlace();
    const [hasHelp, setHelp] = useState(false);
    const tree = useTree();
    const matching = useMatching(place.with.search ?? "");
    const toggleTheme = () =>
        go({ with: { theme: themeOf(place.with.theme) === "dark" ? "light" : "dark" } });
    const view = (i: number) => () => go({ view: views[i].id, with: { at: "", sort: "" } });
    useTheme(place.with.theme);
    useKeys({
        "/": () => document.getElementById("search")?.focus(),
        "?": () => setHelp(true),
        t: toggleTheme,
        1: view(0),
        2: view(1),
        3: view(2),
        u: () => history.back(),
        Backspace: () => history.back(),
        Escape: () => go({ with: { search: "" } }),
    });
    const method = place.view === "function" ? index.methods[Number(place.what)] : undefined;
    const current = views.find((v) => v.id === place.view) ?? views[0];
    const thread = Number(place.with.thread);
    const root = index.threads.some((t) => t.root === thread) ? thread : 0;
    useEffect(() => {
        if (!method) document.title = ["Profile", subject(index)].filter(Boolean).join(" \u2013 ");
    }, [method]);
    return (
        <>
            <header class="top">
                <nav class="crumbs" aria-label="Where you are">
                    <button type="button" class="brand" onClick={view(0)}>
                        Profile
                    </button>
                    <span class="subject">{subject(index)}</span>
                </nav>
                <span class="tools">
                    <SearchField text={place.with.search ?? ""} matching={matching} tree={tree} go={go} />
                    <ThreadChoice root={root} go={go} />
                    <button type="button" class="plain" title="Light or dark (t)" aria-label="Light or dark" onClick={toggleTheme}>
                        {"\u25d1"}
                    </button>
                    <button type="button" class="plain" title="Keys (?)" aria-label="Keys" onClick={() => setHelp(true)}>
                        ?
                    </button>
                </span>
            </header>
            <main>
                <div class="overview">
                    <Summary />
                    <Notes />
                    <div class="tabs" role="tablist">
                        {views.map((v, i) => (
                            <button
                                type="button"
                                role="tab"
                                key={v.id}
                                aria-selected={!method && v === current}
                                onClick={view(i)}
                            >
                                {v.name}
                            </button>
                        ))}
                    </div>
                    {!tree && <p class="nothing">Unpacking {things(index.nNodes, "call path")} …</p>}
                    {tree && method && <FunctionPage {...{ index, tree, method, go }} />}
                    {tree && !method && <View {...{ place, go, tree, matching, root }} />}
                </div>
            </main>
            {hasHelp && <Help keys={keyList} onClose={() => setHelp(false)} />}
        </>
    );
}

render(<App />, document.getElementById("app")!);
