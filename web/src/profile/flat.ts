// flat.ts: figures of functions on a part of the call tree: a thread, or what folding left.
import type { Change, Figures, Index, Method, State } from "./data";
import { type Columns, type Tree, below } from "./tree";

/** Walk below root, callees right after their callers. */
export function walk(tree: Tree, root: number, enter: (node: number) => void, leave: (node: number) => void) {
    let node = tree.firstChild[root];
    while (node && node !== root) {
        enter(node);
        let next = tree.firstChild[node];
        while (!next && node !== root) {
            leave(node);
            next = tree.nextSibling[node];
            if (!next) node = tree.parent[node];
        }
        if (node === root) return;
        node = next;
    }
}

function inUnit({ calls, self, total, off, offTotal }: Required<Figures>, side: Columns & { tick: number }): Figures {
    const [selfIn, totalIn, offIn, offTotalIn] = [self, total, off, offTotal].map((ticks) => Math.round(ticks * side.tick));
    return { calls, self: selfIn, total: totalIn, ...(side.off && { off: offIn, offTotal: offTotalIn }) };
}

/** A recursive function's total is that of its outermost calls. */
function sums(tree: Tree, root: number, nMethods: number, sides: (Columns & { tick: number })[]): Figures[][] {
    const open = new Uint32Array(nMethods);
    const all = sides.map(() => Array.from({ length: nMethods }, () => ({ calls: 0, self: 0, total: 0, off: 0, offTotal: 0 })));
    const enter = (node: number) => {
        const method = tree.method[node];
        const isOutermost = open[method]++ === 0;
        sides.forEach((side, i) => {
            const figures = all[i][method];
            figures.calls += side.calls[node];
            figures.self += side.self[node];
            figures.off += side.off?.[node] ?? 0;
            if (isOutermost) figures.total += side.total[node];
            if (isOutermost) figures.offTotal += side.offTotal?.[node] ?? 0;
        });
    };
    walk(tree, root, enter, (node) => open[tree.method[node]]--);
    return all.map((side, i) => side.map((f) => inUnit(f, sides[i])));
}

/** What a part of two runs says of a function, as src/model/combine/diff.c says it of the whole: the noise is that
 * of the whole, since a part has less. */
function stateOf(now: Figures, before: Figures, noise: Figures): State {
    const isIn = (side: Figures) => side.calls > noise.calls || side.total > 0;
    if (isIn(now) !== isIn(before)) return isIn(now) ? "new" : "gone";
    const isOutside = (of: "calls" | "self") => Math.abs(now[of] - before[of]) > noise[of];
    return isOutside("calls") || isOutside("self") ? "changed" : "alike";
}

/** Figures of one call, intervals and resumes: what only whole runs and their time have. */
const none = { min: 1, max: 0, selfHalf: 0, totalHalf: 0, resumes: 0 };

/** The functions of two runs with their run times: medians, where there are several runs a side. */
export function withRunTimes(methods: Method[]): Method[] {
    return methods.map((method) => {
        const { now, before, noise } = method.base!.run;
        return { ...method, ...none, ...now, base: { ...method.base!, ...before, noise, state: stateOf(now, before, noise) } };
    });
}

/** Functions as they are on the paths below root. Figures of one call and intervals are of the whole
 * run, and left out; so are hits, where not all calls were some. */
export function functionsOf(index: Index, tree: Tree, root: number): Method[] {
    const sides = tree.baseTicks ? [tree.ticks, tree.baseTicks] : [tree.ticks];
    const [now, before] = sums(tree, root, index.methods.length, sides);
    const noiseOf = ({ noise, run }: Change) =>
        index.measure === "time" ? noise : index.measure === "run" ? run.noise : { ...noise, self: 0, total: 0 };
    const changeOf = (change: Change, i: number) => {
        const noise = noiseOf(change);
        return { ...change, ...before[i], noise, state: stateOf(now[i], before[i], noise) };
    };
    const hitsOf = (method: Method, i: number) => (method.hits === method.calls ? now[i].calls : 0);
    return index.methods.map((method, i) => ({ ...method, ...none, ...now[i], hits: hitsOf(method, i), base: method.base && changeOf(method.base, i) }));
}

/** Time of the frames that fit, no frame counted inside another one. */
export function timeOf(tree: Tree, root: number, methods: Set<number>): number {
    const isIn = below(tree, root);
    const isInside = new Uint8Array(tree.n);
    let all = 0;
    for (let node = 1; node < tree.n; node++) {
        const isMatch = methods.has(tree.method[node]);
        if (isIn[node] && isMatch && !isInside[tree.parent[node]]) all += tree.ticks.total[node];
        isInside[node] = Number(isMatch || isInside[tree.parent[node]]);
    }
    return Math.round(all * tree.ticks.tick);
}

/** The same functions with their time off the processor. @param tree  that all of the run is in */
export function withWaits(methods: Method[], tree: Tree): Method[] {
    const sides = tree.baseTicks ? [tree.ticks, tree.baseTicks] : [tree.ticks];
    const [now, before] = sums(tree, 0, methods.length, sides);
    const waits = ({ off, offTotal }: Figures) => ({ off, offTotal });
    return methods.map((method, i) => ({ ...method, ...waits(now[i]), base: method.base && { ...method.base, ...waits(before[i]) } }));
}
