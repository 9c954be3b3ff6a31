// tree.ts: all call paths as columns, with totals, and the same with functions left out.
export interface Columns {
    calls: ArrayLike<number>;
    /** In the run's unit. */
    self: ArrayLike<number>;
    /** With everything below it. */
    total: ArrayLike<number>;
    /** Of these, off the processor: where it is shown. */
    off?: ArrayLike<number>;
    offTotal?: ArrayLike<number>;
}

/** What flame graphs and lists ask of paths: those from above, and those from below (inverted.ts). */
export interface Paths extends Columns {
    readonly parent: ArrayLike<number>;
    readonly method: ArrayLike<number>;
    /** The other one of two runs. */
    readonly base?: Columns;
    /** That is the run after; else it is the one before. */
    readonly isBefore: boolean;
    /** The one with most time first. */
    children(node: number): number[];
    /** Nodes from the outermost one to this, without the run. */
    path(node: number): number[];
    /** What a link holds of a node, and the node of it; 0: there is none. */
    keyOf(node: number): string;
    find(key: string): number;
}

/** What was recorded of one run: without what follows from it. */
export interface Recorded {
    calls: Float64Array;
    self: Float64Array;
    off?: Float64Array;
    /** What `self` and `off` are in, in the run's unit. */
    tick: number;
}

interface Side extends Recorded {
    total: Float64Array;
    offTotal?: Float64Array;
}

export function pathOf(parent: ArrayLike<number>, node: number): number[] {
    const nodes: number[] = [];
    for (; node; node = parent[node]) nodes.push(node);
    return nodes.reverse();
}

/** Node 0 is the run; parents come before their children. */
export class Tree implements Paths {
    readonly n: number;
    readonly calls: Float64Array;
    readonly self: Float64Array;
    readonly total: Float64Array;
    readonly off?: Float64Array;
    readonly offTotal?: Float64Array;
    readonly base?: Side;
    /** The same in ticks: what is added up is turned into the run's unit then, so that it is exact. */
    readonly ticks: Side;
    readonly baseTicks?: Side;
    readonly firstChild: Uint32Array;
    readonly nextSibling: Uint32Array;
    private readonly sorted = new Map<number, number[]>();

    constructor(
        readonly parent: Uint32Array,
        readonly method: Uint32Array,
        now: Recorded,
        base: Recorded | undefined,
        readonly isBefore = false,
    ) {
        this.n = parent.length;
        this.firstChild = new Uint32Array(this.n);
        this.nextSibling = new Uint32Array(this.n);
        for (let node = this.n - 1; node > 0; node--) {
            this.nextSibling[node] = this.firstChild[parent[node]];
            this.firstChild[parent[node]] = node;
        }
        this.ticks = this.side(now);
        this.baseTicks = base && this.side(base);
        ({ calls: this.calls, self: this.self, total: this.total, off: this.off, offTotal: this.offTotal } = this.inUnit(this.ticks));
        this.base = this.baseTicks && this.inUnit(this.baseTicks);
    }

    private side(recorded: Recorded): Side {
        const summed = (self: Float64Array) => {
            const total = self.slice();
            for (let node = this.n - 1; node > 0; node--) total[this.parent[node]] += total[node];
            return total;
        };
        return { ...recorded, total: summed(recorded.self), offTotal: recorded.off && summed(recorded.off) };
    }

    private inUnit(ticks: Side): Side {
        const { tick } = ticks;
        if (tick === 1) return ticks;
        const column = (from: Float64Array) => from.map((n) => Math.round(n * tick));
        const { calls, self, total, off, offTotal } = ticks;
        return {
            calls,
            self: column(self),
            total: column(total),
            off: off && column(off),
            offTotal: offTotal && column(offTotal),
            tick: 1,
        };
    }

    /** A thread of which nothing is shown has a root all the same. */
    private isThere(node: number): boolean {
        return this.method[node] > 0 || this.hasChildren(node) || this.total[node] > 0 || !!this.base?.total[node];
    }

    hasChildren(node: number): boolean {
        return this.firstChild[node] !== 0;
    }

    children(node: number): number[] {
        let list = this.sorted.get(node);
        if (!list) {
            list = [];
            for (let child = this.firstChild[node]; child; child = this.nextSibling[child])
                if (this.isThere(child)) list.push(child);
            list.sort((a, b) => this.total[b] - this.total[a] || a - b);
            this.sorted.set(node, list);
        }
        return list;
    }

    path(node: number): number[] {
        return pathOf(this.parent, node);
    }

    keyOf(node: number): string {
        return node > 0 ? String(node) : "";
    }

    find(key: string): number {
        const node = Number(key);
        return node > 0 && node < this.n ? Math.floor(node) : 0;
    }

    /** The paths as they are in the run before. */
    swapped(): Tree {
        const { ticks, baseTicks } = this;
        return baseTicks ? new Tree(this.parent, this.method, baseTicks, ticks, true) : this;
    }
}

/** Of two runs: figures of a path before and after. */
export function sidesOf(paths: Paths, figure: "calls" | "self" | "total", node: number): [before: number, after: number] {
    const [own, other] = [paths[figure][node], paths.base?.[figure][node] ?? 0];
    return paths.isBefore ? [own, other] : [other, own];
}

export interface Fold {
    /** Methods whose time goes to their callers, as if their code were there. */
    hidden: Set<number>;
    /** Only calls of this method, and what they called; 0: all. */
    focus: number;
    /** The same path is one on whatever thread; what a thread calls is below the path that created it. */
    joinsThreads: boolean;
    /** Then: of an outermost path of a thread, that path. */
    creators: Map<number, number>;
    /** A call of a method inside another call of it, directly or through others, is at the outer one. */
    joinsRecursion: boolean;
}

/** Nodes by caller and method: a hash table of node numbers alone, since a Map of a million keys is what
 * folding would spend its time on. */
class Growing {
    readonly parent: Uint32Array;
    readonly method: Uint32Array;
    n = 1;
    private readonly slots: Uint32Array;
    private readonly shift: number;

    /** @param most  nodes that there may be */
    constructor(most: number) {
        this.parent = new Uint32Array(most);
        this.method = new Uint32Array(most);
        const bits = Math.max(1, Math.ceil(Math.log2(2 * most)));
        this.slots = new Uint32Array(2 ** bits);
        this.shift = 32 - bits;
    }

    add(below: number, of: number): number {
        this.parent[this.n] = below;
        this.method[this.n] = of;
        return this.n++;
    }

    /** The node of a method at or above a node; 0: there is none. */
    open(at: number, of: number): number {
        while (at && this.method[at] !== of) at = this.parent[at];
        return at;
    }

    /** The callee of a node that is this method. */
    child(below: number, of: number): number {
        const hash = Math.imul(Math.imul(below, 0x9e3779b1) ^ of, 0x85ebca6b);
        for (let slot = hash >>> this.shift; ; slot = (slot + 1) & (this.slots.length - 1)) {
            const node = this.slots[slot];
            if (!node) return (this.slots[slot] = this.add(below, of));
            if (this.parent[node] === below && this.method[node] === of) return node;
        }
    }
}

const NOWHERE = -1;

/** Paths that become the same are one. Threads' roots stay, if they are not joined. A time that no
 * visible function is left for is theirs, or the run's, unless there is a focus. */
export function folded(tree: Tree, fold: Fold): Tree {
    const to = new Int32Array(tree.n);
    const root = new Uint32Array(tree.n); // of its thread
    const nodes = new Growing(tree.n);
    for (let node = 1; node < tree.n; node++) {
        const [above, of] = [tree.parent[node], tree.method[node]];
        if (!of) {
            root[node] = fold.joinsThreads ? 0 : nodes.add(0, 0);
            to[node] = fold.focus ? NOWHERE : root[node];
            continue;
        }
        const caller = (fold.joinsThreads && fold.creators.get(node)) || above;
        root[node] = root[above];
        to[node] = to[caller];
        if (to[caller] === NOWHERE && of === fold.focus) to[node] = root[node];
        if (to[node] !== NOWHERE && !fold.hidden.has(of))
            to[node] = (fold.joinsRecursion && nodes.open(to[node], of)) || nodes.child(to[node], of);
    }
    const added = (column: ArrayLike<number>, isOfCalls: boolean) => {
        const sums = new Float64Array(nodes.n);
        for (let node = 1; node < tree.n; node++)
            if (to[node] !== NOWHERE && !(isOfCalls && fold.hidden.has(tree.method[node]))) sums[to[node]] += column[node];
        return sums;
    };
    const side = (from: Side) => {
        const calls = added(from.calls, true);
        const off = from.off && added(from.off, false);
        return { calls, self: from.self === from.calls ? calls : added(from.self, false), off, tick: from.tick };
    };
    const base = tree.baseTicks && side(tree.baseTicks);
    return new Tree(nodes.parent.slice(0, nodes.n), nodes.method.slice(0, nodes.n), side(tree.ticks), base);
}

/** Is a method called inside another call of it anywhere? */
export function isRecursive(tree: Tree, nMethods: number): boolean {
    const open = new Uint32Array(nMethods);
    let node = tree.firstChild[0];
    while (node) {
        if (tree.method[node] && open[tree.method[node]]++) return true;
        let next = tree.firstChild[node];
        while (!next && node) {
            open[tree.method[node]] = 0;
            next = tree.nextSibling[node];
            if (!next) node = tree.parent[node];
        }
        node = next;
    }
    return false;
}

/** Is a node in the subtree of root? For all nodes at once. */
export function below(tree: Tree, root: number): Uint8Array {
    const isIn = new Uint8Array(tree.n);
    isIn[root] = 1;
    if (root === 0) return isIn.fill(1);
    for (let node = root + 1; node < tree.n; node++) isIn[node] = isIn[tree.parent[node]];
    return isIn;
}
