// filter.ts: what one context hit, and what no other did.
import { type File, type Index, type Line, type Totals, linesOf } from "./data";

export interface Filter {
    /** Index of a context; -1: all. */
    context: number;
    /** Only lines that exactly one context hit. */
    isSole: boolean;
}

export const isFiltering = (filter: Filter) => filter.context >= 0 || filter.isSole;

/** hit, partial, missed: as in the totals; other: hit, but not by what the filter asks for */
export type LineState = "hit" | "partial" | "missed" | "other" | "dead";

/** How often the contexts that the filter lets through hit the line. */
export function filteredCount(line: Line, filter: Filter): number {
    if (!isFiltering(filter)) return line.count;
    if (filter.isSole && line.touches.length !== 1) return 0;
    const passing = line.touches.filter((t) => filter.context < 0 || t.context === filter.context);
    return passing.reduce((sum, touch) => sum + touch.count, 0);
}

export function lineState(line: Line, filter: Filter): LineState {
    if (line.mark === "deadcode") return "dead";
    if (!line.isHit) return "missed";
    if (isFiltering(filter)) return filteredCount(line, filter) > 0 ? "hit" : "other";
    return line.isPartial ? "partial" : "hit";
}

function linesHit(file: File, filter: Filter): number {
    const lines = linesOf(file.index) ?? [];
    let n = 0;
    for (const line of lines)
        if (line.mark !== "deadcode" && filteredCount(line, filter) > 0) n++;
    return n;
}

/** What contexts leave unknown: they have lines only. */
const unknown = {
    functions: NaN,
    functionsHit: NaN,
    linesPartial: 0,
    branches: NaN,
    branchesHit: NaN,
    blocks: NaN,
    blocksHit: NaN,
    calls: NaN,
};

export interface Figures {
    all: Totals;
    dirs: Totals[];
    files: Totals[];
}

/** Totals of folders and files under a filter; without one, those of the page. */
export function figuresOf(index: Index, filter: Filter): Figures {
    if (!isFiltering(filter))
        return {
            all: index.totals,
            dirs: index.dirs.map((dir) => dir.totals),
            files: index.files.map((file) => file.totals),
        };
    const files = index.files.map((file) => ({
        ...unknown,
        lines: file.totals.lines,
        linesHit: linesHit(file, filter),
    }));
    const dirs = index.dirs.map((dir) => ({ ...unknown, lines: dir.totals.lines, linesHit: 0 }));
    index.files.forEach((file, i) => (dirs[file.dir].linesHit += files[i].linesHit));
    for (let i = dirs.length - 1; i > 0; i--)
        dirs[index.dirs[i].parent].linesHit += dirs[i].linesHit;
    const all = { ...unknown, lines: index.totals.lines, linesHit: dirs[0]?.linesHit ?? 0 };
    return { all, dirs, files };
}

export interface ContextFigures {
    context: number;
    name: string;
    files: number;
    linesHit: number;
    /** Lines that no other context hit. */
    linesSole: number;
}

export function contextFigures(index: Index): ContextFigures[] {
    const rows = index.contexts.map((name, context) => ({
        context,
        name,
        files: 0,
        linesHit: 0,
        linesSole: 0,
    }));
    for (const file of index.files) {
        const seen = new Set<number>();
        for (const line of linesOf(file.index) ?? []) {
            if (line.mark === "deadcode") continue;
            const hits = line.touches.filter((touch) => touch.count > 0);
            for (const { context } of hits) {
                rows[context].linesHit++;
                seen.add(context);
            }
            if (hits.length === 1) rows[hits[0].context].linesSole++;
        }
        for (const context of seen) rows[context].files++;
    }
    return rows;
}

export const contextName = (name: string) => name || "(no context)";
