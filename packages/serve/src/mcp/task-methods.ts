/**
 * Tasks on the wire, in the shapes of both eras: the extension `io.modelcontextprotocol/tasks` of the revision 2026-07-28 and the tasks of 2025-11-25.
 *
 * Boundary: requests about tasks and their results; tasks themselves are `tasks.ts`'s. What a tool is called with is `server.ts`'s.
 *
 * MCW1: a client of the revision 2026-07-28 that does not say that it has the extension is told nothing of tasks.
 * MCW2: a question goes to one request at a time, and to none where the client cannot ask its person.
 * MCW3: a question that ended without an answer is taken back from the person, and the request goes on.
 */
import {
    type CallToolResult,
    inputRequired,
    MissingRequiredClientCapabilityError,
    ProtocolError,
    ProtocolErrorCode,
    RELATED_TASK_META_KEY,
    type Result,
    type Server,
    type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { type Caller, callerOf, TASKS } from "./client.ts";
import { type Task, type Tasks, TTL_MS, withoutResult } from "./tasks.ts";
import { formOf } from "./forms.ts";

/** How often a client should ask, milliseconds. */
const POLL_MS = 1000;
/** How long the person of a client of 2025-11-25 has for a question, milliseconds. */
const ASK_MS = 10 * 60_000;

/** Of the server, for both eras: the SDK keeps `tasks` from the clients of the later one. */
export const TASK_CAPABILITIES = {
    tasks: { cancel: {}, requests: { tools: { call: {} } } },
    extensions: { [TASKS]: {} },
};

const OF_TASK = z.object({ taskId: z.string().max(100) });
const UPDATE = OF_TASK.extend({ inputResponses: z.record(z.string(), z.unknown()).default({}) });

/** What a call gives that became a task. The SDK wants `content` in every result of a call. */
export function createdOf(task: Task, { isModern }: Caller): CallToolResult {
    return isModern
        ? ({ resultType: "task", content: [], ...modernOf(task) } as CallToolResult)
        : ({ content: [], task: legacyOf(task) } as CallToolResult);
}

export function answerTaskMethods(server: Server, tasks: Tasks): void {
    const asked = new Set<string>();
    const answered = <T extends { taskId: string }>(
        { method, only }: { readonly method: string; readonly only?: "modern" },
        params: z.ZodType<T>,
        answer: (task: Task, params: T, caller: Caller, context: ServerContext) => object | Promise<object>,
    ): void =>
        server.setRequestHandler(method, { params }, async (given, context) => {
            const caller = callerOf(server, context);
            if (only === "modern" && !caller.isModern) throw new ProtocolError(ProtocolErrorCode.MethodNotFound, "Method not found");
            // MCW1.
            if (caller.isModern && !caller.takesTasks)
                throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [TASKS]: {} } } });
            return (await answer(known(tasks, given.taskId), given, caller, context)) as Result;
        });
    answered({ method: "tasks/get" }, OF_TASK, (task, _params, { isModern }) =>
        isModern ? { ...modernOf(task), ...detailOf(task) } : legacyOf(task),
    );
    answered({ method: "tasks/cancel" }, OF_TASK, (task, _params, { isModern }) => {
        if (!isModern && task.ended !== undefined) throw invalid(`the task ${task.id} has ended`);
        tasks.cancel(task.id);
        return isModern ? {} : legacyOf(known(tasks, task.id));
    });
    answered({ method: "tasks/update", only: "modern" }, UPDATE, (task, params, _caller, { mcpReq }) => {
        // the SDK takes them out of the parameters of every method
        const responses = (mcpReq.inputResponses as Readonly<Record<string, unknown>> | undefined) ?? params.inputResponses;
        for (const [question, said] of Object.entries(responses)) tasks.answer(task.id, question, said);
        return {};
    });
    // the SDK refuses it to clients of the later era
    answered({ method: "tasks/result" }, OF_TASK, (task, _params, caller, context) =>
        awaited(task, { tasks, server, caller, asked }, context),
    );
}

interface Awaiting {
    readonly tasks: Tasks;
    readonly server: Server;
    readonly caller: Caller;
    /** Questions that are before a person (MCW2). */
    readonly asked: Set<string>;
}

/** Waits for the end of a task, and puts its questions meanwhile: how 2025-11-25 does it. */
async function awaited(begun: Task, { tasks, server, caller, asked }: Awaiting, { mcpReq }: ServerContext): Promise<CallToolResult> {
    const _meta = { [RELATED_TASK_META_KEY]: { taskId: begun.id } };
    for (;;) {
        const task = known(tasks, begun.id);
        if (task.ended !== undefined) {
            const result = withoutResult(task.ended);
            return { ...result, _meta: { ...result._meta, ..._meta } };
        }
        const question = task.questions.find(({ id }) => !asked.has(id));
        if (question === undefined || !caller.canAsk) await tasks.changed(task.id, mcpReq.signal);
        else {
            asked.add(question.id);
            const [answered, ended] = [new AbortController(), new AbortController()];
            void endOf(question.id, { tasks, id: task.id }, answered.signal).then(() => ended.abort());
            try {
                const options = { relatedRequestId: mcpReq.id, timeout: ASK_MS, signal: AbortSignal.any([mcpReq.signal, ended.signal]) };
                tasks.answer(task.id, question.id, await server.elicitInput({ ...formOf(question.wanted), _meta }, options));
            } catch (error) {
                // MCW3.
                if (!ended.signal.aborted) throw error;
            } finally {
                answered.abort();
                asked.delete(question.id);
            }
        }
        if (mcpReq.signal.aborted) throw new ProtocolError(ProtocolErrorCode.InternalError, "the request was cancelled");
    }
}

/** Resolves when the question is open no more, or the signal fires. */
async function endOf(question: string, { tasks, id }: { readonly tasks: Tasks; readonly id: string }, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && tasks.get(id)?.questions.some((one) => one.id === question) === true) await tasks.changed(id, signal);
}

function known(tasks: Tasks, id: string): Task {
    const task = tasks.get(id);
    if (task === undefined) throw invalid("there is no such task");
    return task;
}

function invalid(message: string): ProtocolError {
    return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}

function statusOf({ ended, questions }: Task): string {
    return ended?.status ?? (questions.length > 0 ? "input_required" : "working");
}

function baseOf(task: Task): object {
    return {
        ...{ taskId: task.id, status: statusOf(task), createdAt: task.created, lastUpdatedAt: task.changed },
        ...(task.doing === undefined || task.ended !== undefined ? {} : { statusMessage: task.doing }),
    };
}

function modernOf(task: Task): object {
    return { ...baseOf(task), ttlMs: TTL_MS, pollIntervalMs: POLL_MS };
}

function detailOf({ ended, questions }: Task): object {
    if (ended?.status === "completed") return { result: ended.result };
    if (ended?.status === "failed") return { error: { code: ProtocolErrorCode.InternalError, message: "the call failed in the server" } };
    if (questions.length === 0) return {};
    return { inputRequests: Object.fromEntries(questions.map((one) => [one.id, inputRequired.elicit(formOf(one.wanted))])) };
}

/** There a call whose result is an error has failed. */
function legacyOf(task: Task): object {
    const { ended } = task;
    const isError = ended?.status === "completed" && ended.result.isError === true;
    return { ...baseOf(task), ...(isError ? { status: "failed" } : {}), ttl: TTL_MS, pollInterval: POLL_MS };
}
