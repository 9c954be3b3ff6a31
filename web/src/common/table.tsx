// table.tsx: a table or a tree of any size: sorted by its head, worked by the keyboard, reported to
// screen readers as a grid.
import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { count } from "./format";
import { useKeys } from "./keys";
import { Rows, type RowsHandle } from "./rows";

export interface Column<Row> {
    id: string;
    /** "": it cannot be sorted by. */
    head: string;
    /** What the figure means, in a sentence; the name for screen readers where there is no head. */
    title?: string;
    /** Width in pixels; absent: takes what is left. */
    width?: number;
    isNumber?: boolean;
    /** 0: always shown; where it is narrow, higher ones are left out first. */
    rank: number;
    /** What rows are ordered by; NaN comes last. */
    value: (row: Row) => number | string;
    cell: (row: Row) => ComponentChildren;
}

/** A column of figures. @param cell  without it the count */
export function numberColumn<Row>(
    id: string,
    head: string,
    title: string,
    width: number,
    rank: number,
    value: (row: Row) => number,
    cell: (row: Row) => ComponentChildren = (row) => count(value(row)),
): Column<Row> {
    return { id, head, title, width, isNumber: true, rank, value, cell };
}

/** "lines" ascending, "-lines" descending. */
export type Sort = string;

/** @return the rows in that order; equal ones stay as they were */
export function sorted<Row>(rows: Row[], columns: Column<Row>[], sort: Sort): Row[] {
    const isDescending = sort.startsWith("-");
    const column = columns.find((c) => c.id === sort.replace(/^-/, ""));
    if (!column) return rows;
    const sign = isDescending ? -1 : 1;
    const keyed = rows.map((row) => ({ row, key: column.value(row) }));
    keyed.sort((a, b) => {
        const isLast = (key: number | string) => typeof key === "number" && Number.isNaN(key);
        if (isLast(a.key) || isLast(b.key)) return Number(isLast(a.key)) - Number(isLast(b.key));
        return a.key < b.key ? -sign : a.key > b.key ? sign : 0;
    });
    return keyed.map(({ row }) => row);
}

/** The other order of this column, or its first one: figures from the top, names from A. */
function nextSort<Row>(column: Column<Row>, sort: Sort): Sort {
    if (sort === column.id) return `-${column.id}`;
    if (sort === `-${column.id}`) return column.id;
    return column.isNumber ? `-${column.id}` : column.id;
}

const FLEXIBLE_WIDTH = 260;

/** Those for which there is room; that of the order is always shown, so that the order can be seen. */
function fitting<Row>(columns: Column<Row>[], width: number, sort: Sort): Column<Row>[] {
    const needed = (list: Column<Row>[]) =>
        list.reduce((sum, column) => sum + (column.width ?? FLEXIBLE_WIDTH), 0);
    const rankOf = (column: Column<Row>) => (column.id === sort.replace(/^-/, "") ? 0 : column.rank);
    let shown = columns;
    while (needed(shown) > width) {
        const rank = Math.max(...shown.map(rankOf));
        if (rank === 0) break;
        shown = shown.filter((column) => rankOf(column) < rank);
    }
    return shown;
}

const template = <Row,>(columns: Column<Row>[]) =>
    columns.map((c) => (c.width ? `${c.width}px` : "minmax(0, 1fr)")).join(" ");

export interface TreeRow {
    /** From 1. */
    level: number;
    /** Undefined: has nothing below it. */
    isOpen?: boolean;
}

export interface TableProps<Row> {
    label: string;
    rows: Row[];
    columns: Column<Row>[];
    sort: Sort;
    selected: number;
    onSort: (sort: Sort) => void;
    onSelect: (index: number) => void;
    onOpen: (row: Row, index: number) => void;
    /** Trees only. */
    tree?: (row: Row) => TreeRow;
    onToggle?: (row: Row, isOpen: boolean) => void;
    rowClass?: (row: Row) => string;
    empty?: string;
    handle?: RefObject<RowsHandle>;
    /** By the mouse alone: the keyboard is another view's. */
    isPointedAt?: boolean;
}

const ROW_HEIGHT = 30;

function useTableKeys<Row>(props: TableProps<Row>, rows: RefObject<RowsHandle>) {
    const { selected, tree } = props;
    const select = (index: number) => {
        const inside = Math.max(0, Math.min(props.rows.length - 1, index));
        props.onSelect(inside);
        rows.current?.show(inside);
    };
    const by = (step: number) => () => select(selected + step);
    const row = props.rows[selected];
    const right = () => {
        if (!tree || !row) return false;
        const { isOpen } = tree(row);
        if (isOpen === false) props.onToggle!(row, true);
        else if (isOpen) select(selected + 1);
        return true;
    };
    const left = () => {
        if (!tree || !row) return false;
        const { isOpen, level } = tree(row);
        if (isOpen) props.onToggle!(row, false);
        else
            for (let i = selected; i >= 0; i--)
                if (tree(props.rows[i]).level < level) {
                    select(i);
                    break;
                }
        return true;
    };
    const open = () => (row ? props.onOpen(row, selected) : false);
    const keys = {
        j: by(1),
        ArrowDown: by(1),
        k: by(-1),
        ArrowUp: by(-1),
        PageDown: () => select(selected + (rows.current?.page() ?? 10)),
        PageUp: () => select(selected - (rows.current?.page() ?? 10)),
        Home: () => select(0),
        End: () => select(props.rows.length - 1),
        Enter: open,
        o: open,
        ArrowRight: right,
        l: right,
        ArrowLeft: left,
        h: left,
    };
    useKeys(props.isPointedAt ? {} : keys);
}

function Head<Row>({ columns, sort, onSort }: {
    columns: Column<Row>[];
    sort: Sort;
    onSort: (sort: Sort) => void;
}) {
    const signs = { ascending: "\u25b4", descending: "\u25be", none: "" };
    const order = (id: string) =>
        sort === id ? "ascending" : sort === `-${id}` ? "descending" : "none";
    return (
        <div role="row" class="table-row table-head" style={{ gridTemplateColumns: template(columns) }}>
            {columns.map((column) => (
                <div
                    role="columnheader"
                    key={column.id}
                    aria-sort={order(column.id)}
                    class={column.isNumber ? "is-number" : ""}
                >
                    {!column.head && <span class="unseen">{column.title}</span>}
                    {column.head && (
                        <button
                            type="button"
                            title={column.title}
                            onClick={() => onSort(nextSort(column, sort))}
                        >
                            {column.head}
                            <span class="sort-sign" aria-hidden="true">
                                {signs[order(column.id)]}
                            </span>
                        </button>
                    )}
                </div>
            ))}
        </div>
    );
}

export function Table<Row>(props: TableProps<Row>) {
    const { rows, columns, selected, tree } = props;
    const id = useId();
    const own = useRef<RowsHandle>(null);
    const handle = props.handle ?? own;
    useTableKeys(props, handle);
    useEffect(() => handle.current?.show(selected, true), [rows]);

    const row = (index: number, width: number) => {
        const item = rows[index];
        const shown = fitting(columns, width, props.sort);
        const place = tree?.(item);
        const isSelected = index === selected;
        return (
            <div
                role="row"
                key={index}
                id={`${id}-${index}`}
                aria-rowindex={index + 2}
                aria-selected={isSelected}
                aria-level={place?.level}
                aria-expanded={place?.isOpen}
                class={`table-row ${isSelected ? "is-selected" : ""} ${props.rowClass?.(item) ?? ""}`}
                style={{ gridTemplateColumns: template(shown), height: `${ROW_HEIGHT}px` }}
                onClick={() => {
                    props.onSelect(index);
                    props.onOpen(item, index);
                }}
            >
                {shown.map((column) => (
                    <div
                        role="gridcell"
                        key={column.id}
                        class={`cell-${column.id} ${column.isNumber ? "is-number" : ""}`}
                    >
                        {column.cell(item)}
                    </div>
                ))}
            </div>
        );
    };
    return (
        <>
            <Rows
                class="table"
                role={tree ? "treegrid" : "grid"}
                aria-label={props.label}
                aria-rowcount={rows.length + 1}
                active={[selected, `${id}-${selected}`]}
                tabIndex={0}
                count={rows.length}
                height={ROW_HEIGHT}
                headHeight={ROW_HEIGHT}
                head={(width) => (
                    <Head columns={fitting(columns, width, props.sort)} sort={props.sort} onSort={props.onSort} />
                )}
                row={row}
                handle={handle}
            />
            {rows.length === 0 && <p class="nothing">{props.empty ?? "Nothing to show."}</p>}
        </>
    );
}
