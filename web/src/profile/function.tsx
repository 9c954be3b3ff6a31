// function.tsx: one function between its callers and its callees.
import { useEffect, useMemo } from "preact/hooks";
import { count, things } from "../common/format";
import { useKeys } from "../common/keys";
import type { Go } from "../common/place";
import { visible } from "../common/visible";
import type { Index, Method } from "./data";
import { type Edge, edgesOf } from "./edges";
import { Share } from "./lists";
import { headsOf } from "./measure";
import type { Tree } from "./tree";
import { around, changeOf, share, time } from "./units";

function EdgeList({ name, edges, index, isCompared, all, go }: {
    name: string;
    edges: Edge[];
    index: Index;
    isCompared: boolean;
    all: number;
    go: Go;
}) {
    const { run } = index;
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
                            <span class="fn-name">
                                {visible(edge.method ? index.methods[edge.method].name : "(outermost)")}
                                {edge.isRecursive && <span title="recursive: inside the function, or leads back to it"> *</span>}
                            </span>
                            <span class="dim">{index.hasCalls && things(edge.calls, "call")}</span>
                            <span class="edge-time">{index.hasTimes && time(run, edge.time)}</span>
                            <Share part={index.hasTimes ? edge.time : edge.calls} all={all} />
                            {isCompared && <span class="edge-change dim">{changeOf(run, edge.base, edge.time)}</span>}
                        </button>
                    </li>
                ))}
            </ul>
        </section>
    );
}

function factsOf(index: Index, method: Method): [string, string][] {
    const { run } = index;
    const facts: [string, string][] = [];
    if (index.hasCalls) facts.push(["calls", count(method.calls)]);
    if (method.resumes) facts.push(["resumes", count(method.resumes)]);
    if (index.hasTimes) {
        const heads = headsOf(index);
        const [self, total] = [heads.self.toLowerCase(), heads.total.toLowerCase()];
        facts.push([self, `${around(run, method.self, method.selfHalf)} (${share(run, method.self, method.selfHalf)})`]);
        facts.push([total, `${around(run, method.total, method.totalHalf)} (${share(run, method.total, method.totalHalf)})`]);
        if (method.offTotal) facts.push(["waiting", `${time(run, method.off ?? 0)}, with what it called ${time(run, method.offTotal)}`]);
        if (index.hasCalls && method.hits) facts.push([`average ${self}`, time(run, Math.floor(method.self / method.hits), method.selfHalf / method.hits)]);
        if (method.min <= method.max) facts.push(["shortest self", time(run, method.min)], ["longest self", time(run, method.max)]);
    }
    const { base } = method;
    if (base) {
        if (index.hasCalls) facts.push(["calls before", count(base.calls)]);
        if (index.hasTimes) {
            const heads = headsOf(index);
            facts.push([`${heads.self.toLowerCase()}, change`, changeOf(run, base.self, method.self)]);
            facts.push([`${heads.total.toLowerCase()}, change`, changeOf(run, base.total, method.total)]);
        }
    }
    return facts;
}

export interface FunctionProps {
    index: Index;
    tree: Tree;
    method: Method;
    go: Go;
    onFocus: (method: number) => void;
    onHide: (method: number) => void;
    onSource: (method: number) => boolean | void;
}

export function FunctionPage({ index, tree, method, go, onFocus, onHide, onSource }: FunctionProps) {
    const edges = useMemo(() => edgesOf(tree, method.index, index.methods.length), [tree, method]);
    useEffect(() => {
        document.title = `${method.name} \u2013 profile`;
    }, [method]);
    const callers = () => go({ view: "bottomup", with: { at: String(method.index) } });
    const list = { index, isCompared: !!method.base, all: index.hasTimes ? method.total : method.calls, go };
    const hasSource = index.files.some((f) => f.path === method.file);
    const source = () => onSource(method.index);
    const foldKeys = { f: () => onFocus(method.index), x: () => onHide(method.index), b: callers };
    useKeys({ ...(index.hasTree ? foldKeys : {}), s: source });
    return (
        <div class="function-page">
            {index.hasTree && <EdgeList name="Callers" edges={edges.callers} {...list} />}
            <section class="panel-part this-function">
                <h2 class="fn-name">{visible(method.name)}</h2>
                {method.file && (
                    <p class="dim file-name">
                        {visible(method.file)}
                        {method.line > 0 && `:${method.line}`}
                    </p>
                )}
                <dl>
                    {factsOf(index, method).map(([name, value]) => (
                        <div key={name}>
                            <dt>{name}</dt>
                            <dd>{value}</dd>
                        </div>
                    ))}
                </dl>
                <p class="actions">
                    {index.hasTree && (
                        <>
                            <button type="button" class="plain" title="Only its calls, and what they called (f)" onClick={() => onFocus(method.index)}>
                                Focus
                            </button>
                            <button type="button" class="plain" title="Give its time to its callers (x)" onClick={() => onHide(method.index)}>
                                Hide
                            </button>
                            <button type="button" class="plain" title="All ways in which it was called (b)" onClick={callers}>
                                Ways to it
                            </button>
                        </>
                    )}
                    {hasSource && (
                        <button type="button" class="plain" title="Its source (s)" onClick={source}>
                            Source
                        </button>
                    )}
                </p>
            </section>
            {index.hasTree && <EdgeList name="Callees" edges={edges.callees} {...list} />}
        </div>
    );
}
