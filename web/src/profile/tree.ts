// tree.ts: all call paths as columns, with totals, and the same with functions left out.
export interface Columns {
    calls: ArrayLike<number>;
    /** In the run's unit. */
    self: ArrayLike<number>;
    /** With everything below it. */
    total: ArrayLike<number>;
}

/** What flame graphs and lists ask of paths: those from above, and those from below (inverted.ts). */
export interface Paths extends Columns {
    readonly parent: ArrayLike<number>;
    readonly method: ArrayLike<number>;
    /** The run that is compared with. */
    readonly base?: Columns;
    /** The one with most time first. */
    children(node: number): number[];
    /** Nodes from the outermost one to this, without the run. */
    path(node: number): number[];
    /** What a link holds of a node, and the node of it; 0: there is none. */
    keyOf(node: number): string;
    find(key: string): number;
}

interface Side {
    calls: Float64Array;
    self: Float64Array;
    total: Float64Array;
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
    readonly base?: Side;
    /** The same in ticks: what is added up is turned into the run's unit then, so that it is exact. */
    readonly ticks: Side;
    readonly baseTicks?: Side;
    readonly firstChild: Uint32Array;
    readonly nextSibling: Uint32Array;
    private readonly sorted = new Map<number, number[]>();

    /** @param tick  that figures of time are in, in the run's unit */
    constructor(
        readonly parent: Uint32Array,
        readonly method: Uint32Array,
        now: { calls: Float64Array; self: Float64Array },
        base: { calls: Float64Array; self: Float64Array } | undefined,
        readonly tick: number,
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
        ({ calls: this.calls, self: this.self, total: this.total } = this.inUnit(this.ticks));
        this.base = this.baseTicks && this.inUnit(this.baseTicks);
    }

    private side(raw: { calls: Float64Array; self: Float64Array }): Side {
        const total = raw.self.slice();
        for (let node = this.n - 1; node > 0; node--) total[this.parent[node]] += total[node];
        return { calls: raw.calls, self: raw.self, total };
    }

    private inUnit(ticks: Side): Side {
        if (this.tick === 1) return ticks;
        const column = (from: Float64Array) => from.map((n) => Math.round(n * this.tick));
        return { calls: ticks.calls, self: column(ticks.self), total: column(ticks.total) };
    }

    hasChildren(node: number): boolean {
        return this.firstChild[node] !== 0;
    }

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

    /** The paths of the run that is compared with, as if they were the new ones. */
    swapped(): Tree {
        const { ticks, baseTicks } = this;
        return baseTicks ? new Tree(this.parent, this.method, baseTicks, ticks, this.tick) : this;
    }
}

export interface Fold {
    /** Methods whose time goes to their callers, as if their code stood there. */
    hidden: Set<number>;
    /** Only calls of this method, and what they called; 0: all. */
    focus: number;
}

/** Paths that become the same are one. Threads' roots stay; a time that no visible function is left
 * for is theirs, unless there is a focus. */
export function folded(tree: Tree, fold: Fold, nMethods: number): Tree {
    const to = new Uint32Array(tree.n); // 0: in nothing that is shown
    const root = new Uint32Array(tree.n); // of its thread
    const known = new Map<number, number>();
    const [parent, method] = [[0], [0]];
    const add = (below: number, of: number) => {
        parent.push(below);
        method.push(of);
        return parent.length - 1;
    };
    const child = (below: number, of: number) => {
        const key = below * nMethods + of;
        let node = known.get(key);
        if (node === undefined) known.set(key, (node = add(below, of)));
        return node;
    };
    for (let node = 1; node < tree.n; node++) {
        const [above, of] = [tree.parent[node], tree.method[node]];
        if (!of) {
            root[node] = add(0, 0);
            if (!fold.focus) to[node] = root[node];
            continue;
        }
        root[node] = root[above];
        const isInside = !fold.focus || to[above] || of === fold.focus;
        if (!isInside) continue;
        to[node] = fold.hidden.has(of) ? to[above] : child(to[above] || root[above], of);
    }
    const n = parent.length;
    const added = (column: ArrayLike<number>, isOfCalls: boolean) => {
        const sums = new Float64Array(n);
        for (let node = 1; node < tree.n; node++)
            if (to[node] && !(isOfCalls && fold.hidden.has(tree.method[node]))) sums[to[node]] += column[node];
        return sums;
    };
    const side = (from: Columns) => {
        const calls = added(from.calls, true);
        return { calls, self: from.self === from.calls ? calls : added(from.self, false) };
    };
    const base = tree.baseTicks && side(tree.baseTicks);
    return new Tree(Uint32Array.from(parent), Uint32Array.from(method), side(tree.ticks), base, tree.tick);
}

/** Is a node in the subtree of root? For all nodes at once. */
export function below(tree: Tree, root: number): Uint8Array {
    const isIn = new Uint8Array(tree.n);
    isIn[root] = 1;
    if (root === 0) return isIn.fill(1);
    for (let node = root + 1; node < tree.n; node++) isIn[node] = isIn[tree.parent[node]];
    return isIn;
}
