/**
 * Keys: what each does where the person is, and the list of them behind `?`.
 *
 * Boundary: one listener for the page. A key is never taken from a field that text goes into, nor with a modifier.
 */
import { type ComponentChildren, h } from "preact";
import { useEffect, useRef } from "preact/hooks";

export interface Key {
    readonly key: string;
    readonly does: string;
    run(): void;
}

const known = new Map<symbol, readonly Key[]>();

/** Keys that hold while the part is there; of two for one key the later part's counts. */
export function useKeys(keys: readonly Key[]): void {
    const id = useRef(Symbol());
    known.set(id.current, keys);
    useEffect(() => {
        known.set(id.current, keys);
        return () => void known.delete(id.current);
    });
}

export function listenForKeys(): void {
    addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.repeat || isWritten(event.target)) return;
        const found = [...known.values()].flat().findLast(({ key }) => key === event.key);
        if (found === undefined) return;
        event.preventDefault();
        found.run();
    });
}

function isWritten(target: EventTarget | null): boolean {
    return target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

export function KeyList({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }): ComponentChildren {
    const ref = useRef<HTMLDialogElement>(null);
    useEffect(() => {
        if (open) ref.current?.showModal();
        else ref.current?.close();
    }, [open]);
    const all = [...new Map([...known.values()].flat().map((one) => [one.key, one])).values()];
    return h(
        "dialog",
        { ref, class: "keys", onClose, "aria-labelledby": "keys-title" },
        h("h2", { id: "keys-title" }, "Keys"),
        h(
            "dl",
            null,
            all.map(({ key, does }) => h("div", { key }, h("dt", null, h("kbd", null, key)), h("dd", null, does))),
            h("div", null, h("dt", null, h("kbd", null, "Enter")), h("dd", null, "in the composer: submit; with Shift: a new line")),
            h("div", null, h("dt", null, h("kbd", null, "↑ ↓ ← →")), h("dd", null, "in a trace: move, fold and unfold")),
        ),
        h("button", { type: "button", onClick: onClose }, "Close"),
    );
}
