// selection.tsx: figures of a part of the time: of the call that is selected, and what functions did in it.
import { useMemo, useState } from "preact/hooks";
import { count, percentage, things } from "../common/format";
import { Table, sorted } from "../common/table";
import { PlaceOf, visible } from "../common/visible";
import { moment } from "./axis";
import type { Figures, Index, Method } from "./data";
import { functionColumns } from "./lists";
import type { Selected } from "./moves";
import type { Range, Track } from "./spans";
import { time } from "./units";

/** The selected call in words; read out when it changes. */
export function AboutCall({ index, selected, threadName }: { index: Index; selected: Selected; threadName: string }) {
    const { track, span } = selected;
    const { run } = index;
    const method = index.methods[track.method[span]];
    const [begin, self, total] = [track.begin[span], track.self(span), track.spanTime(span)];
    const paused = track.end[span] - begin - total;
    return (
        <p class="flame-about" role="status">
            <b>{visible(method.name)}</b>
            <span>
                {time(run, total)} in all, {time(run, self)} itself
                {paused > 0 && `, paused for ${time(run, paused)}`}
            </span>
            <span>begins at {moment(begin, 1, run.unit === "ns")}</span>
            <span class="dim">
                {visible(threadName)}, depth {count(track.depth[span] + 1)}
            </span>
            <PlaceOf method={method} />
        </p>
    );
}

/** What functions did in a part of the time, on these threads. */
function figuresOf(index: Index, tracks: Track[], range: Range): { all: Method[]; began: number } {
    const figures = new Map<number, Figures>();
    let began = 0;
    for (const track of tracks) began += track.addFigures(range, figures);
    const none = { min: 1, max: 0, selfHalf: 0, totalHalf: 0, resumes: 0, base: undefined };
    return { all: [...figures].map(([method, of]) => ({ ...index.methods[method], ...none, ...of })), began };
}

export interface SelectionProps {
    index: Index;
    tracks: Track[];
    /** That the figures are of. */
    range: Range;
    /** Width of the slices that it consists of; 0: it may be any part of the time. */
    slice: number;
    /** What the range is: "selected time". */
    name: string;
    matching: Set<number> | undefined;
    onOpen: (method: number) => void;
}

export function Selection({ index, tracks, range, slice, name, matching, onOpen }: SelectionProps) {
    const [sort, setSort] = useState("-self");
    const { all, began } = useMemo(() => figuresOf(index, tracks, range), [tracks, range.from, range.to]);
    const busy = all.reduce((sum, row) => sum + row.self, 0);
    const inRange = useMemo(() => ({ ...index, hasWaits: false, run: { ...index.run, total: busy } }), [index, busy]);
    const columns = useMemo(() => functionColumns(inRange, all), [inRange, all]);
    const rows = useMemo(
        () => sorted(all.filter((row) => !matching || matching.has(row.index)), columns, sort),
        [all, matching, columns, sort],
    );
    const calls = all.reduce((sum, row) => sum + row.calls, 0);
    const length = range.to - range.from;
    return (
        <section class="selection" aria-label="Selection">
            <p class="selection-head">
                <b>{name}</b>
                <span>
                    {time(index.run, length)} from {moment(range.from, 1, index.run.unit === "ns")}
                    {slice > 0 && ` (whole slices of ${time(index.run, slice)})`}
                </span>
                <span>
                    {things(calls, "call")}
                    {began < calls && `, ${count(calls - began)} of them began before`}
                </span>
                <span>
                    {time(index.run, busy)} in functions ({(percentage(busy, length * tracks.length) || 0).toFixed(1)} % of the threads' time)
                </span>
            </p>
            <Table
                label="Functions in the selection"
                rows={rows}
                columns={columns}
                sort={sort}
                selected={-1}
                isPointedAt
                onSort={setSort}
                onSelect={() => {}}
                onOpen={(row) => onOpen(row.index)}
                empty="No function ran then."
            />
        </section>
    );
}
