/** What runs in a contender's own process: makes the work, then does it as often as it is asked to, and says what that took. */
const [module, make, args] = process.argv.slice(2) as [string, string, string];
type Work = (what: unknown) => unknown;
const making = import(module).then((exported: { [name: string]: (...given: unknown[]) => Work | Promise<Work> }) =>
    (exported[make] as (...given: unknown[]) => Work | Promise<Work>)(...(JSON.parse(args) as unknown[])),
);

process.on("message", async ({ what, slice }: { readonly what: unknown; readonly slice: number }) => {
    try {
        const work = await making;
        const used = process.cpuUsage();
        const begun = performance.now();
        let runs = 0;
        let passed = 0;
        let value: unknown;
        do {
            value = await work(what);
            runs++;
            passed = performance.now() - begun;
        } while (passed < slice);
        const { user, system } = process.cpuUsage(used);
        process.send?.({ ms: passed / runs, cpu: (user + system) / 1000 / runs, value });
    } catch (error) {
        process.send?.({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
});
process.on("disconnect", () => process.exit());
