/** A service whose programs `remit types` declares, and eight wrong uses of them, for `tests/packed.test.ts`. Texts only. */

export const DESK = `import llm Model from "mock:"
import tool Orders from "host:orders"

shape Reply { text: string, urgent: boolean, tries: number = 1 }

func total(prices: list[number]) -> number { prices.reduce((sum, price) => sum + price, 0) }

main agent Desk {
    model Model
    role "a clerk"
    description "Answers a customer."
    main func(input: { message: string, order?: string }) -> Reply {
        order = Orders.find({ id: input?.order ?? "none" })
        use input.message as "the message"
        use order.state as "the order's state"
        generate({ input: "Answer the customer." }) -> { text: string, urgent: boolean }
    }
}
`;

/** What is right. Prints what each call gave. */
export const SERVICE = `import { load, type LoadOptions } from "remit-lang";
import open, { Desk, total } from "./desk.remit";

const tools = { Orders: { find: async ({ id }: { id: string }) => ({ id, state: "sent" }) } };
const program = await load("./desk.remit", { tools });
const handle = program.run({ message: "Where is it?", order: "A-1" });
let kinds = 0;
for await (const event of handle.events) kinds += event.kind === "tool.started" ? 1 : 0;
const reply = (await handle.result).value;
const tries: number | undefined = reply?.tries;
const sum: number = await program.entry("total")({ prices: [1, 2] });
await program.close();

const imported: { text: string; urgent: boolean } = await Desk({ message: "hello" }, { tools });
const rehearsed = await total({ prices: [3, 4] }, { mode: "mock" });
const opened = await open({ tools, model: "mock:" });
const text: string = (await opened({ message: "again" })).text;
await opened.close();
const path: string = "desk.remit";
const options: LoadOptions = { tools };
const untyped = await load<{ message: string }, { text: string }>(path, options);
await untyped.close();
console.log(JSON.stringify({ kinds, tries, sum, urgent: imported.urgent, rehearsed, text }));
`;

const TOOLS = "{ tools: { Orders: { find: () => ({}) } } }";
/** Each is wrong in one way, in the line that begins with it. */
export const WRONG_USES: readonly string[] = [
    'export const without = await load("desk.remit");',
    'export const half = await load("desk.remit", { tools: { Orders: { search: () => ({}) } } });',
    `export const misspelt = await Desk({ mesage: "hello" }, ${TOOLS});`,
    `export const number = await Desk({ message: 1 }, ${TOOLS});`,
    `export const missing = (await Desk({ message: "hello" }, ${TOOLS})).body;`,
    'export const text: string = await total({ prices: [1] }, { mode: "mock" });',
    `export const nowhere = (await load("desk.remit", ${TOOLS})).entry("totals");`,
    'export const nothing = (await import("./desk.remit")).Clerk;',
];

export const WRONG = `import { load } from "remit-lang";
import { Desk, total } from "./desk.remit";
${WRONG_USES.join("\n")}
`;
