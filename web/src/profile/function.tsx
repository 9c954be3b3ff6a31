// function.tsx: one function between its callers and its callees.
import { useEffect, useMemo } from "preact/hooks";
import { count, things } from "../common/format";
import { visible } from "../common/visible";
import type { Go } from "../common/place";
import type { Index, Method, Tree } from "./data";
import { Share } from "./lists";
import { share, time } from "./units";

interface Edge {
    method: number;
    calls: number;
    time: number;
}

interface Edges {
    callers: Edge[];
    callees: Edge[];
}

/** Callers get what the outermost activations took, so that their times add up to the total; callees
 * what theirs took below such an activation, each counted once however they recur. */
function edgesOf(tree: Tree, method: number): Edges {
    const callers = new Map<number, Edge>();
    const callees = new Map<number, Edge>();
    const at = (edges: Map<number, Edge>, other: number) => {
        let edge = edges.get(other);
        if (!edge) edges.set(other, (edge = { method: other, calls: 0, time: 0 }));
        return edge;
    };
    const isBelow = (node: number, of: (ancestor: number) => boolean) => {
        for (let n = tree.parent[node]; n; n = tree.parent[n]) if (of(n)) return true;
        return false;
    };
    for (let node = 1; node < tree.n; node++) {
        const parent = tree.parent[node];
        if (tree.method[node] === method) {
            const edge = at(callers, tree.method[parent]);
            edge.calls += tree.calls[node];
            if (!isBelow(node, (n) => tree.method[n] === method)) edge.time += tree.total[node];
        }
        if (parent && tree.method[parent] === method) {
            const callee = tree.method[node];
            const edge = at(callees, callee);
            edge.calls += tree.calls[node];
            const isInner = isBelow(node, (n) => tree.method[n] === callee && tree.method[tree.parent[n]] === method);
            if (callee !== method && !isInner) edge.time += tree.total[node];
        }
    }
    const byTime = (edges: Map<number, Edge>) =>
        [...edges.values()].sort((a, b) => b.time - a.time || b.calls - a.calls);
    return { callers: byTime(callers), callees: byTime(callees) };
}

function EdgeList({ name, edges, index, all, go }: {
    name: string;
    edges: Edge[];
    index: Index;
    all: number;
    go: Go;
}) {
    return (
        <section class="panel-part edges" aria-label={name}>
            <h2>
                {name} <span class="dim">{count(edges.length)}</span>
            </h2>
            <ul>
                {edges.map((edge) => (
                    <li key={edge.method}>
                        <button
                            type="button"
                            class="edge"
                            disabled={edge.method === 0}
                            onClick={() => go({ view: "function", what: String(edge.method) })}
                        >
                            <span class="fn-name">{visible(index.methods[edge.method].name)}</span>
                            <span class="dim">{things(edge.calls, "call")}</span>
                            <span class="edge-time">{time(index.run, edge.time)}</span>
                            <Share part={edge.time} all={all} />
                        </button>
                    </li>
                ))}
            </ul>
        </section>
    );
}

export function FunctionPage({ index, tree, method, go }: {
    index: Index;
    tree: Tree;
    method: Method;
    go: Go;
}) {
    const edges = useMemo(() => edgesOf(tree, method.index), [tree, method]);
    const { run } = index;
    useEffect(() => {
        document.title = `${method.name} \u2013 profile`;
    }, [method]);
    const facts: [string, string][] = [
        ["calls", count(method.calls)],
        ["self", `${time(run, method.self)} (${share(run, method.self)})`],
        ["total", `${time(run, method.total)} (${share(run, method.total)})`],
        ["average", method.calls ? time(run, method.self / method.calls) : "\u2013"],
    ];
    if (method.min <= method.max) facts.push(["shortest, longest call", `${time(run, method.min)}, ${time(run, method.max)}`]);
    return (
        <div class="function-page">
            <EdgeList name="Callers" edges={edges.callers} index={index} all={method.total} go={go} />
            <section class="panel-part this-function">
                <h2 class="fn-name">{visible(method.name)}</h2>
                {method.file && (
                    <p class="dim file-name">
                        {visible(method.file)}
                        {method.line > 0 && `:${method.line}`}
                    </p>
                )}
                <dl>
                    {facts
                        .filter(([name]) => run.hasTimes || name === "calls")
                        .map(([name, value]) => (
                            <div key={name}>
                                <dt>{name}</dt>
                                <dd>{value}</dd>
                            </div>
                        ))}
                </dl>
            </section>
            <EdgeList name="Callees" edges={edges.callees} index={index} all={method.total} go={go} />
        </div>
    );
}
