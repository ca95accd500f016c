/**
 * Accounts: what a run, a call of an agent with `spend` in its remit, and a `spend` region may use, and what they used.
 *
 * Boundary: counting. When accounts open and close, and what follows when one is used up, is `spending.ts`.
 *
 * AC1: an effect has to fit every account around it: calls and turns count when it is asked for, tokens and, where the price of the model is
 *     known, dollars are reserved then and settled with what its outcome says. It is refused where nothing is left, what others reserved included.
 * AC2: a failure names the meter, the limit, what was used, and who wanted more at which path.
 * AC3: a child never has more than its parent has left when it opens, and whatever it uses its parent uses too, at once: fibers side by side
 *     draw from one pool.
 * AC4: steps of an account are exact, however the run is cut into slices: they are those between entering and leaving it, on all its fibers, and
 *     no slice goes beyond what the accounts of the running fiber have left.
 * AC5: of several accounts that are used up it is the innermost that is named: what stands around it may still end in good order.
 * AC9: a turn that the account can pay for once the turns in flight are settled waits for them, in the order in which it was asked for. With
 *     nothing in flight its reply is limited to what is left. So the sum of what is reserved never exceeds the limit.
 * AC6: of a turn that is withdrawn no report says what it used: its prompt counts, as it was reckoned; what was reserved for its reply comes
 *     back. Otherwise turns that are begun and broken off would be free.
 * AC10: what the agent of a turn says that it used is counted as it says so; the outcome of the turn then counts what it says beyond that. So a turn that
 *     breaks off, by whatever, was not free, and nothing counts twice.
 */
import { amountOf, type Json, type SpendForm, timeText } from "@remit/language";
import { type Effect, type EffectKind, type ModelTurn, opOf } from "../effect/effect.ts";
import { amountTold, sumOf, type Usage } from "../effect/usage.ts";
import { shownPrincipal } from "../authority/authority.ts";
import { Fail } from "../effect/failure.ts";
import { count, number, orNull, says, shape, type Told, text } from "../shape/build.ts";
import type { Limits, Prices } from "./options.ts";
import type { Run } from "./run.ts";

/** Meters, in the order in which they are looked at. */
const METERS = [
    { meter: "tokens", kind: "limit.tokens", unit: "token" },
    { meter: "usd", kind: "limit.cost", unit: "US dollar" },
    { meter: "calls", kind: "limit.calls", unit: "call" },
    { meter: "turns", kind: "limit.turns", unit: "model turn" },
    { meter: "steps", kind: "limit.steps", unit: "step" },
    { meter: "bytes", kind: "limit.bytes", unit: "byte" },
    { meter: "time", kind: "limit.time", unit: "ms" },
] as const;

export const METER_NAMES = METERS.map((row) => row.meter);

export type Meter = (typeof METERS)[number]["meter"];
type Counted = Exclude<Meter, "time">;

/** What a run or a part of it used. Tokens: in, cached ones included, and out. */
export type Used = { -readonly [M in Counted]: number };

export const USED = shape({ tokens: number, usd: number, calls: number, turns: number, steps: number, bytes: number }, {});

export const ACCOUNT = shape(
    {
        token: count,
        parent: says(count, "0 for the run's own"),
        /** Of the call or the region. */
        path: text,
        /** Whose it is, as shown. */
        name: text,
        /** The agent call or iteration that its events belong to. */
        within: orNull(text),
        /** The fiber in which it opened. */
        fiber: count,
        limits: shape({}, { tokens: number, usd: number, time: number, steps: number, calls: number, turns: number, bytes: number }),
        used: USED,
        reserved: says(number, "tokens"),
        reservedUsd: says(number, "millionths of a US dollar"),
        began: says(orNull(number), "milliseconds of the run at which its time began to run"),
    },
    {},
);
export type AccountDoc = Told<typeof ACCOUNT>;

export interface Account extends Omit<AccountDoc, "parent" | "used" | "reserved" | "reservedUsd" | "began"> {
    readonly parent: Account | null;
    readonly used: Used;
    reserved: number;
    reservedUsd: number;
    began: number | null;
}

/** Who wants to use something, and where. Before every effect: what people are shown is made of it only where something stands against it. */
export interface Spender {
    /** A principal, or a name as it is shown. */
    readonly who: string;
    readonly path: string;
}

export interface Exceeded {
    readonly meter: Meter;
    readonly limit: number;
    readonly used: number;
    readonly spender: string;
    /** Path of the account, `run` for the whole. */
    readonly account: string;
    readonly fail: Fail;
}

/** Tokens reserved for a reply where the program does not bound it. */
const USUAL_REPLY = 1024;
/** Tokens reserved for a file in a prompt. */
const USUAL_FILE = 1024;

/** Dollars are reserved in whole millionths, so that sums come out even. */
const MICRO = 1e6;

/** What an outcome says was used, and what was reserved for it. */
interface Bill {
    readonly usage: Usage | undefined;
    /** Token of the account that pays. */
    readonly account: number;
    readonly held: readonly number[];
    readonly spender: Spender;
    /** Whose turn it is that succeeded and is bound by nothing else. */
    readonly turned: "model" | "agent" | null;
    /** Those that an agent outside the program made in its turn. */
    readonly calls?: number | undefined;
}

/** What a turn is going to use, about: tokens of its prompt and its reply, millionths of a dollar for the prompt and for a token of the reply. */
interface Reckoned {
    readonly prompt: number;
    readonly promptUsd: number;
    readonly reply: number;
    readonly replyPrice: number;
}
const NOTHING: Reckoned = { prompt: 0, promptUsd: 0, reply: 0, replyPrice: 0 };

/** What a division of two decimal fractions may fall short by. */
const EPSILON = 1e-9;

/**
 * `held`: what is reserved, tokens and then millionths of a dollar of each account from the innermost outwards; `reply`: the tokens that the budget
 * leaves for the reply where those are fewer than were wanted. `waits`: the account whose turns in flight have to be settled first. `over`: what
 * stands against the effect.
 */
export type Reservation =
    | { readonly held: readonly number[]; readonly reply: number | null }
    | { readonly waits: number }
    | { readonly over: Exceeded };

/** What stands against an effect where nothing of it is left. */
const OF_CALL = ["calls"] as const;
const OF_TURN = ["tokens", "usd", "calls", "turns"] as const;

const nothing = (): Used => ({ tokens: 0, usd: 0, calls: 0, turns: 0, steps: 0, bytes: 0 });

export class Accounts {
    readonly root: Account;
    /** All but the root, by token, parents before children. */
    readonly open = new Map<number, Account>();
    private current: Account;
    private readonly run: Run;
    private maxBytes: number;
    private readonly prices: Prices;
    private readonly unpriced: string;
    /** Where the present stay in `current` began, and the steps it had left then. */
    private steps = 0;
    private bytes = 0;
    private room = Number.POSITIVE_INFINITY;

    constructor(run: Run, limits: Limits, prices: Prices = {}, unpriced = "give the price of the model in `prices` of remit.json") {
        this.run = run;
        this.prices = prices;
        this.unpriced = unpriced;
        this.maxBytes = run.maxBytes;
        const { tokens, usd, calls, turns, time } = limits;
        const own: { -readonly [K in keyof SpendForm]: number } = {};
        for (const [meter, limit] of Object.entries({ tokens, usd, calls, turns, time }))
            if (limit !== undefined) own[meter as keyof SpendForm] = limit;
        this.root = {
            token: 0,
            parent: null,
            path: "run",
            name: "the run",
            within: null,
            fiber: 0,
            limits: own,
            used: nothing(),
            reserved: 0,
            reservedUsd: 0,
            began: null,
        };
        this.current = this.root;
    }

    /** Bounds the bytes of the whole run. */
    boundBytes(bytes: number): void {
        this.maxBytes = bytes;
        this.run.maxBytes = bytes;
        this.stay(this.current);
    }

    /** An account, the root for 0 and for one that is closed. */
    at(token: number): Account {
        return (token === 0 ? undefined : this.open.get(token)) ?? this.root;
    }

    /** Whether account `token` is `around` or stands inside it. */
    within(token: number, around: number): boolean {
        for (let a: Account | null = this.at(token); a !== null; a = a.parent) if (a.token === around) return true;
        return false;
    }

    /** From here on `token` pays. */
    enter(token: number): void {
        if (this.open.size === 0) return;
        this.sync();
        this.stay(this.at(token));
    }

    private stay(account: Account): void {
        this.current = account;
        let room = Number.POSITIVE_INFINITY;
        let { maxBytes } = this;
        for (let a = account; a.parent !== null; a = a.parent) {
            if (a.limits.steps !== undefined) room = Math.min(room, a.limits.steps - a.used.steps);
            if (a.limits.bytes !== undefined) maxBytes = Math.min(maxBytes, this.run.bytes + a.limits.bytes - a.used.bytes);
        }
        this.room = room;
        this.run.maxBytes = maxBytes;
        this.run.clip(room);
    }

    /** Books what was used since the present account was entered. */
    sync(): void {
        const steps = this.run.steps - this.steps;
        const bytes = this.run.bytes - this.bytes;
        this.steps = this.run.steps;
        this.bytes = this.run.bytes;
        for (let a = this.current; a.parent !== null; a = a.parent) {
            a.used.steps += steps;
            a.used.bytes += bytes;
        }
        this.room -= steps;
    }

    /** True where so many steps more are beyond what the present accounts have. */
    spends(steps: number): boolean {
        return this.open.size > 0 && this.room - (this.run.steps - this.steps) < steps;
    }

    /** Opens a child of `parent`. `stepsLeft`: of the whole run. */
    opens(doc: Omit<AccountDoc, "used" | "reserved" | "reservedUsd" | "began">, stepsLeft: number): Account {
        if (this.open.size === 0) {
            this.steps = this.run.steps;
            this.bytes = this.run.bytes;
        } else this.sync();
        const parent = this.at(doc.parent);
        const limits: { -readonly [K in keyof SpendForm]: number } = { ...doc.limits };
        for (const { meter } of METERS) {
            const own = limits[meter];
            if (own === undefined || meter === "time") continue;
            let least = meter === "steps" ? Math.min(own, stepsLeft) : own;
            // What others only reserved may come back.
            for (let a: Account | null = parent; a !== null; a = a.parent)
                least = Math.min(least, (a.limits[meter] ?? Number.POSITIVE_INFINITY) - a.used[meter]);
            limits[meter] = Math.max(0, least);
        }
        const made: Account = { ...doc, parent, limits, used: nothing(), reserved: 0, reservedUsd: 0, began: null };
        this.open.set(made.token, made);
        return made;
    }

    /** Closes an account and gives what it used; those inside it are closed before. */
    close(token: number): Account | null {
        const account = this.open.get(token);
        if (account === undefined) return null;
        this.sync();
        const inside = this.within(this.current.token, token);
        this.open.delete(token);
        if (inside) this.stay(account.parent as Account);
        return account;
    }

    // ---- effects ----

    /**
     * Counts an effect about to be asked for and reserves what a model turn is going to use (AC1, AC9). A turn that fits once the turns in flight
     * are settled waits for them: `waits` is the account that it waits for. `blocked`: accounts that earlier effects wait for.
     */
    reserve(kind: EffectKind, request: Json, token: number, spender: Spender, blocked: ReadonlySet<number>): Reservation {
        const turn = (kind === "model" || kind === "agent") && opOf(request) === "turn";
        const calls = kind !== "input" && kind !== "ask" && kind !== "sleep";
        const meters = turn ? OF_TURN : calls ? OF_CALL : [];
        const wanted = turn && kind === "model" ? this.reckoned(request as unknown as ModelTurn) : NOTHING;
        let reply = Number.POSITIVE_INFINITY;
        let waits: number | null = null;
        for (let a: Account | null = this.at(token); a !== null; a = a.parent)
            for (const meter of meters) {
                const limit = a.limits[meter];
                if (limit === undefined) continue;
                const left = limit - a.used[meter];
                const held = reservedOf(a, meter);
                const prompt = meter === "tokens" ? wanted.prompt : meter === "usd" ? wanted.promptUsd / MICRO : 0;
                if (left <= 0 || left < prompt) return { over: this.exceeded(a, meter, spender, prompt) };
                if (meter !== "tokens" && meter !== "usd") continue;
                const replyPrice = meter === "tokens" ? 1 : wanted.replyPrice / MICRO;
                const fits = replyPrice === 0 ? Number.POSITIVE_INFINITY : Math.floor((left - held - prompt) / replyPrice + EPSILON);
                const short = left - held <= 0 || (kind === "model" && fits < wanted.reply);
                if ((held > 0 && short) || blocked.has(a.token)) waits ??= a.token;
                if (kind === "model" && fits < 1 && held <= 0 && !blocked.has(a.token))
                    return { over: this.exceeded(a, meter, spender, prompt) };
                reply = Math.min(reply, fits);
            }
        if (waits !== null) return { waits };
        const limited = reply < wanted.reply;
        const most = limited ? reply : wanted.reply;
        const held: number[] = [];
        for (let a: Account | null = this.at(token); a !== null; a = a.parent) {
            const tokens = a.limits.tokens === undefined ? 0 : wanted.prompt + most;
            const usd = a.limits.usd === undefined ? 0 : wanted.promptUsd + Math.ceil(most * wanted.replyPrice);
            a.reserved += tokens;
            a.reservedUsd += usd;
            if (calls) a.used.calls++;
            if (turn) a.used.turns++;
            held.push(tokens, usd);
        }
        return { held, reply: limited ? most : null };
    }

    /** No dollars where the price is not known. */
    private reckoned(turn: ModelTurn): Reckoned {
        const { prompt, reply } = sizeOf(turn);
        const name = `${turn.model.name} ${turn.model.uri}`;
        const price = Object.hasOwn(this.prices, name) ? this.prices[name] : undefined;
        return { prompt, promptUsd: Math.ceil(prompt * (price?.input ?? 0)), reply, replyPrice: price?.output ?? 0 };
    }

    /** No fiber waits for an effect any more (AC6). */
    withdrawn(effect: Pick<Effect, "kind" | "request">, token: number, held: readonly number[]): void {
        if (held.length === 0) return;
        const turn = effect.kind === "model" && opOf(effect.request) === "turn";
        const { prompt, promptUsd } = turn ? this.reckoned(effect.request as unknown as ModelTurn) : NOTHING;
        let i = 0;
        for (let a: Account | null = this.at(token); a !== null; a = a.parent) {
            a.reserved -= held[i++] ?? 0;
            a.reservedUsd -= held[i++] ?? 0;
            a.used.tokens += prompt;
            a.used.usd += promptUsd / MICRO;
        }
    }

    /** The least that is left of a meter in an account and those around it; infinite where nothing bounds it. */
    leftOf(token: number, meter: Counted): number {
        this.sync();
        let least = Number.POSITIVE_INFINITY;
        for (let a: Account | null = this.at(token); a !== null; a = a.parent) least = Math.min(least, Math.max(0, remaining(a, meter)));
        return least;
    }

    /** The shortest time that an account and those around it may take as a whole; how much of it is left is the host's to know. */
    timeOf(token: number): number | undefined {
        let least: number | undefined;
        for (let a: Account | null = this.at(token); a !== null; a = a.parent) {
            const { time } = a.limits;
            if (time !== undefined) least = Math.min(time, least ?? time);
        }
        return least;
    }

    /** Counts what an outcome says was used; gives the account that is overdrawn by it. */
    settle({ usage, account: token, held, spender, turned, calls = 0 }: Bill): Exceeded | null {
        const input = Math.max(amountTold(usage?.input), amountTold(usage?.cached));
        const tokens = sumOf(input, amountTold(usage?.output));
        const usd = amountTold(usage?.usd);
        let over: Exceeded | null = null;
        let bound = false;
        let i = 0;
        for (let a: Account | null = this.at(token); a !== null; a = a.parent) {
            a.reserved -= held[i++] ?? 0;
            a.reservedUsd -= held[i++] ?? 0;
            a.used.tokens = sumOf(a.used.tokens, tokens);
            a.used.usd = sumOf(a.used.usd, usd);
            a.used.calls = sumOf(a.used.calls, amountTold(calls));
            bound ||= a.limits.turns !== undefined || a.limits.time !== undefined;
        }
        for (let a: Account | null = this.at(token); a !== null && over === null; a = a.parent) {
            if (a.limits.tokens !== undefined && a.used.tokens > a.limits.tokens) over = this.exceeded(a, "tokens", spender);
            else if (a.limits.usd !== undefined && a.used.usd > a.limits.usd) over = this.exceeded(a, "usd", spender);
            else if (calls > 0 && a.limits.calls !== undefined && a.used.calls > a.limits.calls) over = this.exceeded(a, "calls", spender);
            else if (turned !== null && !bound) {
                const counts = usage?.input !== undefined || usage?.output !== undefined;
                if (a.limits.tokens !== undefined && !counts) over = this.unmeasured(a, "tokens", spender, turned);
                else if (a.limits.usd !== undefined && usage?.usd === undefined) over = this.unmeasured(a, "usd", spender, turned);
            }
        }
        return over;
    }

    // ---- failures ----

    /** `wanted`: what the prompt of a refused turn takes of the meter, about. */
    exceeded(a: Account, meter: Meter, who: Spender, wanted = 0): Exceeded {
        const [limit, spender] = [a.limits[meter] as number, spenderOf(who)];
        const used = meter === "time" ? limit : meter === "steps" ? Math.min(limit, a.used.steps) : a.used[meter];
        const { unit } = METERS.find((row) => row.meter === meter) as (typeof METERS)[number];
        const reserved = reservedOf(a, meter);
        const more = reserved > 0 ? ` and ${shown(reserved)} reserved` : "";
        const what = `${a.name}'s budget of ${amountOf(limit, unit)}`;
        const message =
            meter === "time"
                ? `the ${timeText(limit, " ")} of ${a.name} are over`
                : limit === 0
                  ? `${what} allows none: ${spender} wants more`
                  : used < limit && wanted > 0
                    ? `${what} leaves too little for a prompt of about ${amountOf(wanted, unit)} (${shown(used)} used${more}), by ${spender}`
                    : `${what} is used up (${shown(used)}${more}), by ${spender}`;
        return failing(a, { meter, limit, used, spender }, message);
    }

    /** LANGUAGE 6: a budget has no effect on a model that does not report usage. */
    unmeasured(a: Account, meter: "tokens" | "usd", who: Spender, whose: string): Exceeded {
        const [limit, what] = [a.limits[meter] as number, meter === "tokens" ? "how many tokens it used" : "what it cost"];
        const message = `${a.name}'s budget of ${amountOf(limit, meter === "tokens" ? "token" : "US dollar")} cannot be kept: the ${whose} does not say ${what}, by ${spenderOf(who)}`;
        const of = { meter, limit, used: a.used[meter], spender: spenderOf(who), unmeasured: true };
        return failing(a, of, message, `${meter === "usd" ? `${this.unpriced}, or ` : ""}bound it by turns or time as well`);
    }

    /** The innermost account of the present fiber that so many steps more would overdraw; what went beyond it does not count. */
    stepsSpent(steps: number, who: Spender): Exceeded | null {
        if (this.open.size === 0) return null;
        this.sync();
        for (let a = this.current; a.parent !== null; a = a.parent) {
            const { limits, used } = a;
            if (limits.steps === undefined || limits.steps - used.steps >= steps) continue;
            const over = Math.max(0, used.steps - limits.steps);
            this.run.left += over;
            this.steps = this.run.steps;
            for (let b = a; b.parent !== null; b = b.parent) b.used.steps -= over;
            return this.exceeded(a, "steps", who);
        }
        return null;
    }

    /** The innermost account of the present fiber that holds no more bytes. */
    bytesSpent(who: Spender): Exceeded | null {
        if (this.open.size === 0) return null;
        this.sync();
        for (let a = this.current; a.parent !== null; a = a.parent)
            if (a.limits.bytes !== undefined && a.used.bytes > a.limits.bytes) return this.exceeded(a, "bytes", { ...who, path: a.path });
        return null;
    }

    // ---- continuation ----

    docs(): AccountDoc[] {
        this.sync();
        return [...this.open.values()].map((a) => ({ ...a, parent: (a.parent as Account).token, used: { ...a.used } }));
    }

    restore(docs: readonly AccountDoc[]): void {
        for (const doc of docs) this.open.set(doc.token, { ...doc, parent: this.at(doc.parent), used: { ...doc.used } });
        this.steps = this.run.steps;
        this.bytes = this.run.bytes;
    }
}

function failing(a: Account, of: Omit<Exceeded, "account" | "fail">, message: string, hint?: string): Exceeded {
    const { kind } = METERS.find((row) => row.meter === of.meter) as (typeof METERS)[number];
    const fail = new Fail(kind, message, {
        ...(a.parent === null ? { whole: true } : { region: a.token }),
        detail: { ...of },
        ...(hint === undefined ? {} : { hint }),
    });
    return { ...of, account: a.path, fail };
}

/** An amount without the digits by which sums of dollars drift. */
const shown = (amount: number): number => Number(amount.toFixed(6));

/** As it is shown. */
export function spenderOf({ who, path }: Spender): string {
    return `${shownPrincipal(who)} at ${path}`;
}

function remaining(a: Account, meter: Counted): number {
    const limit = a.limits[meter];
    return limit === undefined ? Number.POSITIVE_INFINITY : limit - a.used[meter] - reservedOf(a, meter);
}

function reservedOf(a: Account, meter: Meter): number {
    return meter === "tokens" ? a.reserved : meter === "usd" ? a.reservedUsd / MICRO : 0;
}

/** About how many tokens a turn takes: its text at four characters each, and its reply. */
function sizeOf(turn: ModelTurn): { readonly prompt: number; readonly reply: number } {
    let units = 0;
    let files = 0;
    for (const message of turn.messages) {
        if (message.role === "tool") units += JSON.stringify(message.result).length;
        else if (typeof message.content === "string") units += message.content.length;
        else
            for (const part of message.content) {
                if (part.type === "text") units += part.text.length;
                else files += USUAL_FILE;
            }
    }
    for (const offer of turn.tools ?? []) units += JSON.stringify(offer).length;
    return { prompt: files + Math.ceil(units / 4), reply: turn.maxOutput ?? USUAL_REPLY };
}
