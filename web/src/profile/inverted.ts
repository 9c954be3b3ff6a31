// inverted.ts: call paths from below: a function, under it its callers, under them theirs. A frame is
// as wide as the function's own time when it was called that way. Frames are made when somebody looks.
import { type Columns, type Paths, type Tree, below, pathOf } from "./tree";

/** Call paths whose own time a frame stands for, each at the caller that the frame has got to: a part
 * of columns that the frame shares with its neighbours. */
interface Ends {
    at: Uint32Array;
    /** Calls and own time, then those of the run that is compared with. */
    figures: Float64Array[];
    from: number;
    to: number;
}

class Growing implements Columns {
    calls: number[] = [];
    self: number[] = [];
    total: number[] = [];

    add(calls: number, total: number, isFunction: boolean) {
        this.calls.push(calls);
        this.total.push(total);
        this.self.push(isFunction ? total : 0);
    }
}

function sumOf(column: Float64Array, from: number, to: number): number {
    let all = 0;
    for (let i = from; i < to; i++) all += column[i];
    return all;
}

export class Inverted implements Paths {
    readonly parent: number[] = [];
    readonly method: number[] = [];
    readonly calls: number[];
    readonly self: number[];
    readonly total: number[];
    readonly base?: Growing;
    readonly isBefore: boolean;
    private readonly now = new Growing();
    /** Of frames whose callers nobody has asked for yet. */
    private readonly ends: (Ends | undefined)[] = [];
    private readonly known: (number[] | undefined)[] = [];
    /** What one expansion has reached, a node once; by node, when that was and its place in order. */
    private readonly reached: Uint32Array;
    private readonly round: Uint32Array;
    private readonly place: Uint32Array;
    private nRounds = 0;
    /** By function: how many of what was reached, and where the next of them goes. */
    private readonly nOf: Uint32Array;
    private readonly next: Uint32Array;

    constructor(private readonly tree: Tree, root: number, nMethods: number) {
        ({ calls: this.calls, self: this.self, total: this.total } = this.now);
        if (tree.base) this.base = new Growing();
        this.isBefore = tree.isBefore;
        this.reached = new Uint32Array(tree.n);
        this.round = new Uint32Array(tree.n);
        this.place = new Uint32Array(tree.n);
        this.nOf = new Uint32Array(nMethods);
        this.next = new Uint32Array(nMethods);
        this.add(0, 0, [0, 0, 0, 0]);
        this.known[0] = this.functions(root);
        this.now.total[0] = tree.total[root];
        if (this.base) this.base.total[0] = tree.base!.total[root];
    }

    private add(parent: number, method: number, [calls, self, baseCalls, baseSelf]: number[]): number {
        const { ticks, baseTicks } = this.tree;
        this.now.add(calls, Math.round(self * ticks.tick), !parent);
        this.base?.add(baseCalls, Math.round(baseSelf * baseTicks!.tick), !parent);
        this.parent.push(parent);
        return this.method.push(method) - 1;
    }

    /** Every path below root ends at itself. */
    private functions(root: number): number[] {
        const { ticks, baseTicks, n } = this.tree;
        const at = new Uint32Array(n);
        const isIn = below(this.tree, root);
        for (let node = 0; node < n; node++) at[node] = isIn[node] ? node : 0;
        const figures = [ticks.calls, ticks.self, ...(baseTicks ? [baseTicks.calls, baseTicks.self] : [])];
        return this.expanded(0, { at, figures, from: 0, to: n }, at);
    }

    /** A frame for each function that the ends get to by one step. What began on several paths and has
     * come to the same one goes on as one. */
    private expanded(frame: number, ends: Ends, step: Uint32Array): number[] {
        const { at, from, to } = ends;
        const { method } = this.tree;
        const methods = this.reach(ends, step);
        const place = this.place;
        const ordered = this.ordered(methods);
        const figures = ends.figures.map((column) => {
            const sums = new Float64Array(ordered.length);
            for (let i = from; i < to; i++) {
                const node = step[at[i]];
                if (method[node]) sums[place[node]] += column[i];
            }
            return sums;
        });
        const frames = methods.map((of) => {
            const part = { at: ordered, figures, from: this.next[of] - this.nOf[of], to: this.next[of] };
            const child = this.add(frame, of, figures.map((column) => sumOf(column, part.from, part.to)));
            this.ends[child] = part;
            this.nOf[of] = 0;
            return child;
        });
        return frames.sort((a, b) => this.total[b] - this.total[a] || this.method[a] - this.method[b]);
    }

    /** Fills `reached`, and counts by function. @return the functions */
    private reach({ at, from, to }: Ends, step: Uint32Array): number[] {
        const { method } = this.tree;
        const { reached, round, nOf } = this;
        const now = ++this.nRounds;
        const methods: number[] = [];
        let n = 0;
        for (let i = from; i < to; i++) {
            const node = step[at[i]];
            const of = method[node];
            if (!of || round[node] === now) continue;
            round[node] = now;
            reached[n++] = node;
            if (nOf[of]++ === 0) methods.push(of);
        }
        return methods;
    }

    /** What was reached, function by function. */
    private ordered(methods: number[]): Uint32Array {
        const { reached, place, nOf, next } = this;
        let n = 0;
        for (const of of methods) {
            next[of] = n;
            n += nOf[of];
        }
        const nodes = new Uint32Array(n);
        for (let i = 0; i < n; i++) {
            const node = reached[i];
            const to = next[this.tree.method[node]]++;
            place[node] = to;
            nodes[to] = node;
        }
        return nodes;
    }

    children(node: number): number[] {
        let list = this.known[node];
        if (!list) {
            list = this.known[node] = this.expanded(node, this.ends[node]!, this.tree.parent);
            this.ends[node] = undefined;
        }
        return list;
    }

    path(node: number): number[] {
        return pathOf(this.parent, node);
    }

    /** Frames are numbered as they are looked at: a link says the functions on the way. */
    keyOf(node: number): string {
        return this.path(node).map((frame) => this.method[frame]).join(".");
    }

    find(key: string): number {
        let node = 0;
        for (const method of key.split(".").filter(Boolean).map(Number)) {
            const next = this.children(node).find((frame) => this.method[frame] === method);
            if (!next) return 0;
            node = next;
        }
        return node;
    }
}
