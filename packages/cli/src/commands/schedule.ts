/** Runs at set times on a Temporal server: `remit submit --cron` makes a schedule, `remit schedule` looks at it and changes it. */
import type { KeptOptions, ProgramWorld } from "@remit/host";
import type { Json } from "@remit/language";
import type { Overlap, RemitClient, ScheduleListed, Schedules, ScheduleShown } from "@remit/temporal";
import { asking } from "../client.ts";
import { EXIT, plainLine, print, printJson, say, UsageError } from "../io.ts";

type Options = Record<string, unknown>;

/** `remit submit FILE --cron EXPRESSION`. */
export async function planned(client: RemitClient, world: ProgramWorld, kept: KeptOptions, options: Options): Promise<number> {
    if (options["wait"] === true)
        throw new UsageError("--cron makes a schedule, which --wait cannot wait for", "remit result RUN waits for one of its runs");
    const id = String(options["id"] ?? named(world.file));
    const { cron, timezone, overlap } = options;
    await client.schedules.create(world, kept, {
        ...{ id, cron: String(cron) },
        ...(timezone === undefined ? {} : { zone: String(timezone) }),
        ...(overlap === undefined ? {} : { overlap: String(overlap) as Overlap }),
    });
    const { next } = await client.schedules.show(id);
    if (options["json"] === true) printJson({ schedule: id, next: next.map((at) => at.toISOString()) }, true);
    else print(id);
    const [first] = next;
    say(
        `scheduled: ${first === undefined ? "it has no next time" : `the first run begins at ${first.toISOString()}`}; remit schedule show ${id} looks at it`,
    );
    return EXIT.ok;
}

/** After the program's file, without folder and ending. */
function named(file: string): string {
    return file
        .replace(/^.*[\\/]/, "")
        .replace(/\.[^.]*$/, "")
        .replace(/[^\w.-]/g, "");
}

const VERBS = ["list", "show", "pause", "resume", "trigger", "delete"] as const;
const DID = { pause: "paused", resume: "goes on", trigger: "a run begins now", delete: "deleted; runs that it began stay" } as const;

export default function schedule([verb, id]: string[], options: Options): Promise<number> {
    const what = VERBS.find((one) => one === verb);
    if (what === undefined) throw new UsageError(`remit schedule takes ${VERBS.join(", ")}, not '${plainLine(verb ?? "")}'`);
    if (what !== "list" && id === undefined)
        throw new UsageError(`say which schedule: remit schedule ${what} ID`, "remit schedule list shows them");
    return asking(options, async ({ schedules }) => {
        switch (what) {
            case "list":
                await listAll(schedules, options);
                return EXIT.ok;
            case "show":
                shown(await schedules.show(id as string, (text) => say(text)), options);
                return EXIT.ok;
            case "pause":
                await schedules.pause(id as string, options["note"] === undefined ? undefined : String(options["note"]));
                break;
            case "delete":
                await schedules.remove(id as string);
                break;
            default:
                await schedules[what](id as string);
        }
        say(`${plainLine(id as string)}: ${DID[what]}`);
        return EXIT.ok;
    });
}

async function listAll(schedules: Schedules, options: Options): Promise<void> {
    let isEmpty = true;
    for await (const one of schedules.list((text) => say(text))) {
        listed(one, options);
        isEmpty = false;
    }
    if (isEmpty) say("there is no schedule; remit submit FILE --cron EXPRESSION makes one");
}

function listed(one: ScheduleListed, options: Options): void {
    if (options["json"] === true) {
        printJson(JSON.parse(JSON.stringify(one)) as Json, true);
        return;
    }
    const [next] = one.next;
    const when = one.paused
        ? `paused${one.note === null ? "" : ` (${one.note})`}`
        : next === undefined
          ? "no next time"
          : `next ${next.toISOString()}`;
    const { id, program, cron, zone } = one;
    print(plainLine(program === null ? `${id}  (cannot be read here)  ${when}` : `${id}  ${program}  ${cron} ${zone}  ${when}`));
}

function shown(one: ScheduleShown, options: Options): void {
    listed(one, options);
    if (options["json"] === true) return;
    print(`  ${one.taken} begun, ${one.skipped} skipped as the one before went on, ${one.missed} missed; overlap: ${one.overlap}`);
    for (const at of one.next.slice(0, 3)) print(`  next ${at.toISOString()}`);
    for (const { run, at } of one.runs.slice(-5)) print(plainLine(`  run ${run}  ${at.toISOString()}`));
}
