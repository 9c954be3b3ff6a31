// changes.tsx: two runs: the functions that differ, the largest change first.
import { useMemo } from "preact/hooks";
import { count } from "../common/format";
import type { Column } from "../common/table";
import { visible } from "../common/visible";
import { type Index, type Method, type State, isSeen } from "./data";
import { headsOf } from "./measure";
import { MethodList, type ViewProps } from "./lists";
import { growth, signed, time } from "./units";

const signs: Record<State, string> = { alike: "=", changed: "\u2260", new: "+", gone: "\u2212" };

type Figure = "calls" | "self" | "total";
const wasSeen = ({ base }: Method) => !!base && (base.calls > 0 || base.total > 0);
const change = (row: Method, of: Figure) => row[of] - (row.base?.[of] ?? 0);

/** A bar to the left: less; to the right: more. */
function ChangeBar({ value, most }: { value: number; most: number }) {
    const part = most ? (50 * Math.abs(value)) / most : 0;
    const style = value < 0 ? { right: "50%", width: `${part}%` } : { left: "50%", width: `${part}%` };
    return (
        <span class="change-bar" aria-hidden="true">
            <span class={value < 0 ? "less" : "more"} style={style} />
        </span>
    );
}

function figureColumns(index: Index, of: Figure, head: string, rank: number): Column<Method>[] {
    const text = (value: number) => (of === "calls" ? count(value) : time(index.run, value));
    const noise = (row: Method) => row.base?.noise[of] ?? 0;
    const number = { isNumber: true, width: 112 };
    return [
        {
            ...number,
            id: `${of}-base`,
            head: `${head} before`,
            rank: rank + 3,
            value: (row) => row.base?.[of] ?? 0,
            cell: (row) => <span class="dim">{text(row.base?.[of] ?? 0)}</span>,
        },
        { ...number, id: of, head, rank: rank + 2, value: (row) => row[of], cell: (row) => text(row[of]) },
        {
            ...number,
            id: `${of}-change`,
            head: "Change",
            title: "New less base: what is less than 0 is an improvement",
            rank,
            value: (row) => Math.abs(change(row, of)),
            cell: (row) => {
                const value = change(row, of);
                const isChance = noise(row) > 0 && Math.abs(value) <= noise(row);
                return (
                    <span
                        class={isChance || !value ? "dim" : value < 0 ? "is-less" : "is-more"}
                        title={noise(row) ? `up to ${text(noise(row))} may be chance` : undefined}
                    >
                        {signed(value, text)}
                    </span>
                );
            },
        },
    ];
}

function columnsOf(index: Index, methods: Method[]): Column<Method>[] {
    const of: Figure = index.hasTimes ? "self" : "calls";
    const most = methods.reduce((all, row) => Math.max(all, Math.abs(change(row, of))), 0);
    const columns: Column<Method>[] = [
        {
            id: "state",
            head: "",
            title: "What became of it",
            width: 84,
            rank: 0,
            value: (row) => row.base?.state ?? "",
            cell: (row) => (
                <span class={`state state-${row.base?.state}`}>
                    {signs[row.base!.state]} {row.base!.state}
                </span>
            ),
        },
        {
            id: "name",
            head: "Function",
            rank: 0,
            value: (row) => row.name.toLowerCase(),
            cell: (row) => <span class="fn-name">{visible(row.name.slice(0, 300))}</span>,
        },
        {
            id: "bar",
            head: "",
            title: "The change as a bar",
            width: 130,
            rank: 4,
            value: (row) => change(row, of),
            cell: (row) => <ChangeBar value={change(row, of)} most={most} />,
        },
    ];
    if (index.hasTimes) columns.push(...figureColumns(index, "self", headsOf(index).self, 0));
    if (index.hasTimes)
        columns.push({
            id: "percent",
            head: "%",
            width: 84,
            isNumber: true,
            rank: 1,
            value: (row) => (row.base?.self ? change(row, "self") / row.base.self : NaN),
            cell: (row) => (row.base?.self ? signed(change(row, "self"), (size) => growth(size, row.base!.self)) : "\u2013"),
        });
    if (index.hasCalls) columns.push(...figureColumns(index, "calls", "Calls", 2));
    return columns;
}

export function Changes(props: ViewProps) {
    const { index, methods, matching } = props;
    const columns = useMemo(() => columnsOf(index, methods), [index, methods]);
    const rows = useMemo(() => {
        const differs = (m: Method) => m.index > 0 && m.base!.state !== "alike" && (isSeen(m) || wasSeen(m));
        return methods.filter((m) => differs(m) && (!matching || matching.has(m.index)));
    }, [matching, methods]);
    return (
        <MethodList
            label="Changes"
            rows={rows}
            columns={columns}
            order={index.hasTimes ? "-self-change" : "-calls-change"}
            view={props}
            empty={matching ? "No function that changed fits the search." : "Nothing changed."}
        />
    );
}
