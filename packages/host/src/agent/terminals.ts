/**
 * Terminals of an agent: commands that the program's `shell:` tool runs for it.
 *
 * Boundary: from a command to a use of the tool and to what it printed. Whether it may be started is the machine's.
 *
 * TM5: a terminal shows what its command printed so far, both streams in the order in which they came, without secrets: the end of it, from the
 *     beginning of a character, as many bytes as it may keep.
 * TM6: what is asked about or under way stops with its turn, and a command with its terminal.
 */
import type { Json } from "@remit/language";
import type { Outcome } from "@remit/machine";
import type { AgentUse } from "../run/host.ts";
import { commandUse, lineOf, shellFolder } from "./hands.ts";
import { objectOf } from "./given.ts";
import { type Refuse, type Turn, use } from "./turn.ts";

const MAX_TERMINALS = 64;
const OUTPUT_LIMIT = 1024 * 1024;

/** What a command is started with. */
export interface Command {
    readonly command: string;
    readonly args?: readonly string[] | undefined;
    readonly cwd?: string | null | undefined;
    readonly env?: readonly unknown[] | undefined;
    readonly outputByteLimit?: number | null | undefined;
}

interface Terminal {
    readonly output: Output;
    exit: { exitCode: number | null; signal: string | null } | null;
    readonly done: Promise<void>;
    readonly killed: AbortController;
}

export class Terminals {
    private readonly open = new Map<string, Terminal>();
    private readonly refuse: Refuse;
    private ids = 0;

    constructor(refuse: Refuse) {
        this.refuse = refuse;
    }

    create(turn: Turn, asked: Command): string {
        if (this.open.size >= MAX_TERMINALS) throw this.refuse(`more than ${MAX_TERMINALS} terminals are open`);
        const wanted = this.use(turn, asked);
        const id = `terminal-${++this.ids}`;
        const killed = new AbortController();
        const output = new Output(Math.min(asked.outputByteLimit ?? OUTPUT_LIMIT, OUTPUT_LIMIT));
        const work = (): Promise<Outcome> => use(turn, wanted, AbortSignal.any([turn.stopped, killed.signal]), (part) => output.part(part));
        const ended = (outcome: Outcome): void => {
            const { text, code } = commandResult(outcome);
            // A failure says why there is no more; a tool that shows nothing on its way shows all of it now.
            if (!outcome.ok || output.isEmpty) output.add(text);
            made.exit = killed.signal.aborted ? { exitCode: null, signal: "SIGKILL" } : { exitCode: code, signal: null };
        };
        const made: Terminal = { output, exit: null, done: turn.answering(work).then(ended), killed };
        // What `use` throws is a defect of the host; the agent sees a command that did not end well.
        made.done.catch(() => {
            made.exit ??= { exitCode: 126, signal: null };
        });
        this.open.set(id, made);
        return id;
    }

    output(id: string): object {
        const { output, exit } = this.find(id);
        return { ...output.shown(), ...(exit === null ? {} : { exitStatus: exit }) };
    }

    async exit(id: string): Promise<NonNullable<Terminal["exit"]>> {
        const one = this.find(id);
        await one.done.catch(() => undefined);
        return one.exit ?? { exitCode: null, signal: null };
    }

    stop(id: string): void {
        const { exit, killed } = this.find(id);
        if (exit === null) killed.abort(new Error("the agent stopped it"));
    }

    release(id: string): void {
        this.stop(id);
        this.open.delete(id);
    }

    private find(id: string): Terminal {
        const found = this.open.get(id);
        if (found === undefined) throw this.refuse(`there is no terminal '${id.slice(0, 100)}'`, -32002);
        return found;
    }

    private use({ cwd, hands, workspace }: Turn, { command, args = [], cwd: named, env = [] }: Command): AgentUse {
        if (env.length > 0) throw this.refuse("a command's environment is not for the agent to set", -32602);
        const inside = shellFolder(hands, workspace, named ?? cwd);
        const line = args.length === 0 ? command : lineOf([command, ...args]);
        const use = commandUse(hands, line, inside === "." || inside === null ? undefined : inside, undefined);
        if (use === null || (inside === null && named !== undefined && named !== null))
            throw this.refuse("this agent may start no command there");
        return use;
    }
}

/** TM5. */
class Output {
    private readonly limit: number;
    private text = "";
    private truncated = false;

    constructor(limit: number) {
        this.limit = limit;
    }

    get isEmpty(): boolean {
        return this.text === "" && !this.truncated;
    }

    add(more: string): void {
        this.text += more;
        // Now and then, so that much in small pieces is not gone through again and again.
        if (this.text.length > 2 * this.limit + 4096) this.cut();
    }

    /** Progress of the use that a command is. */
    part(part: Json): void {
        const { type, delta } = objectOf(part);
        if (type === "output" && typeof delta === "string") this.add(delta);
    }

    shown(): { readonly output: string; readonly truncated: boolean } {
        this.cut();
        return { output: this.text, truncated: this.truncated };
    }

    private cut(): void {
        const tail = tailOf(this.text, this.limit);
        this.truncated ||= tail !== this.text;
        this.text = tail;
    }
}

/** The end of a text of at most so many bytes, from the beginning of a character. */
export function tailOf(text: string, limit: number): string {
    const bytes = Buffer.from(text, "utf8");
    if (bytes.length <= limit) return text;
    let from = bytes.length - limit;
    while (from < bytes.length && ((bytes[from] as number) & 0xc0) === 0x80) from++;
    return bytes.subarray(from).toString("utf8");
}

function commandResult(outcome: Outcome): { readonly text: string; readonly code: number } {
    if (!outcome.ok) return { text: outcome.failure.message, code: 126 };
    const { output, stdout, stderr, exit_code: code, ok } = objectOf(outcome.value as Json);
    const said = [output, stdout, stderr].filter((part) => typeof part === "string");
    // A command that a signal ended has no code.
    const ended = typeof code === "number" ? code : ok === false || code === null ? 1 : 0;
    return { text: said.length > 0 ? said.join("") : typeof outcome.value === "string" ? outcome.value : "", code: ended };
}
