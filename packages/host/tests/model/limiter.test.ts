/** Limits of an endpoint: places, requests and tokens a minute, on a clock that only moves when everybody waits; and what providers say is left. */
import { describe, expect, it } from "vitest";
import { type Clock, exhaustedFor, limiter, type Rate } from "../../src/process/limiter.ts";
import { createModels } from "../../src/model/models.ts";
import { startFakeProvider } from "./fake-provider.ts";
import { ask, FAST, KEY, turnOf } from "./setup.ts";

/** Time goes to the next moment anybody waits for, once nothing else is to be done. */
function simulated(): Clock & { advance(): boolean; readonly passed: number } {
    let now = 1_000_000;
    const waiting: { at: number; go: () => void }[] = [];
    return {
        now: () => now,
        wait: (ms, signal) =>
            new Promise((resolve, reject) => {
                if (signal.aborted) return reject(signal.reason);
                waiting.push({ at: now + ms, go: resolve });
                signal.addEventListener("abort", () => reject(signal.reason), { once: true });
            }),
        advance: () => {
            if (waiting.length === 0) return false;
            now = Math.min(...waiting.map((one) => one.at));
            for (const one of waiting.filter((each) => each.at <= now)) {
                waiting.splice(waiting.indexOf(one), 1);
                one.go();
            }
            return true;
        },
        get passed() {
            return now - 1_000_000;
        },
    };
}
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** When each of so many turns began, in seconds; each ends at once and uses so many tokens. */
async function starts(count: number, places: number, rate: Rate, tokens = 0): Promise<number[]> {
    const clock = simulated();
    const gate = limiter(places, rate, clock);
    const begun: number[] = [];
    const { signal } = new AbortController();
    const turns = Array.from({ length: count }, async () => {
        await gate.enter(signal);
        begun.push(clock.passed / 1000);
        gate.leave(tokens);
    });
    do await settle();
    while (clock.advance());
    await Promise.all(turns);
    return begun;
}

describe("requests a minute", () => {
    it("no minute has more", async () => {
        expect(await starts(7, 8, { requestsPerMinute: 3 })).toEqual([0, 0, 0, 60, 60, 60, 120]);
        expect(await starts(3, 1, { requestsPerMinute: 1 })).toEqual([0, 60, 120]);
    });
    it("fewer places than requests change nothing about the minute", async () => {
        expect(await starts(5, 2, { requestsPerMinute: 2 })).toEqual([0, 0, 60, 60, 120]);
    });
    it("no rate, no waiting", async () => {
        expect(await starts(4, 2, {})).toEqual([0, 0, 0, 0]);
    });
    it("whoever is cancelled while waiting gives the place back", async () => {
        const clock = simulated();
        const gate = limiter(1, { requestsPerMinute: 1 }, clock);
        const { signal } = new AbortController();
        await gate.enter(signal);
        gate.leave();
        const controller = new AbortController();
        const cancelled = gate.enter(controller.signal);
        const after = gate.enter(signal);
        controller.abort(new Error("no longer"));
        await expect(cancelled).rejects.toThrow("no longer");
        await settle();
        while (clock.advance()) await settle();
        await after;
        expect(clock.passed).toBe(60_000);
    });
});

describe("tokens a minute", () => {
    it("nobody begins while the last minute used them up, and one larger turn does not block for ever", async () => {
        expect(await starts(4, 1, { tokensPerMinute: 100 }, 50)).toEqual([0, 0, 60, 60]);
        expect(await starts(3, 1, { tokensPerMinute: 100 }, 500)).toEqual([0, 60, 120]);
    });
    it("both limits hold", async () => {
        expect(await starts(4, 1, { requestsPerMinute: 3, tokensPerMinute: 100 }, 60)).toEqual([0, 0, 60, 60]);
    });
});

describe("a pause of the provider", () => {
    it("holds everybody", async () => {
        const clock = simulated();
        const gate = limiter(4, {}, clock);
        gate.pause(5000);
        const entered = gate.enter(new AbortController().signal);
        await settle();
        expect(clock.advance()).toBe(true);
        await entered;
        expect(clock.passed).toBe(5000);
    });
});

describe("what a provider says is left", () => {
    it.each([
        [{ "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s" }, 360_000],
        [{ "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "120ms" }, 120],
        [{ "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1.5" }, 1500],
        [{ "anthropic-ratelimit-requests-remaining": "0", "anthropic-ratelimit-requests-reset": "1970-01-01T00:00:09Z" }, 8000],
        [{ "anthropic-ratelimit-input-tokens-remaining": "0", "anthropic-ratelimit-input-tokens-reset": "1970-01-01T00:00:00Z" }, 0],
        [{ "x-ratelimit-remaining-requests": "1", "x-ratelimit-reset-requests": "6m0s" }, 0],
        [{ "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "soon" }, 0],
        [{}, 0],
    ] as [Record<string, string>, number][])("%j", (headers, ms) => {
        expect(exhaustedFor(new Headers(headers), 1000)).toBe(ms);
    });

    it("is kept to by the next turn of the endpoint, as long as patience lasts", async () => {
        const headers = { "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1h" };
        await using server = await startFakeProvider({
            body: JSON.stringify({ choices: [{ index: 0, message: { role: "assistant", content: "x" }, finish_reason: "stop" }] }),
            headers,
        });
        const env = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${server.url}/v1` };
        const models = createModels({ env, patience: { ...FAST, maxPauseMs: 3_600_000 } });
        expect((await ask(models, turnOf("openai://m"))).ok).toBe(true);
        const controller = new AbortController();
        const second = ask(models, turnOf("openai://other"), { signal: controller.signal, emit: () => undefined });
        await settle();
        controller.abort();
        expect(await second).toMatchObject({ ok: false, failure: { kind: "cancelled" } });
        expect(server.requests.filter((request) => request.method === "POST")).toHaveLength(1);
    });
});

it("a configured rate holds for all models of an endpoint, by host or by provider", async () => {
    await using server = await startFakeProvider({ text: "x" });
    const env = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${server.url}/v1` };
    for (const name of [server.host, "openai"]) {
        const before = server.requests.length;
        const models = createModels({ env, patience: FAST, rates: { [name]: { requestsPerMinute: 2 } } });
        const controller = new AbortController();
        const io = { signal: controller.signal, emit: () => undefined };
        const turns = ["a", "b", "c", "d"].map((model) => ask(models, turnOf(`openai://${model}`), io));
        const first = await Promise.all(turns.slice(0, 2));
        expect(first.every((outcome) => outcome.ok)).toBe(true);
        controller.abort();
        expect((await Promise.all(turns)).map((outcome) => outcome.ok)).toEqual([true, true, false, false]);
        expect(server.requests.length - before).toBe(2);
    }
});
