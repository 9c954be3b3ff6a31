// inverted.ts: call paths from below: a function, under it its callers, under them theirs. A frame is
// as wide as the function's self time when it was called that way. Frames are made when they are shown.
import { type Columns, type Paths, type Tree, below, pathOf } from "./tree";

/** The call paths whose self time a frame has, each at the caller that the frame shows: a part
 * of columns that all frames share. The frames above take the part over in its place. */
interface Ends {
    at: Uint32Array;
    /** Calls and self time, then those of the run that is compared with. */
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
    /** Of frames whose callers were not asked for yet. */
    private readonly ends: (Ends | undefined)[] = [];
    private readonly known: (number[] | undefined)[] = [];
    /** What one expansion has reached, a node once, and its figures; by node, its place there. */
    private readonly reached: Uint32Array;
    private readonly sums: Float64Array[];
    private readonly place: Uint32Array;
    /** By function: how many of what was reached, and where the next of them goes. */
    private readonly nOf: Uint32Array;
    private readonly next: Uint32Array;

    constructor(private readonly tree: Tree, root: number, nMethods: number) {
        ({ calls: this.calls, self: this.self, total: this.total } = this.now);
        if (tree.base) this.base = new Growing();
        this.isBefore = tree.isBefore;
        this.reached = new Uint32Array(tree.n);
        this.sums = this.columns().map(() => new Float64Array(tree.n));
        this.place = new Uint32Array(tree.n);
        this.nOf = new Uint32Array(nMethods);
        this.next = new Uint32Array(nMethods);
        this.add(0, 0, { at: this.reached, figures: this.sums, from: 0, to: 0 });
        this.known[0] = this.functions(root);
        this.now.total[0] = tree.total[root];
        if (this.base) this.base.total[0] = tree.base!.total[root];
    }

    private add(parent: number, method: number, { figures, from, to }: Ends): number {
        const { ticks, baseTicks } = this.tree;
        const [calls, self, baseCalls, baseSelf] = figures;
        this.now.add(sumOf(calls, from, to), Math.round(sumOf(self, from, to) * ticks.tick), !parent);
        this.base?.add(sumOf(baseCalls, from, to), Math.round(sumOf(baseSelf, from, to) * baseTicks!.tick), !parent);
        this.parent.push(parent);
        this.known.push(undefined); // no gaps: a browser would make a dictionary of the array
        return this.method.push(method) - 1;
    }

    private columns(): Float64Array[] {
        const { ticks, baseTicks } = this.tree;
        return [ticks.calls, ticks.self, ...(baseTicks ? [baseTicks.calls, baseTicks.self] : [])];
    }

    /** Every path below root ends at itself. */
    private functions(root: number): number[] {
        const { n } = this.tree;
        const at = new Uint32Array(n);
        const isIn = below(this.tree, root);
        for (let node = 0; node < n; node++) at[node] = isIn[node] ? node : 0;
        return this.expanded(0, { at, figures: this.columns().map((column) => column.slice()), from: 0, to: n }, at);
    }

    /** A frame for each function that the ends get to by one step. What began on several paths and has
     * come to the same one continues as one. */
    private expanded(frame: number, ends: Ends, step: Uint32Array): number[] {
        const { at, figures } = ends;
        const methods = this.reach(ends, step);
        this.order(ends, methods);
        const frames = methods.map((of) => {
            const part = { at, figures, from: this.next[of] - this.nOf[of], to: this.next[of] };
            const child = this.add(frame, of, part);
            this.ends[child] = part;
            this.nOf[of] = 0;
            return child;
        });
        return frames.sort((a, b) => this.total[b] - this.total[a] || this.method[a] - this.method[b]);
    }

    /** Fills `reached` and `sums`, and counts by function. @return the functions */
    private reach({ at, figures, from, to }: Ends, step: Uint32Array): number[] {
        const { method } = this.tree;
        const { reached, sums, place, nOf } = this;
        const methods: number[] = [];
        let n = 0;
        for (let i = from; i < to; i++) {
            const node = step[at[i]];
            const of = method[node];
            if (!of) continue;
            const known = place[node];
            if (known < n && reached[known] === node) {
                for (let c = 0; c < sums.length; c++) sums[c][known] += figures[c][i];
                continue;
            }
            for (let c = 0; c < sums.length; c++) sums[c][n] = figures[c][i];
            reached[n] = node;
            place[node] = n++;
            if (nOf[of]++ === 0) methods.push(of);
        }
        return methods;
    }

    /** What was reached takes the place of the ends, function by function. */
    private order({ at, figures, from }: Ends, methods: number[]) {
        const { reached, sums, nOf, next } = this;
        const { method } = this.tree;
        let to = from;
        for (const of of methods) {
            next[of] = to;
            to += nOf[of];
        }
        for (let i = 0; i < to - from; i++) {
            const node = reached[i];
            const into = next[method[node]]++;
            at[into] = node;
            for (let c = 0; c < sums.length; c++) figures[c][into] = sums[c][i];
        }
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
