// data.ts: what src/export/profile_html.c writes into the page, and what follows from it.
import { inflated, Varints } from "../common/blob";
import { block } from "../common/data";

interface IndexBlock {
    version: string;
    run: Run;
    threads: [name: string, root: number, total: number, calls: number][];
    /** name, module, file, line, then figures: calls, self, total, min, max */
    methods: [string, string, string, number, number, number, number, number, number][];
    losses: string[];
    diagnostics: [name: string, text: string, count: number][];
    nodes: number;
}

export interface Run {
    program: string;
    label: string;
    state: string;
    /** 2^50 ticks in the run's unit. */
    ticks50: number;
    started: number;
    pid: number;
    unit: string;
    mode: string;
    clock: string;
    wall: number;
    total: number;
    calls: number;
    cost: number;
    hasTimes: boolean;
}

export interface Method {
    index: number;
    name: string;
    module: string;
    file: string;
    line: number;
    calls: number;
    self: number;
    total: number;
    min: number;
    max: number;
}

export interface Thread {
    name: string;
    root: number;
    total: number;
    calls: number;
}

export interface Index extends Omit<IndexBlock, "threads" | "methods" | "nodes"> {
    threads: Thread[];
    methods: Method[];
    nNodes: number;
}

export function readIndex(): Index {
    const raw = block<IndexBlock>("index")!;
    const methods = raw.methods.map(
        ([name, module, file, line, calls, self, total, min, max], index): Method => ({
            index, name, module, file, line, calls, self, total, min, max,
        }),
    );
    if (!raw.run.hasTimes) raw.run.unit = "calls";
    const threads = raw.threads.map(([name, root, total, calls]) => ({ name, root, total, calls }));
    return { ...raw, methods, threads, nNodes: raw.nodes };
}

/** All call paths. Node 0 is the run; parents come before their children. */
export class Tree {
    readonly parent: Uint32Array;
    readonly method: Uint32Array;
    readonly calls: Float64Array;
    readonly self: Float64Array;
    /** With everything below it. */
    readonly total: Float64Array;
    private readonly firstChild: Uint32Array;
    private readonly nextSibling: Uint32Array;
    private readonly sorted = new Map<number, number[]>();

    /** @param tick  in the run's unit; 0: no times, a call counts for 1 in their place */
    constructor(readonly n: number, bytes: Uint8Array, tick: number) {
        const hasTimes = tick > 0;
        this.parent = new Uint32Array(n);
        this.method = new Uint32Array(n);
        this.calls = new Float64Array(n);
        this.self = new Float64Array(n);
        this.firstChild = new Uint32Array(n);
        this.nextSibling = new Uint32Array(n);
        const numbers = new Varints(bytes);
        for (let node = 1; node < n; node++) {
            this.parent[node] = node - numbers.next();
            this.method[node] = numbers.next();
            this.calls[node] = numbers.next();
            const self = numbers.next();
            this.self[node] = hasTimes ? self : this.calls[node];
        }
        this.total = this.self.slice(); // ticks, until all are added up
        for (let node = n - 1; node > 0; node--) {
            const parent = this.parent[node];
            this.total[parent] += this.total[node];
            this.nextSibling[node] = this.firstChild[parent];
            this.firstChild[parent] = node;
        }
        for (const column of hasTimes ? [this.self, this.total] : [])
            for (let node = 0; node < n; node++) column[node] = Math.round(column[node] * tick);
    }

    hasChildren(node: number): boolean {
        return this.firstChild[node] !== 0;
    }

    /** The one with most time first. */
    children(node: number): number[] {
        let list = this.sorted.get(node);
        if (!list) {
            list = [];
            for (let child = this.firstChild[node]; child; child = this.nextSibling[child]) list.push(child);
            list.sort((a, b) => this.total[b] - this.total[a] || a - b);
            this.sorted.set(node, list);
        }
        return list;
    }

    /** Nodes from the outermost one to this, without the run. */
    path(node: number): number[] {
        const nodes: number[] = [];
        for (; node; node = this.parent[node]) nodes.push(node);
        return nodes.reverse();
    }
}

export async function readTree(index: Index): Promise<Tree> {
    const tick = index.run.hasTimes ? index.run.ticks50 / 2 ** 50 : 0;
    return new Tree(index.nNodes, await inflated("nodes"), tick);
}
