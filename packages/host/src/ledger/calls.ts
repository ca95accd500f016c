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
import type { Outcome } from "@remit/machine";
import type { Anchor } from "./anchor.ts";
import { type Blobs, type NewBlobs, unpack } from "./blob.ts";
import type { BoundParts } from "./bound.ts";
import { Compressor } from "./compression.ts";
import { LedgerError } from "./error.ts";
import type { Job } from "./jobs.ts";
import type { Early, Pending } from "./order.ts";
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
    /** What is called at each heartbeat: once for every run that is written. */
    readonly beats: Set<() => void>;
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
    readonly row: RunRow;
    readonly pending: Pending;
    readonly early: Early;
    readonly parts: BoundParts;
    readonly bound: string;
    readonly states: number;
    readonly image: number;
}

export type Statements = Job["statements"][number][];

/** What a call writes. */
export interface Change {
    readonly next: Standing;
    readonly statements: Statements;
    readonly anchor?: Anchor;
    /** What the statements write for a batch or an outcome before its turn: a later call may need it before it is written. */
    readonly blobs?: NewBlobs;
}

/** Where a call finds the run. `read`: a text of the ledger, also one that is under way. */
export interface At {
    readonly now: Standing;
    readonly read: (text: string) => Json;
}

/** Makes ready what it writes; null: there is nothing to write. */
export type Call = (at: At) => Awaitable<Change | null>;
interface Open {
    readonly call: Call;
    readonly resolve: () => void;
    readonly reject: (error: unknown) => void;
}

/** T4, Q2: calls are written in their order, the next one while the last is still under way. One that has to look into the ledger first holds those behind it up. */
export class Calls {
    /** When the anchor was last written, milliseconds since 1970. */
    anchoredAt = 0;
    private readonly file: LedgerFile;
    /** With all that was called. */
    now: Standing;
    /** With all that is durable. */
    private kept: Standing;
    private open: Open[] = [];
    /** Those of them that are not made ready yet. */
    private unsent: Open[] = [];
    private looks = false;
    private flying = 0;
    private failed: { readonly error: unknown } | null = null;
    /** By name. */
    private readonly unwritten = new Map<string, string>();
    private readonly texts: Compressor;
    private readonly read = (text: string): Json => unpack(text, (name) => this.unwritten.get(name) ?? this.file.blobs(name));

    constructor(file: LedgerFile, first: Standing, texts = new Compressor()) {
        this.file = file;
        this.texts = texts;
        this.now = first;
        this.kept = first;
    }

    /** Nothing is under way. */
    get isIdle(): boolean {
        return this.open.length === 0;
    }

    make(call: Call): Promise<void> {
        return new Promise((resolve, reject) => {
            const one = { call, resolve, reject };
            this.open.push(one);
            this.unsent.push(one);
            this.pump();
        });
    }

    private pump(): void {
        while (!this.looks && this.failed === null) {
            const one = this.unsent.shift();
            if (one === undefined) return;
            this.send(one);
        }
    }
    private send(one: Open): void {
        let change: Awaitable<Change | null>;
        try {
            change = one.call({ now: this.now, read: this.read });
        } catch (error) {
            this.refuse(one, error);
            return;
        }
        if (!(change instanceof Promise)) {
            this.write(one, change);
            return;
        }
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
            (made) => looked(() => this.write(one, made)),
            (error: unknown) => looked(() => this.refuse(one, error)),
        );
    }
    private write(one: Open, change: Change | null): void {
        const { next, statements, anchor, blobs = [] } = change ?? { next: this.now, statements: [] };
        this.now = next;
        for (const [text, name] of blobs) this.unwritten.set(name, text);
        this.flying++;
        const { key, id } = next.row;
        const job: Job = {
            statements: this.texts.statements(statements),
            run: { key, id },
            ...(change === null ? {} : { claim: lost(id) }),
            ...(anchor === undefined ? {} : { anchor }),
        };
        this.file.writing.run(job).then(
            () => {
                this.kept = next;
                for (const [, name] of blobs) this.unwritten.delete(name);
                this.settle(one);
                one.resolve();
                this.flying--;
                this.landed();
            },
            (error: unknown) => {
                this.failed ??= { error };
                this.flying--;
                this.landed();
            },
        );
    }
    private refuse(one: Open, error: unknown): void {
        this.settle(one);
        one.reject(error);
    }
    private settle(one: Open): void {
        this.open.splice(this.open.indexOf(one), 1);
    }
    private landed(): void {
        if (this.flying > 0 || this.failed === null) return;
        this.unwritten.clear();
        this.texts.forget();
        const { error } = this.failed;
        if (!(error instanceof LedgerError) || error.code !== "owned") {
            this.giveUp(error);
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
    private giveUp(reason: unknown): void {
        this.failed = null;
        this.now = this.kept;
        const all = this.open;
        this.open = [];
        this.unsent = [];
        for (const { reject } of all) reject(reason);
    }
}

function lost(run: string): string {
    return `run ${run} was taken over by another process`;
}
