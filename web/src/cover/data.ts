// data.ts: what src/export/page/coverage.c writes into the page, and what follows from it.
import { block } from "../common/data";

/** In this order in the page. */
const totalNames = [
    "functions",
    "functionsHit",
    "lines",
    "linesHit",
    "linesPartial",
    "branches",
    "branchesHit",
    "blocks",
    "blocksHit",
    "calls",
] as const;
export type Totals = Record<(typeof totalNames)[number], number>;

interface IndexBlock {
    version: string;
    once: boolean;
    coverage: boolean;
    totals: number[];
    runs: { what: string; program: string; label: string; script: string; labels: string; started: number; pid: number }[];
    contexts: string[];
    warnings: string[];
    /** path, parent, totals; parents come first */
    dirs: [string, number, number[]][];
    /** path, dir, totals */
    files: [string, number, number[]][];
}

export interface Dir {
    path: string;
    parent: number;
    totals: Totals;
    dirs: number[];
    files: number[];
}

export interface File {
    index: number;
    path: string;
    /** The path without the folder's. */
    name: string;
    dir: number;
    totals: Totals;
}

export interface Fn {
    name: string;
    module: string;
    file: number;
    firstLine: number;
    lastLine: number;
    calls: number;
    isHit: boolean;
    isDead: boolean;
    lines: number;
    linesHit: number;
    branches: number;
    branchesHit: number;
}

export interface Index extends Omit<IndexBlock, "totals" | "dirs" | "files"> {
    totals: Totals;
    dirs: Dir[];
    files: File[];
}

function totalsOf(numbers: number[]): Totals {
    return Object.fromEntries(totalNames.map((name, i) => [name, numbers[i]])) as Totals;
}

/** What of a path follows a folder's; all of it where that is the root. */
export function below(dir: Dir, path: string): string {
    return dir.path ? path.slice(dir.path.length + 1) : path;
}

export function readIndex(): Index {
    const raw = block<IndexBlock>("index")!;
    const dirs: Dir[] = raw.dirs.map(([path, parent, totals]) => ({
        path,
        parent,
        totals: totalsOf(totals),
        dirs: [],
        files: [],
    }));
    dirs.forEach((dir, i) => i > 0 && dirs[dir.parent].dirs.push(i));
    const files = raw.files.map(([path, dir, totals], index) => {
        dirs[dir].files.push(index);
        const name = below(dirs[dir], path);
        return { index, path, name, dir, totals: totalsOf(totals) };
    });
    return { ...raw, totals: totalsOf(raw.totals), dirs, files };
}

type FnRow = [
    string, string, number, number, number, number, number, number, number, number, number, number,
];

let allFunctions: Fn[] | undefined;

/** The functions of all files, in the order of the files. */
export function functions(): Fn[] {
    allFunctions ??= (block<FnRow[]>("functions") ?? []).map((row) => ({
        name: row[0],
        module: row[1],
        file: row[2],
        firstLine: row[3],
        lastLine: row[4],
        calls: row[5],
        isHit: row[6] !== 0,
        isDead: row[7] !== 0,
        lines: row[8],
        linesHit: row[9],
        branches: row[10],
        branchesHit: row[11],
    }));
    return allFunctions;
}

// ---- one file ----------------------------------------------------------------------------------

export type Mark = "" | "deadcode" | "tested" | "inspected";
const marks: Mark[] = ["", "deadcode", "tested", "inspected"];

interface FileBlock {
    lines: number[];
    counts: number[];
    /** 1: hit, 2: partial, 4 times its mark */
    flags: number[];
    /** of lines with several blocks: index of the line, number of blocks, their counts */
    blocks: number[];
    /** index of the line, condition, way, line it leads to, count, 1: the condition was reached */
    branches: number[];
    /** index of the line, context, count */
    touches: number[];
}

export interface Branch {
    condition: number;
    way: number;
    /** 0: not known */
    toLine: number;
    count: number;
    isReached: boolean;
}

export interface Touch {
    context: number;
    count: number;
}

export interface Line {
    line: number;
    count: number;
    isHit: boolean;
    isPartial: boolean;
    mark: Mark;
    /** Counts of its blocks; empty: it is one block. */
    blocks: number[];
    branches: Branch[];
    touches: Touch[];
}

/** Sources are blocks of their own: a filter by context needs the figures of all files, no text. */
export interface SourceBlock {
    lines: string[];
    /** Why there is no text; "": there is. */
    missing: string;
    changed: boolean;
}

const lineCache = new Map<number, Line[]>();

function addBlocks(lines: Line[], blocks: number[]) {
    for (let at = 0; at < blocks.length; ) {
        const [line, n] = [blocks[at], blocks[at + 1]];
        lines[line].blocks = blocks.slice(at + 2, at + 2 + n);
        at += 2 + n;
    }
}

function addBranches(lines: Line[], flat: number[]) {
    for (let at = 0; at < flat.length; at += 6) {
        const [line, condition, way, toLine, count, isReached] = flat.slice(at, at + 6);
        lines[line].branches.push({ condition, way, toLine, count, isReached: !!isReached });
    }
}

/** The lines of a file that have code, ascending; undefined: not loaded yet. */
export function linesOf(file: number): Line[] | undefined {
    const known = lineCache.get(file);
    if (known) return known;
    const raw = block<FileBlock>(`d${file}`);
    if (!raw) return undefined;
    const lines = raw.lines.map((line, i) => ({
        line,
        count: raw.counts[i],
        isHit: (raw.flags[i] & 1) !== 0,
        isPartial: (raw.flags[i] & 2) !== 0,
        mark: marks[raw.flags[i] >> 2],
        blocks: [],
        branches: [],
        touches: [],
    })) as Line[];
    addBlocks(lines, raw.blocks);
    addBranches(lines, raw.branches);
    for (let at = 0; at < raw.touches.length; at += 3)
        lines[raw.touches[at]].touches.push({
            context: raw.touches[at + 1],
            count: raw.touches[at + 2],
        });
    lineCache.set(file, lines);
    return lines;
}

export function sourceOf(file: number): SourceBlock | undefined {
    return block<SourceBlock>(`s${file}`);
}
