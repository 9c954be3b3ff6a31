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
    return { id: "bar", head: "", width: 130, rank, value, cell: (row) => <Share part={part(row)} all={all} /> };
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
            width: 74,
            isNumber: true,
            rank: rank + 2,
            value: (row) => certain(row[id], half(row)),
            cell: (row) => <span class="dim">{share(run, row[id], half(row))}</span>,
        },
    ];
}

/** Against the run that is compared with. */
export function changeColumn<Row extends Timed>(run: Run, id: keyof Figures, head: string, rank: number): Column<Row> {
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

/** Calls, self and total: of functions and of call paths. Of the run before there is no change. */
function timeColumns<Row extends Timed>(index: Index): Column<Row>[] {
    const { run } = index;
    const base = run !== index.base && index.base;
    const later = Number(!!base); // the change of self goes before what else there is
    const columns: Column<Row>[] = [];
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
    columns.push(...timeColumn<Row>(run, "self", "Self", "Time in it, without what it called", 0));
    if (base) columns.push(changeColumn(run, "self", "Self \u00b1", 1));
    columns.push(...timeColumn<Row>(run, "total", "Total", "Time in it and in all that it called", 1 + later));
    if (base) columns.push(changeColumn(run, "total", "Total \u00b1", 2));
    return columns;
}

// ---- functions ---------------------------------------------------------------------------------

export function functionColumns(index: Index): Column<Method>[] {
    const { run } = index;
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
        barColumn(4, (row) => row.self, (row) => (index.hasTimes ? row.self : row.calls), run.total),
        ...timeColumns<Method>(index),
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
    const columns = useMemo(() => functionColumns(index), [index]);
    const rows = useMemo(() => methods.filter((m) => isSeen(m) && (!matching || matching.has(m.index))), [matching, methods]);
    return (
        <MethodList
            label="Functions"
            rows={rows}
            columns={columns}
            order={index.hasTimes ? "-self" : "-calls"}
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
        barColumn(4, (row) => row.total, (row) => row.total, index.run.total),
        ...timeColumns<PathRow>(index),
    ];
}

/** What a link says: which paths are open that would not be, and the other way round. */
const togglesOf = (text: string) => new Set(text.split(".").filter(Boolean).map(Number));

export function CallTree(props: ViewProps) {
    const { index, tree, root, matching, place, go } = props;
    const first = useMemo(() => hottest(tree, root), [tree, root]);
    const toggled = place.with.open ?? "";
    const order = index.hasTimes ? "-total" : "-calls";
    const sort = orderOf(place, order);
    const columns = useMemo(() => pathColumns(index, tree, matching), [tree, matching]);
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
