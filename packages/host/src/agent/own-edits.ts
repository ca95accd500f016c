/**
 * Edits that an agent makes itself, in a working copy, once they were allowed.
 *
 * Boundary: from a call's permission and its end to writes of the program's tools. Whether a write may be is the machine's.
 *
 * OWE1: an edit counts when the agent says that its call is done: then the program's tool writes what the copy has, which is asked about again only where
 *     it is another text than the one that was shown. What the agent already had written by a request is not written again.
 * OWE2: what cannot be written is taken back in the copy, and the user is told; so is what a call left that failed.
 * OWE3: files are opened after all that ended before was written, so that each edit begins at the file as it is.
 * OWE4: a person is asked after all that ended before was written: the turn may end at the question.
 */
import type { Outcome } from "@remit/machine";
import type { AgentUse } from "../run/host.ts";
import { textOf } from "../tool/file.ts";
import { ToolFail } from "../tool/tool.ts";
import { objectOf } from "./given.ts";
import type { Turn } from "./turn.ts";
import type { WorkingCopy } from "./working-copy.ts";

interface Edited {
    readonly copy: WorkingCopy;
    readonly path: string;
    readonly tool: string;
}

interface Closed extends Edited {
    readonly made: Buffer | null;
    /** Why it cannot be told. */
    readonly wrong: string | null;
}

interface Request {
    readonly tool: string;
    readonly path: string;
    readonly content: string;
}

export class OwnEdits {
    private readonly turn: Turn;
    private readonly use: (use: AgentUse) => Promise<Outcome>;
    private readonly copies: readonly WorkingCopy[];
    /** By the call's id; empty for what was written by a request. */
    private readonly open = new Map<string, Edited[]>();
    /** What was written for the agent last, by tool and path. */
    private readonly done = new Map<string, string>();
    private last: Promise<void> = Promise.resolve();

    constructor(turn: Turn, copies: readonly WorkingCopy[], use: (use: AgentUse) => Promise<Outcome>) {
        this.turn = turn;
        this.use = use;
        this.copies = copies;
    }

    /** All that ended so far is written (OWE4). */
    async written(): Promise<void> {
        await this.last;
    }

    /** A call was allowed: before the agent is told so. */
    async allowed(id: string, uses: readonly AgentUse[]): Promise<void> {
        await this.last;
        for (const { tool, method, args } of uses) {
            const { path } = objectOf(args[0]);
            if (method === "write" && typeof path === "string") this.opened(id, tool, path);
        }
    }

    /** A request to write by the program's tool (OWE1). */
    async request<T>({ tool, path, content }: Request, write: () => Promise<T>): Promise<T | Record<string, never>> {
        if (this.copies.length === 0) return write();
        const work = this.last.then(() => (this.done.get(keyOf(tool, path)) === content ? {} : write()));
        this.last = work.then(
            () => undefined,
            () => undefined,
        );
        const given = await work;
        // The agent may write the same itself.
        this.opened("", tool, path);
        return given;
    }

    /** What is told of a call. */
    update(given: { readonly [key: string]: unknown }): void {
        const { toolCallId: id, status } = given;
        if (typeof id !== "string" || (status !== "completed" && status !== "failed")) return;
        this.settle(id, status === "completed");
    }

    /** The turn is over. */
    async finish(): Promise<void> {
        for (const id of [...this.open.keys()]) this.settle(id, true);
        await this.last;
    }

    private opened(id: string, tool: string, path: string): void {
        const of = this.turn.files.find(({ hand }) => hand.tool === tool);
        const copy = this.copies.find((one) => one.of === of?.real);
        if (copy?.open(path) === true) this.open.set(id, [...(this.open.get(id) ?? []), { copy, path, tool }]);
    }

    /** In the copy the files end as they are told of; then they are written, in their order. */
    private settle(id: string, isDone: boolean): void {
        const edited = (this.open.get(id) ?? []).map((one) => ({ ...one, ...closed(one) }));
        if (!this.open.delete(id)) return;
        const before = this.last;
        this.last = this.turn.answering(async () => {
            await before;
            for (const one of edited) await this.made(id, one, isDone);
        });
    }

    private async made(id: string, one: Closed, isDone: boolean): Promise<void> {
        const wrong = await this.write(id, one, isDone);
        if (wrong === null) return;
        const { copy, path } = one;
        if (copy.open(path)) closed(one);
        this.turn.io.emit({ type: "notice", text: `${this.turn.agent} edited '${path}', and the file stays as it is: ${wrong}` });
    }

    /** Null where the file is as the copy; else why it is not. */
    private async write(id: string, { copy, path, tool, made, wrong }: Closed, isDone: boolean): Promise<string | null> {
        if (wrong !== null) return wrong;
        try {
            const now = copy.now(path);
            if (made === null ? now === null : now?.equals(made) === true) return null;
            if (!isDone) return "the agent says that its call failed";
            if (made === null) return "it was removed, which no tool of a program does";
            const content = textOf(made, path);
            const outcome = await this.use({ tool, method: "write", args: [{ path, content }] });
            if (!outcome.ok) return outcome.failure.message;
            this.done.set(keyOf(tool, path), content);
            const call = this.turn.transcript.call(id);
            if (call !== undefined) call.made = `${tool}.write`;
            return null;
        } catch (error) {
            return saidOf(error);
        }
    }
}

function closed({ copy, path }: Edited): Pick<Closed, "made" | "wrong"> {
    try {
        return { made: copy.close(path), wrong: null };
    } catch (error) {
        return { made: null, wrong: saidOf(error) };
    }
}

function saidOf(error: unknown): string {
    if (error instanceof ToolFail) return error.message;
    throw error;
}

const keyOf = (tool: string, path: string): string => `${tool}\n${path}`;
