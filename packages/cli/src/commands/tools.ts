/** `remit tools`: what a project, or a program, can reach; which methods only read; and why not, where not. */
import { here } from "../here.ts";
import { resolve } from "node:path";
import { checkFile, createTools, findRoot, knownSecrets, loadConfig } from "@remit/host";
import { isObject, type Json } from "@remit/language";
import { showDiagnostics } from "../diagnostics.ts";
import { EXIT, paint, plain, plainLine, print, printJson, say } from "../io.ts";
import { folder } from "../running.ts";

export default async function tools(args: string[], options: Record<string, unknown>): Promise<number> {
    const named = options["workspace"] === undefined ? undefined : folder(String(options["workspace"]), "--workspace");
    const file = args[0] === undefined ? undefined : resolve(args[0]);
    const config = loadConfig({
        from: file ?? named ?? process.cwd(),
        env: here().env,
        folder: process.cwd(),
        ...(named === undefined ? {} : { workspace: named }),
        ...(options["trust"] ? { trust: true } : {}),
    });
    const secrets = knownSecrets(here().env, config);
    const made = createTools(config, {
        env: here().env,
        secrets,
        workspace: named ?? config.workspace ?? process.cwd(),
        ...(file === undefined ? {} : { root: findRoot(file) }),
    });
    try {
        const imports = file === undefined ? undefined : await importsOf(file);
        if (imports === null) return EXIT.failed;
        const listed = await made.list(imports);
        if (options["json"]) {
            printJson(listed as unknown as Json);
            return EXIT.ok;
        }
        if (listed.length === 0) {
            say("No tools are configured. Built in: file://workspace, sh://find, sh://grep, sh://read-range, env://process, http(s)://…");
            return EXIT.ok;
        }
        const colour = paint(process.stdout);
        for (const tool of listed) {
            print(
                `${colour("bold", plain(tool.name))}  ${plain(tool.uri)}  ${tool.reachable ? colour("green", "reachable") : colour("red", "not reachable")}`,
            );
            if (tool.reason) print(`  ${plain(tool.reason)}`);
            if (tool.hint) print(`  ${colour("cyan", "help")}: ${plain(tool.hint)}`);
            for (const method of tool.methods)
                print(
                    `  ${plainLine(method.name)}${plainLine(argumentsOf(method.input))}${method.readOnly ? colour("dim", "  reads only") : ""}${method.description ? `  ${plain(method.description.split("\n")[0] ?? "").slice(0, 90)}` : ""}`,
                );
            if (tool.open) print(colour("dim", "  … and any other method"));
        }
        return listed.every((tool) => tool.reachable) ? EXIT.ok : EXIT.failed;
    } finally {
        await made.close();
    }
}

/** `(path, as?)`; empty where the tool does not say. */
function argumentsOf(input: Json): string {
    if (!isObject(input) || !isObject(input.properties ?? null)) return "";
    const needed = Array.isArray(input.required) ? input.required : [];
    return `(${Object.keys(input.properties as object)
        .map((name) => (needed.includes(name) ? name : `${name}?`))
        .join(", ")})`;
}

/** The tool imports of all files of a program; null where one cannot be read, which is shown. */
async function importsOf(file: string) {
    const { checked } = await checkFile(file);
    const unread = [...checked.files.values()].flatMap((tree) => tree.diagnostics.filter((one) => one.severity === "error"));
    if (unread.length > 0) {
        showDiagnostics(unread, new Map([...checked.files].map(([name, tree]) => [name, tree.source])));
        return null;
    }
    return [...checked.files].flatMap(([name, tree]) =>
        tree.items.flatMap((item) =>
            item.kind === "import" && item.what === "tool" ? [{ name: item.name.text, uri: item.uri.value, file: name }] : [],
        ),
    );
}
