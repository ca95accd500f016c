/**
 * `remit debug RUN --agent NAME`: an agent looks at the run where it stands and proposes something; a person takes it, or does not.
 *
 * Boundary: what is shown and asked. Asking the agent, changing a file and beginning a new run are the host's.
 *
 * AGN1: without a terminal, and with `--json`, a proposal is only shown.
 * AGN3: what is known to be a secret now is taken out of all that is shown, before lines are broken; what is accepted is what was proposed.
 * AGN2: every line of what the agent wrote stands behind a bar, made plain.
 */
import { statSync } from "node:fs";
import {
    applyChange,
    askAgent,
    type DebugSession,
    effectAt,
    forkRun,
    type LedgerStore,
    moved,
    type Proposed,
    readBreakpoint,
    type Scrubber,
    type Stop,
    type Target,
} from "@remit/host";
import { type Json, plainColumns } from "@remit/language";
import { askChoice } from "../ask.ts";
import { isPersonThere } from "../prompts.ts";
import { barred, counted, EXIT, folded, paint, plain, plainLine, print, printJson, safeJson, say, UsageError } from "../io.ts";
import { finish, handlers, hostOptions, parks, watched } from "../running.ts";

type Options = Record<string, unknown>;

export async function debugWith(session: DebugSession, scrubber: Scrubber, store: LedgerStore, options: Options): Promise<number> {
    const named = String(options["agent"]);
    if (named.endsWith(".remit") && !statSync(named, { throwIfNoEntry: false })?.isFile())
        throw new UsageError(`--agent: there is no file ${named}`);
    stand(session, options["at"] === undefined ? null : String(options["at"]));
    const json = options["json"] === true;
    const probe = options["probe"] === true;
    const colour = paint(json ? process.stderr : process.stdout);
    if (!json) print(scrubber.text(placeText(session)));
    const watch = watched(options);
    watch.root = session.info.root || process.cwd();
    try {
        const proposed = await askAgent(session, named, {
            ...hostOptions(options),
            ledger: store,
            signal: watch.begins(),
            on: { event: watch.event },
        });
        watch.progress.pause();
        const shown = shownOf(proposed, scrubber);
        if (json) {
            printJson(shownJson(shown), true);
            return EXIT.ok;
        }
        print(proposalText(session, shown, colour));
        if (proposed.change === undefined && proposed.place === undefined) return EXIT.ok;
        if (!isPersonThere()) {
            say("Nothing was changed: no person is there to accept it.");
            return EXIT.ok;
        }
        const said = await askChoice(
            { question: questionText(shown), detail: shown.proposal.explanation, options: ["accept", "refuse"] },
            watch.progress,
            { root: watch.root, signal: watch.signal },
        );
        if (said !== "accept") {
            say("Nothing was changed.");
            return EXIT.ok;
        }
        if (proposed.change !== undefined) {
            applyChange(proposed.change);
            say(`${plainLine(proposed.change.file)} was changed. Nothing was run.`);
            return EXIT.ok;
        }
        const handle = await forkRun<Json>(
            store,
            session.info.id,
            {
                path: proposed.place as string,
                value: proposed.proposal.value as Json,
                origin: proposed.origin,
                proposal: proposed.run,
                probe,
            },
            {
                ...hostOptions(options),
                ...(parks(options) ? { park: true } : {}),
                signal: watch.signal,
                on: handlers(options, watch),
            },
        );
        say(probe ? `Run ${handle.id} goes on from there as a probe: it changes nothing.` : `Run ${handle.id} goes on from there.`);
        return await finish(handle, watch, { ...options, root: watch.root });
    } finally {
        watch.end();
    }
}

function shownOf(proposed: Proposed, scrubber: Scrubber): Proposed {
    return scrubber.scrub(JSON.parse(JSON.stringify(proposed)) as Json) as unknown as Proposed;
}

/** Goes to where the agent is to look. Default: where the run failed, the first `debugger`, or where it waits. */
function stand(session: DebugSession, at: string | null): void {
    const go = (target: Target): void => told(moved(session.goTo(target)));
    if (at === null) {
        if (session.info.status === "failed") go({ kind: "failure" });
        else if (session.timeline.halts() && moved(session.continue()).reason === "breakpoint") return;
        else if (session.info.status === "done")
            throw new UsageError("this run is done: say where to stop with --at", "for example --at main.remit:12, or --at main/for[2]");
        else go({ kind: "end" });
        return;
    }
    if (at === "debugger") {
        if (moved(session.continue()).reason !== "breakpoint") throw new UsageError("the run comes to no debugger");
        return;
    }
    if (at === "start" || at === "end" || at === "failure") {
        go({ kind: at });
        return;
    }
    const step = /^step (\d{1,15})$/.exec(at)?.[1];
    if (step !== undefined) {
        go({ kind: "step", step: Number(step) });
        return;
    }
    const event = /^event (\d{1,15})$/.exec(at)?.[1];
    if (event !== undefined) {
        go({ kind: "event", seq: Number(event) });
        return;
    }
    const point = readBreakpoint(at, session.info.file);
    if (point === null) throw new UsageError("--at takes start, end, failure, debugger, FILE:LINE, step N, event N, or a path");
    if (point.kind === "path") {
        go(point);
        return;
    }
    const settled = point.kind === "line" ? session.settle(point.file, point.line) : null;
    if (point.kind === "line" && settled === null) throw new UsageError(`--at: no statement begins at or after ${plainLine(at)}`);
    const own = point.kind === "line" && settled !== null ? { kind: "line" as const, ...settled } : point;
    session.breakpoints = [own];
    for (let stop = moved(session.continue()); ; stop = moved(session.continue())) {
        if (stop.reason !== "breakpoint") throw new UsageError(`--at: the run does not come to ${plainLine(at)}`);
        if (stop.breakpoint?.kind !== "debugger") break;
    }
}

function told(stop: Stop): void {
    if (stop.reason === "diverged") say(`The record does not fit the program: ${plainLine(stop.message ?? "")}`);
}

function placeText(session: DebugSession): string {
    const { site, frame } = session.where();
    const effect = effectAt(session);
    const place = site === null ? "" : `${plainLine(site.file)}:${site.line}`;
    return `${place}${frame === null ? "" : ` in ${plainLine(frame.name)}`}${effect === null ? "" : `, at ${plainLine(effect)}`}`.trim();
}

function proposalText(
    session: DebugSession,
    { proposal, change, place, wrong, origin, run }: Proposed,
    colour: ReturnType<typeof paint>,
): string {
    const width = process.stdout.isTTY === true ? process.stdout.columns || 80 : undefined;
    const show = { paint: colour, width };
    const lines = [`${colour("bold", `${plainLine(origin)} proposes ${WHAT[proposal.kind]}`)}  ${colour("dim", `run ${run}`)}`];
    lines.push(...barred(plain(proposal.explanation), show, "  "));
    if (change !== undefined) {
        lines.push(colour("cyan", `${plainLine(change.file)}:${change.lines[0]}-${change.lines[1]}`));
        for (const { mark, text } of change.diff)
            lines.push(`${mark} ${colour(mark === "+" ? "green" : mark === "-" ? "red" : "dim", plainColumns(text, "·"))}`);
        if (change.errors.length > 0)
            lines.push(
                colour(
                    "yellow",
                    `the file would have ${counted(change.errors.length, "error")}: ${plainLine(change.errors[0]?.message ?? "")}`,
                ),
            );
    }
    if (place !== undefined) {
        lines.push(`as the answer of ${plainLine(place)} in a new run that goes the way of ${session.info.id} up to there:`);
        lines.push(...barred(safeJson(proposal.value as Json, 2), show, "  "));
    }
    if (wrong !== undefined) lines.push(colour("yellow", `it cannot be applied: ${plainLine(wrong)}`));
    return lines.flatMap((line) => folded(line, width, "    ")).join("\n");
}

const WHAT: { readonly [K in Proposed["proposal"]["kind"]]: string } = { value: "a value", fix: "a fix", nothing: "nothing" };

function questionText({ change, place }: Proposed): string {
    return change === undefined ? `Begin a new run with this value at ${place}?` : `Write this change to ${change.file}?`;
}

function shownJson({ run, origin, proposal, change, place, wrong }: Proposed): Json {
    const all = {
        run,
        origin,
        proposal,
        ...(change === undefined
            ? {}
            : {
                  change: {
                      file: change.file,
                      lines: change.lines,
                      diff: change.diff.map(({ mark, text }) => `${mark} ${text}`),
                      errors: change.errors.map((one) => one.message),
                  },
              }),
        ...(place === undefined ? {} : { place }),
        ...(wrong === undefined ? {} : { wrong }),
    };
    return all as unknown as Json;
}
