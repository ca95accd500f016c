/**
 * The calls of one run's writers, in their order: what is made ready from what, what is written while the last is under way, what is called again.
 *
 * Boundary: order; what a call writes is `writer.ts`, who keeps it `jobs.ts` and its kin.
 *
 * Q2: each call checks, in its own transaction, that its epoch owns the run and that the row is as the call before it left it. So one that was called
 *     behind one that fails is not kept either. Where a writer of the same epoch, in this process or another, was faster, the run is read again and
 *     the call made ready anew.
 */
import type { KeyObject } from "node:crypto";
import type { Json } from "@remit/language";
import type { Outcome, SealedEvent } from "@remit/machine";
import type { Anchor } from "./anchor.ts";
import { type Blobs, type NewBlobs, unpack } from "./blob.ts";
import type { Beats } from "./beats.ts";
import type { BoundParts } from "./bound.ts";
import { Compressor } from "./compression.ts";
import { LedgerError } from "./error.ts";
import type { Job } from "./jobs.ts";
import type { Early, Pending } from "./order.ts";
import { held, progressed } from "./progress.ts";
import type { RunRow } from "./rows.ts";
import type { Writing } from "./thread.ts";

/** At once where the ledger is a file of this machine. */
export type Awaitable<T> = T | Promise<T>;

/** The open ledger, as its writers see it. */
export interface LedgerFile {
    readonly writing: Writing;
    readonly blobs: Blobs;
    readonly salt: () => string;
    readonly key: () => KeyObject;
    /** Milliseconds since 1970 by the clock that all owners of runs share. */
    readonly now: () => number;
    /** Of every run that is written. */
    readonly beats: Beats;
    /** What hears of every commit that was not kept, also where nothing waits for it: a heartbeat, an anchor. */
    readonly refused: Set<(error: LedgerError) => void>;
    /** The run as it is now. Throws `LedgerError` where it was changed by another hand. */
    readonly standing: (id: string) => Awaitable<Standing>;
    /** Owners that this process has let go, whether or not the ledger could be told. */
    readonly left: Set<string>;
    readonly told: (row: RunRow, path: string, attempt: number) => Awaitable<Outcome | null>;
    /** What came before its turn is kept without blobs, so that it can be read at once; its outcomes are packed when their turn comes. */
    readonly whole?: true;
}

/** A run as one commit leaves it to the next. `states`: number of the last saved state; `image`: of the last one that is an image. */
export interface Standing {
    /** Its column of pending effects is what was last written. */
    readonly row: RunRow;
    readonly pending: Pending;
    readonly early: Early;
    /** Of what was last written, but for the saved state. */
    readonly parts: BoundParts;
    readonly bound: string;
    readonly states: number;
    readonly image: number;
}

export type Statements = Job["statements"][number][];

/** What a call writes. */
export interface Change {
    readonly next: Standing;
    /** Beside the run's row, its pending effects and what came before its turn. */
    readonly statements: Statements;
    /** The row stays as it is, and has to be the writer's still. */
    readonly holds?: true;
    readonly anchor?: Anchor;
    /** That count with it. */
    readonly events?: readonly SealedEvent[];
    /** What the statements write for a batch or an outcome before its turn: a later call may need it before it is written. */
    readonly blobs?: NewBlobs;
}

/** Where a call finds the run. `read`: a text of the ledger, also one that is under way. */
export interface At {
    readonly now: Standing;
    readonly read: (text: string) => Json;
    /** Attempts that batches begin which came before their turn, by `outcomeKey`: the numbers of these. Some are missing that another process kept. */
    readonly begins: Map<string, number>;
}

/** Makes ready what it writes; null: there is nothing to write. */
export type Call = (at: At) => Awaitable<Change | null>;
interface Open {
    readonly call: Call;
    readonly resolve: () => void;
    readonly reject: (error: unknown) => void;
}
interface Made {
    readonly one: Open;
    readonly change: Change | null;
}

/**
 * T4, Q2: calls are written in their order, the next one while the last is still under way. One that has to look into the ledger first holds those behind it up.
 *
 * Q6: calls of a run that several activities of one process write (`shared`) are no chain: those that come in one turn of the event loop, or while others
 *     are written, are written together, with one row of the run and one sync (section `temporal` of `bench/`). Where they are not kept together, each
 *     is written alone, and one that fails fails alone.
 */
export class Calls {
    /** When the anchor was last written, milliseconds since 1970. */
    anchoredAt = 0;
    private readonly file: LedgerFile;
    /** With all that was called. */
    now: Standing;
    /** With all that is durable. */
    private kept: Standing;
    private readonly open = new Set<Open>();
    /** Those of them that are not made ready yet. */
    private unsent: Open[] = [];
    private looks = false;
    private flying = 0;
    private failed: { readonly error: unknown; readonly calls: number } | null = null;
    private readonly begins = new Map<string, number>();
    /** By name. */
    private readonly unwritten = new Map<string, string>();
    private readonly texts: Compressor;
    private readonly read = (text: string): Json => unpack(text, (name) => this.unwritten.get(name) ?? this.file.blobs(name));
    private shared: boolean;
    /** A turn of the event loop is waited for. */
    private gathers = false;
    /** So many are written alone. */
    private alone = 0;

    constructor(
        file: LedgerFile,
        first: Standing,
        { texts = new Compressor(), shared = false }: { readonly texts?: Compressor; readonly shared?: boolean } = {},
    ) {
        this.file = file;
        this.texts = texts;
        this.shared = shared;
        this.now = first;
        this.kept = first;
    }

    /** Nothing is under way. */
    get isIdle(): boolean {
        return this.open.size === 0;
    }

    /** As a call finds it that is made ready now. */
    get at(): At {
        const { now, read, begins } = this;
        if (now.early.size === 0) begins.clear();
        return { now, read, begins };
    }

    make(call: Call): Promise<void> {
        return new Promise((resolve, reject) => {
            const one = { call, resolve, reject };
            this.open.add(one);
            this.unsent.push(one);
            this.pump();
        });
    }

    /** Nothing waits for others any more: the ledger is closed. */
    hurry(): void {
        this.gathers = false;
        this.shared = false;
        this.pump();
    }

    private get isReady(): boolean {
        return this.unsent.length > 0 && !this.looks && this.failed === null;
    }
    private pump(): void {
        if (!this.shared) while (this.isReady) this.send(1);
        else if (this.isReady && !this.gathers && this.flying === 0) {
            this.gathers = true;
            setImmediate(() => this.gathered());
        }
    }
    private gathered(): void {
        if (!this.gathers) return;
        this.gathers = false;
        if (this.isReady && this.flying === 0) this.send(this.alone > 0 ? 1 : this.unsent.length);
        this.pump();
    }
    /** Makes the first `most` ready, up to one that has to look first. */
    private send(most: number): void {
        const before = this.now;
        const group: Made[] = [];
        let looking: (() => void) | null = null;
        for (let left = most; left > 0 && looking === null; left--) {
            const one = this.unsent.shift() as Open;
            try {
                const change = one.call(this.at);
                if (change instanceof Promise) looking = () => this.look(one, change);
                else group.push(this.ready(one, change));
            } catch (error) {
                this.refuse(one, error);
            }
        }
        if (this.alone > 0) this.alone--;
        this.write(before, group);
        looking?.();
    }
    private ready(one: Open, change: Change | null): Made {
        if (change !== null) this.now = change.next;
        for (const [text, name] of change?.blobs ?? []) this.unwritten.set(name, text);
        return { one, change };
    }
    private look(one: Open, change: Promise<Change | null>): void {
        this.looks = true;
        this.flying++;
        const looked = (then: () => void): void => {
            this.looks = false;
            this.flying--;
            // Where a call before it failed, it is called again.
            if (this.failed === null) then();
            this.landed();
            this.pump();
        };
        change.then(
            (made) =>
                looked(() => {
                    const before = this.now;
                    this.write(before, [this.ready(one, made)]);
                }),
            (error: unknown) => looked(() => this.refuse(one, error)),
        );
    }
    private write(before: Standing, group: readonly Made[]): void {
        if (group.length === 0) return;
        const changes = group.flatMap(({ change }) => change ?? []);
        let statements = changes.flatMap((one) => one.statements);
        if (changes.some(({ holds }) => holds !== true)) {
            const { next, statements: first } = progressed(this.file, before, this.now);
            this.now = next;
            statements = [...first, ...statements];
        } else if (changes.length > 0) statements = [held(this.file, before)];
        const anchor = changes.findLast((one) => one.anchor !== undefined)?.anchor;
        const { now } = this;
        const { key, id } = now.row;
        const job: Job = {
            statements: this.texts.statements(statements),
            run: { key, id },
            ...(changes.length === 0 ? {} : { claim: lost(id) }),
            ...(anchor === undefined ? {} : { anchor }),
        };
        this.flying++;
        this.file.writing.run(job).then(
            () => {
                this.kept = now;
                for (const { one, change } of group) {
                    for (const [, name] of change?.blobs ?? []) this.unwritten.delete(name);
                    this.open.delete(one);
                    one.resolve();
                }
                this.flying--;
                this.landed();
                this.pump();
            },
            (error: unknown) => {
                if (error instanceof LedgerError) for (const heard of this.file.refused) heard(error);
                this.failed ??= { error, calls: group.length };
                this.flying--;
                this.landed();
            },
        );
    }
    private refuse(one: Open, error: unknown): void {
        this.open.delete(one);
        one.reject(error);
    }
    private landed(): void {
        if (this.flying > 0 || this.failed === null) return;
        this.unwritten.clear();
        this.texts.forget();
        const { error, calls } = this.failed;
        if (!(error instanceof LedgerError) || error.code !== "owned") {
            if (this.shared) this.apart(error, calls);
            else this.giveUp(error);
            return;
        }
        try {
            const found = this.file.standing(this.kept.row.id);
            if (found instanceof Promise) found.then((now) => this.again(now)).catch((reason: unknown) => this.giveUp(reason));
            else this.again(found);
        } catch (reason) {
            this.giveUp(reason);
        }
    }
    /** As another writer left it. Throws `LedgerError` where that one is another owner. */
    private again(found: Standing): void {
        const { row, bound } = this.kept;
        if (found.row.epoch !== row.epoch || (found.row.owner === row.owner && found.bound === bound))
            throw new LedgerError("owned", lost(row.id));
        this.now = found;
        this.kept = found;
        this.failed = null;
        this.unsent = [...this.open];
        this.pump();
    }
    /** Q6. The first `calls` that are open were not kept. */
    private apart(error: unknown, calls: number): void {
        this.failed = null;
        this.now = this.kept;
        const [first] = this.open;
        if (calls === 1 && first !== undefined) this.refuse(first, error);
        else this.alone = calls;
        this.unsent = [...this.open];
        this.pump();
    }
    private giveUp(reason: unknown): void {
        this.failed = null;
        this.now = this.kept;
        const all = [...this.open];
        this.open.clear();
        this.unsent = [];
        for (const { reject } of all) reject(reason);
    }
}

function lost(run: string): string {
    return `run ${run} was taken over by another process`;
}
