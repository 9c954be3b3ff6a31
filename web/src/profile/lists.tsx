// lists.tsx: functions, and the call tree.
import { useMemo } from "preact/hooks";
import { count, percentage } from "../common/format";
import type { Go, Place } from "../common/place";
import { type Column, Table, sorted } from "../common/table";
import { EndOf, visible } from "../common/visible";
import { useKeys } from "../common/keys";
import type { Index, Method, Run } from "./data";
import { frameName } from "./flame";
import type { Tree } from "./tree";
import { share, signed, time } from "./units";

export interface ListProps {
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
}

export function Share({ part, all }: { part: number; all: number }) {
    return (
        <span class="heat" aria-hidden="true">
            <span style={{ width: `${Math.min(100, percentage(part, all) || 0)}%` }} />
        </span>
    );
}

interface Timed {
    calls: number;
    self: number;
    total: number;
    selfHalf?: number;
    totalHalf?: number;
    base?: { calls: number; self: number; total: number };
}

function timeColumn<Row extends Timed>(run: Run, id: "self" | "total", title: string, rank: number): Column<Row>[] {
    const half = (row: Row) => (id === "self" ? row.selfHalf : row.totalHalf);
    return [
        {
            id,
            head: id === "self" ? "Self" : "Total",
            title,
            width: run.isEstimated ? 190 : 110,
            isNumber: true,
            rank,
            value: (row) => row[id],
            cell: (row) => (
                <>
                    {time(run, row[id])}
                    {!!half(row) && <span class="half dim">{"\u00b1"} {time(run, half(row)!)}</span>}
                </>
            ),
        },
        {
            id: `${id}-share`,
            head: "",
            width: 74,
            isNumber: true,
            rank: rank + 2,
            value: (row) => row[id],
            cell: (row) => <span class="dim">{share(run, row[id])}</span>,
        },
    ];
}

/** Against the run that is compared with. */
function changeColumn<Row extends Timed>(run: Run, id: "self" | "total" | "calls", head: string, rank: number): Column<Row> {
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

/** Calls, self and total: of functions and of call paths. */
export function timeColumns<Row extends Timed>({ run, base }: Index): Column<Row>[] {
    const columns: Column<Row>[] = [
        {
            id: "calls",
            head: "Calls",
            width: 110,
            isNumber: true,
            rank: 2,
            value: (row) => row.calls,
            cell: (row) => count(row.calls),
        },
    ];
    if (base) columns.push(changeColumn(run, "calls", "Calls \u00b1", 3));
    if (!run.hasTimes) return columns;
    columns.push(...timeColumn<Row>(run, "self", "Time in it, without what it called", 0));
    if (base) columns.push(changeColumn(run, "self", "Self \u00b1", 1));
    columns.push(...timeColumn<Row>(run, "total", "Time in it and in all that it called", 1));
    if (base) columns.push(changeColumn(run, "total", "Total \u00b1", 1));
    return columns;
}

// ---- functions ---------------------------------------------------------------------------------

function functionColumns(index: Index): Column<Method>[] {
    const { run } = index;
    return [
        {
            id: "name",
            head: "Function",
            rank: 0,
            value: (row) => row.name.toLowerCase(),
            cell: (row) => (
                <span class="fn-name" title={row.module || undefined}>
                    {visible(row.name.slice(0, SHOWN_CHARACTERS))}
                </span>
            ),
        },
        {
            id: "bar",
            head: "",
            width: 130,
            rank: 4,
            value: (row) => row.self,
            cell: (row) => <Share part={run.hasTimes ? row.self : row.calls} all={run.total} />,
        },
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
export function useFoldKeys(method: number | undefined, { onFocus, onHide }: Pick<ListProps, "onFocus" | "onHide">) {
    useKeys({
        f: () => (method ? onFocus(method) : false),
        x: () => (method ? onHide(method) : false),
    });
}

export function Functions(props: ListProps) {
    const { index, methods, matching, place, go } = props;
    const columns = useMemo(() => functionColumns(index), [index]);
    const sort = place.with.sort || (index.run.hasTimes ? "-self" : "-calls");
    const rows = useMemo(() => {
        const shown = methods.filter((m) => m.index > 0 && m.calls > 0 && (!matching || matching.has(m.index)));
        return sorted(shown, columns, sort);
    }, [sort, matching, methods]);
    const selected = Math.max(0, rows.findIndex((row) => String(row.index) === place.with.at));
    useFoldKeys(rows[selected]?.index, props);
    return (
        <Table
            label="Functions"
            rows={rows}
            columns={columns}
            sort={sort}
            selected={selected}
            onSort={(next) => go({ with: { sort: next } })}
            onSelect={(i) => go({ with: { at: String(rows[i]?.index ?? "") } })}
            onOpen={(row) => go({ view: "function", what: String(row.index), with: { at: "", sort: "" } })}
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

/** The hottest path is open at first: down to where own time is more than that of any callee. */
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
                <span class="tree-name" style={{ paddingLeft: `${Math.min(row.level - 1, MOST_INDENT) * 14}px` }}>
                    <span class="tree-sign" aria-hidden="true">
                        {row.isOpen === undefined ? "" : row.isOpen ? "\u25be" : "\u25b8"}
                    </span>
                    <span class={`fn-name ${matching?.has(tree.method[row.node]) ? "is-match" : ""}`}>
                        {visible(frameName(index, tree, row.node).slice(0, SHOWN_CHARACTERS))}
                    </span>
                </span>
            ),
        },
        {
            id: "bar",
            head: "",
            width: 130,
            rank: 4,
            value: (row) => row.total,
            cell: (row) => <Share part={row.total} all={index.run.total} />,
        },
        ...timeColumns<PathRow>(index),
    ];
}

/** What a link says: which paths are open that would not be, and the other way round. */
const togglesOf = (text: string) => new Set(text.split(".").filter(Boolean).map(Number));

export function CallTree(props: ListProps) {
    const { index, tree, root, matching, place, go } = props;
    const first = useMemo(() => hottest(tree, root), [tree, root]);
    const toggled = place.with.open ?? "";
    const sort = place.with.sort || (index.run.hasTimes ? "-total" : "-calls");
    const columns = useMemo(() => pathColumns(index, tree, matching), [tree, matching]);
    const rows = useMemo(() => {
        const open = new Set(first);
        for (const node of togglesOf(toggled)) if (!open.delete(node)) open.add(node);
        return pathRows(tree, root, open, columns, sort);
    }, [tree, root, toggled, sort, columns]);
    const selected = Math.max(0, rows.findIndex((row) => String(row.node) === place.with.at));
    const toggle = (row: PathRow) => {
        const next = togglesOf(toggled);
        if (!next.delete(row.node)) next.add(row.node);
        go({ with: { open: [...next].join("."), at: String(row.node) } });
    };
    const method = rows[selected] && tree.method[rows[selected].node];
    useFoldKeys(method, props);
    return (
        <Table
            label="Call tree"
            rows={rows}
            columns={columns}
            sort={sort}
            selected={selected}
            onSort={(next) => go({ with: { sort: next } })}
            onSelect={(i) => go({ with: { at: String(rows[i]?.node ?? "") } })}
            onOpen={(row) => row.isOpen !== undefined && toggle(row)}
            tree={(row) => ({ level: row.level, isOpen: row.isOpen })}
            onToggle={toggle}
        />
    );
}
