/**
 * What the inputs of a REPL declare, in the order of their versions: an input may declare a name anew.
 *
 * Boundary: texts and syntax trees; whether what they say fits is the checker's.
 *
 * VRS1: nothing that was declared is changed or taken away, so that what the inputs before came to stays what it was. What is declared anew has
 *     a name of its own in the program (`f_2`), which stands for `f` in every later input.
 * VRS2: what was declared before and uses it, itself or by others, is there once more and uses the new one.
 * VRS3: the model that an import brings in is exchanged in its place: no answer that was recorded is asked for again.
 */
import { parse, source, type tree } from "@remit/language";

/** One declaration of an input. */
export interface Declared {
    readonly name: string;
    readonly what: "llm" | "tool" | "other";
    /** As it was written, with what stands before it. */
    readonly text: string;
    /** Offset in the input. */
    readonly at: number;
}

/** What stands in the program for a part of an input. */
export interface Version {
    readonly of: Declared;
    /** The input's number. */
    readonly input: number;
    /** Its name in the program. */
    readonly as: string;
    /** Names of the conversation → names in the program, as they were when it was declared. */
    readonly names: ReadonlyMap<string, string>;
}

export interface Versions {
    readonly all: readonly Version[];
    /** Names of the conversation → names in the program, now. */
    readonly names: ReadonlyMap<string, string>;
}

export const NONE: Versions = { all: [], names: new Map() };

/** With what one more input declares. */
export function declaring(before: Versions, more: readonly Declared[], input: number): Versions {
    const now = more.filter((one) => !isSame(current(before, one.name), one));
    const models = now.filter(({ name, what }) => what === "llm" && current(before, name)?.of.what === "llm");
    const fresh = now.filter((one) => !models.includes(one));
    const anew = new Set(fresh.flatMap(({ name }) => (before.names.has(name) ? [name] : [])));
    const users = usersOf(before, anew);
    const names = new Map(before.names);
    const taken = new Set([...before.all.map(({ as }) => as), ...more.map(({ name }) => name)]);
    for (const { name } of [...fresh, ...users.map(({ of }) => of)]) names.set(name, names.has(name) ? freeName(name, taken) : name);
    const version = (of: Declared, from: number): Version => ({ of, input: from, as: names.get(of.name) ?? of.name, names });
    const kept = before.all.map((one) => {
        const instead = models.find(({ name }) => current(before, name) === one);
        return instead === undefined ? one : { ...one, of: instead, input };
    });
    return { all: [...kept, ...fresh.map((one) => version(one, input)), ...users.map((one) => version(one.of, one.input))], names };
}

function current({ all, names }: Versions, name: string): Version | undefined {
    return all.find(({ as, of }) => of.name === name && as === names.get(name));
}

function isSame(before: Version | undefined, { text }: Declared): boolean {
    return before !== undefined && before.of.text.trim() === text.trim();
}

function freeName(name: string, taken: Set<string>): string {
    for (let n = 2; ; n++) {
        const free = `${name}_${n}`;
        if (taken.has(free)) continue;
        taken.add(free);
        return free;
    }
}

/** VRS2. */
function usersOf(before: Versions, anew: ReadonlySet<string>): Version[] {
    const users = new Set<Version>();
    const names = new Set(anew);
    for (let size = -1; size < users.size; ) {
        size = users.size;
        for (const name of before.names.keys()) {
            const one = current(before, name);
            if (one === undefined || names.has(name) || !uses(one.of.text).some(({ text }) => names.has(text))) continue;
            users.add(one);
            names.add(name);
        }
    }
    return [...users];
}

// ---- names in a text -------------------------------------------------------------------------------------------------

/** A text with other names in it, and where its places were. */
export interface Renamed {
    readonly text: string;
    /** Offset in it → offset in the text as it was. */
    was(offset: number): number;
}

/** `before`, `after`: what has to stand around the text, so that it is a program. */
export function renamed(text: string, names: ReadonlyMap<string, string>, before = "", after = ""): Renamed {
    const edits: { readonly at: number; readonly size: number; readonly text: string }[] = [];
    for (const { text: name, at } of uses(before + text + after)) {
        const to = names.get(name);
        if (to === undefined || to === name || at < before.length) continue;
        edits.push({ at: at - before.length, size: name.length, text: to });
    }
    edits.sort((one, other) => one.at - other.at);
    let [out, last] = ["", 0];
    for (const edit of edits) {
        out += text.slice(last, edit.at) + edit.text;
        last = edit.at + edit.size;
    }
    const was = (offset: number): number => {
        let more = 0;
        for (const { at, size, text: to } of edits) {
            if (offset < at + more) break;
            if (offset < at + more + to.length) return at;
            more += to.length - size;
        }
        return offset - more;
    };
    return { text: out + text.slice(last), was };
}

interface Used {
    readonly text: string;
    readonly at: number;
}

/** Names of declarations, of what is local, and of what refers to either; none of a field, a method or a key. */
function uses(text: string): Used[] {
    const found = new Map<number, Used>();
    const put = (name: tree.Name): void => {
        if (!found.has(name.range.start)) found.set(name.range.start, { text: name.text, at: name.range.start });
    };
    const visit = (of: unknown, under = ""): void => {
        if (Array.isArray(of)) {
            for (const one of of) visit(one, under);
            return;
        }
        if (of === null || typeof of !== "object") return;
        const node = of as { readonly kind?: string; readonly [key: string]: unknown };
        const { kind = "" } = node;
        if (kind === "ident") put({ text: node["name"] as string, range: node["range"] as tree.Node["range"] });
        for (const key of NAMES[kind] ?? NAMES[under] ?? [])
            for (const name of [node[key]].flat()) if (name !== undefined) put(name as tree.Name);
        for (const [key, value] of Object.entries(node)) if (key !== "range") visit(value, key);
    };
    visit(parse(source(text, "")).items);
    return [...found.values()];
}

/** Where a name is one that is declared or refers to one: by the kind of a node, or by the property of a node without a kind. */
const NAMES: { readonly [of: string]: readonly string[] } = {
    import: ["name"],
    agent: ["name"],
    func: ["name"],
    shape: ["name"],
    remit: ["name"],
    flow: ["name"],
    "remit.use": ["name"],
    "c.name": ["name"],
    lambda: ["params"],
    for: ["item"],
    parallel: ["item"],
    try: ["name"],
    "try.expr": ["name"],
    delegate: ["to"],
    params: ["name"],
    refs: ["name"],
};
