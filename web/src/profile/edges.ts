// edges.ts: callers and callees of a function: as src/model/figures/edges.c counts them.
import { walk } from "./flat";
import type { Columns, Tree } from "./tree";

export interface Edge {
    /** 0: none, the thread began here. */
    method: number;
    /** The calls lie inside the function, or lead back to it. */
    isRecursive: boolean;
    calls: number;
    /** Of callers: what they got of the function's total. Of callees: their time with what they
     * called, less the function's own inside. */
    time: number;
    base: number;
}

export interface Edges {
    callers: Edge[];
    callees: Edge[];
}

/** Self time of a method at and below each node, and whether it is there at all. */
function insideOf(tree: Tree, method: number, side: Columns) {
    const self = new Float64Array(tree.n);
    const isThere = new Uint8Array(tree.n);
    for (let node = tree.n - 1; node > 0; node--) {
        if (tree.method[node] === method) {
            self[node] += side.self[node];
            isThere[node] = 1;
        }
        self[tree.parent[node]] += self[node];
        isThere[tree.parent[node]] |= isThere[node];
    }
    return { self, isThere };
}

class Rows {
    private readonly rows = new Map<number, Edge>();

    at(method: number): Edge {
        let row = this.rows.get(method);
        if (!row) this.rows.set(method, (row = { method, isRecursive: false, calls: 0, time: 0, base: 0 }));
        return row;
    }

    sorted({ ticks, baseTicks }: Tree): Edge[] {
        for (const row of this.rows.values()) {
            row.time = Math.round(row.time * ticks.tick);
            row.base = Math.round(row.base * (baseTicks?.tick ?? 1));
        }
        return [...this.rows.values()].sort((a, b) => b.time - a.time || b.calls - a.calls || a.method - b.method);
    }
}

export function edgesOf(tree: Tree, method: number, nMethods: number): Edges {
    const [callers, callees] = [new Rows(), new Rows()];
    const inside = insideOf(tree, method, tree.ticks);
    const baseInside = tree.baseTicks && insideOf(tree, method, tree.baseTicks);
    const open = new Uint32Array(nMethods); // of this method above us, by callee: below it at once
    let nAbove = 0;
    const enter = (node: number) => {
        const of = tree.method[node];
        const caller = tree.method[tree.parent[node]];
        const [total, base] = [tree.ticks.total[node], tree.baseTicks?.total[node] ?? 0];
        if (of === method) {
            const row = callers.at(caller);
            row.calls += tree.calls[node];
            row.isRecursive ||= nAbove > 0;
            if (!nAbove) {
                row.time += total;
                row.base += base;
            }
        }
        if (caller === method) {
            const row = callees.at(of);
            row.calls += tree.calls[node];
            row.isRecursive ||= !!inside.isThere[node];
            if (!open[of]++ && of !== method) {
                row.time += total - inside.self[node];
                row.base += base - (baseInside?.self[node] ?? 0);
            }
        }
        nAbove += Number(of === method);
    };
    walk(tree, 0, enter, (node) => {
        nAbove -= Number(tree.method[node] === method);
        if (tree.method[tree.parent[node]] === method) open[tree.method[node]]--;
    });
    return { callers: callers.sorted(tree), callees: callees.sorted(tree) };
}
