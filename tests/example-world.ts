/** The world of an example that stands in a folder: the same in the process that runs it and in one that performs its effects. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "@remit/language";
import { type Handlers, type KeptOptions, openWorld, type ProgramWorld } from "@remit/host";
import type { Host } from "../packages/host/src/run/host.ts";

export const RUN = "example";

export async function exampleWorld(room: string): Promise<{ readonly world: ProgramWorld; readonly options: KeptOptions }> {
    const world = await openWorld(join(room, "main.remit"), {
        root: room,
        workspace: join(room, "data"),
        model: `scripted:${join(room, "replies.json")}`,
        trust: true,
        cache: false,
        concurrency: 1,
    });
    return { world, options: world.kept(JSON.parse(readFileSync(join(room, "input.json"), "utf8")) as Json) };
}

/** What a person says to each question. */
function handlers(room: string): Handlers {
    const said = join(room, "answers.json");
    const answers = existsSync(said) ? (JSON.parse(readFileSync(said, "utf8")) as { [path: string]: string }) : {};
    return { ask: (_request, { effect }) => answers[effect.path] ?? "deny" };
}

export async function worldOf(room: string): Promise<Host> {
    const { world, options } = await exampleWorld(room);
    const host = world.host(RUN, options, handlers(room));
    return { ...host, close: () => world.close() };
}
