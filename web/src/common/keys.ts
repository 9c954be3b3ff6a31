// keys.ts: the keyboard. What is mounted says which keys it answers; the one that came last is asked
// first. Nothing is taken from a field that is typed into, or from a button that has the focus.
import { useLayoutEffect, useRef } from "preact/hooks";

/** By the key's name as in KeyboardEvent.key. A handler that returns false has not used the key. */
export type Keys = Record<string, (event: KeyboardEvent) => boolean | void>;

const askers: { current: Keys }[] = [];
const pressing = new Set(["Enter", " ", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"]);

function isTypedInto(target: EventTarget | null): boolean {
    return target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;
}

function isPressed(target: EventTarget | null, key: string): boolean {
    const isControl = target instanceof Element && !!target.closest("button, a, select, summary");
    return isControl && pressing.has(key);
}

document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (isTypedInto(event.target) || isPressed(event.target, event.key)) return;
    if (document.querySelector("dialog[open]")) return;
    for (let i = askers.length - 1; i >= 0; i--) {
        const handler = askers[i].current[event.key];
        if (handler && handler(event) !== false) {
            event.preventDefault();
            return;
        }
    }
});

export function useKeys(keys: Keys): void {
    const current = useRef(keys);
    current.current = keys;
    useLayoutEffect(() => {
        askers.push(current);
        return () => {
            askers.splice(askers.indexOf(current), 1);
        };
    }, []);
}
