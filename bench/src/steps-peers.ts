/**
 * A chain of n steps that do nothing but grow a list by one item each, in the frameworks people would use instead. Each returns a function that
 * runs the whole chain once; building the chain is not measured, except where the framework builds per run.
 */
type Chain = (n: number) => Promise<() => Promise<unknown>>;

/** One peer's own process: chains are built once a length. */
export function chains(name: string): (n: number) => Promise<unknown> {
    const build = { effect, xstate, mastra, aiSdk, langgraph: langgraph(false), checkpointed: langgraph(true) }[name] as Chain;
    const built = new Map<number, ReturnType<Chain>>();
    return async (n) => {
        const known = built.get(n) ?? build(n);
        built.set(n, known);
        await (await known)();
    };
}

/** LangGraph.js with its in-memory checkpointer (`checkpointed`) or without. One node in a loop, as its own ReAct benchmark has it. */
const langgraph =
    (checkpointed: boolean): Chain =>
    async (n) => {
        const { Annotation, END, MemorySaver, START, StateGraph } = await import("@langchain/langgraph");
        const State = Annotation.Root({
            count: Annotation<number>(),
            items: Annotation<number[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
        });
        const graph = new StateGraph(State)
            .addNode("step", (state) => ({ count: state.count + 1, items: [state.count] }))
            .addEdge(START, "step")
            .addConditionalEdges("step", (state) => (state.count < n ? "step" : END))
            .compile(checkpointed ? { checkpointer: new MemorySaver() } : {});
        let thread = 0;
        return () => graph.invoke({ count: 0 }, { recursionLimit: n + 10, configurable: { thread_id: String(thread++) } });
    };

/** Mastra: one workflow whose step is repeated until the count is reached. */
const mastra: Chain = async (n) => {
    const { createStep, createWorkflow } = await import("@mastra/core/workflows");
    const { z } = await import("zod");
    const shape = z.object({ count: z.number(), items: z.array(z.number()) });
    const step = createStep({
        id: "step",
        inputSchema: shape,
        outputSchema: shape,
        execute: async ({ inputData }) => ({ count: inputData.count + 1, items: [...inputData.items, inputData.count] }),
    });
    const workflow = createWorkflow({ id: "chain", inputSchema: shape, outputSchema: shape })
        .dountil(step, async ({ inputData }) => inputData.count >= n)
        .commit();
    return async () => {
        const run = await workflow.createRun();
        return run.start({ inputData: { count: 0, items: [] } });
    };
};

/** XState: a machine that invokes a promise again until the count is reached. */
const xstate: Chain = async (n) => {
    const { assign, createActor, fromPromise, setup, toPromise } = await import("xstate");
    const machine = setup({
        types: { context: {} as { count: number; items: number[] } },
        actors: { step: fromPromise(async ({ input }: { input: number }) => input) },
    }).createMachine({
        initial: "run",
        context: { count: 0, items: [] },
        states: {
            run: {
                invoke: {
                    src: "step",
                    input: ({ context }) => context.count,
                    onDone: [
                        { guard: ({ context }) => context.count + 1 >= n, target: "done" },
                        {
                            target: "run",
                            reenter: true,
                            actions: assign(({ context, event }) => ({
                                count: context.count + 1,
                                items: [...context.items, event.output as number],
                            })),
                        },
                    ],
                },
            },
            done: { type: "final" },
        },
    });
    return () => toPromise(createActor(machine).start());
};

/** Effect: a generator that yields n promises. */
const effect: Chain = async (n) => {
    const { Effect } = await import("effect");
    return () =>
        Effect.runPromise(
            Effect.gen(function* () {
                const items: number[] = [];
                for (let i = 0; i < n; i++) items.push(yield* Effect.promise(async () => i));
                return items;
            }),
        );
};

/** The AI SDK's tool loop with its own mock model: n turns that each call one tool. */
const aiSdk: Chain = async (n) => {
    const { generateText, isStepCount, stepCountIs, tool } = (await import("ai")) as never as Record<
        string,
        (...args: never[]) => unknown
    > as never as {
        generateText(options: object): Promise<unknown>;
        isStepCount?(n: number): unknown;
        stepCountIs?(n: number): unknown;
        tool(definition: object): unknown;
    };
    const test = (await import("ai/test")) as unknown as Record<string, new (options: object) => unknown>;
    const { z } = await import("zod");
    const name = Object.keys(test)
        .filter((key) => /^MockLanguageModelV\d+$/.test(key))
        .sort()
        .at(-1) as string;
    const Mock = test[name] as new (options: object) => unknown;
    const usage = { inputTokens: { total: 10, noCache: 10 }, outputTokens: { total: 5, text: 5 }, totalTokens: 15 };
    const step = tool({ description: "step", inputSchema: z.object({ i: z.number() }), execute: async ({ i }: { i: number }) => i });
    const stop = (stepCountIs ?? isStepCount) as (n: number) => unknown;
    return () => {
        let turn = 0;
        const model = new Mock({
            doGenerate: async () => {
                const i = turn++;
                const done = i >= n;
                return {
                    finishReason: { unified: done ? "stop" : "tool-calls", raw: undefined },
                    usage,
                    warnings: [],
                    content: done
                        ? [{ type: "text", text: "done" }]
                        : [{ type: "tool-call", toolCallId: String(i), toolName: "step", input: `{"i":${i}}` }],
                };
            },
        });
        return generateText({ model, prompt: "go", tools: { step }, stopWhen: stop(n + 1), maxRetries: 0 });
    };
};
