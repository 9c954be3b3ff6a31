// help.tsx: a window over the page, and the one that lists the keys.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** The browser keeps the focus inside, closes it with Escape and gives the focus back. */
export function Dialog({ label, onClose, children }: {
    label: string;
    onClose: () => void;
    children: ComponentChildren;
}) {
    const box = useRef<HTMLDialogElement>(null);
    useEffect(() => {
        const dialog = box.current!;
        dialog.showModal();
        return () => dialog.close();
    }, []);
    return (
        <dialog
            ref={box}
            aria-label={label}
            onClose={onClose}
            onClick={(event) => event.target === box.current && onClose()}
        >
            {children}
        </dialog>
    );
}

export type KeyList = [keys: string, does: string][];

export function Help({ keys, onClose }: { keys: KeyList; onClose: () => void }) {
    return (
        <Dialog label="Keys" onClose={onClose}>
            <div class="help">
                <h2>Keys</h2>
                <dl>
                    {keys.map(([names, does]) => (
                        <div key={names}>
                            <dt>
                                {names.split(" ").map((name) => (
                                    <kbd key={name}>{name}</kbd>
                                ))}
                            </dt>
                            <dd>{does}</dd>
                        </div>
                    ))}
                </dl>
                <button type="button" class="plain" onClick={onClose}>
                    Close
                </button>
            </div>
        </Dialog>
    );
}
