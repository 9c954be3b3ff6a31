// figures.tsx: shares of a whole, as a bar, as a cell and as the tiles at the top.
import { count, percent, percentage, things } from "../common/format";
import type { Column } from "../common/table";
import type { Totals } from "./data";

export function Bar({ hit, partial = 0, all }: { hit: number; partial?: number; all: number }) {
    const part = (n: number) => `${all > 0 ? (100 * n) / all : 0}%`;
    return (
        <span class={`bar ${all > 0 ? "" : "is-empty"}`} aria-hidden="true">
            <span class="bar-hit" style={{ width: part(hit - partial) }} />
            <span class="bar-partial" style={{ width: part(partial) }} />
        </span>
    );
}

interface HasTotals {
    totals: Totals;
}

/** A share: percent, and of how many. */
function Share({ hit, all }: { hit: number; all: number }) {
    if (!(all > 0)) return <span class="dim">{"\u2013"}</span>;
    return (
        <>
            <span class="share-percent">{percent(hit, all)}</span>
            <span class="share-of">
                {count(hit)}/{count(all)}
            </span>
        </>
    );
}

/** Bar, lines, missed lines, functions and branches: of folders, files and functions. */
export function totalColumns<Row extends HasTotals>(): Column<Row>[] {
    return [
        {
            id: "bar",
            head: "",
            width: 190,
            rank: 2,
            value: (row) => percentage(row.totals.linesHit, row.totals.lines),
            cell: ({ totals }) => (
                <Bar hit={totals.linesHit} partial={totals.linesPartial} all={totals.lines} />
            ),
        },
        {
            id: "lines",
            head: "Lines",
            title: "Lines that were executed, of those that have code",
            width: 176,
            isNumber: true,
            rank: 0,
            value: (row) => percentage(row.totals.linesHit, row.totals.lines),
            cell: ({ totals }) => <Share hit={totals.linesHit} all={totals.lines} />,
        },
        {
            id: "missed",
            head: "Missed",
            title: "Lines that have code and were never executed",
            width: 90,
            isNumber: true,
            rank: 1,
            value: (row) => row.totals.lines - row.totals.linesHit,
            cell: ({ totals }) => {
                const missed = totals.lines - totals.linesHit;
                return missed > 0 ? count(missed) : <span class="dim">0</span>;
            },
        },
        {
            id: "functions",
            head: "Functions",
            title: "Functions that were called, of all",
            width: 176,
            isNumber: true,
            rank: 3,
            value: (row) => percentage(row.totals.functionsHit, row.totals.functions),
            cell: ({ totals }) => <Share hit={totals.functionsHit} all={totals.functions} />,
        },
        {
            id: "branches",
            head: "Branches",
            title: "Ways of conditional jumps that were taken, of all",
            width: 176,
            isNumber: true,
            rank: 4,
            value: (row) => percentage(row.totals.branchesHit, row.totals.branches),
            cell: ({ totals }) => <Share hit={totals.branchesHit} all={totals.branches} />,
        },
    ];
}

function Tile({ name, hit, partial, all, note }: {
    name: string;
    hit: number;
    partial?: number;
    all: number;
    note?: string;
}) {
    if (!(all > 0)) return null;
    return (
        <div class="tile" data-name={name}>
            <span class="tile-name">{name}</span>
            <span class="tile-value">{percent(hit, all)}</span>
            <span class="tile-of">
                {count(hit)} of {count(all)}
            </span>
            <Bar hit={hit} partial={partial} all={all} />
            {note && <span class="tile-note">{note}</span>}
        </div>
    );
}

export function Tiles({ totals }: { totals: Totals }) {
    const partial = totals.linesPartial;
    return (
        <section class="tiles" aria-label="Totals">
            <Tile
                name="Lines"
                hit={totals.linesHit}
                partial={partial}
                all={totals.lines}
                note={partial > 0 ? `${things(partial, "line")} hit in part` : undefined}
            />
            <Tile name="Branches" hit={totals.branchesHit} all={totals.branches} />
            <Tile name="Functions" hit={totals.functionsHit} all={totals.functions} />
            <Tile name="Blocks" hit={totals.blocksHit} all={totals.blocks} />
        </section>
    );
}
