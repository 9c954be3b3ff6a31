// list.tsx: a table whose order and selected row are in the address: a link finds the row by its key, in
// any order.
import { useMemo } from "preact/hooks";
import { type Keys, useKeys } from "./keys";
import type { Go, Place } from "./place";
import { type Column, Table, type TreeRow, sorted } from "./table";

export interface ListProps<Row> {
    label: string;
    rows: Row[];
    columns: Column<Row>[];
    /** The order that an address without one means. */
    order: string;
    keyOf: (row: Row) => string;
    place: Place;
    go: Go;
    onOpen: (row: Row) => void;
    empty?: string;
    /** What else the keyboard does with the selected row. */
    keys?: (selected: Row | undefined) => Keys;
    /** Trees only; their rows come in order. */
    tree?: (row: Row) => TreeRow;
    onToggle?: (row: Row, isOpen: boolean) => void;
}

export const orderOf = (place: Place, order: string) => place.with.sort || order;

export function List<Row>({ rows, order, keyOf, place, go, keys, ...table }: ListProps<Row>) {
    const { columns, tree } = table;
    const sort = orderOf(place, order);
    const shown = useMemo(() => (tree ? rows : sorted(rows, columns, sort)), [rows, columns, sort]);
    const selected = useMemo(() => Math.max(0, shown.findIndex((row) => keyOf(row) === place.with.at)), [shown, place.with.at]);
    useKeys(keys?.(shown[selected]) ?? {});
    return (
        <Table
            {...table}
            rows={shown}
            sort={sort}
            selected={selected}
            onSort={(next) => go({ with: { sort: next } })}
            onSelect={(i) => go({ with: { at: shown[i] ? keyOf(shown[i]) : "" } })}
        />
    );
}
