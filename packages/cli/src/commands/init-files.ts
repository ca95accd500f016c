/**
 * What new projects begin with: the folders of `templates/`, one for each kind of project.
 *
 * Boundary: reads the templates that come with the command; what is written where is `init.ts`.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { VERSION } from "../version.ts";

export interface ProjectFile {
    /** Relative, with `/`. */
    readonly path: string;
    readonly text: string;
}

interface Template {
    /** What a person wants to build, in a few words. */
    readonly about: string;
    /** Whether it is a package of npm's in any case. */
    readonly npm?: true;
    /** What follows `remit run main.remit --input @input.json`. */
    readonly next: string;
}

/** In the order in which they are offered. */
export const TEMPLATES = {
    start: { about: "a first program: copy facts from messages", next: "remit explain main.remit" },
    triage: {
        about: "triage: sort what comes in, with nothing that a message says being done",
        next: "remit check --authority main.remit",
    },
    extract: { about: "extraction at scale: many texts into one table", next: "remit cost last" },
    research: { about: "research with an MCP server, in quotes that hold", next: "remit trace last" },
    review: { about: "review by a coding agent", next: "remit trace last" },
    service: { about: "an API service in Node", npm: true, next: "node server.mjs" },
    nightly: { about: "a nightly job from CSV files to a report", next: "remit runs" },
} as const satisfies { readonly [name: string]: Template };

export type TemplateName = keyof typeof TEMPLATES;

/** Where the package has them, seen from its bundle; absent in a checkout. */
declare const REMIT_TEMPLATES: string;
export const TEMPLATE_FOLDER = new URL(typeof REMIT_TEMPLATES === "string" ? REMIT_TEMPLATES : "../../templates/", import.meta.url);

/** Nothing from elsewhere goes into what writes unseen. */
const POLICY = '{\n    "policy": { "untrusted": "ask" }\n}\n';

/** The files of a new project. `npm`: with a package.json that names the library. */
export function projectOf(name: TemplateName, npm: boolean): readonly ProjectFile[] {
    const folder = fileURLToPath(new URL(`${name}/`, TEMPLATE_FOLDER));
    const files = readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((one) => one.isFile())
        .map((one) => join(one.parentPath, one.name))
        .sort()
        .map((file) => ({ path: file.slice(folder.length).replaceAll("\\", "/"), text: readFileSync(file, "utf8") }));
    const made = files.some(({ path }) => path === "remit.json") ? files : [...files, { path: "remit.json", text: POLICY }];
    const ignored = { path: ".gitignore", text: `.remit/\n*.db*\n${npm ? "node_modules/\n" : ""}` };
    return npm ? [...made.map(forNpm), ignored, { path: "package.json", text: PACKAGE }] : [...made, ignored];
}

const PACKAGE = `${JSON.stringify({ private: true, type: "module", dependencies: { "remit-lang": `^${VERSION}` } }, null, 4)}\n`;

/** In a package the command is the project's own. */
function forNpm({ path, text }: ProjectFile): ProjectFile {
    const own = '"command": "npx", "args": ["remit", ';
    return { path, text: path === "remit.json" ? text.replace('"command": "remit", "args": [', own) : text };
}

/** Models that a template names where their key is in the environment. */
const BY_KEY = { ANTHROPIC_API_KEY: "anthropic://claude-sonnet-4-5", OPENAI_API_KEY: "openai://gpt-5-mini" } as const;

/** The project with the model of the first key that is in the environment: what costs money stands in the program. */
export function modelLine(project: readonly ProjectFile[], env: { readonly [name: string]: string | undefined }): readonly ProjectFile[] {
    const found = Object.entries(BY_KEY).find(([key]) => (env[key] ?? "") !== "");
    if (found === undefined) return project;
    return project.map(({ path, text }) => ({
        path,
        text: text.replace('import llm Model from "default:"', `import llm Model from "${found[1]}"`),
    }));
}
