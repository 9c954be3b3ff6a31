// visible.tsx: names and sources of unknown origin. Characters that show nothing, move the cursor or
// turn the writing direction are shown by their number, so that no text looks like another one.
import type { ComponentChildren } from "preact";

const hidden =
    /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/;
const allHidden = new RegExp(hidden, "g");

/** As the command line spells it. */
function spelled(character: string): string {
    const code = character.charCodeAt(0);
    const digits = code.toString(16).toUpperCase();
    return code < 0x100 ? `\\x${digits.padStart(2, "0")}` : `\\u{${digits.padStart(4, "0")}}`;
}

/** The text with hidden characters spelled out: for attributes and titles. */
export function visibleText(text: string): string {
    return text.replace(allHidden, spelled);
}

/** The same, the replacements distinguished by their style. */
export function visible(text: string): ComponentChildren {
    if (!hidden.test(text)) return text;
    const pieces: ComponentChildren[] = [];
    let at = 0;
    for (const found of text.matchAll(allHidden)) {
        pieces.push(text.slice(at, found.index));
        pieces.push(<span class="hidden-char">{spelled(found[0])}</span>);
        at = found.index! + found[0].length;
    }
    pieces.push(text.slice(at));
    return pieces;
}

/** A path or name that keeps its end where there is no room for all of it. */
export function EndOf({ text, class: name = "" }: { text: string; class?: string }) {
    return (
        <span class={`end-of ${name}`} title={visibleText(text)}>
            <bdi dir="ltr">{visible(text)}</bdi>
        </span>
    );
}

/** Where a function is declared; nothing, if that is not known. */
export function PlaceOf({ method }: { method: { file: string; line: number } }) {
    if (!method.file) return null;
    return (
        <span class="dim">
            {visible(method.file)}
            {method.line > 0 && `:${method.line}`}
        </span>
    );
}
