// form.tsx: which profiles of the store: the fields of the address. The browser sends them.
import type { ComponentChildren } from "preact";
import { visibleText } from "../common/visible";
import { store } from "./data";

function Field({ name, children }: { name: string; children: ComponentChildren }) {
    return (
        <label class="field">
            <span>{name}</span>
            {children}
        </label>
    );
}

/** A name that is chosen is offered, also if the store has no more of it. */
function Names({ of, name, chosen, names }: { of: string; name: string; chosen: string; names: string[] }) {
    const offered = !chosen || names.includes(chosen) ? names : [chosen, ...names];
    return (
        <Field name={name}>
            <select name={of}>
                <option value="">all</option>
                {offered.map((value) => (
                    <option key={value} value={value} selected={value === chosen}>
                        {visibleText(value)}
                    </option>
                ))}
            </select>
        </Field>
    );
}

function Text({ of, name, chosen, hint, list }: { of: string; name: string; chosen: string; hint: string; list?: string }) {
    return (
        <Field name={name}>
            <input name={of} value={chosen} placeholder={hint} list={list} autocomplete="off" spellcheck={false} />
        </Field>
    );
}

const words = ["day", "hour", "version", "service", "host"];

export function Choice() {
    const { services = [], versions = [], by = "day" } = store;
    return (
        <form action="/" class="choice" aria-label="Profiles">
            <Names of="service" name="Service" chosen={store.service} names={services} />
            <Names of="version" name="Version" chosen={store.version} names={versions} />
            {[...store.labels, ""].map((label, i) => (
                <Text key={i} of="label" name="Label" chosen={label} hint="region=eu" />
            ))}
            <Text of="since" name="Since (UTC)" chosen={store.since} hint="24h, 2026-11-26" />
            <Text of="until" name="Until" chosen={store.until} hint="now" />
            <Field name="Rows">
                <select name="by">
                    {words.map((word) => (
                        <option key={word} value={word} selected={word === by}>
                            by {word}
                        </option>
                    ))}
                </select>
            </Field>
            <label class="check">
                <input type="checkbox" name="force-merge" value="1" checked={store.isForced} />
                <span>Add up versions whose sources differ</span>
            </label>
            <span class="buttons">
                <button class="plain">Choose</button>
                <button class="plain main" formaction="/window">
                    Flame graph
                </button>
                <button class="plain" formaction="/dead">
                    Never called
                </button>
                <button class="plain" formaction="/slow">
                    Slow requests
                </button>
            </span>
        </form>
    );
}

/** Which endpoints, on the page of slow requests; the rest of the choice stays. */
export function Endpoints() {
    const { service, version, since, until, by = "", labels, endpoints = [] } = store;
    const kept = [["service", service], ["version", version], ["since", since], ["until", until], ["by", by], ...labels.map((label) => ["label", label])];
    return (
        <form action="/slow" class="choice" aria-label="Endpoints">
            {kept.filter(([, value]) => value).map(([key, value], i) => (
                <input key={i} type="hidden" name={key} value={value} />
            ))}
            {[...endpoints, ""].map((glob, i) => (
                <Text key={i} of="endpoint" name="Endpoint" chosen={glob} hint="GET /item/*" />
            ))}
            <span class="buttons">
                <button class="plain">Choose</button>
            </span>
        </form>
    );
}

const inOrder = (versions: string[]) => [...versions].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));

/** The last two versions of one of the services that are chosen. */
function lastTwo(): string[] {
    const { lines = [] } = store;
    const ofEach = lines.map(({ service }) => lines.filter((line) => line.service === service && line.version));
    const [first = []] = ofEach.filter((some) => some.length > 1);
    return inOrder(first.map(({ version }) => version)).slice(-2);
}

/** Two versions of the service, labels and time that are chosen above. */
export function Compare() {
    const { versions = [] } = store;
    const [base = "", now = ""] = lastTwo();
    const hidden = [
        ["service", store.service],
        ["since", store.since],
        ["until", store.until],
        ...store.labels.map((label) => ["label", label]),
    ].filter(([, value]) => value);
    if (versions.length < 2 && !store.base && !store.labels.length) return null;
    return (
        <form action="/diff" class="choice" aria-label="Compare">
            {hidden.map(([key, value], i) => (
                <input key={i} type="hidden" name={key} value={value} />
            ))}
            <datalist id="versions">
                {inOrder(versions).map((version) => (
                    <option key={version} value={version} />
                ))}
            </datalist>
            <Text of="base" name="Before: version, or LABEL=VALUE" chosen={store.base || base} hint="1.1" list="versions" />
            <Text of="new" name="After" chosen={store.new || now} hint="1.2" list="versions" />
            <span class="buttons">
                <button class="plain">Compare</button>
            </span>
        </form>
    );
}
