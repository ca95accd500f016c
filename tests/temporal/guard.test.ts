/**
 * The machine must run inside Temporal's workflow sandbox: it passes the bundler, and a recorded history of its effects replays. A history
 * in which an effect differs must be refused, or the replay would prove nothing.
 */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporal } from "@temporalio/proto";
import { bundleWorkflowCode, DefaultLogger, Runtime, Worker, type WorkflowBundleWithSourceMap } from "@temporalio/worker";
import { beforeAll, expect, test } from "vitest";
import { compileText } from "../support.ts";

const here = dirname(fileURLToPath(import.meta.url));
const program = compileText(`
import tool Words from "host:words"
main agent Guard {
    main func(input) {
        parts = input.text.split(" ")
        sizes = []
        for part in parts max 10 { sizes.add(Words.size({ word: part })) }
        both = parallel for part in parts max 10 { Words.size({ word: part }) }
        // as many effects as the value says: a wrong value is another history
        count = 0
        loop until count >= both.sum() + sizes.sum() max 20 { count += Words.size({ word: "a" }) }
        count
    }
}`);

let bundle: WorkflowBundleWithSourceMap;
beforeAll(async () => {
    Runtime.install({ logger: new DefaultLogger("ERROR"), telemetryOptions: { logging: { forward: {}, filter: "OFF" } } });
    const quiet = {
        log: () => undefined,
        trace: () => undefined,
        debug: () => undefined,
        info: () => undefined,
        warn: () => undefined,
        error: () => undefined,
    };
    bundle = await bundleWorkflowCode({ workflowsPath: join(here, "workflow.ts"), logger: quiet });
});

const json = (value: unknown) => ({ metadata: { encoding: Buffer.from("json/plain") }, data: Buffer.from(JSON.stringify(value)) });

/** A history in which the activities were scheduled in these batches, each with these outcomes. */
function history(batches: readonly { word: string; size: number }[][], result: unknown): temporal.api.history.v1.IHistory {
    const T = temporal.api.enums.v1.EventType;
    const events: temporal.api.history.v1.IHistoryEvent[] = [];
    const add = (eventType: temporal.api.enums.v1.EventType, attributes: Partial<temporal.api.history.v1.IHistoryEvent>): number => {
        events.push({
            eventId: (events.length + 1) as never,
            eventTime: { seconds: (1_700_000_000 + events.length) as never },
            eventType,
            ...attributes,
        });
        return events.length;
    };
    add(T.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED, {
        workflowExecutionStartedEventAttributes: {
            workflowType: { name: "runProgram" },
            taskQueue: { name: "q" },
            input: { payloads: [json(program), json("to be or")] },
            workflowTaskTimeout: { seconds: 10 as never },
            originalExecutionRunId: "11111111-1111-1111-1111-111111111111",
            firstExecutionRunId: "11111111-1111-1111-1111-111111111111",
            attempt: 1,
        },
    });
    let activity = 0;
    const task = (): number => {
        const scheduled = add(T.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED, {
            workflowTaskScheduledEventAttributes: { taskQueue: { name: "q" }, attempt: 1 },
        });
        const started = add(T.EVENT_TYPE_WORKFLOW_TASK_STARTED, {
            workflowTaskStartedEventAttributes: { scheduledEventId: scheduled as never },
        });
        return add(T.EVENT_TYPE_WORKFLOW_TASK_COMPLETED, {
            workflowTaskCompletedEventAttributes: { scheduledEventId: scheduled as never, startedEventId: started as never },
        });
    };
    for (const batch of batches) {
        const completed = task();
        const scheduled = batch.map(({ word }) =>
            add(T.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED, {
                activityTaskScheduledEventAttributes: {
                    activityId: String(++activity),
                    activityType: { name: "perform" },
                    taskQueue: { name: "q" },
                    input: { payloads: [json({ word })] },
                    workflowTaskCompletedEventId: completed as never,
                },
            }),
        );
        batch.forEach(({ size }, index) => {
            const begun = add(T.EVENT_TYPE_ACTIVITY_TASK_STARTED, {
                activityTaskStartedEventAttributes: { scheduledEventId: scheduled[index] as never, attempt: 1 },
            });
            add(T.EVENT_TYPE_ACTIVITY_TASK_COMPLETED, {
                activityTaskCompletedEventAttributes: {
                    result: { payloads: [json({ ok: true, value: size, origins: ["tool:Words"] })] },
                    scheduledEventId: scheduled[index] as never,
                    startedEventId: begun as never,
                },
            });
        });
    }
    const completed = task();
    add(T.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED, {
        workflowExecutionCompletedEventAttributes: {
            result: { payloads: [json(result)] },
            workflowTaskCompletedEventId: completed as never,
        },
    });
    return { events };
}

const words = [
    { word: "to", size: 2 },
    { word: "be", size: 2 },
    { word: "or", size: 2 },
];
const letter = { word: "a", size: 1 };
const counted = Array.from({ length: 12 }, () => [letter]);
const sequence = [...words.map((one) => [one]), words, ...counted];

test("the machine passes the workflow bundler and replays a history of its effects", async () => {
    await Worker.runReplayHistory({ workflowBundle: bundle, replayName: "guard" }, history(sequence, { ok: true }));
}, 60_000);

test("a history of a run that computed another value is refused", async () => {
    await expect(
        Worker.runReplayHistory({ workflowBundle: bundle, replayName: "guard" }, history([...sequence, [letter]], { ok: true })),
    ).rejects.toThrow();
    await expect(
        Worker.runReplayHistory({ workflowBundle: bundle, replayName: "guard" }, history(sequence.slice(0, -1), { ok: true })),
    ).rejects.toThrow();
}, 60_000);

test("a history with another number of effects is refused", async () => {
    const shorter = [...words.slice(0, 2).map((one) => [one]), words, ...counted];
    await expect(
        Worker.runReplayHistory({ workflowBundle: bundle, replayName: "guard" }, history(shorter, { ok: true })),
    ).rejects.toThrow();
}, 60_000);
