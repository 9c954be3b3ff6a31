// main.tsx: the profile page: the bar at the top, and below it one of the views.
import { render } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import "../common/style.css";
import "./profile.css";
import { useIsLoaded } from "../common/data";
import { things } from "../common/format";
import { Help, type KeyList } from "../common/help";
import { useKeys } from "../common/keys";
import { type Go, type Place, usePlace } from "../common/place";
import { Tabs } from "../common/tabs";
import { themeOf, useTheme } from "../common/theme";
import { visibleText } from "../common/visible";
import { Changes } from "./changes";
import { type Index, type Method, type Recording, readIndex, readRecording } from "./data";
import { functionsOf, withRunTimes, withWaits } from "./flat";
import { Flame } from "./flame";
import { FunctionPage } from "./function";
import { Inverted } from "./inverted";
import { CallTree, Functions, type ViewProps } from "./lists";
import { type Measure, measured, measuresOf, treeOf } from "./measure";
import { type Filter, coloringOf, filterOf, fresh, measureOf, refolded } from "./place";
import { Findings, RunPage, Summary, Warnings, subject } from "./run";
import { SourcePage, Sources } from "./sources";
import { TimelineView } from "./timeline";
import { Chips, ColorChoice, MeasureChoice, RecursionChoice, SearchField, SideChoice, ThreadChoice, nextColoring, useMatching } from "./tools";
import { Threads } from "./threads";
import { type Tree, folded, isRecursive } from "./tree";

const index = readIndex();

const views = [
    { id: "changes", name: "Changes", isThere: !!index.base },
    { id: "flame", name: "Flame graph", isThere: index.hasTree },
    { id: "bottomup", name: "Bottom-up", isThere: index.hasTree },
    { id: "functions", name: "Functions", isThere: true },
    { id: "tree", name: "Call tree", isThere: index.hasTree },
    { id: "timeline", name: "Timeline", isThere: index.hasTimeline },
    { id: "source", name: "Sources", isThere: true },
    { id: "threads", name: "Threads", isThere: true },
    { id: "run", name: "Run", isThere: true },
].filter((view) => view.isThere);

/** Views of call paths and functions: of a thread, and of each of two runs. */
const ofPaths = ["flame", "bottomup", "functions", "tree", "timeline", "function"];

const timelineKeys: KeyList = [
    ["\u2190 \u2192 \u2191 \u2193", "timeline: to the call before, after, to the caller, the callee"],
    ["+ \u2212 , .", "timeline: closer, farther, back, on"],
    ["n p", "timeline: next, previous call that the search found"],
    ["m M", "timeline: next, previous mark"],
];

const keyList: KeyList = [
    ["/", "search functions: a regular expression"],
    ["\u2190 \u2192 \u2191 \u2193", "flame graph: to the neighbour, the caller, the callee"],
    ["PageUp PageDown", "flame graph: twenty callers up, twenty callees down"],
    ["Enter", "zoom into the frame, open the row"],
    ["u Backspace", "zoom out, back"],
    ["Home", "flame graph: zoom out all the way"],
    ["o", "callers and callees of the selected function"],
    ["f", "focus: only calls of the selected function"],
    ["x", "hide the selected function: its time is its callers'"],
    ["e", "collapse recursion: a call inside another call of its function is shown at the outer one"],
    ["r", "show all again"],
    ["b", "flame graph: from above, or from below"],
    ["c", "flame graph: other colours"],
    ...(measuresOf(index).length > 1 ? [["v", "another measure: time, waiting, what was allocated"] as [string, string]] : []),
    ...(index.base ? [["w", "the run before, or after"] as [string, string]] : []),
    ["[ ]", "previous, next thread"],
    ["n p", "source: next, previous line by heat"],
    ...(index.hasTimeline ? timelineKeys : []),
    ["s", "source of the selected function"],
    ["j k", "next, previous row"],
    [views.map((_, i) => i + 1).join(" "), views.map((v) => v.name.toLowerCase()).join(", ")],
    ["t", "light or dark"],
    ["?", "this list"],
    ["Escape", "close what is open; take the search away"],
];

/** Are paths of all threads shown as those of one? */
const joins = (thread: number) => !thread && !index.isApart && (!!index.base || index.threads.length > 1);
/** Of two runs a thread may have been created in two places: its paths are apart then. */
const hasTwins = !!index.base && index.creators.size > 0;

/** The paths that the filter leaves, of both runs. */
function useFolded(tree: Tree | undefined, { focus, hidden, thread, joinsRecursion }: Filter): Tree | undefined {
    const joinsThreads = joins(thread);
    return useMemo(() => {
        if (!tree || !(focus || hidden.length || joinsThreads || joinsRecursion || hasTwins)) return tree;
        return folded(tree, { focus, hidden: new Set(hidden), joinsThreads, creators: index.creators, joinsRecursion });
    }, [tree, focus, hidden.join("."), joinsThreads, joinsRecursion]);
}

/** Functions as the report has them or, of a part of the run or another measure, as they are in the tree. */
function useMethods(index: Index, tree: Tree | undefined, { focus, hidden, thread }: Filter): Method[] {
    return useMemo(() => {
        if (!tree || !index.hasTree) return index.methods;
        const isWhole = !focus && !hidden.length && !thread;
        if (isWhole && index.base && index.measure === "run") return withRunTimes(index.methods);
        if (!isWhole || index.measure !== "time") return functionsOf(index, tree, thread);
        return tree.off ? withWaits(index.methods, tree) : index.methods;
    }, [index, tree, thread]);
}

const before = (methods: Method[]): Method[] => methods.map((m) => ({ ...m, ...m.base!, base: undefined }));

/** One of two runs: what the views show that are about one. */
function useSide(index: Index, tree: Tree | undefined, methods: Method[], isBase: boolean) {
    return useMemo(() => {
        if (!isBase || !index.base) return { index, tree, methods };
        return { index: { ...index, run: index.base }, tree: tree?.swapped(), methods: before(methods) };
    }, [tree, methods, isBase]);
}

function FlameView({ isUp, ...props }: ViewProps & { isUp: boolean }) {
    const { index, tree, root, place, go } = props;
    const theme = themeOf(place.with.theme);
    const paths = useMemo(() => (isUp ? new Inverted(tree, root, index.methods.length) : tree), [tree, root, isUp]);
    const top = isUp ? 0 : root;
    return (
        <Flame
            index={index}
            paths={paths}
            root={top}
            zoom={paths.find(place.with.at ?? "") || top}
            isUp={isUp}
            matching={props.matching}
            coloring={coloringOf(index, place)}
            theme={theme}
            onZoom={(node) => go({ with: { at: node === top ? "" : paths.keyOf(node) } })}
            onOpen={(method) => method > 0 && go({ view: "function", what: String(method), with: fresh })}
            onFocus={props.onFocus}
            onHide={props.onHide}
            onSource={props.onSource}
        />
    );
}

function View(props: ViewProps) {
    const { place, go } = props;
    const theme = themeOf(place.with.theme);
    if (place.view === "functions") return <Functions {...props} />;
    if (place.view === "tree") return <CallTree {...props} />;
    if (place.view === "run") return <RunPage index={index} />;
    if (place.view === "threads") return <Threads index={index} place={place} go={go} />;
    if (place.view === "source") {
        const file = place.what ? index.files[Number(place.what)] : undefined;
        if (!file) return <Sources index={index} place={place} go={go} />;
        return <SourcePage index={index} file={file} place={place} theme={theme} go={go} />;
    }
    if (place.view === "function" && props.methods[Number(place.what)]?.index > 0)
        return <FunctionPage {...props} method={props.methods[Number(place.what)]} />;
    if (place.view === "timeline") return <TimelineView {...props} theme={theme} />;
    if (!index.hasTree) return <Functions {...props} />;
    if (place.view === "bottomup") return <FlameView key="up" isUp {...props} />;
    return <FlameView key="down" isUp={false} {...props} />;
}

/** All paths, and the runs in units of the measure. */
function useTree(measure: Measure): { whole: Tree | undefined; shown: Index } {
    const [recording, setRecording] = useState<Recording>();
    const isLoaded = useIsLoaded();
    useEffect(() => {
        if (isLoaded) readRecording(index).then(setRecording);
    }, [isLoaded]);
    return useMemo(() => {
        const whole = recording && treeOf(recording, index, measure);
        return { whole, shown: whole ? measured(index, whole, measure) : index };
    }, [recording, measure]);
}

/** What the keys do wherever one is. */
function usePageKeys(place: Place, go: Go, filter: Filter, setHelp: (isOpen: boolean) => void) {
    const toggleTheme = () => go({ with: { theme: themeOf(place.with.theme) === "dark" ? "light" : "dark" } });
    const isUp = place.view === "bottomup";
    const roots = [0, ...index.threads.map((t) => t.root)];
    const thread = (step: number) => () => {
        const next = roots[(roots.indexOf(filter.thread) + step + roots.length) % roots.length];
        go({ with: { thread: next ? String(next) : "", at: "", open: "" } });
    };
    const back = () => {
        if (place.view === "source" && place.what) go({ view: "source", with: fresh });
        else history.back();
    };
    const numbers = views.map(({ id }, i) => [String(i + 1), () => go({ view: id, with: fresh })]);
    useKeys({
        ...Object.fromEntries(numbers),
        "/": () => document.getElementById("search")?.focus(),
        "?": () => setHelp(true),
        t: toggleTheme,
        b: () => (index.hasTree ? go({ view: isUp ? "flame" : "bottomup", with: fresh }) : false),
        c: () => go({ with: { color: nextColoring(index, coloringOf(index, place)) } }),
        v: () => {
            const offered = measuresOf(index);
            const next = offered[(offered.indexOf(measureOf(index, place)) + 1) % offered.length];
            return offered.length > 1 ? go({ with: { measure: next, sort: "" } }) : false;
        },
        w: () => (index.base ? go({ with: { side: filter.isBase ? "" : "base" } }) : false),
        e: () => (index.hasTree ? go({ with: refolded({ joinsRecursion: !filter.joinsRecursion }) }) : false),
        r: () => go({ with: refolded({ focus: 0, hidden: [], joinsRecursion: false }) }),
        "[": thread(-1),
        "]": thread(1),
        u: back,
        Backspace: back,
        Escape: () => go({ with: { search: "" } }),
    });
    return toggleTheme;
}

/** A sentence that stays until the next key or click. */
function useMessage(): [string, (text: string) => void] {
    const [message, setMessage] = useState("");
    useEffect(() => {
        if (!message) return;
        const clear = () => setMessage("");
        const ends = ["keydown", "pointerdown"];
        for (const end of ends) addEventListener(end, clear, { capture: true });
        return () => ends.forEach((end) => removeEventListener(end, clear, { capture: true }));
    }, [message]);
    return [message, setMessage];
}

function App() {
    const [place, go] = usePlace();
    const [message, setMessage] = useMessage();
    const [hasHelp, setHelp] = useState(false);
    const filter = filterOf(index, place);
    const current = place.view === "function" || views.some((v) => v.id === place.view) ? place.view : views[0].id;
    const hasMeasure = current !== "timeline" && (current === "changes" || ofPaths.includes(current));
    const measure = hasMeasure ? measureOf(index, place) : "time";
    const { whole, shown } = useTree(measure);
    const tree = useFolded(whole, filter);
    const methods = useMethods(shown, tree, filter);
    const side = useSide(shown, tree, methods, filter.isBase);
    const isDeep = useMemo(() => !!whole && isRecursive(whole, index.methods.length), [whole]);
    const search = place.with.search ?? "";
    const matching = useMatching(index, search);
    useTheme(place.with.theme);
    const toggleTheme = usePageKeys(place, go, filter, setHelp);
    const isFlame = current === "flame" || current === "bottomup";
    const isOne = current === "function" || (current === "source" && place.what !== "");
    useEffect(() => {
        if (!isOne) document.title = ["Profile", subject(index)].filter(Boolean).join(" \u2013 ");
    }, [isOne]);
    const onFocus = (method: number) => {
        if (method) go({ view: isFlame || current === "tree" ? current : "flame", with: { ...fresh, ...refolded({ focus: method }) } });
    };
    const onHide = (method: number) => {
        if (method) go({ with: refolded({ hidden: [...new Set([...filter.hidden, method])] }) });
    };
    const onSource = (method: number): boolean | void => {
        const { name = "", file = "", line = 0 } = index.methods[method] ?? {};
        const source = index.files.find((f) => file && f.path === file);
        if (source) return go({ view: "source", what: String(source.index), with: { ...fresh, line: String(line || "") } });
        if (!method) return false;
        setMessage(`${visibleText(name.slice(0, 80))} has no source: it is not of a file.`);
    };
    const about = { root: filter.thread, matching, place: { ...place, view: current }, go, onFocus, onHide, onSource };
    return (
        <>
            <header class="top">
                <nav class="crumbs" aria-label="Where you are">
                    {index.home && (
                        <a class="home" href={index.home}>
                            Store
                        </a>
                    )}
                    <h1 class="brand">
                        <button type="button" onClick={() => go({ view: views[0].id, with: fresh })}>
                            {index.base ? "Profiles compared" : "Profile"}
                        </button>
                    </h1>
                    <span class="subject">{subject(index)}</span>
                </nav>
                <span class="tools">
                    <SearchField {...{ index: side.index, text: search, matching, tree: side.tree, filter, go }} />
                    {(current === "changes" || ofPaths.includes(current)) && <ThreadChoice index={index} filter={filter} go={go} />}
                    {hasMeasure && <MeasureChoice index={index} measure={measure} go={go} />}
                    {isDeep && (isFlame || current === "tree") && <RecursionChoice filter={filter} go={go} />}
                    {isFlame && <ColorChoice index={index} coloring={coloringOf(index, place)} go={go} />}
                    {index.base && ofPaths.includes(current) && <SideChoice filter={filter} go={go} />}
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
                    {!isOne && <Summary index={index} />}
                    {!isOne && <Warnings index={index} onMore={() => go({ view: "run", with: fresh })} />}
                    <Tabs views={views} current={current} onChoose={(view) => go({ view, with: fresh })} />
                    <Chips index={index} filter={filter} place={place} go={go} />
                    {current === views[0].id && <Findings index={index} />}
                    {!tree && <p class="nothing">Unpacking {things(index.nNodes, "call path")} …</p>}
                    {tree && current === "changes" && <Changes {...about} index={shown} tree={tree} methods={methods} />}
                    {side.tree && current !== "changes" && <View {...side} tree={side.tree} {...about} />}
                </div>
            </main>
            <p class="message" role="status">
                {message}
            </p>
            {hasHelp && <Help keys={keyList} onClose={() => setHelp(false)} />}
        </>
    );
}

render(<App />, document.getElementById("app")!);
