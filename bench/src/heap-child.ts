/**
 * The process that `heap.ts` measures: `heap-child.ts CASE RUNS`, run with `--expose-gc`; prints bytes of heap used before, half-way and after.
 */
import { load } from "@remit/host";

const BODIES: { readonly [name: string]: string } = {
    pure: 'xs = []\n i = 0\n loop until i >= 50 max 100 {\n xs.add({ i: i, text: input.name + i })\n i += 1\n }\n xs.map((x) => x.text).join(",").length',
    effects:
        "a = Work.step({ i: 1 })\n b = Work.step({ i: a })\n c = Work.step({ i: b })\n d = Work.step({ i: c })\n e = Work.step({ i: d })\n { e: e, name: input.name }",
    parallel: "try {\n parallel for i in [1, 2, 3, 4] max 4 {\n Work.odd({ i: i })\n }\n } catch e {\n e.message\n }",
};
const collect = globalThis.gc;
if (collect === undefined) throw new Error("run with --expose-gc");
const [which = "pure", runs = "10000"] = process.argv.slice(2);
const program = await load(
    { source: `import tool Work from "host:work"\nmain agent Heap {\n main func(input: { name: string }) {\n ${BODIES[which]}\n }\n}` },
    {
        cache: false,
        tools: {
            Work: {
                step: ({ i }: { i: number }) => i + 1,
                odd: ({ i }: { i: number }) => {
                    if (i === 3) throw new Error("three is not liked");
                    return i;
                },
            },
        },
    },
);

async function used(): Promise<number> {
    for (let i = 0; i < 4; i++) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        collect?.();
    }
    return process.memoryUsage().heapUsed;
}

const many = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) await program({ name: `run ${i}` });
};
await many(500);
const before = await used();
await many(Number(runs) / 2);
const half = await used();
await many(Number(runs) / 2);
const after = await used();
process.stdout.write(JSON.stringify({ before, half, after }));
await program.close();
