// sources.tsx: the source files, and one of them with the figures of its lines and blocks.
import { useEffect, useMemo } from "preact/hooks";
import { count, percentage, things } from "../common/format";
import { useKeys } from "../common/keys";
import { List } from "../common/list";
import type { Go, Place } from "../common/place";
import { Source } from "../common/source";
import { type Column, numberColumn } from "../common/table";
import type { Theme } from "../common/theme";
import { EndOf, visible } from "../common/visible";
import { heatColor } from "./color";
import { type Block, type Index, type Line, type SourceFile, linesOf, textOf, tickOf } from "./data";
import { barColumn } from "./lists";
import { around, share, time } from "./units";

// ---- files -------------------------------------------------------------------------------------

function fileColumns(index: Index): Column<SourceFile>[] {
    const { run } = index;
    const columns: Column<SourceFile>[] = [
        {
            id: "file",
            head: "File",
            rank: 0,
            value: (row) => row.path,
            cell: (row) => <EndOf class="file-name" text={row.path} />,
        },
        numberColumn("functions", "Functions", "", 110, 1, (row) => row.nMethods),
    ];
    if (!index.hasTimes) return columns;
    return [
        ...columns,
        barColumn(3, (row) => row.self, (row) => row.self, run.total),
        numberColumn("self", "Self", "Self time of its functions", 110, 0, (row) => row.self, (row) => time(run, row.self)),
        numberColumn("share", "", "Self time, in percent of all", 74, 2, (row) => row.self, (row) => (
            <span class="dim">{share(run, row.self)}</span>
        )),
    ];
}

export function Sources({ index, place, go }: { index: Index; place: Place; go: Go }) {
    const columns = useMemo(() => fileColumns(index), [index]);
    return (
        <List
            label="Source files"
            rows={index.files}
            columns={columns}
            order={index.hasTimes ? "-self" : "file"}
            keyOf={(row) => String(row.index)}
            place={place}
            go={go}
            onOpen={(row) => go({ view: "source", what: String(row.index), with: { at: "", sort: "", line: "" } })}
            empty="The program named no source files."
        />
    );
}

// ---- one file ----------------------------------------------------------------------------------

/** As qprof annotate: | a line of code, + several blocks begin on it, # one was never executed. */
function markOf(line: Line): string {
    const mark = line.blocks.length > 1 ? "+" : "|";
    if (!line.nMissed) return mark;
    return line.blocks.length > 1 ? "+#" : "#";
}

/** What heat is measured by: self time, or executions where lines have no times. */
function heatOf(lines: Line[], hasTimes: boolean): (item: { self: number; count: number }) => number {
    const value = (item: { self: number; count: number }) => (hasTimes ? item.self : item.count);
    const most = lines.reduce((all, line) => Math.max(all, value(line)), 0);
    return (item) => (most ? value(item) / most : 0);
}

/** The same lines in steps, for styles: 0 is cold, 5 hottest. */
const stepOf = (part: number) => Math.round(Math.sqrt(part) * 5);

function description(index: Index, line: Line | undefined): string {
    if (!line) return "no code";
    const parts = [];
    if (line.isCounted) parts.push(`executed ${things(line.count, "time")}`);
    if ((line.isTimed || line.isSampled) && index.hasTimes) parts.push(`${around(index.run, line.self, line.selfHalf)} itself`);
    if (line.blocks.length > 1) parts.push(`${line.blocks.length} blocks${line.nMissed ? `, ${line.nMissed} never executed` : ""}`);
    return parts.join(", ") || "code";
}

/** What is known of the lines of a file. */
interface Known {
    times: boolean;
    /** Times with callees, which were measured. */
    totals: boolean;
    /** Estimates from samples. */
    halves: boolean;
}

function Gutter({ index, line, known }: { index: Index; line: Line | undefined; known: Known }) {
    const { run } = index;
    const isKnown = line?.isTimed || line?.isSampled;
    const isNoise = line && line.selfHalf > line.self;
    return (
        <>
            <span class="line-mark" role="gridcell">
                {line && markOf(line)}
            </span>
            <span class="line-figure" role="gridcell">
                {line?.isCounted && count(line.count)}
            </span>
            {known.times && (
                <span class={`line-figure ${isNoise ? "dim" : ""}`} role="gridcell">
                    {isKnown && time(run, line!.self, line!.selfHalf)}
                </span>
            )}
            {known.halves && (
                <span class="line-figure dim" role="gridcell">
                    {line?.isSampled && `\u00b1 ${time(run, line.selfHalf, line.selfHalf)}`}
                </span>
            )}
            {known.totals && (
                <span class="line-figure" role="gridcell">
                    {line?.isTimed && time(run, line.total)}
                </span>
            )}
        </>
    );
}

function BlockRow({ index, block, part }: { index: Index; block: Block; part: number }) {
    const { run } = index;
    return (
        <li class={`block heat-${stepOf(part)}`}>
            <span>{block.isCounted ? things(block.count, "time") : "not counted"}</span>
            {block.isSampled && index.hasTimes && <span>{around(run, block.self, block.selfHalf)} itself</span>}
            {block.isTimed && index.hasTimes && (
                <span>
                    {time(run, block.self)} itself, {time(run, block.total)} in all
                </span>
            )}
        </li>
    );
}

/** What is known of the selected line: its function, its blocks. */
function LinePanel({ index, file, number, line, heat, go }: {
    index: Index;
    file: SourceFile;
    number: number;
    line: Line | undefined;
    heat: (item: Block) => number;
    go: Go;
}) {
    const names = [...new Set(line?.blocks.map((b) => b.name))];
    const methods = names.map((name) => index.methods.find((m) => m.name === name && m.file === file.path));
    return (
        <aside class="panel" aria-label="Details" tabIndex={0}>
            <section class="panel-part">
                <h2>Line {count(number)}</h2>
                <p class="dim">{description(index, line)}</p>
            </section>
            {methods.map((method) => method && (
                <section class="panel-part" key={method.index}>
                    <h2>Function</h2>
                    <button type="button" class="edge-name fn-name" onClick={() => go({ view: "function", what: String(method.index), with: { line: "" } })}>
                        {visible(method.name)}
                    </button>
                    <p class="dim">
                        {[
                            index.hasCalls && things(method.calls, "call"),
                            index.hasTimes && `${time(index.run, method.self)} itself, ${time(index.run, method.total)} in all`,
                        ]
                            .filter(Boolean)
                            .join(", ")}
                    </p>
                </section>
            ))}
            {line && line.blocks.length > 1 && (
                <section class="panel-part" aria-label="Blocks">
                    <h2>
                        Blocks <span class="dim">{count(line.blocks.length)}</span>
                    </h2>
                    <ol>
                        {line.blocks.map((block, i) => (
                            <BlockRow key={i} index={index} block={block} part={heat(block)} />
                        ))}
                    </ol>
                </section>
            )}
        </aside>
    );
}

export interface SourcePageProps {
    index: Index;
    file: SourceFile;
    place: Place;
    theme: Theme;
    go: Go;
}

export function SourcePage({ index, file, place, theme, go }: SourcePageProps) {
    const lines = useMemo(() => linesOf(file.index, tickOf(index.run)) ?? [], [file]);
    const text = textOf(file.index) ?? { missing: "", changed: false, lines: [] };
    const byLine = useMemo(() => new Map(lines.map((line) => [line.line, line])), [lines]);
    const known = {
        times: index.hasTimes && lines.some((line) => line.isTimed || line.isSampled),
        totals: index.hasTimes && lines.some((line) => line.isTimed),
        halves: index.hasTimes && lines.some((line) => line.isSampled),
    };
    const heat = useMemo(() => heatOf(lines, known.times), [lines]);
    const hottest = useMemo(() => [...lines].filter((line) => heat(line) > 0).sort((a, b) => heat(b) - heat(a)), [lines]);
    const n = Math.max(text.lines.length, lines[lines.length - 1]?.line ?? 0, 1);
    const selected = Math.max(1, Math.min(n, Number(place.with.line) || hottest[0]?.line || 1));
    useEffect(() => {
        document.title = `${file.path} \u2013 profile`;
    }, [file]);
    const jump = (step: number) => {
        const at = hottest.findIndex((line) => line.line === selected);
        const next = hottest[at < 0 ? 0 : at + step];
        if (next) go({ with: { line: String(next.line) } });
    };
    useKeys({ n: () => jump(1), p: () => jump(-1) });
    return (
        <div class="source-page">
            <p class="source-head">
                <EndOf class="file-name" text={file.path} />
                <span class="dim">
                    {index.hasTimes && `${time(index.run, file.self)} (${percentage(file.self, index.run.total).toFixed(1)} %), `}
                    {things(file.nMethods, "function")}
                </span>
            </p>
            {text.missing && <p class="note">The source is not here: {visible(text.missing)}. Figures are shown without it.</p>}
            {text.changed && <p class="note">The source has changed since it was loaded: figures may be beside the wrong lines.</p>}
            {!lines.length && <p class="note">The profile has no figures of its lines.</p>}
            <div class="file-body">
                <Source
                    label={`Source of ${file.path}`}
                    path={file.path}
                    lines={text.lines}
                    count={n}
                    selected={selected}
                    onSelect={(line) => go({ with: { line: String(line) } })}
                    gutter={(line) => <Gutter index={index} line={byLine.get(line)} known={known} />}
                    gutterHead={
                        <>
                            <span class="line-mark" />
                            <span class="line-figure">Count</span>
                            {known.times && <span class="line-figure">Self</span>}
                            {known.halves && <span class="line-figure">{"\u00b1"}</span>}
                            {known.totals && <span class="line-figure">Total</span>}
                        </>
                    }
                    lineClass={(line) => `heat-${stepOf(heat(byLine.get(line) ?? { self: 0, count: 0 }))}`}
                    ruler={(line) => {
                        const found = byLine.get(line);
                        return found && heat(found) > 0.01 ? heatColor(heat(found), theme) : undefined;
                    }}
                    rulerOf={[lines, theme]}
                    description={(line) => description(index, byLine.get(line))}
                />
                <LinePanel index={index} file={file} number={selected} line={byLine.get(selected)} heat={heat} go={go} />
            </div>
        </div>
    );
}
