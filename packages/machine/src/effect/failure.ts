/**
 * The one exception of the machine: a failure of the running program, with its kind, message and place.
 * Everything else that is thrown inside the machine is a defect of the machine.
 */
import type { Json, Site } from "@remit/language";
import type { Broken } from "./broken.ts";
import { FAILURE_KINDS, type Failure, type FailureKind } from "./effect.ts";

/** The end of a run at a question. Known by what it is, wherever a step hands it on. */
export const ABORTED: Failure = { kind: "cancelled", message: "the run was ended at a question" };

export class Fail {
    readonly kind: FailureKind;
    /** Of a violation with the line of the rule, once that is known. */
    message: string;
    /** Of a violation the record of the refusal, once that is told. */
    detail: Json | undefined;
    private advice: string | (() => string | undefined) | undefined;
    /** What is to be told of a violation (BRK1); null where that is done, and of every other failure. */
    broken: Broken | null;
    /** Set by the innermost place that knows it. */
    site: Site | null;
    /** Origins of what is shown in `message` and `detail`: a caught failure carries them (label set id of the run). */
    labels: number;
    /** Principal that committed a violation. Set by the innermost place that knows it. */
    by: string | null;
    /** Token of the region whose limit this is: nothing inside it can catch it. */
    readonly region: number | null;
    /** It bounds the whole run: nothing inside the run can catch it. */
    readonly whole: boolean;
    /** It bounds whatever is made at one place: the innermost yield around that place fails by it, the run where there is none (SS7). */
    readonly here: boolean;

    constructor(
        kind: FailureKind,
        message: string,
        more: {
            detail?: Json;
            /** A function where a hint takes time: a failure that is caught shows none. */
            hint?: string | (() => string | undefined);
            site?: Site | null;
            labels?: number;
            whole?: boolean;
            here?: boolean;
            by?: string;
            region?: number;
            broken?: Broken;
        } = {},
    ) {
        this.kind = kind;
        this.message = message;
        this.detail = more.detail;
        this.advice = more.hint;
        this.site = more.site ?? null;
        this.labels = more.labels ?? 0;
        this.here = more.here ?? false;
        this.whole = more.whole ?? this.here;
        this.by = more.by ?? null;
        this.region = more.region ?? null;
        this.broken = more.broken ?? null;
    }

    get hint(): string | undefined {
        if (typeof this.advice === "function") this.advice = this.advice();
        return this.advice;
    }

    get class(): "failure" | "limit" | "violation" {
        return FAILURE_KINDS[this.kind];
    }

    /** `act`, `reason` and `agent` tell it as a value: no limit, no violation, and not the end of the run. */
    get isTold(): boolean {
        return this.class === "failure" && !this.whole;
    }

    /** The same limit, of a region. */
    of(region: number): Fail {
        const { kind, message, detail, hint, site, labels } = this;
        return new Fail(kind, message, {
            ...(detail === undefined ? {} : { detail }),
            ...(hint === undefined ? {} : { hint }),
            site,
            labels,
            region,
        });
    }

    toFailure(): Failure {
        return {
            kind: this.kind,
            message: this.message,
            site: this.site,
            ...(this.detail === undefined ? {} : { detail: this.detail }),
            ...(this.hint === undefined ? {} : { hint: this.hint }),
        };
    }
}
