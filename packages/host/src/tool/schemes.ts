/**
 * The table of schemes: which file opens which URI. Each is loaded when the first tool of its kind is used.
 */
import { isLocalModule } from "./module.ts";
import type { Open } from "./tool.ts";

export interface Scheme {
    /** As written in documentation. */
    readonly form: string;
    readonly fits: (uri: string) => boolean;
    readonly open: () => Promise<Open>;
}

export const SCHEMES: readonly Scheme[] = [
    { form: "./tools.ts", fits: isLocalModule, open: async () => (await import("./module.ts")).openModule },
    { form: "file://workspace", fits: starts("file:"), open: async () => (await import("./file.ts")).openFile },
    { form: "http://origin", fits: starts("http://"), open: async () => (await import("./http.ts")).openHttp },
    { form: "https://origin", fits: starts("https://"), open: async () => (await import("./http.ts")).openHttp },
    { form: "sh://find", fits: starts("sh://"), open: async () => (await import("./sh.ts")).openSh },
    { form: "shell:", fits: starts("shell:"), open: async () => (await import("./shell.ts")).openShell },
    { form: "webfetch:", fits: starts("webfetch:"), open: async () => (await import("./webfetch.ts")).openWebfetch },
    { form: "skills:", fits: starts("skills:"), open: async () => (await import("./skills.ts")).openSkills },
    { form: "ras:FILE", fits: starts("ras:"), open: async () => (await import("../ras/tool.ts")).openRas },
    { form: "env://process", fits: starts("env:"), open: async () => (await import("./env.ts")).openEnv },
    { form: "mcp://SERVER", fits: starts("mcp:"), open: async () => (await import("./mcp.ts")).openMcp },
    { form: "temporal://QUEUE/FILE.json", fits: starts("temporal:"), open: async () => (await import("./queue.ts")).openQueue },
    { form: "node:MODULE", fits: starts("node:"), open: async () => (await import("./module.ts")).openModule },
    { form: "npm:PACKAGE", fits: starts("npm:"), open: async () => (await import("./module.ts")).openModule },
    { form: "verb:NAME", fits: starts("verb:"), open: async () => (await import("./verb.ts")).openVerb },
    { form: "host:NAME", fits: starts("host:"), open: async () => (await import("./functions.ts")).openHost },
];

function starts(prefix: string): (uri: string) => boolean {
    return (uri) => uri.startsWith(prefix);
}

/** Which one opens a URI. */
export function opening(uri: string): Scheme | undefined {
    return SCHEMES.find((scheme) => scheme.fits(uri));
}
