// lists.tsx: the four lists of the overview: folders as a tree, files, functions, contexts.
import { useMemo, useState } from "preact/hooks";
import { count } from "../common/format";
import { List, orderOf } from "../common/list";
import type { Go, Place } from "../common/place";
import { type Column, numberColumn, sorted } from "../common/table";
import { EndOf, visible } from "../common/visible";
import { type Fn, type Index, type Totals, below, functions } from "./data";
import { totalColumns } from "./figures";
import { type ContextFigures, type Figures, contextFigures, contextName } from "./filter";

export interface ListProps {
    index: Index;
    figures: Figures;
    place: Place;
    go: Go;
    isLoaded: boolean;
}

// ---- folders -----------------------------------------------------------------------------------

interface TreeItem {
    isDir: boolean;
    index: number;
    name: string;
    path: string;
    level: number;
    totals: Totals;
    isOpen?: boolean;
}

const OPEN_AT_FIRST = 40;

/** Folders that hold nothing but one folder are one row with it. */
function folded(index: Index, dir: number): { dir: number; name: string } {
    const own = (i: number) => below(index.dirs[index.dirs[i].parent], index.dirs[i].path);
    let name = own(dir);
    while (index.dirs[dir].dirs.length === 1 && index.dirs[dir].files.length === 0) {
        dir = index.dirs[dir].dirs[0];
        name += `/${own(dir)}`;
    }
    return { dir, name };
}

function treeRows(props: ListProps, columns: Column<TreeItem>[], open: Set<number>): TreeItem[] {
    const { index, figures } = props;
    const rows: TreeItem[] = [];
    const sort = orderOf(props.place, "name");
    const add = (dir: number, level: number) => {
        const dirs = index.dirs[dir].dirs.map((child): TreeItem => {
            const { dir: inner, name } = folded(index, child);
            const path = index.dirs[inner].path;
            const totals = figures.dirs[inner];
            return { isDir: true, index: inner, name, path, level, totals, isOpen: open.has(inner) };
        });
        const files = index.dirs[dir].files.map((file): TreeItem => {
            const { path, name } = index.files[file];
            const totals = figures.files[file];
            return { isDir: false, index: file, name, path, level, totals };
        });
        for (const row of sorted([...dirs, ...files], columns, sort)) {
            rows.push(row);
            if (row.isOpen) add(row.index, level + 1);
        }
    };
    add(0, 1);
    return rows;
}

/** Level by level, while all of it fits a screen; and what leads to the selected row. */
function openAtFirst(index: Index, at: string): Set<number> {
    const open = new Set<number>();
    let level = [0];
    let n = 0;
    while (level.length) {
        const below = level.flatMap((dir) => index.dirs[dir].dirs.map((d) => folded(index, d).dir));
        n += below.length + level.reduce((sum, dir) => sum + index.dirs[dir].files.length, 0);
        if (n > OPEN_AT_FIRST) break;
        level.forEach((dir) => open.add(dir));
        level = below;
    }
    index.dirs.forEach((dir, i) => at.startsWith(`${dir.path}/`) && open.add(i));
    return open;
}

const treeColumns: Column<TreeItem>[] = [
    {
        id: "name",
        head: "Name",
        rank: 0,
        value: (row) => `${row.isDir ? 0 : 1}${row.name.toLowerCase()}`,
        cell: (row) => (
            <span class="tree-name" style={{ paddingLeft: `${(row.level - 1) * 18}px` }} title={row.path}>
                <span class="tree-sign" aria-hidden="true">
                    {row.isOpen === undefined ? "" : row.isOpen ? "\u25be" : "\u25b8"}
                </span>
                <span class={row.isDir ? "dir-name" : "file-name"}>
                    {visible(row.name)}
                    {row.isDir && "/"}
                </span>
            </span>
        ),
    },
    ...totalColumns<TreeItem>(),
];

export function Folders(props: ListProps) {
    const { index, place, go } = props;
    const [open, setOpen] = useState(() => openAtFirst(index, place.with.at ?? ""));
    const rows = useMemo(
        () => treeRows(props, treeColumns, open),
        [props.figures, place.with.sort, open],
    );
    const toggle = (row: TreeItem, isOpen: boolean) => {
        const next = new Set(open);
        if (isOpen) next.add(row.index);
        else next.delete(row.index);
        setOpen(next);
    };
    return (
        <List
            label="Folders and files"
            rows={rows}
            columns={treeColumns}
            order="name"
            keyOf={(row) => row.path}
            place={place}
            go={go}
            onOpen={(row) => {
                if (row.isDir) toggle(row, !row.isOpen);
                else go({ view: "file", what: row.path, with: { at: "", line: "", sort: "" } });
            }}
            tree={(row) => ({ level: row.level, isOpen: row.isOpen })}
            onToggle={toggle}
        />
    );
}

// ---- files -------------------------------------------------------------------------------------

interface FileRow {
    path: string;
    totals: Totals;
}

const fileColumns: Column<FileRow>[] = [
    {
        id: "name",
        head: "File",
        rank: 0,
        value: (row) => row.path,
        cell: (row) => <EndOf class="file-name" text={row.path} />,
    },
    ...totalColumns<FileRow>(),
];

export function Files({ index, figures, place, go }: ListProps) {
    const rows = useMemo(() => index.files.map(({ path }, i) => ({ path, totals: figures.files[i] })), [figures]);
    return (
        <List
            label="Files"
            rows={rows}
            columns={fileColumns}
            order="-missed"
            keyOf={(row) => row.path}
            place={place}
            go={go}
            onOpen={(row) =>
                go({ view: "file", what: row.path, with: { at: "", line: "", sort: "" } })
            }
        />
    );
}

// ---- functions ---------------------------------------------------------------------------------

const share = (hit: number, all: number) => (all > 0 ? (100 * hit) / all : NaN);

const placeOfFunction = (index: Index, fn: Fn) =>
    index.files[fn.file].path + (fn.firstLine > 0 ? `:${fn.firstLine}` : "");

function functionColumns(index: Index): Column<Fn>[] {
    const totals = totalColumns<{ totals: Totals }>();
    const shareColumn = (id: string, get: (fn: Fn) => Partial<Totals>): Column<Fn> => {
        const column = totals.find((c) => c.id === id)!;
        return {
            ...column,
            value: (fn) => column.value({ totals: get(fn) as Totals }),
            cell: (fn) => column.cell({ totals: get(fn) as Totals }),
        };
    };
    const lines = (fn: Fn) => ({ lines: fn.lines, linesHit: fn.linesHit, linesPartial: 0 });
    const branches = (fn: Fn) => ({ branches: fn.branches, branchesHit: fn.branchesHit });
    return [
        {
            id: "name",
            head: "Function",
            rank: 0,
            value: (fn) => fn.name.toLowerCase(),
            cell: (fn) => (
                <span class={`fn-name ${fn.isHit ? "" : "is-missed"}`} title={fn.module || undefined}>
                    {visible(fn.name)}
                </span>
            ),
        },
        numberColumn(
            "calls",
            "Calls",
            "How often it was called; 0: never",
            110,
            0,
            (fn) => fn.calls,
            (fn) => <span class={fn.isHit ? "" : "is-missed"}>{count(fn.calls)}</span>,
        ),
        shareColumn("bar", lines),
        shareColumn("lines", lines),
        shareColumn("missed", lines),
        { ...shareColumn("branches", branches), value: (fn) => share(fn.branchesHit, fn.branches) },
        {
            id: "file",
            head: "File",
            rank: 1,
            value: (fn) => `${index.files[fn.file].path}\u0000${String(fn.firstLine).padStart(9, "0")}`,
            cell: (fn) => (
                <EndOf class="file-name dim" text={placeOfFunction(index, fn)} />
            ),
        },
    ];
}

export const functionKey = (index: Index, fn: Fn) =>
    `${index.files[fn.file].path}:${fn.firstLine}:${fn.name}`;

export function Functions({ index, place, go }: ListProps) {
    const columns = useMemo(() => functionColumns(index), [index]);
    return (
        <List
            label="Functions"
            rows={functions()}
            columns={columns}
            order="-missed"
            keyOf={(fn) => functionKey(index, fn)}
            place={place}
            go={go}
            onOpen={(fn) =>
                go({
                    view: "file",
                    what: index.files[fn.file].path,
                    with: { at: "", sort: "", line: String(fn.firstLine || "") },
                })
            }
        />
    );
}

// ---- contexts ----------------------------------------------------------------------------------

const contextColumns: Column<ContextFigures>[] = [
    {
        id: "name",
        head: "Context",
        rank: 0,
        value: (row) => row.name.toLowerCase(),
        cell: (row) => <span class="fn-name">{visible(contextName(row.name))}</span>,
    },
    numberColumn("hit", "Lines hit", "Lines that were executed in it", 120, 0, (row) => row.linesHit),
    numberColumn(
        "sole",
        "Only here",
        "Lines that no other context hit",
        120,
        0,
        (row) => row.linesSole,
        (row) => (row.linesSole ? count(row.linesSole) : <span class="dim">0</span>),
    ),
    numberColumn("files", "Files", "", 100, 1, (row) => row.files),
];

export function Contexts({ index, place, go, isLoaded }: ListProps) {
    const rows = useMemo(() => (isLoaded ? contextFigures(index) : []), [isLoaded]);
    return (
        <List
            label="Contexts"
            rows={rows}
            columns={contextColumns}
            order="name"
            keyOf={(row) => row.name}
            place={place}
            go={go}
            onOpen={(row) =>
                go({ view: "folders", with: { at: "", sort: "", context: String(row.context) } })
            }
            empty="This profile has no contexts."
        />
    );
}
