// The suite that `hooks.test.ts` runs; what Vitest keeps goes to the folder that it names.
export default { cacheDir: process.env.CASES_ROOM, test: { include: ["*.case.ts"], watch: false, maxWorkers: 1 } };
