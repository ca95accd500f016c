/**
 * The routes of `/v1` that show runs of the ledger, the program that is served and the models that can be used, each a row.
 *
 * Boundary: from a request to a projection (`../runs/`). Nothing here changes anything (RVW1).
 */
import type { Json } from "@remit/language";
import { LedgerError, RemitError, type RunInfo, whyOf } from "@remit/host";
import type { Server } from "../server.ts";
import { type AsTurn, plansView, promptsView, runPage, runView, traceView } from "../runs/view.ts";
import { runStream } from "../runs/stream.ts";
import { cursorOf } from "./events.ts";
import { type Answered, type Asked, HttpError, type Route, route } from "./route.ts";

const MAX_PAGE = 200;
const NO_RUN = { 404: "no such run" };

const ok = (json: unknown): Answered => ({ json: json as Json });

async function runOf({ server, params }: Pick<Asked<unknown>, "server" | "params">): Promise<RunInfo> {
    try {
        return await server.shown.run(params["run"] ?? "");
    } catch (error) {
        if (!(error instanceof LedgerError)) throw error;
        throw new HttpError(404, "unknown", "there is no such run in this ledger", { hint: "GET /v1/runs lists them" });
    }
}

/** A row that shows something of a run. */
function ofRun(path: string, summary: string, gives: string, view: (asked: Asked<unknown>, run: RunInfo) => Promise<unknown>): Route {
    return route({
        method: "get",
        path: `/v1/runs/{run}${path}`,
        scope: "observe",
        summary,
        answers: { 200: gives, ...NO_RUN },
        run: async (asked) => ok(await view(asked, await runOf(asked))),
    });
}

/** What is known here of a run that may be a turn (`SESSION.TURN`). */
function asTurn({ sessions }: Server, run: string): ReturnType<AsTurn> {
    const at = run.lastIndexOf(".");
    const session = sessions.get(run.slice(0, at));
    const turn = run.slice(at + 1);
    const text = session?.turn(turn)?.text;
    return { ...(text === undefined ? {} : { task: text }), asks: session?.asks(turn) === true };
}

export const RUN_ROUTES: readonly Route[] = [
    route({
        method: "get",
        path: "/v1/runs",
        scope: "observe",
        summary: "Runs of the ledger, newest first, also those of no session",
        query: {
            search: "in the id, the file, the state, the task or the failure",
            after: "id of a run: those that follow it",
            limit: `at most ${MAX_PAGE}`,
        },
        answers: { 200: "a page: `runs`, and `next` where more follow" },
        run: async ({ server, query }) => {
            const [search, after, limit = "50"] = [query("search"), query("after"), query("limit")];
            if (!/^\d{1,3}$/.test(limit) || Number(limit) < 1 || Number(limit) > MAX_PAGE)
                throw new HttpError(400, "contract", `limit is a whole number from 1 to ${MAX_PAGE}`);
            const asked = { ...(search === undefined ? {} : { search }), ...(after === undefined ? {} : { after }), limit: Number(limit) };
            return ok(await runPage(server.shown, asked, (run) => asTurn(server, run)));
        },
    }),
    ofRun("", "A run: its state, its value or failure, what it used", "the run", async ({ server }, { id }) =>
        // The line that failed is read from the program's file, which is no part of the ledger.
        server.secrets.scrub((await runView(server.shown, id)) as unknown as Json),
    ),
    ofRun("/trace", "A run as a tree of what happened, a row a thing", "`rows`, and `seq` of the last event", ({ server }, { id }) =>
        traceView(server.shown, id),
    ),
    ofRun("/explain", "Each prompt of a run, piece by piece: why it was there, and where it came from", "a list", ({ server }, { id }) =>
        promptsView(server.shown, id),
    ),
    ofRun("/plan", "The blocks of a run and how far each has come", "a list", ({ server }, { id }) => plansView(server.shown, id)),
    route({
        method: "get",
        path: "/v1/runs/{run}/why",
        scope: "observe",
        summary: "Where a part of a run's value, or of a call's arguments, came from",
        query: { at: "a JSON Pointer into the value, or the path of a call with one into its arguments; the value where absent" },
        answers: { 200: "origins, and the chain back to where the data entered", 422: "there is no such place", ...NO_RUN },
        run: async (asked) => {
            const { id } = await runOf(asked);
            try {
                return ok(await whyOf(asked.server.ledger.store, id, asked.query("at") ?? "", asked.server.secrets));
            } catch (error) {
                if (!(error instanceof RemitError)) throw error;
                throw new HttpError(422, error.kind, error.message, error.hint === undefined ? {} : { hint: error.hint });
            }
        },
    }),
    route({
        method: "get",
        path: "/v1/runs/{run}/events",
        scope: "observe",
        summary:
            "A run's events as they come (server-sent events); `id` is the number to come back with, `ended` says that no more come now",
        query: { from: "number of the last event that was seen" },
        headers: { "last-event-id": "the same, as browsers send it" },
        answers: { 200: "text/event-stream", 400: "the number is none", ...NO_RUN },
        run: async (asked) => {
            const from = cursorOf(asked.header("last-event-id"), asked.query("from"));
            if (from === null) throw new HttpError(400, "contract", "the event to go on from has to be a whole number");
            return runStream(asked.server.shown, (await runOf(asked)).id, from, asked.signal);
        },
    }),
    route({
        method: "get",
        path: "/v1/runs/{run}/events/{seq}",
        scope: "observe",
        summary: "One event of a run, whole",
        answers: { 200: "the event", 404: "no such run, or no such event" },
        run: async (asked) => {
            const { id } = await runOf(asked);
            const seq = cursorOf(undefined, asked.params["seq"]) ?? 0;
            for await (const event of asked.server.shown.events(id, Math.max(seq, 1))) {
                if (event.seq === seq) return ok(event);
                break;
            }
            throw new HttpError(404, "unknown", "there is no such event in this run");
        },
    }),
    route({
        method: "get",
        path: "/v1/program",
        scope: "observe",
        summary: "The program that turns run, and who may do what in it",
        answers: { 200: "`head` and `rows` of the table of authority", 404: "this server runs no program" },
        run: async ({ server }) => {
            const view = await server.programView();
            if (view === null) throw new HttpError(404, "unknown", "this server shows a ledger and runs no program");
            return ok(view);
        },
    }),
    route({
        method: "get",
        path: "/v1/models",
        scope: "observe",
        summary: "Models that are configured and reachable, with the reason where one is not",
        answers: { 200: "`models`, and the one that is `chosen` where nothing is said" },
        run: async ({ server }) => ok(await server.modelsView()),
    }),
];
