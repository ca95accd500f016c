/** Programs whose tools a test stands in for. */
import type { LoadedProgram } from "@remit/language";

/** The program as the checker takes it where nothing is known of its tools: they take and give what the test says, whatever a tool of that URI does. */
export function withStandIns(loaded: LoadedProgram): LoadedProgram {
    const tools = [...loaded.files.values()].flatMap(({ items }) =>
        items.flatMap((item) => (item.kind === "import" && item.what === "tool" ? [item] : [])),
    );
    return { ...loaded, members: new Map(tools.map((one) => [one, { signatures: [], open: true }])) };
}
