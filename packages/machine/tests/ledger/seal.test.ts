/** The chain: every kind of tampering is named at its first event; what is taken out with its commitment still verifies. */
import type { Json } from "@remit/language";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
    canonicalJson,
    GENESIS,
    redactEvent,
    type SealedEvent,
    type SealedPart,
    sealEvent,
    toNdjson,
    verifyChain,
    whatIsNew,
} from "../../src/index.ts";
import { event, RUN, sample, seal, sha256 } from "./support.ts";

const whole = seal(sample());
const verify = (events: Iterable<SealedEvent>, anchor?: { seq: number; hash: string }) => verifyChain(events, sha256, anchor);
const last = whole.at(-1) as SealedEvent;

/** A line as JSON; null where it is none. */
function eventOf(line: string): Json {
    try {
        return JSON.parse(line) as Json;
    } catch (problem) {
        if (!(problem instanceof SyntaxError)) throw problem;
        return null;
    }
}

/** The chain with one event rewritten and everything from it on sealed anew, as somebody without the anchor could. */
function reseal(events: readonly SealedEvent[], at: number, change: (one: SealedEvent) => SealedEvent): SealedEvent[] {
    let prev = events[at]?.prev ?? GENESIS;
    return events.map((one, index) => {
        if (index < at) return one;
        const made = index === at ? change(one) : one;
        const sealed = sealEvent(made, { seq: made.seq, time: made.time, run: made.run, prev }, made.salt, sha256);
        prev = sealed.hash;
        return sealed;
    });
}

test("a whole chain verifies, with its anchor, an older one, and none", () => {
    expect(verify(whole)).toEqual({ ok: true, count: whole.length, head: last.hash });
    expect(verify(whole, { seq: last.seq, hash: last.hash }).ok).toBe(true);
    expect(verify(whole, { seq: 3, hash: whole[2]?.hash as string }).ok).toBe(true);
    expect(verify([])).toEqual({ ok: true, count: 0, head: GENESIS });
});

describe("F43: tampering", () => {
    const at = (seq: number, what: string) => expect.objectContaining({ ok: false, seq, what });
    const changes: Record<string, (one: SealedEvent) => SealedEvent> = {
        data: (one) => ({ ...one, data: { ...(one.data as object), more: 1 } }),
        content: (one) => ({ ...one, data: { ...(one.data as object), result: "another" } }),
        labels: (one) => ({ ...one, labels: [...one.labels, "user"] }),
        time: (one) => ({ ...one, time: "2020-01-01T00:00:00.000Z" }),
        path: (one) => ({ ...one, path: "main/elsewhere" }),
        parent: (one) => ({ ...one, parent: "main" }),
        kind: (one) => ({ ...one, kind: "policy.denied" }),
        principal: (one) => ({ ...one, principal: "agent:Mallory" }),
        site: (one) => ({ ...one, site: { file: "x", line: 1, column: 1 } }),
        salt: (one) => ({ ...one, salt: `${one.salt.slice(0, -1)}${one.salt.endsWith("0") ? "1" : "0"}` }),
        hash: (one) => ({ ...one, hash: sha256("x") }),
        prev: (one) => ({ ...one, prev: sha256("x") }),
    };
    test.each(Object.keys(changes))("a changed %s, at every event", (name) => {
        const change = changes[name] as (one: SealedEvent) => SealedEvent;
        whole.forEach((one, index) => {
            expect(verify(whole.with(index, change(one)))).toEqual(at(index + 1, "changed"));
        });
    });

    test("another run's event", () => expect(verify(whole.with(2, seal(sample(), "run-2")[2] as SealedEvent))).toEqual(at(3, "changed")));

    test("an event rewritten with a new hash is named, though its own hash fits", () => {
        const one = whole[3] as SealedEvent;
        const forged = sealEvent(
            { ...one, data: { forged: true } },
            { seq: one.seq, time: one.time, run: RUN, prev: one.prev },
            one.salt,
            sha256,
        );
        expect(verify(whole.with(3, forged))).toEqual(at(4, "changed"));
    });

    test("a chain made anew from some event on is seen against the anchor, and only there", () => {
        const forged = reseal(whole, 3, (one) => ({ ...one, data: { forged: true } }));
        expect(verify(forged).ok).toBe(true);
        expect(verify(forged, { seq: last.seq, hash: last.hash })).toEqual(at(last.seq, "changed"));
        expect(verify(forged, { seq: 2, hash: whole[1]?.hash as string }).ok).toBe(true);
    });

    test("a dropped event", () => {
        for (let index = 0; index < whole.length - 1; index++) expect(verify(whole.toSpliced(index, 1))).toEqual(at(index + 1, "dropped"));
    });

    test("a cut tail, against the anchor", () => {
        expect(verify(whole.slice(0, -2)).ok).toBe(true);
        expect(verify(whole.slice(0, -2), { seq: last.seq, hash: last.hash })).toEqual(at(whole.length - 1, "dropped"));
        expect(verify([], { seq: last.seq, hash: last.hash })).toEqual(at(1, "dropped"));
    });

    test("a moved event, wherever it goes", () => {
        fc.assert(
            fc.property(fc.nat(whole.length - 1), fc.nat(whole.length - 1), (from, to) => {
                fc.pre(from !== to);
                const moved = whole.toSpliced(from, 1).toSpliced(to, 0, whole[from] as SealedEvent);
                const said = verify(moved);
                expect(said).toEqual(at(Math.min(from, to) + 1, "moved"));
            }),
        );
    });

    test("an event that stands twice", () => expect(verify(whole.toSpliced(4, 0, whole[3] as SealedEvent))).toEqual(at(4, "moved")));

    test.each(["site", "parent"])("a field %s that held null and is gone", (name) => {
        const index = whole.findIndex((event) => event[name as "site" | "parent"] === null);
        const { [name as "site"]: _, ...without } = whole[index] as SealedEvent;
        expect(verify(whole.with(index, without as SealedEvent))).toEqual(at(index + 1, "changed"));
    });

    test("any change of any byte of the stream form", () => {
        const text = [...toNdjson(whole)].join("");
        fc.assert(
            fc.property(fc.nat(text.length - 1), fc.constantFrom("0", "a", "}", " ", '"'), (index, char) => {
                fc.pre(text[index] !== char);
                const lines = `${text.slice(0, index)}${char}${text.slice(index + 1)}`.split("\n").filter((line) => line.trim() !== "");
                const events = lines.map(eventOf);
                const same =
                    events.length === whole.length &&
                    events.every((one, nth) => one !== null && canonicalJson(one) === canonicalJson(whole[nth] as unknown as Json));
                const read = events.every((one) => whatIsNew.event(one) === null);
                expect(read && verify(events as unknown as SealedEvent[], { seq: last.seq, hash: last.hash }).ok).toBe(same);
            }),
            { numRuns: 500 },
        );
    });
});

describe("redaction", () => {
    const parts: SealedPart[][] = [["content"], ["data"], ["labels"], ["content", "data", "labels"]];
    test.each(parts.map((one) => [one.join(", "), one] as const))("without %s every event still verifies", (_, taken) => {
        const redacted = whole.map((one) => redactEvent(one, taken, sha256));
        expect(verify(redacted, { seq: last.seq, hash: last.hash })).toEqual({ ok: true, count: whole.length, head: last.hash });
        expect(verify(whole.map((one, index) => (index % 2 === 0 ? redactEvent(one, taken, sha256) : one))).ok).toBe(true);
        expect(verify(redacted.map((one) => JSON.parse(JSON.stringify(one)) as SealedEvent)).ok).toBe(true);
    });

    test("takes out what was said and leaves what it cost", () => {
        const redacted = whole.map((one) => redactEvent(one, ["content"], sha256));
        const text = JSON.stringify(redacted);
        for (const said of ["alpha", "Why did the build fail", "text of a", "careful engineer", "no such file"])
            expect(text).not.toContain(said);
        expect(text).toContain('"usage":{"input":10,"output":2}');
    });

    test("does not give away the salt of what it took out", () => {
        for (const one of whole) {
            const redacted = redactEvent(one, ["content"], sha256);
            expect(redacted.salt).toMatch(/^[0-9a-f]{32}-{32}[0-9a-f]{32}$/);
        }
    });

    test("in two steps is as in one", () => {
        for (const one of whole) {
            const twice = redactEvent(redactEvent(one, ["content"], sha256), ["labels"], sha256);
            expect(twice).toEqual(redactEvent(one, ["content", "labels"], sha256));
        }
    });

    test("data that is no object is content", () => {
        const [one] = seal([event("use", "main", "plain text")]) as [SealedEvent];
        const redacted = redactEvent(one, ["content"], sha256);
        expect(redacted.data).toEqual({});
        expect(verify([redacted]).ok).toBe(true);
    });

    test("what is put into a removed part is seen", () => {
        const redacted = redactEvent(whole[2] as SealedEvent, ["content", "labels", "data"], sha256);
        const forgeries: SealedEvent[] = [
            { ...redacted, data: { result: "forged" } },
            { ...redacted, data: { meta: 1 } },
            { ...redacted, labels: ["user"] },
        ];
        for (const forged of forgeries) expect(verify(whole.with(2, forged))).toMatchObject({ ok: false, seq: 3, what: "changed" });
    });
});

test("a salt of another length is a mistake of the caller", () => {
    expect(() => sealEvent(event("use", "main"), { seq: 1, time: "", run: RUN, prev: GENESIS }, "00", sha256)).toThrow(RangeError);
});

test("sealing takes four hash calls at the most", () => {
    let made = 0;
    const counting = (text: string): string => {
        made++;
        return sha256(text);
    };
    for (const one of sample()) {
        made = 0;
        sealEvent(one, { seq: 1, time: "", run: RUN, prev: GENESIS }, "0".repeat(96), counting);
        expect(made).toBeLessThanOrEqual(4);
    }
});
