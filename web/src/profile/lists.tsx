// lists.tsx: functions, and the call tree.
import { useMemo } from "preact/hooks";
import { count, percentage } from "../common/format";
import type { Keys } from "../common/keys";
import { List, orderOf } from "../common/list";
import type { Go, Place } from "../common/place";
import { type Column, sorted } from "../common/table";
import { EndOf, visible } from "../common/visible";
import { type Figures, type Index, type Method, type Run, isSeen } from "./data";
import { frameName } from "./flame";
import type { Tree } from "./tree";
import { headsOf, isWaiting } from "./measure";
import { certain, share, signed, time } from "./units";

/** What a view of the call paths is given. */
export interface ViewProps {
    index: Index;
    /** Functions on what is shown. */
    methods: Method[];
    tree: Tree;
    /** Root of what is shown: a thread's root node, or 0. */
    root: number;
    /** Methods that a search fits; undefined: there is none. */
    matching: Set<number> | undefined;
    place: Place;
    go: Go;
    onFocus: (method: number) => void;
    onHide: (method: number) => void;
    /** @return false: it has none */
    onSource: (method: number) => boolean | void;
}

export function Share({ part, all }: { part: number; all: number }) {
    return (
        <span class="heat" aria-hidden="true">
            <span style={{ width: `${Math.min(100, percentage(part, all) || 0)}%` }} />
        </span>
    );
}

/** A bar as long as a row's part of all. @param value  what rows are ordered by */
export function barColumn<Row>(
    rank: number,
    value: (row: Row) => number,
    part: (row: Row) => number,
    all: number,
): Column<Row> {
    return { id: "bar", head: "", title: "Its part of all, as a bar", width: 130, rank, value, cell: (row) => <Share part={part(row)} all={all} /> };
}

interface Timed extends Figures {
    selfHalf?: number;
    totalHalf?: number;
    base?: Figures;
}

/** A time and its share of all. */
export function timeColumn<Row extends Timed>(run: Run, id: "self" | "total", head: string, title: string, rank: number): Column<Row>[] {
    const half = (row: Row) => (id === "self" ? row.selfHalf : row.totalHalf) ?? 0;
    return [
        {
            id,
            head,
            title,
            width: run.isEstimated ? 216 : 110,
            isNumber: true,
            rank,
            value: (row) => certain(row[id], half(row)),
            cell: (row) => (
                <span class={half(row) > row[id] ? "dim" : undefined}>
                    {time(run, row[id], half(row))}
                    {!!half(row) && <span class="half dim">{"\u00b1"} {time(run, half(row), half(row))}</span>}
                </span>
            ),
        },
        {
            id: `${id}-share`,
            head: "",
            title: `${head}, in percent of all`,
            width: 74,
            isNumber: true,
            rank: rank + 2,
            value: (row) => certain(row[id], half(row)),
            cell: (row) => <span class="dim">{share(run, row[id], half(row))}</span>,
        },
    ];
}

/** Against the run that is compared with. */
export function changeColumn<Row extends Timed>(run: Run, id: "calls" | "self" | "total", head: string, rank: number): Column<Row> {
    const change = (row: Row) => row[id] - (row.base?.[id] ?? 0);
    const text = (size: number) => (id === "calls" ? count(size) : time(run, size));
    return {
        id: `${id}-change`,
        head,
        title: `${head}: new less base; what is less than 0 is an improvement`,
        width: 124,
        isNumber: true,
        rank,
        value: change,
        cell: (row) => <span class={change(row) < 0 ? "is-less" : change(row) > 0 ? "is-more" : "dim"}>{signed(change(row), text)}</span>,
    };
}

/** Time off the processor, and the share of the run's time on it: of a function itself, or with all below a path. */
function waitColumns<Row extends Timed>(run: Run, of: "self" | "total", rank: number): Column<Row>[] {
    const off = (row: Row) => (of === "self" ? row.off : row.offTotal) ?? 0;
    const running = { ...run, total: run.total - run.off };
    return [
        {
            id: "off",
            head: "Wait",
            title: "The part of it off the processor",
            width: 110,
            isNumber: true,
            rank,
            value: off,
            cell: (row) => <span class={off(row) ? undefined : "dim"}>{time(run, off(row))}</span>,
        },
        {
            id: "run",
            head: "Run %",
            title: "Without waiting, of the time that the run was on a processor",
            width: 74,
            isNumber: true,
            rank: rank + 1,
            value: (row) => row[of] - off(row),
            cell: (row) => <span class="dim">{share(running, row[of] - off(row))}</span>,
        },
    ];
}

/** Are waits in columns of their own? */
const showsWaits = (index: Index) => index.measure === "time" && index.hasTimes && index.hasTree && isWaiting(index);

/** The first order: by what ran, where a part of it waited. */
const orderBy = (index: Index, of: "self" | "total") => (showsWaits(index) ? "-run" : index.hasTimes ? `-${of}` : "-calls");

/** Calls, self and total: of functions and of call paths. Of the run before there is no change.
 * @param rankedBy  what is waited of */
function timeColumns<Row extends Timed>(index: Index, rankedBy: "self" | "total"): Column<Row>[] {
    const { run } = index;
    const heads = headsOf(index);
    const base = run !== index.base && index.base;
    const later = Number(!!base); // the change of self goes before what else there is
    const columns: Column<Row>[] = [];
    const waits = (of: "self" | "total") => (of === rankedBy && showsWaits(index) ? waitColumns<Row>(run, of, 1 + later) : []);
    /** The share in the run's time on a processor takes the place of that in elapsed time. */
    const withWaits = (of: "self" | "total", [figure, part]: Column<Row>[]) => [figure, ...(waits(of).length ? waits(of) : [part])];
    if (index.hasCalls)
        columns.push({
            id: "calls",
            head: "Calls",
            width: 110,
            isNumber: true,
            rank: 2 + later,
            value: (row) => row.calls,
            cell: (row) => count(row.calls),
        });
    if (base && index.hasCalls) columns.push(changeColumn(run, "calls", "Calls \u00b1", 4));
    if (!index.hasTimes) return columns;
    columns.push(...withWaits("self", timeColumn<Row>(run, "self", heads.self, "Of it alone, without what it called", 0)));
    if (base) columns.push(changeColumn(run, "self", `${heads.self} \u00b1`, 1));
    columns.push(...withWaits("total", timeColumn<Row>(run, "total", heads.total, "Of it and of all that it called", 1 + later)));
    if (base) columns.push(changeColumn(run, "total", `${heads.total} \u00b1`, 2));
    return columns;
}

const resumesColumn: Column<Method> = {
    id: "resumes",
    head: "Resumes",
    title: "How often a suspended call continued; no part of its calls",
    width: 110,
    isNumber: true,
    rank: 3,
    value: (row) => row.resumes,
    cell: (row) => count(row.resumes),
};

// ---- functions ---------------------------------------------------------------------------------

/** @param methods  that may be shown: suspended calls that continued have a column where there are some */
export function functionColumns(index: Index, methods: Method[]): Column<Method>[] {
    const { run } = index;
    const shownOff = (off = 0) => (showsWaits(index) ? off : 0);
    return [
        {
            id: "name",
            head: "Function",
            rank: 0,
            value: (row) => row.name.toLowerCase(),
            cell: (row) => (
                <span class={`fn-name ${row.selfHalf > row.self ? "dim" : ""}`} title={row.module || undefined}>
                    {visible(row.name.slice(0, SHOWN_CHARACTERS))}
                </span>
            ),
        },
        barColumn(4, (row) => row.self, (row) => (index.hasTimes ? row.self - shownOff(row.off) : row.calls), run.total - shownOff(run.off)),
        ...timeColumns<Method>(index, "self"),
        ...(methods.some((m) => m.resumes) ? [resumesColumn] : []),
        {
            id: "file",
            head: "File",
            width: 260,
            rank: 5,
            value: (row) => `${row.file}\u0000${String(row.line).padStart(9, "0")}`,
            cell: (row) => (
                <EndOf class="file-name dim" text={row.file && `${row.file}${row.line ? `:${row.line}` : ""}`} />
            ),
        },
    ];
}

/** f and x: focus on, or hide, what is selected. */
export function methodKeys(method: number | undefined, does: Pick<ViewProps, "onFocus" | "onHide" | "onSource">): Keys {
    return {
        f: () => (method ? does.onFocus(method) : false),
        x: () => (method ? does.onHide(method) : false),
        s: () => (method ? does.onSource(method) : false),
    };
}

export interface MethodListProps {
    label: string;
    rows: Method[];
    columns: Column<Method>[];
    order: string;
    empty: string;
    view: ViewProps;
}

/** Functions, each of which opens its own page. */
export function MethodList({ view, ...list }: MethodListProps) {
    const { place, go } = view;
    return (
        <List
            {...list}
            keyOf={(row) => String(row.index)}
            place={place}
            go={go}
            onOpen={(row) => go({ view: "function", what: String(row.index), with: { at: "", sort: "" } })}
            keys={(row) => methodKeys(row?.index, view)}
        />
    );
}

export function Functions(props: ViewProps) {
    const { index, methods, matching } = props;
    const columns = useMemo(() => functionColumns(index, methods), [index, methods]);
    const rows = useMemo(() => methods.filter((m) => isSeen(m) && (!matching || matching.has(m.index))), [matching, methods]);
    return (
        <MethodList
            label="Functions"
            rows={rows}
            columns={columns}
            order={orderBy(index, "self")}
            view={props}
            empty={matching ? "No function fits the search." : "No function was called."}
        />
    );
}

// ---- the call tree -----------------------------------------------------------------------------

interface PathRow extends Timed {
    node: number;
    level: number;
    isOpen?: boolean;
}

const MOST_INDENT = 40;
/** Of a name in a list; the whole one is on the function's page. */
const SHOWN_CHARACTERS = 300;

function pathRows(tree: Tree, root: number, open: Set<number>, columns: Column<PathRow>[], sort: string): PathRow[] {
    const row = (node: number, level: number): PathRow => ({
        node,
        level,
        isOpen: tree.hasChildren(node) ? open.has(node) : undefined,
        calls: tree.calls[node],
        self: tree.self[node],
        total: tree.total[node],
        off: tree.off?.[node],
        offTotal: tree.offTotal?.[node],
        base: tree.base && { calls: tree.base.calls[node], self: tree.base.self[node], total: tree.base.total[node] },
    });
    const below = (node: number, level: number) =>
        sorted(tree.children(node).map((child) => row(child, level)), columns, sort).reverse();
    const rows: PathRow[] = [];
    const waiting = below(root, 1);
    while (waiting.length) {
        const next = waiting.pop()!;
        rows.push(next);
        if (next.isOpen) waiting.push(...below(next.node, next.level + 1));
    }
    return rows;
}

/** The hottest path is open at first: down to where self time is more than that of any callee. */
function hottest(tree: Tree, root: number): Set<number> {
    const open = new Set<number>();
    for (let node = root; ; ) {
        const [child] = tree.children(node);
        if (!child || tree.self[node] > tree.total[child]) return open;
        open.add(child);
        node = child;
    }
}

function pathColumns(index: Index, tree: Tree, matching: Set<number> | undefined): Column<PathRow>[] {
    const shownOff = (off = 0) => (showsWaits(index) ? off : 0);
    return [
        {
            id: "name",
            head: "Call path",
            rank: 0,
            value: (row) => frameName(index, tree, row.node).toLowerCase(),
            cell: (row) => (
                <span class="tree-name" style={{ paddingLeft: `min(${Math.min(row.level - 1, MOST_INDENT) * 14}px, 60%)` }}>
                    <span class="tree-sign" aria-hidden="true">
                        {row.isOpen === undefined ? "" : row.isOpen ? "\u25be" : "\u25b8"}
                    </span>
                    <span class={`fn-name ${matching?.has(tree.method[row.node]) ? "is-match" : ""}`}>
                        {visible(frameName(index, tree, row.node).slice(0, SHOWN_CHARACTERS))}
                    </span>
                </span>
            ),
        },
        barColumn(4, (row) => row.total, (row) => row.total - shownOff(row.offTotal), index.run.total - shownOff(index.run.off)),
        ...timeColumns<PathRow>(index, "total"),
    ];
}

/** What a link says: which paths are open that would not be, and the other way round. */
const togglesOf = (text: string) => new Set(text.split(".").filter(Boolean).map(Number));

export function CallTree(props: ViewProps) {
    const { index, tree, root, matching, place, go } = props;
    const first = useMemo(() => hottest(tree, root), [tree, root]);
    const toggled = place.with.open ?? "";
    const order = orderBy(index, "total");
    const sort = orderOf(place, order);
    const columns = useMemo(() => pathColumns(index, tree, matching), [index, tree, matching]);
    const rows = useMemo(() => {
        const open = new Set(first);
        for (const node of togglesOf(toggled)) if (!open.delete(node)) open.add(node);
        return pathRows(tree, root, open, columns, sort);
    }, [tree, root, toggled, sort, columns]);
    const toggle = (row: PathRow) => {
        const next = togglesOf(toggled);
        if (!next.delete(row.node)) next.add(row.node);
        go({ with: { open: [...next].join("."), at: String(row.node) } });
    };
    return (
        <List
            label="Call tree"
            rows={rows}
            columns={columns}
            order={order}
            keyOf={(row) => String(row.node)}
            place={place}
            go={go}
            onOpen={(row) => row.isOpen !== undefined && toggle(row)}
            keys={(row) => methodKeys(row && tree.method[row.node], props)}
            tree={(row) => ({ level: row.level, isOpen: row.isOpen })}
            onToggle={toggle}
        />
    );
}
