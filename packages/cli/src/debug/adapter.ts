/**
 * The Debug Adapter Protocol over a debugging session (Debug Adapter Protocol 1.68, Microsoft).
 *
 * Boundary: requests to movements and views, stops to events. Bytes are `framing.ts`, processes `serve.ts`.
 *
 * AD1: every request gets exactly one response, in order, also an unknown or malformed one; nothing a peer sends ends the adapter but
 *     `disconnect` and `terminate`.
 * AD2: while the run moves only `pause`, breakpoints and the end are heard; all else is answered with `notStopped`.
 * AD3: references are of one stop: after a movement an old one names nothing.
 */
import { basename, join } from "node:path";
import { type Breakpoint, type DebugSession, type Movement, movedUnless, readBreakpoint, type Stop, type WrittenSource } from "@remit/host";
import { MAX_PAGE, type Place, refusalIn, refusalText, type ValueView } from "@remit/machine";
import type { DebugProtocol } from "@vscode/debugprotocol";
import { plain, plainLine } from "../io.ts";
import { readPath, shownPath } from "./path.ts";
import { authorityText, changedText, effectText, originsText } from "./text.ts";
import { type Args, fields, list, pairs, RequestError, string, whole, whyOf, wordsOf } from "./words.ts";

export interface AdapterIO {
    readonly send: (message: DebugProtocol.ProtocolMessage) => void;
    /** `changed`: files of the program that are other texts now. */
    readonly open: (
        run: string | undefined,
        ledger: string | undefined,
    ) => Promise<{ readonly session: DebugSession; readonly changed: readonly string[] }>;
    /** The editor is done. */
    readonly end: () => void;
}

/** What a `variablesReference` stands for. */
type Reference =
    | { readonly kind: "scope"; readonly thread: number; readonly frame: number; readonly scope: "locals" | "around" | "imports" }
    | { readonly kind: "value"; readonly place: Place }
    | { readonly kind: "text"; readonly lines: readonly (readonly [name: string, value: string])[] };

const MAX_BREAKPOINTS = 1000;

export class Adapter {
    private readonly io: AdapterIO;
    private seq = 1;
    private session: DebugSession | null = null;
    private queue: Promise<void> = Promise.resolve();
    private moving = false;
    private stop = false;
    private over = false;
    private stopAtEntry = true;
    private references: Reference[] = [];
    private frames: { readonly thread: number; readonly frame: number }[] = [];
    /** Breakpoints by source, and by the two other ways of setting them. */
    private readonly lines = new Map<string, readonly Breakpoint[]>();
    private named: readonly Breakpoint[] = [];
    private filters: readonly Breakpoint[] = [];

    constructor(io: AdapterIO) {
        this.io = io;
    }

    /** A message's text, as it came. */
    take(text: string): void {
        let message: unknown;
        try {
            message = JSON.parse(text);
        } catch (error) {
            if (!(error instanceof SyntaxError)) throw error;
            this.event("output", { category: "stderr", output: "a message was no JSON and was ignored\n" });
            return;
        }
        const request = fields(message);
        // Nothing is asked of the editor, so that it has nothing to respond to.
        if (request["type"] !== "request") return;
        const command = typeof request["command"] === "string" ? request["command"] : "";
        const seq = typeof request["seq"] === "number" ? request["seq"] : 0;
        // Heard at once, not behind what it interrupts.
        if (command === "pause" || command === "disconnect" || command === "terminate") this.stop = true;
        this.queue = this.queue.then(() => this.answer(command, seq, fields(request["arguments"])));
    }

    /** Says nothing more. */
    close(): void {
        this.over = true;
        this.stop = true;
    }

    private async answer(command: string, seq: number, args: Args): Promise<void> {
        if (this.over) return;
        const response = { type: "response", request_seq: seq, command };
        try {
            const row = Object.hasOwn(REQUESTS, command) ? REQUESTS[command] : undefined;
            if (row === undefined) throw new RequestError(`unrecognized request '${plainLine(command).slice(0, 100)}'`);
            if (this.moving && !row.moving) throw new RequestError("notStopped");
            const { body, after } = await row.does(this, args);
            this.send({ ...response, success: true, ...(body === undefined ? {} : { body }) });
            after?.();
        } catch (error) {
            const told = wordsOf(error);
            if (told === null) throw error;
            this.send({
                ...response,
                success: false,
                message: told,
                body: { error: { id: 1, format: told.replace(/[{}]/g, ""), showUser: true } },
            });
        }
    }

    private send(message: Record<string, unknown>): void {
        if (!this.over) this.io.send({ seq: this.seq++, ...message } as unknown as DebugProtocol.ProtocolMessage);
    }

    private event(event: string, body?: unknown): void {
        this.send({ type: "event", event, ...(body === undefined ? {} : { body }) });
    }

    private get at(): DebugSession {
        if (this.session === null) throw new RequestError("no run is open: `launch` with {run} comes first");
        return this.session;
    }

    // ---- beginning and end ----

    readonly initialize = (): Reply => ({
        body: {
            supportsConfigurationDoneRequest: true,
            supportsStepBack: true,
            supportsEvaluateForHovers: true,
            supportsFunctionBreakpoints: true,
            supportsSteppingGranularity: true,
            supportsTerminateRequest: true,
            supportsExceptionInfoRequest: true,
            exceptionBreakpointFilters: [
                { filter: "failure", label: "Failures, also caught ones", default: false },
                { filter: "violation", label: "Refusals of authority and flow policies", default: true },
            ],
        } satisfies DebugProtocol.Capabilities,
    });

    readonly launch = async (args: Args): Promise<Reply> => {
        if (this.session !== null) throw new RequestError("a run is open already");
        const { session, changed } = await this.io.open(string(args["run"]), string(args["ledger"]));
        this.session = session;
        const now = changedText(changed);
        if (now !== null) this.event("output", { category: "important", output: `${now}\n` });
        this.stopAtEntry = args["stopOnEntry"] !== false;
        const at = string(args["at"]);
        if (at === "end" || at === "failure") {
            await movedUnless(this.session.goTo({ kind: at }), () => this.over);
        }
        return { after: () => this.event("initialized") };
    };

    readonly configurationDone = (): Reply => {
        this.at;
        return { after: () => (this.stopAtEntry ? this.stopped("entry", "the run's record is open") : this.move((s) => s.continue())) };
    };

    readonly disconnect = (): Reply => ({
        after: () => {
            this.event("terminated");
            this.close();
            this.io.end();
        },
    });

    // ---- breakpoints ----

    readonly setBreakpoints = (args: Args): Reply => {
        const source = fields(args["source"]);
        const path = (string(source["path"]) ?? string(source["name"]) ?? "").replaceAll("\\", "/");
        const wanted = list(args["breakpoints"]).slice(0, MAX_BREAKPOINTS);
        const points: Breakpoint[] = [];
        const reference = whole(source["sourceReference"], 0);
        if (reference > 0) return this.setWritten(reference, wanted);
        const breakpoints = wanted.map((one): DebugProtocol.Breakpoint => {
            const line = whole(fields(one)["line"], 0);
            const place = this.at.settle(this.inProgram(path), line);
            if (place === null) return { verified: false, line, message: "no statement of this run's program begins here or below" };
            points.push({ kind: "line", ...place });
            return { verified: true, line: place.line };
        });
        this.lines.set(path, points);
        this.apply();
        return { body: { breakpoints } };
    };

    /** In what an agent wrote. */
    private setWritten(reference: number, wanted: readonly unknown[]): Reply {
        const written = this.writtenBy(reference);
        const points: Breakpoint[] = [];
        const breakpoints = wanted.map((one): DebugProtocol.Breakpoint => {
            const line = whole(fields(one)["line"], 0);
            const place = written.lines.find((at) => at >= line);
            if (place === undefined) return { verified: false, line, message: "no statement of this answer begins here or below" };
            points.push({ kind: "line", file: written.file, line: place, within: written.path });
            return { verified: true, line: place };
        });
        this.lines.set(`#${reference}`, points);
        this.apply();
        return { body: { breakpoints } };
    }

    private writtenBy(reference: number): WrittenSource {
        const found = this.at.written.find((one) => one.seq === reference);
        if (found === undefined) throw new RequestError("there is no such source in this run");
        return found;
    }

    /** A source that is in no file. */
    readonly source = (args: Args): Reply => {
        const { text } = this.writtenBy(whole(args["sourceReference"], 0) || whole(fields(args["source"])["sourceReference"], 0));
        return { body: { content: plain(text), mimeType: "text/x-remit" } };
    };

    readonly setFunctionBreakpoints = (args: Args): Reply => {
        const points: Breakpoint[] = [];
        const breakpoints = list(args["breakpoints"])
            .slice(0, MAX_BREAKPOINTS)
            .map((one): DebugProtocol.Breakpoint => {
                const point = readBreakpoint(string(fields(one)["name"]) ?? "", null);
                if (point === null || point.kind === "line")
                    return { verified: false, message: "the kind of an event, or a path (main/…)" };
                points.push(point);
                return { verified: true };
            });
        this.named = points;
        this.apply();
        return { body: { breakpoints } };
    };

    readonly setExceptionBreakpoints = (args: Args): Reply => {
        this.filters = list(args["filters"]).flatMap((one): Breakpoint[] =>
            one === "failure" || one === "violation" ? [{ kind: one }] : [],
        );
        this.apply();
        return {};
    };

    private apply(): void {
        if (this.session !== null) this.session.breakpoints = [...[...this.lines.values()].flat(), ...this.named, ...this.filters];
    }

    /** A file's name inside the program's tree. */
    private inProgram(path: string): string {
        const root = this.at.info.root.replaceAll("\\", "/").replace(/\/$/, "");
        return root !== "" && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
    }

    // ---- looking ----

    readonly threads = (): Reply => ({
        body: { threads: this.at.threads().map((one): DebugProtocol.Thread => ({ id: one.id + 1, name: plainLine(one.name) })) },
    });

    readonly stackTrace = (args: Args): Reply => {
        const id = whole(args["threadId"], 0) - 1;
        const thread = this.at.threads().find((one) => one.id === id);
        if (thread === undefined) throw new RequestError("there is no such thread");
        const from = whole(args["startFrame"], 0);
        const levels = whole(args["levels"], 0) || MAX_PAGE;
        const { root } = this.at.info;
        const stackFrames = thread.stackFrames.slice(from, from + Math.min(levels, MAX_PAGE)).map((frame, i): DebugProtocol.StackFrame => {
            this.frames.push({ thread: id, frame: from + i });
            const as = frame.principalName === "user" ? "" : ` (as ${plainLine(frame.principalName)})`;
            const head = { id: this.frames.length, name: `${plainLine(frame.name)}${as}` };
            if (frame.site === null) return { ...head, line: 0, column: 0, presentationHint: "label" };
            const { file, line, column } = frame.site;
            const written = this.at.writtenAt(frame.path, file);
            const source =
                written === undefined
                    ? { name: basename(file), ...(root === "" ? {} : { path: join(root, file) }) }
                    : { name: plainLine(file), sourceReference: written.seq, origin: plainLine(written.path) };
            return { ...head, line, column, source };
        });
        return { body: { stackFrames, totalFrames: thread.stackFrames.length } };
    };

    private frameOf(id: unknown): { readonly thread: number; readonly frame: number } {
        const found = this.frames[whole(id, 0) - 1];
        if (found === undefined) throw new RequestError("there is no such frame any more");
        return found;
    }

    readonly scopes = (args: Args): Reply => {
        const { thread, frame } = this.frameOf(args["frameId"]);
        const view = this.at.threads().find((one) => one.id === thread)?.stackFrames[frame];
        if (view === undefined) throw new RequestError("there is no such frame any more");
        const titles = { locals: "Locals", around: "Around the branch", imports: "Imports" } as const;
        const scopes: DebugProtocol.Scope[] = view.scopes.map(({ name, variables }) => ({
            name: titles[name],
            ...(name === "locals" ? { presentationHint: "locals" } : {}),
            variablesReference: this.refer({ kind: "scope", thread, frame, scope: name }),
            namedVariables: variables.length,
            expensive: false,
        }));
        const authority = this.at.authority(thread, frame);
        if (authority !== null) scopes.push(this.textScope("Authority", pairs(authorityText(authority))));
        const { account, pending } = this.at.inspect();
        const used = Object.entries(account.used).map(([name, n]): [string, string] => [name, String(n)]);
        scopes.push(this.textScope("Run", used));
        if (pending.length > 0)
            scopes.push(
                this.textScope(
                    "Pending",
                    pending.map((one): [string, string] => [one.kind, effectText(one).trim()]),
                ),
            );
        return { body: { scopes } };
    };

    private textScope(name: string, lines: readonly (readonly [string, string])[]): DebugProtocol.Scope {
        return { name, variablesReference: this.refer({ kind: "text", lines }), namedVariables: lines.length, expensive: false };
    }

    private refer(reference: Reference): number {
        return this.references.push(reference);
    }

    readonly variables = (args: Args): Reply => {
        const reference = this.references[whole(args["variablesReference"], 0) - 1];
        if (reference === undefined) throw new RequestError("these variables are of a stop that is over");
        const from = whole(args["start"], 0);
        const count = Math.min(whole(args["count"], 0) || MAX_PAGE, MAX_PAGE);
        return { body: { variables: this.variablesOf(reference, from, count) } };
    };

    private variablesOf(reference: Reference, from: number, count: number): DebugProtocol.Variable[] {
        switch (reference.kind) {
            case "text":
                return reference.lines
                    .slice(from, from + count)
                    .map(([name, value]) => ({ name, value, variablesReference: 0, presentationHint: READ_ONLY }));
            case "scope": {
                const { thread, frame, scope } = reference;
                const view = this.at.threads().find((one) => one.id === thread)?.stackFrames[frame];
                const variables = view?.scopes.find((one) => one.name === scope)?.variables ?? [];
                return variables.slice(from, from + count).map((one) => this.variable(one, { thread, frame, scope, names: [one.name] }));
            }
            case "value": {
                const { place } = reference;
                const looked = this.at.look(place, from, count);
                if (looked === null) return [];
                return looked.parts.map((one, i) => {
                    const name = looked.view.type === "list" ? from + i : one.name;
                    return this.variable(one, { ...place, names: [...place.names, name] });
                });
            }
        }
    }

    private variable(view: ValueView, place: Place): DebugProtocol.Variable {
        const inner = (view.type === "list" || view.type === "object") && view.size > 0;
        return {
            name: plainLine(view.name),
            value: `${plainLine(view.text)}${originsText(view)}`,
            type: view.type,
            evaluateName: shownPath(place.names),
            presentationHint: READ_ONLY,
            variablesReference: inner ? this.refer({ kind: "value", place }) : 0,
            ...(inner ? (view.type === "list" ? { indexedVariables: view.size } : { namedVariables: view.size }) : {}),
        };
    }

    readonly evaluate = (args: Args): Reply => {
        const names = readPath(string(args["expression"]) ?? "");
        if (names === null) throw new RequestError('only paths to values can be looked at: a name, then .key, [index] or ["key"]');
        const where = args["frameId"] === undefined ? { thread: this.at.where().thread, frame: 0 } : this.frameOf(args["frameId"]);
        const place: Place = { ...where, names };
        const looked = this.at.look(place);
        if (looked === null) throw new RequestError(`there is no ${shownPath(names)} here`);
        const { value, name: _, evaluateName: __, ...rest } = this.variable(looked.view, place);
        const whole = args["context"] === "clipboard" || args["context"] === "repl";
        const result = whole && looked.view.type === "string" ? `${plain(looked.whole)}${originsText(looked.view)}` : value;
        return { body: { result, ...rest } };
    };

    // ---- moving ----

    readonly moves =
        (how: (session: DebugSession, args: Args) => Movement, body?: unknown) =>
        (args: Args): Reply => {
            this.at;
            this.chosen(args["threadId"]);
            return { ...(body === undefined ? {} : { body }), after: () => this.move((session) => how(session, args)) };
        };

    /** A step is of the statement that is next, whichever thread the editor shows. */
    private chosen(id: unknown): void {
        if (id !== undefined && !this.at.threads().some((one) => one.id === whole(id, 0) - 1))
            throw new RequestError("there is no such thread");
    }

    private move(how: (session: DebugSession) => Movement): void {
        this.moving = true;
        this.stop = false;
        this.references = [];
        this.frames = [];
        void movedUnless(how(this.at), () => this.stop).then(
            (stop) => this.reached(stop),
            (error: unknown) => {
                const told = wordsOf(error);
                if (told === null) throw error;
                this.moving = false;
                this.stopped("pause", told);
            },
        );
    }

    private reached(stop: Stop | null): void {
        this.moving = false;
        const [reason, description] = stop === null ? (["pause", "stopped"] as const) : whyOf(stop);
        this.stopped(reason, description);
    }

    private stopped(reason: string, description: string): void {
        const said = plainLine(description);
        this.event("stopped", {
            reason,
            threadId: this.at.where().thread + 1,
            allThreadsStopped: true,
            ...(said === "" ? {} : { description: said, text: said }),
        });
    }

    readonly pause = (): Reply => ({});

    /** Of a stop at a failure or a refusal, which is what comes next. */
    readonly exceptionInfo = (): Reply => {
        const event = this.at
            .ahead()
            .find((one) => one.kind === "failure" || one.kind === "policy.denied" || fields(one.data)["ok"] === false);
        if (event === undefined) throw new RequestError("nothing fails here");
        const data = fields(event.data);
        const denied = event.kind === "policy.denied";
        const kind = denied ? "violation" : (string(data["kind"]) ?? "failure");
        const refusal = denied ? refusalIn(event.data) : null;
        const said = denied
            ? refusal === null
                ? "something was refused"
                : refusalText(refusal)
            : (string(data["message"]) ?? string(data["error"]) ?? "");
        const description = plainLine(said);
        return {
            body: {
                exceptionId: plainLine(kind),
                description,
                breakMode: "always",
                details: { typeName: plainLine(kind), message: description },
            } satisfies DebugProtocol.ExceptionInfoResponse["body"],
        };
    };
}

interface Reply {
    readonly body?: unknown;
    /** After the response. */
    readonly after?: () => void;
}

interface Request {
    readonly does: (adapter: Adapter, args: Args) => Reply | Promise<Reply>;
    /** Also while the run moves. */
    readonly moving?: true;
}

const READ_ONLY: DebugProtocol.VariablePresentationHint = { kind: "data", attributes: ["readOnly"] };

const REQUESTS: { readonly [command: string]: Request } = {
    initialize: { does: (a) => a.initialize() },
    launch: { does: (a, args) => a.launch(args) },
    attach: { does: (a, args) => a.launch(args) },
    configurationDone: { does: (a) => a.configurationDone() },
    disconnect: { does: (a) => a.disconnect(), moving: true },
    terminate: { does: (a) => a.disconnect(), moving: true },
    source: { does: (a, args) => a.source(args) },
    setBreakpoints: { does: (a, args) => a.setBreakpoints(args), moving: true },
    setFunctionBreakpoints: { does: (a, args) => a.setFunctionBreakpoints(args), moving: true },
    setExceptionBreakpoints: { does: (a, args) => a.setExceptionBreakpoints(args), moving: true },
    threads: { does: (a) => a.threads(), moving: true },
    stackTrace: { does: (a, args) => a.stackTrace(args) },
    scopes: { does: (a, args) => a.scopes(args) },
    variables: { does: (a, args) => a.variables(args) },
    evaluate: { does: (a, args) => a.evaluate(args) },
    continue: { does: (a, args) => a.moves((s) => s.continue(), { allThreadsContinued: true })(args) },
    next: { does: (a, args) => a.moves((s) => (args["granularity"] === "instruction" ? s.stepIn() : s.next()))(args) },
    stepIn: { does: (a, args) => a.moves((s) => s.stepIn())(args) },
    stepOut: { does: (a, args) => a.moves((s) => s.stepOut())(args) },
    stepBack: { does: (a, args) => a.moves((s) => (args["granularity"] === "instruction" ? s.back() : s.backOver()))(args) },
    reverseContinue: { does: (a, args) => a.moves((s) => s.reverseContinue())(args) },
    pause: { does: (a) => a.pause(), moving: true },
    exceptionInfo: { does: (a) => a.exceptionInfo() },
};
