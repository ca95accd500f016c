/**
 * The debugger on a terminal, or fed from a pipe: a line in, some lines out.
 *
 * Boundary: commands and what they show. Moving is the session's; where lines come from and go to is the caller's.
 *
 * LS1: whatever is typed, the session stays usable: a command that cannot be done says why in a line.
 */
import {
    type Breakpoint,
    type DebugSession,
    type Movement,
    movedUnless,
    readBreakpoint,
    RemitError,
    type Stop,
    shownBreakpoint,
} from "@remit/host";
import type { Looked, Place } from "@remit/machine";
import { type Paint, plainLine } from "../io.ts";
import { readPath, shownPath } from "./path.ts";
import {
    accountText,
    authorityText,
    changedText,
    effectText,
    eventText,
    excerpt,
    framesText,
    sourceLines,
    threadsText,
    valueText,
} from "./text.ts";

/** What a line was understood as. */
export type Did = "ok" | "wrong" | "quit";

interface Row {
    /** Full name first. */
    readonly names: readonly string[];
    readonly takes?: string;
    readonly says: string;
    /** Again with an empty line. */
    readonly moves?: true;
}

const COMMANDS = [
    { names: ["step", "s"], takes: "[N]", says: "one statement, into calls; one answer where everything waits", moves: true },
    { names: ["next", "n"], takes: "[N]", says: "to the next statement of this function", moves: true },
    { names: ["out", "o"], says: "to where this function was called", moves: true },
    { names: ["back", "bk"], takes: "[N]", says: "undo a step", moves: true },
    { names: ["rnext", "rn"], takes: "[N]", says: "to the statement before in this function", moves: true },
    { names: ["continue", "c"], says: "to a breakpoint, or to the end", moves: true },
    { names: ["rcontinue", "rc"], says: "back to a breakpoint, or to the beginning", moves: true },
    { names: ["goto", "g"], takes: "PLACE", says: "start, end, failure, an event's number, `step N`, or a path (main/…)" },
    {
        names: ["break", "b"],
        takes: "[PLACE]",
        says: "stop at FILE:LINE, LINE, an event's kind, a path, violation or failure; alone: list them",
    },
    { names: ["delete", "d"], takes: "N|all", says: "take a breakpoint away" },
    { names: ["where", "w", "bt"], says: "the calls, innermost first" },
    { names: ["threads"], says: "the run and its parallel branches" },
    { names: ["thread"], takes: "N", says: "look at another thread" },
    { names: ["frame", "f"], takes: "N", says: "look at another call" },
    { names: ["list", "l"], takes: "[LINE]", says: "the source around here" },
    { names: ["locals"], says: "what the code here can name, with origins" },
    { names: ["print", "p"], takes: "PATH [FROM]", says: "a value and its parts: plan.steps[2]" },
    { names: ["origins"], takes: "PATH", says: "where a value came from, part by part" },
    { names: ["authority", "a"], says: "who runs here, its remit, delegations in force" },
    { names: ["account"], says: "what was used up to here, and the limits" },
    { names: ["pending"], says: "effects that were asked for and have no answer yet" },
    { names: ["events", "e"], takes: "[N]", says: "the last events up to here" },
    { names: ["help", "h", "?"], says: "this list" },
    { names: ["quit", "q"], says: "leave" },
] as const satisfies readonly Row[];

type Name = (typeof COMMANDS)[number]["names"][0];

const PARTS = 20;

export class LineDebugger {
    private readonly session: DebugSession;
    private readonly out: (text: string) => void;
    private readonly colour: Paint;
    private thread = 0;
    private frame = 0;
    private again = "";
    private moving = false;
    private stop = false;

    constructor(session: DebugSession, out: (text: string) => void, colour: Paint) {
        this.session = session;
        this.out = out;
        this.colour = colour;
    }

    /** What is shown before the first command. `changed`: files of the program that are other texts now. */
    begin(changed: readonly string[] = []): void {
        const { info } = this.session;
        this.out(
            `run ${info.id}: ${plainLine(info.file)}, ${info.status}${info.status === "running" && !info.live ? " (its process is gone)" : ""}`,
        );
        const now = changedText(changed);
        if (now !== null) this.out(`${this.colour("yellow", "note")}: ${now}`);
        this.here();
    }

    /** Stops a movement. False where none was made. */
    interrupt(): boolean {
        this.stop = true;
        return this.moving;
    }

    async line(text: string): Promise<Did> {
        const said = text.trim() === "" ? this.again : text.trim();
        if (said === "") return "ok";
        const [word = "", ...rest] = said.split(/\s+/);
        const row = COMMANDS.find((one) => (one.names as readonly string[]).includes(word));
        if (row === undefined) return this.wrong(`there is no command '${plainLine(word)}'; help lists them`);
        this.again = "moves" in row ? said : "";
        try {
            return await this.run(row.names[0], rest);
        } catch (error) {
            if (!(error instanceof RemitError)) throw error;
            return this.wrong(`${error.failure.message}${error.failure.hint === undefined ? "" : `; ${error.failure.hint}`}`);
        }
    }

    private wrong(text: string): "wrong" {
        this.out(`${this.colour("red", "error")}: ${plainLine(text)}`);
        return "wrong";
    }

    private async run(name: Name, args: readonly string[]): Promise<Did> {
        const { session } = this;
        const rest = args.join(" ");
        switch (name) {
            case "step":
                return this.times(rest, () => session.stepIn());
            case "next":
                return this.times(rest, () => session.next());
            case "back":
                return this.times(rest, () => session.back());
            case "rnext":
                return this.times(rest, () => session.backOver());
            case "out":
                return this.move(() => session.stepOut());
            case "continue":
                return this.move(() => session.continue());
            case "rcontinue":
                return this.move(() => session.reverseContinue());
            case "goto":
                return this.goTo(rest);
            case "break":
                return this.break(rest);
            case "delete":
                return this.delete(rest);
            case "where":
                return this.say(this.stack((thread) => framesText(thread, this.frame, this.colour)));
            case "threads":
                return this.say(threadsText(session.threads(), this.thread));
            case "thread": {
                const wanted = session.threads().find((one) => String(one.id) === rest);
                if (wanted === undefined) return this.wrong(`there is no thread ${rest}; threads lists them`);
                this.thread = wanted.id;
                this.frame = 0;
                return this.say(framesText(wanted, 0, this.colour));
            }
            case "frame": {
                const frames = session.threads().find((one) => one.id === this.thread)?.stackFrames ?? [];
                if (!/^\d{1,6}$/.test(rest) || frames[Number(rest)] === undefined)
                    return this.wrong(`there is no frame ${rest}; where lists them`);
                this.frame = Number(rest);
                return this.say(this.stack((thread) => framesText(thread, this.frame, this.colour)));
            }
            case "list":
                return this.list(rest);
            case "locals":
                return this.locals();
            case "print":
                return this.print(args);
            case "origins":
                return this.origins(rest);
            case "authority": {
                const view = session.authority(this.thread, this.frame);
                return view === null ? this.wrong("nothing runs here") : this.say(authorityText(view));
            }
            case "account":
                return this.say(accountText(session));
            case "pending": {
                const { pending } = session.inspect();
                return this.say(pending.length === 0 ? "  nothing is waited for" : pending.map(effectText).join("\n"));
            }
            case "events": {
                const count = rest === "" ? 10 : number(rest);
                return count === null ? this.wrong("events takes a number") : this.say(session.events(count).map(eventText).join("\n"));
            }
            case "help":
                return this.say(
                    COMMANDS.map(
                        (one: Row) =>
                            `  ${`${one.names.join(", ")}${one.takes === undefined ? "" : ` ${one.takes}`}`.padEnd(24)} ${one.says}`,
                    ).join("\n"),
                );
            case "quit":
                return "quit";
        }
    }

    private say(text: string): "ok" {
        this.out(text);
        return "ok";
    }

    private stack(show: (thread: ReturnType<DebugSession["threads"]>[number]) => string): string {
        const thread = this.session.threads().find((one) => one.id === this.thread);
        return thread === undefined ? "  (nothing runs)" : show(thread);
    }

    // ---- moving ----

    private async times(said: string, make: () => Movement): Promise<Did> {
        const count = said === "" ? 1 : number(said);
        if (count === null) return this.wrong("how often is a whole number above 0");
        let left = count;
        return this.move(make, () => --left > 0);
    }

    private async move(make: () => Movement, more: () => boolean = () => false): Promise<Did> {
        this.moving = true;
        this.stop = false;
        let stop: Stop | null;
        try {
            do stop = await movedUnless(make(), () => this.stop);
            while (stop?.reason === "step" && more() && !this.stop);
        } finally {
            this.moving = false;
        }
        this.reached(stop);
        return "ok";
    }

    private reached(stop: Stop | null): void {
        const why = stop === null ? "stopped" : WHY[stop.reason];
        const point = stop?.breakpoint === undefined ? "" : ` ${plainLine(shownBreakpoint(stop.breakpoint))}`;
        if (why !== "")
            this.out(this.colour("yellow", `${why}${point}${stop?.message === undefined ? "" : `: ${plainLine(stop.message)}`}`));
        this.here();
    }

    /** Where it stands, in one line, with the source of the statement. */
    private here(): void {
        const at = this.session.where();
        this.thread = at.thread;
        this.frame = 0;
        const place = at.site === null ? "" : `${plainLine(at.site.file)}:${at.site.line}`;
        const name = at.frame === null ? "" : ` in ${plainLine(at.frame.name)}`;
        const { result } = this.session.inspect();
        const end =
            result === null
                ? {
                      running: "",
                      waiting: `, waiting for ${plainLine(this.session.timeline.next ?? "")}`,
                      open: ", waiting: the record ends here",
                      done: "",
                      failed: "",
                  }[at.state]
                : result.ok
                  ? " the run is done"
                  : ` the run failed: ${plainLine(result.failure.kind)}: ${plainLine(result.failure.message)}`;
        const said = `${this.colour("cyan", place)}${name}${end}`.trim();
        this.out(`${said}  ${this.colour("dim", `step ${at.moment.steps}, event ${this.session.events(1)[0]?.seq ?? 0}`)}`);
        if (at.site === null) return;
        const lines = this.sourceOf(at.frame?.path ?? "", at.site.file);
        if (lines !== null) this.out(excerpt(lines, at.site.line, 0, this.marks(at.site.file), this.colour));
    }

    private marks(file: string): ReadonlySet<number> {
        return new Set(this.session.breakpoints.flatMap((one) => (one.kind === "line" && one.file === file ? [one.line] : [])));
    }

    private goTo(said: string): Promise<Did> | Did {
        const { session } = this;
        if (said === "start" || said === "end" || said === "failure") return this.move(() => session.goTo({ kind: said }));
        const step = /^step (\d{1,15})$/.exec(said);
        if (step !== null) return this.move(() => session.goTo({ kind: "step", step: Number(step[1]) }));
        const seq = /^(?:event )?(\d{1,15})$/.exec(said);
        if (seq !== null) return this.move(() => session.goTo({ kind: "event", seq: Number(seq[1]) }));
        if (said === "" || /\s/.test(said)) return this.wrong("goto takes start, end, failure, the number of an event, step N, or a path");
        return this.move(() => session.goTo({ kind: "path", path: said }));
    }

    private break(said: string): Did {
        const { session } = this;
        if (said === "") {
            const points = session.breakpoints;
            return this.say(
                points.length === 0
                    ? "  no breakpoints"
                    : points.map((one, i) => `  ${i + 1}  ${plainLine(shownBreakpoint(one))}`).join("\n"),
            );
        }
        const file = session.where().site?.file ?? session.info.file;
        let point: Breakpoint | null = readBreakpoint(said, file);
        if (point === null) return this.wrong("break takes FILE:LINE, LINE, an event's kind, a path, violation or failure");
        if (point.kind === "line") {
            const place = session.settle(point.file, point.line);
            if (place === null) return this.wrong(`no statement begins at or after ${shownBreakpoint(point)}`);
            point = { kind: "line", ...place };
        }
        session.breakpoints = [...session.breakpoints, point];
        return this.say(`  ${session.breakpoints.length}  ${plainLine(shownBreakpoint(point))}`);
    }

    private delete(said: string): Did {
        const { session } = this;
        const place = number(said);
        if (said === "all") session.breakpoints = [];
        else if (place === null || place > session.breakpoints.length)
            return this.wrong(`there is no breakpoint ${said}; break lists them`);
        else session.breakpoints = session.breakpoints.filter((_, i) => i !== place - 1);
        return this.break("");
    }

    // ---- looking ----

    private list(said: string): Did {
        const site = this.stackSite();
        const file = site?.file ?? this.session.info.file;
        const line = said === "" ? (site?.line ?? 1) : number(said);
        if (line === null) return this.wrong("list takes the number of a line");
        const lines = this.sourceOf(this.stackFrame()?.path ?? "", file);
        if (lines === null) return this.wrong(`the source of ${file} cannot be read; it is at line ${line}`);
        return this.say(excerpt(lines, Math.min(line, lines.length), 5, this.marks(file), this.colour));
    }

    private stackSite() {
        return this.stackFrame()?.site ?? this.session.where().site;
    }

    private stackFrame() {
        return this.session.threads().find((one) => one.id === this.thread)?.stackFrames[this.frame];
    }

    /** Lines of a file of the program, or of what an agent wrote. */
    private sourceOf(path: string, file: string): readonly string[] | null {
        return this.session.writtenAt(path, file)?.text.split(/\r?\n/) ?? sourceLines(this.session.info, file);
    }

    private locals(): Did {
        const frame = this.session.threads().find((one) => one.id === this.thread)?.stackFrames[this.frame];
        if (frame === undefined) return this.say("  (nothing runs)");
        const lines = frame.scopes.flatMap((scope) => [
            ...(scope.name === "locals" ? [] : [this.colour("dim", `  ${scope.name}:`)]),
            ...scope.variables.map((one) => `  ${plainLine(one.name)} = ${valueText(one, this.colour)}`),
        ]);
        return this.say(lines.length === 0 ? "  nothing is named here" : lines.join("\n"));
    }

    private found(
        said: string,
        from: number,
        count: number,
    ): { readonly looked: Looked; readonly names: readonly (string | number)[] } | string {
        const names = readPath(said);
        if (names === null) return `'${said}' is no path: a name, then .key, [index] or ["key"]`;
        const place: Place = { thread: this.thread, frame: this.frame, names };
        const looked = this.session.look(place, from, count);
        return looked === null ? `there is no ${said} here` : { looked, names };
    }

    private print(args: readonly string[]): Did {
        const head = args.slice(0, -1).join(" ");
        const last = readPath(head) === null ? null : number(args[args.length - 1] as string, 0);
        const from = last ?? 0;
        const found = this.found(last === null ? args.join(" ") : head, from, PARTS);
        if (typeof found === "string") return this.wrong(found);
        const { looked } = found;
        if (looked.parts.length === 0)
            return this.say(`  ${plainLine(looked.whole)}${valueText({ ...looked.view, text: "" }, this.colour)}`);
        const title = `  ${looked.view.type} of ${looked.view.size}${valueText({ ...looked.view, text: "" }, this.colour)}`;
        const parts = looked.parts.map((one) => `    ${plainLine(one.name)}: ${valueText(one, this.colour)}`);
        const more =
            from + looked.parts.length < looked.view.size
                ? [`    … ${looked.view.size - from - looked.parts.length} more: print PATH ${from + looked.parts.length}`]
                : [];
        return this.say([title, ...parts, ...more].join("\n"));
    }

    private origins(said: string): Did {
        const found = this.found(said, 0, 1000);
        if (typeof found === "string") return this.wrong(found);
        const { looked, names } = found;
        const own = looked.view.origins;
        const lines = [
            `  ${plainLine(shownPath(names))}  ⟵ ${own.length === 0 ? "the program's own text" : own.map(plainLine).join(", ")}`,
        ];
        for (const part of looked.parts) {
            const also = [...part.origins, ...part.inside].filter((one) => !own.includes(one));
            if (also.length > 0) lines.push(`    ${plainLine(part.name)}  ⟵ ${also.map(plainLine).join(", ")}`);
        }
        return this.say(lines.join("\n"));
    }
}

/** Why it stopped, for people; empty where that needs no words. */
const WHY: { readonly [R in Stop["reason"]]: string } = {
    step: "",
    breakpoint: "breakpoint",
    goto: "",
    start: "this is the beginning",
    end: "this is the end",
    waiting: "the record ends: no answer was recorded",
    cut: "the record ends: the run was stopped while it computed",
    diverged: "the record does not fit the program",
    pause: "stopped",
};

function number(text: string, least = 1): number | null {
    const n = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    return n >= least ? n : null;
}
