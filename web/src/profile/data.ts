// data.ts: what src/export/profile_html.c and its parts (html_*.c) write into the page. What follows
// from it is in tree.ts and flat.ts.
import { inflated, Varints } from "../common/blob";
import { block } from "../common/data";
import { Tree } from "./tree";

interface IndexBlock {
    run: Run;
    /** The run that is compared with. */
    base?: Run;
    threads: [
        name: string, root: number, total: number, calls: number, ordinal: number, system: number,
        lives: number, depth: number, flags: number,
    ][];
    /** name, module, file, line, calls, self, total, min, max, half intervals of self and total */
    methods: [string, string, string, number, number, number, number, number, number, number, number][];
    /** Of each method: state, then calls, self, total of the base, each with its noise. */
    changes?: [number, number, number, number, number, number, number][];
    files: [path: string, self: number, nMethods: number][];
    losses: string[];
    diagnostics: [name: string, text: string, count: number, kind: string][];
    notes: string[];
    nodes: number;
}

export interface Run {
    program: string;
    label: string;
    host: string;
    module: string;
    options: string;
    version: string;
    state: string;
    unit: string;
    mode: string;
    clock: string;
    source: string;
    grain: string;
    /** The function whose calls alone the profile was reduced to; "": it is whole. */
    focus: string;
    /** 2^50 ticks in the run's unit. */
    ticks50: number;
    started: number;
    pid: number;
    wall: number;
    stopped: number;
    total: number;
    calls: number;
    cost: number;
    /** Functions that were folded into their callers before the page was made. */
    hidden: number;
    fileBytes: number;
    passes: number;
    period: number;
    isVirtual: boolean;
    isEstimated: boolean;
    isMerged: boolean;
    hasTimes: boolean;
}

export interface Figures {
    calls: number;
    self: number;
    total: number;
}

export type State = "alike" | "changed" | "new" | "gone";
const states: State[] = ["alike", "changed", "new", "gone"];

export interface Change extends Figures {
    state: State;
    noise: Figures;
}

export interface Method extends Figures {
    index: number;
    name: string;
    module: string;
    file: string;
    line: number;
    min: number;
    max: number;
    selfHalf: number;
    totalHalf: number;
    /** What it was in the run that is compared with. */
    base?: Change;
}

export interface Thread {
    name: string;
    root: number;
    total: number;
    calls: number;
    ordinal: number;
    system: number;
    lives: number;
    depth: number;
    isAlive: boolean;
    isParked: boolean;
}

export interface SourceFile {
    index: number;
    path: string;
    self: number;
    nMethods: number;
}

export interface Index {
    run: Run;
    base?: Run;
    methods: Method[];
    threads: Thread[];
    files: SourceFile[];
    losses: string[];
    diagnostics: { name: string; text: string; count: number; kind: string }[];
    notes: string[];
    nNodes: number;
}

function changeOf(raw: NonNullable<IndexBlock["changes"]>[number]): Change {
    const [state, calls, callsNoise, self, selfNoise, total, totalNoise] = raw;
    const noise = { calls: callsNoise, self: selfNoise, total: totalNoise };
    return { state: states[state], calls, self, total, noise };
}

function methodsOf(raw: IndexBlock): Method[] {
    return raw.methods.map(
        ([name, module, file, line, calls, self, total, min, max, selfHalf, totalHalf], index) => ({
            index, name, module, file, line, calls, self, total, min, max, selfHalf, totalHalf,
            base: raw.changes && changeOf(raw.changes[index]),
        }),
    );
}

const ALIVE = 1;
const PARKED = 2;

function threadsOf(raw: IndexBlock): Thread[] {
    return raw.threads.map(([name, root, total, calls, ordinal, system, lives, depth, flags]) => ({
        name, root, total, calls, ordinal, system, lives, depth,
        isAlive: !!(flags & ALIVE),
        isParked: !!(flags & PARKED),
    }));
}

export function readIndex(): Index {
    const raw = block<IndexBlock>("index")!;
    if (!raw.run.hasTimes || raw.base?.hasTimes === false) {
        raw.run.hasTimes = false;
        raw.run.unit = "calls";
        raw.run.total = raw.run.calls;
    }
    return {
        run: raw.run,
        base: raw.base,
        methods: methodsOf(raw),
        threads: threadsOf(raw),
        files: raw.files.map(([path, self, nMethods], index) => ({ index, path, self, nMethods })),
        losses: raw.losses,
        diagnostics: raw.diagnostics.map(([name, text, count, kind]) => ({ name, text, count, kind })),
        notes: raw.notes,
        nNodes: raw.nodes,
    };
}

/** The call tree; of two runs, the paths of either, whatever their thread. */
export async function readTree(index: Index): Promise<Tree> {
    const numbers = new Varints(await inflated("nodes"));
    const n = index.nNodes;
    const column = <Column extends Uint32Array | Float64Array>(to: Column): Column => {
        for (let node = 1; node < n; node++) to[node] = numbers.next();
        return to;
    };
    const parent = column(new Uint32Array(n));
    for (let node = 1; node < n; node++) parent[node] = node - parent[node];
    const method = column(new Uint32Array(n));
    const side = () => {
        const calls = column(new Float64Array(n));
        const self = column(new Float64Array(n));
        return { calls, self: index.run.hasTimes ? self : calls };
    };
    const now = side();
    const tick = index.run.hasTimes ? index.run.ticks50 / 2 ** 50 : 1;
    return new Tree(parent, method, now, index.base && side(), tick);
}

// ---- sources -----------------------------------------------------------------------------------

type RawLines = [name: string, blocks: number[]][];

export interface Block {
    /** Of the function that it belongs to. */
    name: string;
    line: number;
    isCounted: boolean;
    isTimed: boolean;
    count: number;
    self: number;
    total: number;
}

/** Figures of a line: sums of its blocks, and the count of the block that was executed most. */
export interface Line {
    line: number;
    blocks: Block[];
    isCounted: boolean;
    isTimed: boolean;
    nMissed: number;
    count: number;
    self: number;
    total: number;
}

const COUNTED = 1;
const TIMED = 2;
const FIELDS = 5;

function blocksOf(raw: RawLines): Block[] {
    return raw.flatMap(([name, numbers]) => {
        const blocks: Block[] = [];
        for (let i = 0; i < numbers.length; i += FIELDS) {
            const [line, flags, count, self, total] = numbers.slice(i, i + FIELDS);
            const [isCounted, isTimed] = [!!(flags & COUNTED), !!(flags & TIMED)];
            blocks.push({ name, line, isCounted, isTimed, count, self, total });
        }
        return blocks;
    });
}

function lineOf(line: number, blocks: Block[], tick: number): Line {
    const sum = (key: "self" | "total") => Math.round(blocks.reduce((n, b) => n + b[key], 0) * tick);
    return {
        line,
        blocks: blocks.map((b) => ({ ...b, self: Math.round(b.self * tick), total: Math.round(b.total * tick) })),
        isCounted: blocks.some((b) => b.isCounted),
        isTimed: blocks.some((b) => b.isTimed),
        nMissed: blocks.filter((b) => b.isCounted && !b.count && !b.isTimed).length,
        count: Math.max(...blocks.map((b) => b.count)),
        self: sum("self"),
        total: sum("total"),
    };
}

/** Lines that have code, ascending; undefined: not loaded yet. */
export function linesOf(file: number, tick: number): Line[] | undefined {
    const raw = block<RawLines>(`l${file}`);
    if (!raw) return undefined;
    const byLine = new Map<number, Block[]>();
    for (const b of blocksOf(raw)) byLine.set(b.line, [...(byLine.get(b.line) ?? []), b]);
    return [...byLine].sort(([a], [b]) => a - b).map(([line, blocks]) => lineOf(line, blocks, tick));
}

export interface SourceText {
    /** Why it is not here; "": it is. */
    missing: string;
    changed: boolean;
    lines: string[];
}

export const textOf = (file: number): SourceText | undefined => block<SourceText>(`s${file}`);
