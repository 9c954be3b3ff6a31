// lists.tsx: functions, and the call tree.
import { useMemo, useState } from "preact/hooks";
import { count, percentage } from "../common/format";
import type { Go, Place } from "../common/place";
import { type Column, Table, sorted } from "../common/table";
import { EndOf, visible } from "../common/visible";
import type { Index, Method, Run, Tree } from "./data";
import { frameName } from "./flame";
import { share, time } from "./units";

export interface ListProps {
    index: Index;
    tree: Tree;
    /** Root of what is shown: a thread's root node, or 0. */
    root: number;
    /** Methods that a search fits; undefined: there is none. */
    matching: Set<number> | undefined;
    place: Place;
    go: Go;
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
}

/** Calls, self and total: of functions and of call paths. */
export function timeColumns<Row extends Timed>(run: Run): Column<Row>[] {
    const column = (id: "self" | "total", head: string, title: string, rank: number): Column<Row>[] => [
        {
            id,
            head,
            title,
            width: 110,
            isNumber: true,
            rank,
            value: (row) => row[id],
            cell: (row) => time(run, row[id]),
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
    return [
        {
            id: "calls",
            head: "Calls",
            width: 110,
            isNumber: true,
            rank: 2,
            value: (row) => row.calls,
            cell: (row) => count(row.calls),
        },
        ...(run.hasTimes ? column("self", "Self", "Time in it, without what it called", 0) : []),
        ...column("total", "Total", "Time in it and in all that it called", 1),
    ];
}

// ---- functions ---------------------------------------------------------------------------------

function functionColumns(run: Run): Column<Method>[] {
    return [
        {
            id: "name",
            head: "Function",
            rank: 0,
            value: (row) => row.name.toLowerCase(),
            cell: (row) => (
                <span class="fn-name" title={row.module || undefined}>
                    {visible(row.name)}
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
        ...timeColumns<Method>(run),
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

export function Functions({ index, matching, place, go }: ListProps) {
    const columns = useMemo(() => functionColumns(index.run), [index]);
    const sort = place.with.sort || (index.run.hasTimes ? "-self" : "-calls");
    const rows = useMemo(() => {
        const shown = index.methods.filter(
            (m) => m.index > 0 && m.calls > 0 && (!matching || matching.has(m.index)),
        );
        return sorted(shown, columns, sort);
    }, [sort, matching]);
    const selected = Math.max(0, rows.findIndex((row) => String(row.index) === place.with.at));
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

function pathRows(tree: Tree, root: number, open: Set<number>): PathRow[] {
    const rows: PathRow[] = [];
    const waiting = tree.children(root).map((node) => ({ node, level: 1 })).reverse();
    while (waiting.length) {
        const { node, level } = waiting.pop()!;
        const isOpen = tree.hasChildren(node) ? open.has(node) : undefined;
        rows.push({
            node,
            level,
            isOpen,
            calls: tree.calls[node],
            self: tree.self[node],
            total: tree.total[node],
        });
        if (isOpen)
            for (const child of tree.children(node).slice().reverse())
                waiting.push({ node: child, level: level + 1 });
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
            value: () => 0,
            cell: (row) => (
                <span class="tree-name" style={{ paddingLeft: `${Math.min(row.level - 1, MOST_INDENT) * 14}px` }}>
                    <span class="tree-sign" aria-hidden="true">
                        {row.isOpen === undefined ? "" : row.isOpen ? "\u25be" : "\u25b8"}
                    </span>
                    <span class={`fn-name ${matching?.has(tree.method[row.node]) ? "is-match" : ""}`}>
                        {visible(frameName(index, tree, row.node))}
                    </span>
                </span>
            ),
        },
        {
            id: "bar",
            head: "",
            width: 130,
            rank: 4,
            value: () => 0,
            cell: (row) => <Share part={row.total} all={index.run.total} />,
        },
        ...timeColumns<PathRow>(index.run),
    ];
}

export function CallTree({ index, tree, root, matching, place, go }: ListProps) {
    const [open, setOpen] = useState(() => hottest(tree, root));
    const columns = useMemo(() => pathColumns(index, tree, matching), [matching]);
    const rows = useMemo(() => pathRows(tree, root, open), [root, open]);
    const selected = Math.max(0, rows.findIndex((row) => String(row.node) === place.with.at));
    const toggle = (row: PathRow, isOpen: boolean) => {
        const next = new Set(open);
        if (isOpen) next.add(row.node);
        else next.delete(row.node);
        setOpen(next);
    };
    return (
        <Table
            label="Call tree"
            rows={rows}
            columns={columns}
            sort="-total"
            selected={selected}
            onSort={() => undefined}
            onSelect={(i) => go({ with: { at: String(rows[i]?.node ?? "") } })}
            onOpen={(row) => row.isOpen !== undefined && toggle(row, !row.isOpen)}
            tree={(row) => ({ level: row.level, isOpen: row.isOpen })}
            onToggle={toggle}
        />
    );
}
