// file.tsx: one file: its source with counts, and beside it what is known of the selected line.
import { useEffect, useMemo } from "preact/hooks";
import { count, percent, things } from "../common/format";
import { useKeys } from "../common/keys";
import type { Go, Place } from "../common/place";
import { Source } from "../common/source";
import { themeOf } from "../common/theme";
import { EndOf, visible, visibleText } from "../common/visible";
import { type File, type Fn, type Index, type Line, functions, linesOf, sourceOf } from "./data";
import { Tiles } from "./figures";
import { type Figures, type Filter, contextName, filteredCount, isFiltering, lineState } from "./filter";
import { LinePanel } from "./panel";

export interface FilePageProps {
    index: Index;
    file: File;
    figures: Figures;
    filter: Filter;
    place: Place;
    go: Go;
}

/** First and last line of each run of lines that need a look. */
function missedSections(lines: Line[], filter: Filter): [number, number][] {
    const sections: [number, number][] = [];
    let isInside = false;
    for (const line of lines) {
        const state = lineState(line, filter);
        if (state === "dead") continue;
        const hasMissedWay = line.branches.some((branch) => branch.isReached && branch.count === 0);
        const isMissed = state !== "hit" || (hasMissedWay && !isFiltering(filter));
        if (isMissed && isInside) sections[sections.length - 1][1] = line.line;
        else if (isMissed) sections.push([line.line, line.line]);
        isInside = isMissed;
    }
    return sections;
}

/** Counts in a narrow column: 12,345 as it is, 1,234,567 as 1.23M. */
function shortCount(n: number): string {
    if (n < 100000) return count(n);
    for (const [size, sign] of [[1e18, "E"], [1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]] as const)
        if (n >= size) return `${(Math.floor((n / size) * 10) / 10).toFixed(1)}${sign}`;
    return count(n);
}

const signs = { hit: "", partial: "\u25d0", missed: "", other: "", dead: "\u2013" };
const markLetters = { "": "", deadcode: "D", tested: "T", inspected: "I" };

function GutterCells({ times = "", timesTitle = "", sign = "", branches = "", isShort = false, only = "" }) {
    return (
        <>
            <span class="line-count" role="gridcell" title={timesTitle || undefined}>
                {times}
            </span>
            <span class="line-sign" aria-hidden="true">
                {sign}
            </span>
            <span
                class={`line-branches ${isShort ? "is-short" : ""}`}
                role="gridcell"
                title={branches ? `${branches.replace("/", " of ")} ways taken` : undefined}
            >
                {branches}
            </span>
            <span class="line-sole" title={only ? `hit by ${only} only` : undefined}>
                {only && "\u2022"}
            </span>
        </>
    );
}

function Gutter({ line, filter, index }: { line: Line | undefined; filter: Filter; index: Index }) {
    if (!line) return <GutterCells />;
    const n = line.branches.length;
    const taken = line.branches.filter((branch) => branch.count > 0).length;
    const isSole = line.touches.length === 1 && index.contexts.length > 1;
    const times = filteredCount(line, filter);
    return (
        <GutterCells
            times={index.once ? (times > 0 ? "hit" : "0") : shortCount(times)}
            timesTitle={count(times)}
            sign={line.mark ? markLetters[line.mark] : signs[lineState(line, filter)]}
            branches={n > 0 ? `${taken}/${n}` : ""}
            isShort={taken < n}
            only={isSole ? visibleText(contextName(index.contexts[line.touches[0].context])) : ""}
        />
    );
}

/** What the colours of a line mean, in words. */
export function description(line: Line | undefined, filter: Filter): string {
    if (!line) return "no code";
    const state = lineState(line, filter);
    const times = things(filteredCount(line, filter), "time");
    if (state === "dead") return "marked as dead code, in no total";
    if (line.mark === "tested") return `marked as tested, executed ${times}`;
    if (line.mark === "inspected") return `marked as inspected, executed ${times}`;
    if (state === "missed") return "missed";
    if (state === "other") return "hit, but not by this filter";
    if (state === "partial")
        return `hit in part, ${line.blocks.filter((n) => n > 0).length} of ${line.blocks.length} blocks`;
    return `hit ${times}`;
}

function rulerColors(): Record<string, string> {
    const style = getComputedStyle(document.documentElement);
    const color = (name: string) => style.getPropertyValue(name).trim();
    return { missed: color("--missed"), partial: color("--partial"), other: color("--other") };
}

/** The innermost function around a line. */
function functionAt(list: Fn[], line: number): Fn | undefined {
    const around = list.filter((fn) => fn.firstLine <= line && line <= fn.lastLine);
    return around.sort((a, b) => b.firstLine - a.firstLine || a.lastLine - b.lastLine)[0];
}

function FunctionList({ list, selected, go }: { list: Fn[]; selected: number; go: Go }) {
    const here = functionAt(list, selected);
    return (
        <section class="panel-part functions" aria-label="Functions of this file">
            <h2>
                Functions <span class="dim">{count(list.length)}</span>
            </h2>
            <ul>
                {list.map((fn, i) => (
                    <li key={i}>
                        <button
                            type="button"
                            class={`fn ${fn.isHit ? "" : "is-missed"} ${fn === here ? "is-here" : ""}`}
                            disabled={!fn.firstLine}
                            onClick={() => go({ with: { line: String(fn.firstLine) } })}
                        >
                            <EndOf class="fn-name" text={fn.name} />
                            <span class="fn-calls">{fn.isHit ? things(fn.calls, "call") : "missed"}</span>
                            <span class="fn-lines">{percent(fn.linesHit, fn.lines)}</span>
                        </button>
                    </li>
                ))}
            </ul>
        </section>
    );
}

function Notes({ file }: { file: number }) {
    const source = sourceOf(file);
    if (!source) return null;
    return (
        <>
            {source.missing && (
                <p class="note">The source is not here: {visible(source.missing)}. Counts are shown without it.</p>
            )}
            {source.changed && (
                <p class="note">
                    The source has changed since it was loaded: counts may be beside the wrong lines.
                </p>
            )}
        </>
    );
}

function MissedButtons({ sections, at, jump }: {
    sections: [number, number][];
    at: number;
    jump: (step: number) => void;
}) {
    if (!sections.length) return <span class="all-hit">Nothing is missed</span>;
    const here = sections.findIndex(([from, to]) => from <= at && at <= to);
    return (
        <span class="missed-buttons">
            <button type="button" class="plain" title="Previous missed section (p)" onClick={() => jump(-1)}>
                {"\u25b4"}
            </button>
            <button type="button" class="plain" title="Next missed section (n)" onClick={() => jump(1)}>
                {"\u25be"}
            </button>
            <span class="dim">
                {here >= 0 ? `${here + 1} of ` : ""}
                {things(sections.length, "missed section")}
            </span>
        </span>
    );
}

export function FilePage({ index, file, figures, filter, place, go }: FilePageProps) {
    const lines = linesOf(file.index);
    const source = sourceOf(file.index);
    const theme = themeOf(place.with.theme);
    const list = useMemo(() => functions().filter((fn) => fn.file === file.index), [file]);
    const byLine = useMemo(() => new Map(lines?.map((line) => [line.line, line])), [lines]);
    const sections = useMemo(() => missedSections(lines ?? [], filter), [lines, filter]);
    const colors = useMemo(rulerColors, [theme]);
    const last = lines?.length ? lines[lines.length - 1].line : 0;
    const n = Math.max(source?.lines.length ?? 0, last);
    const selected = Math.max(1, Math.min(n, Number(place.with.line) || sections[0]?.[0] || 1));

    useEffect(() => {
        document.title = `${file.path} \u2013 coverage`;
    }, [file]);
    const jump = (step: number) => {
        const target =
            step > 0
                ? sections.find(([from]) => from > selected)
                : sections.filter(([, to]) => to < selected).pop();
        if (target) go({ with: { line: String(target[0]) } });
    };
    useKeys({ n: () => jump(1), p: () => jump(-1) });
    if (!lines || !source) return <p class="nothing">Loading …</p>;

    const state = (line: number) => {
        const known = byLine.get(line);
        return known ? lineState(known, filter) : "";
    };
    return (
        <div class="file-page">
            <div class="file-head">
                <Tiles totals={figures.files[file.index]} />
                <MissedButtons sections={sections} at={selected} jump={jump} />
            </div>
            <Notes file={file.index} />
            <div class="file-body">
                <Source
                    label={`Source of ${file.path}`}
                    path={file.path}
                    lines={source.lines}
                    count={n}
                    selected={selected}
                    onSelect={(line) => go({ with: { line: String(line) } })}
                    gutter={(line) => <Gutter line={byLine.get(line)} filter={filter} index={index} />}
                    gutterHead={
                        <>
                            <span class="line-count">Count</span>
                            <span class="line-sign" />
                            <span class="line-branches">Branch</span>
                            <span class="line-sole" />
                        </>
                    }
                    lineClass={(line) => `is-${state(line) || "plain"}`}
                    ruler={(line) => colors[state(line)]}
                    rulerOf={[lines, filter, theme]}
                    description={(line) => description(byLine.get(line), filter)}
                />
                <aside class="panel" aria-label="Details">
                    <LinePanel
                        index={index}
                        number={selected}
                        line={byLine.get(selected)}
                        description={description(byLine.get(selected), filter)}
                        context={isFiltering(filter) ? filter.context : -1}
                        go={go}
                    />
                    <FunctionList list={list} selected={selected} go={go} />
                </aside>
            </div>
        </div>
    );
}
