/**
 * A model of the project as the one that translates: by a program of its own, so that its turns have a ledger, bounds and retries as any other.
 *
 * Boundary: between `translate.ts` and a run. Which model it is, is what the caller says, else the one that is set up.
 */
import type { RunHandle } from "../run/handle.ts";
import { load } from "../run/program.ts";
import type { LoadOptions } from "../run/setup.ts";
import type { Complete } from "./translate.ts";

const PROGRAM = `import llm Translator from "default:"

main func(input: { system: string, user: string }) {
    model Translator
    role "a translator"
    description "Turns a request in plain words into a program"
    use input.user as "request"
    generate({ input: input.system })
}
`;

export interface Translator extends AsyncDisposable {
    readonly complete: Complete;
    /** Which models answered, in plain words. */
    answering(): readonly { readonly text: string }[];
}

/** `begun`: is told of each turn, which is a run. */
export async function translator(options: LoadOptions, begun: (handle: RunHandle<string>) => void = () => undefined): Promise<Translator> {
    const program = await load<{ system: string; user: string }, string>({ source: PROGRAM, file: "translate.remit" }, options);
    return {
        complete: async (prompt, signal) => {
            const handle = program.run({ system: prompt.system, user: prompt.user }, { signal });
            begun(handle);
            const said: unknown = await handle.value;
            return typeof said === "string" ? said : JSON.stringify(said);
        },
        answering: () => program.answering(),
        [Symbol.asyncDispose]: () => program.close(),
    };
}
