/**
 * A Remit program that performs one effect after the other, for the benchmarks of steps, durability, resuming and memory.
 */
import { load, type LoadOptions, type RunHandle } from "@remit/host";

/** `items`: the list grows by an item each pass. `sum`: the state stays as it is. `last`: a last effect that waits. */
export type Shape = "items" | "sum";

function text(shape: Shape): string {
    return `
import tool Work from "host:work"
main agent Chain {
    main func(input: { n: number }) {
        items = []
        sum = 0
        i = 0
        loop until i >= input.n max 10000000 {
            ${shape === "items" ? "items.add(Work.step({ i: i }))" : "sum += Work.step({ i: i })"}
            i += 1
        }
        ${shape === "items" ? "items.length" : "i"}
    }
}`;
}

export interface Chain {
    /** Runs n effects; throws where the value is not n. */
    run(n: number): Promise<void>;
    start(n: number, signal: AbortSignal): RunHandle<number>;
    close(): Promise<void>;
}

export async function chain(
    options: Pick<LoadOptions, "ledger"> & { readonly shape?: Shape; readonly step?: (i: number, signal: AbortSignal) => unknown },
): Promise<Chain> {
    const { step = (i) => i } = options;
    const program = await load<{ n: number }, number>(
        { source: text(options.shape ?? "items") },
        {
            tools: tools(step),
            ...(options.ledger === undefined ? {} : { ledger: options.ledger }),
            limits: { steps: 1_000_000_000, tokens: 1_000_000, calls: 10_000_000 },
            cache: false,
        },
    );
    return {
        run: async (n) => {
            const value = await program({ n });
            if (value !== n) throw new Error(`${value} is not ${n}`);
        },
        start: (n, signal) => program.run({ n }, { signal }),
        close: () => program.close(),
    };
}

/** The one tool of the chain; it may be performed again after an interruption. */
export function tools(step: (i: number, signal: AbortSignal) => unknown): NonNullable<LoadOptions["tools"]> {
    return {
        Work: {
            step: {
                call: ({ i }: { i: number }, io: { signal: AbortSignal }) => step(i, io.signal),
                readOnly: true,
            },
        },
    };
}
