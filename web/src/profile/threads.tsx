// threads.tsx: the threads of a run, or those of two runs by name. One opens as the flame graph of that
// thread alone.
import { useMemo } from "preact/hooks";
import { List } from "../common/list";
import type { Go, Place } from "../common/place";
import { patternOf } from "../common/search";
import { type Column, numberColumn } from "../common/table";
import { visible } from "../common/visible";
import type { Index, Thread } from "./data";
import { barColumn, changeColumn, timeColumn } from "./lists";
import { time } from "./units";

const stateOf = (thread: Thread) => (!thread.isAlive ? "ended" : thread.isSuspended ? "suspended" : "alive");

const nameColumn = (head: string): Column<Thread> => ({
    id: "name",
    head,
    rank: 0,
    value: (row) => row.name.toLowerCase(),
    cell: (row) => <span class="fn-name">{visible(row.name)}</span>,
});

/** What one run knows of its threads. */
function lifeColumns(): Column<Thread>[] {
    return [
        {
            id: "state",
            head: "State",
            title: "At the end of the recording",
            width: 90,
            rank: 4,
            value: stateOf,
            cell: stateOf,
        },
        numberColumn("system", "System id", "Of the system's thread", 100, 5, (row) => row.system, (row) => String(row.system)),
        numberColumn("lives", "Lives", "Threads that used this row in turn", 76, 4, (row) => row.lives),
        numberColumn("depth", "Open calls", "When the recording ended", 100, 6, (row) => row.depth),
    ];
}

function columnsOf(index: Index): Column<Thread>[] {
    const { run, base } = index;
    const columns: Column<Thread>[] = [nameColumn(run.isVirtual ? "Virtual thread" : "Thread")];
    if (!base && !run.isImported) {
        columns.unshift(numberColumn("ordinal", "No", "In the order of first use", 64, 1, (row) => row.ordinal));
        columns.push(...lifeColumns());
    }
    if (index.hasCalls) columns.push(numberColumn("calls", "Calls", "", 120, 0, (row) => row.calls));
    if (base && index.hasCalls) columns.push(changeColumn(run, "calls", "Calls \u00b1", 3));
    if (!index.hasTimes) return columns;
    columns.push(barColumn(3, (row) => row.total, (row) => row.total, run.total));
    if (base)
        columns.push(
            numberColumn(
                "total-base",
                "Time before",
                "",
                110,
                2,
                (row) => row.base!.total,
                (row) => <span class="dim">{time(run, row.base!.total)}</span>,
            ),
        );
    columns.push(...timeColumn<Thread>(run, "total", "Time", "All that was charged to its functions", 0));
    if (base) columns.push(changeColumn(run, "total", "Time \u00b1", 1));
    return columns;
}

export function Threads({ index, place, go }: { index: Index; place: Place; go: Go }) {
    const search = place.with.search ?? "";
    const columns = useMemo(() => columnsOf(index), [index]);
    const rows = useMemo(() => {
        const { expression } = patternOf(search);
        return index.threads.filter((thread) => expression.test(thread.name));
    }, [search]);
    const view = index.hasTree ? "flame" : "functions";
    return (
        <List
            label="Threads"
            rows={rows}
            columns={columns}
            order={index.hasTimes ? "-total" : "-calls"}
            keyOf={(row) => String(row.root)}
            place={place}
            go={go}
            onOpen={(row) => go({ view, with: { thread: String(row.root), at: "", sort: "" } })}
            empty={search ? "No thread fits the search." : "No thread called a function."}
        />
    );
}
