// inverted.ts: call paths from below: a function, under it its callers, under them theirs. A frame is
// as wide as the function's own time when it was called that way. Frames are made when somebody looks.
import { type Columns, type Paths, type Tree, below, pathOf } from "./tree";

/** Call paths whose own time a frame stands for, each at the caller that the frame has got to. */
interface Ends {
    at: number[];
    calls: number[];
    self: number[];
    baseCalls: number[];
    baseSelf: number[];
}

const noEnds = (): Ends => ({ at: [], calls: [], self: [], baseCalls: [], baseSelf: [] });

class Growing implements Columns {
    calls: number[] = [];
    self: number[] = [];
    total: number[] = [];
}

const sum = (numbers: number[]) => numbers.reduce((all, n) => all + n, 0);

function push(to: Growing, calls: number, total: number, isFunction: boolean) {
    to.calls.push(calls);
    to.total.push(total);
    to.self.push(isFunction ? total : 0);
}

export class Inverted implements Paths {
    readonly parent: number[] = [];
    readonly method: number[] = [];
    readonly calls: number[];
    readonly self: number[];
    readonly total: number[];
    readonly base?: Growing;
    private readonly now = new Growing();
    private readonly ends: (Ends | undefined)[] = [];
    private readonly known: (number[] | undefined)[] = [];
    /** Where the ends of one expansion that have reached the same caller meet. */
    private readonly place: Uint32Array;
    private readonly round: Uint32Array;
    private nRounds = 0;
    /** The same by function; faster than a map, and this is done a million times. */
    private readonly endsRound: Uint32Array;
    private readonly endsOf: Ends[] = [];

    constructor(private readonly tree: Tree, root: number, nMethods: number) {
        this.endsRound = new Uint32Array(nMethods);
        ({ calls: this.calls, self: this.self, total: this.total } = this.now);
        if (tree.base) this.base = new Growing();
        this.place = new Uint32Array(tree.n);
        this.round = new Uint32Array(tree.n);
        this.add(0, 0, noEnds());
        this.known[0] = this.functions(root);
        this.now.total[0] = tree.total[root];
        if (this.base) this.base.total[0] = tree.base!.total[root];
    }

    private add(parent: number, method: number, ends: Ends): number {
        const node = this.parent.length;
        this.parent.push(parent);
        this.method.push(method);
        this.ends.push(ends);
        const time = (ticks: number[]) => Math.round(sum(ticks) * this.tree.tick);
        push(this.now, sum(ends.calls), time(ends.self), !parent);
        if (this.base) push(this.base, sum(ends.baseCalls), time(ends.baseSelf), !parent);
        return node;
    }

    private addAll(parent: number, methods: number[]): number[] {
        const nodes = methods.map((method) => this.add(parent, method, this.endsOf[method]));
        return nodes.sort((a, b) => this.total[b] - this.total[a] || this.method[a] - this.method[b]);
    }

    /** The ends that a function gets in this round. @param seen  all that got any */
    private endsAt(method: number, seen: number[]): Ends {
        if (this.endsRound[method] !== this.nRounds) {
            this.endsRound[method] = this.nRounds;
            this.endsOf[method] = noEnds();
            seen.push(method);
        }
        return this.endsOf[method];
    }

    private functions(root: number): number[] {
        const { tree } = this;
        const isIn = below(tree, root);
        const seen: number[] = [];
        this.nRounds++;
        for (let node = 1; node < tree.n; node++) {
            const method = tree.method[node];
            if (!isIn[node] || !method) continue;
            const ends = this.endsAt(method, seen);
            ends.at.push(node);
            ends.calls.push(tree.ticks.calls[node]);
            ends.self.push(tree.ticks.self[node]);
            if (tree.baseTicks) {
                ends.baseCalls.push(tree.baseTicks.calls[node]);
                ends.baseSelf.push(tree.baseTicks.self[node]);
            }
        }
        return this.addAll(0, seen);
    }

    /** One caller further. What began on several paths and has come to the same one goes on as one. */
    private callers(node: number): number[] {
        const { tree } = this;
        const from = this.ends[node]!;
        const seen: number[] = [];
        this.nRounds++;
        for (let i = 0; i < from.at.length; i++) {
            const at = tree.parent[from.at[i]];
            const method = tree.method[at];
            if (!method) continue;
            const ends = this.endsAt(method, seen);
            if (this.round[at] !== this.nRounds) {
                this.round[at] = this.nRounds;
                this.place[at] = ends.at.length;
                ends.at.push(at);
                ends.calls.push(0);
                ends.self.push(0);
                if (tree.base) {
                    ends.baseCalls.push(0);
                    ends.baseSelf.push(0);
                }
            }
            const place = this.place[at];
            ends.calls[place] += from.calls[i];
            ends.self[place] += from.self[i];
            if (tree.base) {
                ends.baseCalls[place] += from.baseCalls[i];
                ends.baseSelf[place] += from.baseSelf[i];
            }
        }
        return seen;
    }

    children(node: number): number[] {
        let list = this.known[node];
        if (!list) {
            list = this.known[node] = this.addAll(node, this.callers(node));
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
