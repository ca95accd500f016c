/**
 * What a run is started with.
 */
import type { RowsDoc, UsesDoc } from "../effect/elsewhere.ts";
import type { Policy } from "../authority/authority.ts";
import type { Backend, Json } from "@remit/language";

export interface Limits {
    /** Statements, calls and passes executed. Default 100 million. */
    readonly steps?: number;
    /** Calls nested. Default 1000. */
    readonly depth?: number;
    /** Tokens of all model turns, in and out. */
    readonly tokens?: number;
    readonly usd?: number;
    /** Effects performed. */
    readonly calls?: number;
    /** Model turns. */
    readonly turns?: number;
    /** Bytes of data that growing values take and that requests and events hand out, all in all. */
    readonly bytes?: number;
    /** About how many bytes of memory the data may take that is held at one time. Default 1 GiB, at most 16. */
    readonly memory?: number;
    /** Milliseconds; kept by the host, which calls `exceed`. */
    readonly time?: number;
}

/** What models cost, in US dollars per million tokens, by `NAME URI` of their imports: to reserve by, not to bill. */
export interface Prices {
    readonly [model: string]: { readonly input: number; readonly output: number };
}

export interface FileContent {
    readonly json: Json;
    readonly origins: readonly string[];
}

/** An Agent Skill that the program imports: data for the model or agent to which it is handed. */
export interface SkillContent {
    readonly name: string;
    readonly description: string;
    /** Lower-case hex SHA-256 of what it is made of. */
    readonly sha256: string;
    /** Markdown. */
    readonly text: string;
}

export interface StartOptions {
    readonly run: string;
    /** Lower-case hex SHA-256 of the program form. */
    readonly programHash: string;
    /** The program's own entry where absent. */
    readonly entry?: { readonly file: number; readonly agent?: string; readonly func: string };
    /** The argument of the entry function; for several parameters an object with a field for each. */
    readonly input: Json;
    /** Origins of the input. Default: what the policy says, else `user`. */
    readonly inputLabels?: readonly string[];
    /** Contents of file imports by `FILE INDEX/NAME`. */
    readonly imports?: { readonly [place: string]: FileContent };
    /** Skills that the program imports, by `FILE INDEX/NAME`. */
    readonly skills?: { readonly [place: string]: SkillContent };
    readonly limits?: Limits;
    readonly prices?: Prices;
    /** What to do so that prices count which a file gives: the hint of a bound on dollars that cannot be kept. */
    readonly unpriced?: string;
    /** Iterations of a parallel for that run at once. Default 4. */
    readonly concurrency?: number;
    /** Candidates of `use one of` by site id. */
    readonly variants?: { readonly [site: string]: string };
    /** On whose authority the program runs. Default `user`. */
    readonly principal?: string;
    /** Keep how every value came about (`Machine.tracer`): the same run, slower, and never saved. */
    readonly derive?: boolean;
    /** What the project adds to what the program says about authority. */
    readonly policy?: Policy;
    /** Missing fields of the input are asked for. */
    readonly interactive?: boolean;
    /** Steps between two returns to the host. Default 1 million. */
    readonly slice?: number;
    /** Where the run is: a block of another backend runs elsewhere, as a run of its own. Default `memory`. */
    readonly backend?: Backend;
    /** What blocks with a name gave before, where the run is a part of another. */
    readonly bindings?: { readonly [name: string]: FileContent };
    /** How often what is counted was used before, where the run is a part of another; absent: it is not known. */
    readonly uses?: UsesDoc;
    /** The input of the run that is no part, where the run is a part of it (ER3). */
    readonly evidence?: FileContent;
    /** Rows of tables that came before, where the run is a part of another; absent: it is not known. */
    readonly rows?: RowsDoc;
    /** Origins of what the run around it computed with, where the run is a part of another (LIC1). */
    readonly met?: readonly string[];
    /** Origins of what decided that the run begins, where it is a part of another. */
    readonly under?: readonly string[];
    /** Path of the entry, where the run is a part of another; absent: the name of the function. */
    readonly path?: string;
    /** `frames`: never use the closure form; the same run, slower. */
    readonly mode?: "closures" | "frames";
}

export const DEFAULTS = {
    steps: 100_000_000,
    depth: 1000,
    concurrency: 4,
    memory: 1024 ** 3,
    slice: 1_000_000,
    principal: "user",
} as const;
