// figures.tsx: shares of a whole, as a bar, as a cell and as the tiles at the top.
import { count, percent, percentage, things } from "../common/format";
import { type Column, numberColumn } from "../common/table";
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
    const share = (id: string, head: string, title: string, rank: number, of: (totals: Totals) => [number, number]) =>
        numberColumn<Row>(
            id,
            head,
            title,
            176,
            rank,
            ({ totals }) => percentage(...of(totals)),
            ({ totals }) => <Share hit={of(totals)[0]} all={of(totals)[1]} />,
        );
    return [
        {
            id: "bar",
            head: "",
            title: "Lines that were executed, as a bar",
            width: 190,
            rank: 2,
            value: (row) => percentage(row.totals.linesHit, row.totals.lines),
            cell: ({ totals }) => (
                <Bar hit={totals.linesHit} partial={totals.linesPartial} all={totals.lines} />
            ),
        },
        share("lines", "Lines", "Lines that were executed, of those that have code", 0, (t) => [t.linesHit, t.lines]),
        numberColumn(
            "missed",
            "Missed",
            "Lines that have code and were never executed",
            90,
            1,
            ({ totals }) => totals.lines - totals.linesHit,
            ({ totals }) => {
                const missed = totals.lines - totals.linesHit;
                return missed > 0 ? count(missed) : <span class="dim">0</span>;
            },
        ),
        share("functions", "Functions", "Functions that were called, of all", 3, (t) => [t.functionsHit, t.functions]),
        share("branches", "Branches", "Ways of conditional jumps that were taken, of all", 4, (t) => [t.branchesHit, t.branches]),
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
