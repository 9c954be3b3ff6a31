// data.ts: what src/export/page/profile.c and its parts write into the page. What follows
// from it is in tree.ts and flat.ts.
import { inflated, Varints } from "../common/blob";
import { block } from "../common/data";
import type { Measure } from "./measure";

/** A sentence about the run without its full stop, and the command that shows its figure. */
export type Finding = [text: string, command: string];

interface IndexBlock {
    run: Run;
    /** The run that is compared with. */
    base?: Run;
    /** Of two runs: those of either, by name. */
    threads: [
        name: string, root: number, total: number, calls: number, ordinal: number, system: number,
        lives: number, depth: number, flags: number, baseTotal?: number, baseCalls?: number,
    ][];
    /** In turn: an outermost path of a thread, and the path that created the thread. */
    creators: number[];
    /** name, module, file, line, calls, self, total, min, max, half intervals of self and total, hits, resumes */
    methods: [
        name: string, module: string, file: string, line: number, calls: number, self: number, total: number,
        min: number, max: number, selfHalf: number, totalHalf: number, hits: number, resumes?: number,
    ][];
    /** Of each method: state, then calls, self, total of the base, each with its noise; of self and total run time that
     * of the run, of the base, and the noise. */
    changes?: [
        state: number, calls: number, callsNoise: number, self: number, selfNoise: number, total: number, totalNoise: number,
        selfRun: number, baseSelfRun: number, selfRunNoise: number, totalRun: number, baseTotalRun: number, totalRunNoise: number,
    ][];
    files: [path: string, self: number, nMethods: number][];
    nodes: number;
    findings: Finding[];
    /** The page that leads to this one; "": none does. */
    home: string;
    hasTimeline: boolean;
    isApart: boolean;
}

/** [name, what it counts, count, kind]: kind "N" is normal, what is not is a reason to look. */
type Diagnostic = [string, string, number, string];

export interface Run {
    /** As it was named to the tool; "": it has no name. */
    fileName: string;
    program: string;
    label: string;
    script: string;
    arguments: string;
    folder: string;
    interpreter: string;
    labels: string;
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
    /** The call pattern that says which paths count, and for which function; "": all do. */
    when: string;
    /** 2^50 ticks in the run's unit. */
    ticks50: number;
    started: number;
    pid: number;
    wall: number;
    stopped: number;
    total: number;
    /** Of it, off the processor. */
    off: number;
    bytes: number;
    objects: number;
    calls: number;
    /** Further ones that no function counts. */
    callsLost: number;
    cost: number;
    collector: number;
    collectorTotal: number;
    isCollectorCharged: boolean;
    /** Functions that were folded into their callers before the page was made. */
    hidden: number;
    fileBytes: number;
    /** How many were compared on its side. The call paths are those of this one, the functions' figures medians. */
    runs: number;
    passes: number;
    period: number;
    isVirtual: boolean;
    isEstimated: boolean;
    isMerged: boolean;
    /** The profile of another tool: `version` says which. */
    isImported: boolean;
    hasTimes: boolean;
    /** Calls were counted; else they are 0 and mean nothing. */
    hasCalls: boolean;
    /** Time off the processor is known. */
    hasWaits: boolean;
    /** Allocations were recorded. */
    hasMemory: boolean;
    /** Call paths were recorded; else there are functions alone. */
    hasTree: boolean;
    /** Paths were not seen, but estimated from callers and callees. */
    isFromEdges: boolean;
    losses: string[];
    diagnostics: Diagnostic[];
    notes: string[];
}

export interface Figures {
    calls: number;
    self: number;
    total: number;
    /** Of these, off the processor: where it is shown. */
    off?: number;
    offTotal?: number;
}

export type State = "alike" | "changed" | "new" | "gone";
const states: State[] = ["alike", "changed", "new", "gone"];

export interface Change extends Figures {
    state: State;
    noise: Figures;
    /** Times on the processor. */
    run: Record<"now" | "before" | "noise", Figures>;
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
    /** Calls that were recorded: an average is of those. 0: not known. */
    hits: number;
    /** How often a suspended call continued; no part of calls. Of the whole run; 0 of a part of it. */
    resumes: number;
    /** What it was in the run that is compared with. */
    base?: Change;
}

/** Its self time is that of all that was charged to its functions: its total. */
export interface Thread extends Figures {
    name: string;
    root: number;
    ordinal: number;
    system: number;
    lives: number;
    depth: number;
    isAlive: boolean;
    isSuspended: boolean;
    base?: Figures;
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
    /** As they were recorded: in the two above, calls take the place of times that cannot be shown. */
    recorded: Run[];
    methods: Method[];
    threads: Thread[];
    /** Of a thread's outermost paths: the path that created it. */
    creators: Map<number, number>;
    /** Threads are not merged; then there are no creators. */
    isApart: boolean;
    files: SourceFile[];
    findings: Finding[];
    home: string;
    nNodes: number;
    hasTimeline: boolean;
    /** What both runs have, if there are two: figures that cannot be compared are not shown. */
    hasTimes: boolean;
    hasCalls: boolean;
    hasTree: boolean;
    hasWaits: boolean;
    hasMemory: boolean;
    /** What self and total are of. */
    measure: Measure;
}

function changeOf(raw: NonNullable<IndexBlock["changes"]>[number], now: number): Change {
    const [state, calls, callsNoise, self, selfNoise, total, totalNoise] = raw;
    const [selfRun, baseSelfRun, selfRunNoise, totalRun, baseTotalRun, totalRunNoise] = raw.slice(7);
    const noise = { calls: callsNoise, self: selfNoise, total: totalNoise };
    const run = {
        now: { calls: now, self: selfRun, total: totalRun },
        before: { calls, self: baseSelfRun, total: baseTotalRun },
        noise: { calls: callsNoise, self: selfRunNoise, total: totalRunNoise },
    };
    return { state: states[state], calls, self, total, noise, run };
}

function methodsOf(raw: IndexBlock): Method[] {
    return raw.methods.map(
        ([name, module, file, line, calls, self, total, min, max, selfHalf, totalHalf, hits, resumes = 0], index) => ({
            index, name, module, file, line, calls, self, total, min, max, selfHalf, totalHalf, hits, resumes,
            base: raw.changes && changeOf(raw.changes[index], calls),
        }),
    );
}

const ALIVE = 1;
const SUSPENDED = 2;

/** What reports call ".lua_1.", the root of a thread. */
const plainName = (name: string) =>
    name.replace(/^\.(?:thread|(.*))_(\d+)\.$/s, (_, program, n) => (program ? `thread ${n} (${program})` : `thread ${n}`));

function threadsOf(raw: IndexBlock): Thread[] {
    const threads = raw.threads.map(
        ([name, root, total, calls, ordinal, system, lives, depth, flags, baseTotal = 0, baseCalls = 0]) => ({
            name: plainName(name), root, calls, self: total, total, ordinal, system, lives, depth,
            isAlive: !!(flags & ALIVE),
            isSuspended: !!(flags & SUSPENDED),
            base: raw.base && { calls: baseCalls, self: baseTotal, total: baseTotal },
        }),
    );
    return threads.filter((th) => th.calls || th.total || th.depth || th.base?.calls || th.base?.total);
}

function creatorsOf({ creators }: IndexBlock): Map<number, number> {
    const byPath = new Map<number, number>();
    for (let i = 0; i < creators.length; i += 2) byPath.set(creators[i], creators[i + 1]);
    return byPath;
}

export function readIndex(): Index {
    const raw = block<IndexBlock>("index")!;
    const hasBoth = (what: "hasTimes" | "hasCalls" | "hasTree" | "hasWaits" | "hasMemory") => raw.run[what] && raw.base?.[what] !== false;
    const hasTimes = hasBoth("hasTimes");
    const shown = (run: Run): Run => (hasTimes ? run : { ...run, unit: "calls", total: run.calls });
    return {
        run: shown(raw.run),
        base: raw.base && shown(raw.base),
        recorded: raw.base ? [raw.base, raw.run] : [raw.run],
        methods: methodsOf(raw),
        threads: threadsOf(raw),
        creators: creatorsOf(raw),
        isApart: raw.isApart,
        files: raw.files.map(([path, self, nMethods], index) => ({ index, path, self, nMethods })),
        findings: raw.findings,
        home: raw.home,
        nNodes: raw.nodes,
        hasTimeline: raw.hasTimeline,
        hasTimes,
        hasCalls: hasBoth("hasCalls"),
        hasTree: hasBoth("hasTree"),
        hasWaits: hasBoth("hasWaits"),
        hasMemory: hasBoth("hasMemory"),
        measure: "time",
    };
}

/** Whether it was called, or was on a sampled stack. */
export const isSeen = (method: Method) => method.index > 0 && (method.calls > 0 || method.total > 0);

/** What a tick is in the run's unit. */
export const tickOf = (run: Run) => run.ticks50 / 2 ** 50;

export interface SideColumns {
    calls: Float64Array;
    /** Ticks, as `off`. */
    self: Float64Array;
    off?: Float64Array;
    bytes?: Float64Array;
    objects?: Float64Array;
}

/** What was recorded of call paths; of two runs, of the paths of either, below threads of one name. */
export interface Recording {
    parent: Uint32Array;
    method: Uint32Array;
    now: SideColumns;
    base?: SideColumns;
}

export async function readRecording(index: Index): Promise<Recording> {
    const numbers = new Varints(await inflated("nodes"));
    const n = index.nNodes;
    const column = <Column extends Uint32Array | Float64Array>(to: Column): Column => {
        for (let node = 1; node < n; node++) to[node] = numbers.next();
        return to;
    };
    const parent = column(new Uint32Array(n));
    for (let node = 1; node < n; node++) parent[node] = node - parent[node];
    const method = column(new Uint32Array(n));
    const figures = (isThere: boolean) => (isThere ? column(new Float64Array(n)) : undefined);
    const side = (): SideColumns => ({
        calls: column(new Float64Array(n)),
        self: column(new Float64Array(n)),
        off: figures(index.hasWaits),
        bytes: figures(index.hasMemory),
        objects: figures(index.hasMemory),
    });
    return { parent, method, now: side(), base: index.base && side() };
}

// ---- sources -----------------------------------------------------------------------------------

type RawLines = [name: string, blocks: number[]][];

export interface Block {
    /** Of the function that it belongs to. */
    name: string;
    line: number;
    isCounted: boolean;
    isTimed: boolean;
    /** Its self time is an estimate from samples, and its total is not known. */
    isSampled: boolean;
    count: number;
    self: number;
    total: number;
    selfHalf: number;
}

/** Figures of a line: sums of its blocks, and the count of the block that was executed most. */
export interface Line {
    line: number;
    blocks: Block[];
    isCounted: boolean;
    isTimed: boolean;
    isSampled: boolean;
    nMissed: number;
    count: number;
    self: number;
    total: number;
    selfHalf: number;
}

const COUNTED = 1;
const TIMED = 2;
const SAMPLED = 4;
const FIELDS = 6;

function blocksOf(raw: RawLines): Block[] {
    return raw.flatMap(([name, numbers]) => {
        const blocks: Block[] = [];
        for (let i = 0; i < numbers.length; i += FIELDS) {
            const [line, flags, count, self, total, selfHalf] = numbers.slice(i, i + FIELDS);
            const [isCounted, isTimed, isSampled] = [COUNTED, TIMED, SAMPLED].map((flag) => !!(flags & flag));
            blocks.push({ name, line, isCounted, isTimed, isSampled, count, self, total, selfHalf });
        }
        return blocks;
    });
}

function lineOf(line: number, blocks: Block[], tick: number): Line {
    const sum = (key: "self" | "total") => Math.round(blocks.reduce((n, b) => n + b[key], 0) * tick);
    return {
        line,
        blocks: blocks.map((b) => ({
            ...b,
            self: Math.round(b.self * tick),
            total: Math.round(b.total * tick),
            selfHalf: Math.round(b.selfHalf * tick),
        })),
        isCounted: blocks.some((b) => b.isCounted),
        isTimed: blocks.some((b) => b.isTimed),
        isSampled: blocks.some((b) => b.isSampled),
        nMissed: blocks.filter((b) => b.isCounted && !b.count && !b.isTimed && !b.isSampled).length,
        count: Math.max(...blocks.map((b) => b.count)),
        self: sum("self"),
        total: sum("total"),
        selfHalf: Math.round(Math.hypot(...blocks.map((b) => b.selfHalf)) * tick),
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
