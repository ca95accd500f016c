/**
 * Programs as TypeScript knows them, from what `remit types` declares.
 *
 * Boundary: types only. A program that is declared has its types by its path; any other is what its caller says that it is.
 */
import type { HostFunction, HostMethod, HostTool } from "../tool/functions.ts";
import type { RemitProgram } from "../run/program.ts";
import type { RunHandle } from "../run/handle.ts";
import type { LoadOptions, RunOptions } from "../run/setup.ts";

/** Declared programs by path. Declaration files add to it. */
// biome-ignore lint/suspicious/noEmptyInterface: it is there to be added to.
export interface Programs {}

/** What is declared of a program. */
export interface DeclaredProgram {
    readonly input: unknown;
    readonly output: unknown;
    /** Tools that its caller brings, by import name. */
    readonly tools: object;
    readonly entries: DeclaredEntries;
    readonly blocks: object;
}

/** What a run can begin with, by name: `Agent`, `Agent.func`, `func`. */
export interface DeclaredEntries {
    readonly [name: string]: { readonly input: unknown; readonly output: unknown };
}

/** Paths of declared programs, as `load` takes them. */
export type DeclaredPath = keyof Programs | `./${keyof Programs}`;

/** A path that is not declared; for one that is, what is to be done stands in the compiler's message. */
export type NotDeclared<Path extends string> = Path extends DeclaredPath
    ? "a program that `remit types` declared: give the tools that it wants"
    : Path;

/** What is declared of the program at a path. */
export type ProgramAt<Path> =
    Bare<Path> extends keyof Programs ? (Programs[Bare<Path>] extends DeclaredProgram ? Programs[Bare<Path>] : never) : never;
type Bare<Path> = Path extends `./${infer Rest}` ? Rest : Path;

/** A tool that has these methods. */
export type ToolWith<Method extends string> = Having<Method> | (() => Having<Method>);
type Having<Method extends string> = HostTool & { readonly [Name in Method]: HostFunction | HostMethod };

/** Options with the tools that a program wants of its caller; a rehearsal needs none. */
export type Bringing<Tools> = keyof Tools extends never
    ? [options?: LoadOptions]
    : [options: Omit<LoadOptions, "tools" | "mode"> & (WithTools<Tools> | Rehearsed)];
interface WithTools<Tools> extends Pick<LoadOptions, "mode"> {
    readonly tools: Tools & NonNullable<LoadOptions["tools"]>;
}
interface Rehearsed extends Pick<LoadOptions, "tools"> {
    readonly mode: "mock";
}

/** A declared program, opened. */
export type OpenProgram<Program extends DeclaredProgram> = RemitProgram<Program["input"], Program["output"], Program["entries"]>;

/** One function of an open program that runs can begin with. */
export interface RemitEntry<Input, Output> {
    (input: Input, options?: RunOptions): Promise<Output>;
    /** Begins a run and gives its handle. Throws `RemitError` where the input does not fit. */
    run(input: Input, options?: RunOptions): RunHandle<Output>;
}

// ---- what an import of a program gives

/** Opens the program with options of its own. */
export type Open<Program extends DeclaredProgram> = (...options: Bringing<Program["tools"]>) => Promise<OpenProgram<Program>>;

/** A function of an imported program. Options of the host (`tools`, `model`, `ledger`) open the program anew for that call. */
export interface ImportedEntry<Input, Output, Tools> {
    (input: Input, ...options: Bringing<Tools>): Promise<Output>;
    run(input: Input, ...options: Bringing<Tools>): Promise<RunHandle<Output>>;
}
export type EntryOf<Program extends DeclaredProgram, Name extends keyof Program["entries"]> = ImportedEntry<
    Program["entries"][Name]["input"],
    Program["entries"][Name]["output"],
    Program["tools"]
>;
export type Main<Program extends DeclaredProgram> = ImportedEntry<Program["input"], Program["output"], Program["tools"]>;
