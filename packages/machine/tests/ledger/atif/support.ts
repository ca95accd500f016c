/** Trajectories for the tests: the samples, mutations of each rule, and replies of agents as they may come. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Json } from "@remit/language";
import ajv2020 from "ajv/dist/2020.js";
import fc from "fast-check";
import type { AgentEntry, AgentPart, AgentReply, Usage } from "../../../src/index.ts";
import type { SessionTurn } from "../../../src/ledger/atif/session.ts";

const FOLDER = fileURLToPath(new URL("./samples/", import.meta.url));
export const sample = (name: string): Json => JSON.parse(readFileSync(`${FOLDER}${name}`, "utf8"));

export const GOOD = readdirSync(FOLDER).filter((name) => /^(harbor|rfc|thirdparty).*\.json$/.test(name) && !name.endsWith(".schema.json"));

/** Problems that the schema generated from Harbor's models sees; of version 1.7, so nothing with sound passes it. */
export const schemaProblems: (trajectory: Json) => string[] = (() => {
    // its `$id` is no URI that a schema may have
    const { $id, ...schema } = sample("harbor-atif-v1.7.schema.json") as { [key: string]: Json };
    const check = new ajv2020.default({ strict: false, allErrors: true }).compile(schema);
    return (trajectory) => (check(trajectory) ? [] : (check.errors ?? []).map((one) => `${one.instancePath} ${one.message}`));
})();

type Edit = (trajectory: { [key: string]: Json }) => void;
// biome-ignore lint/suspicious/noExplicitAny: edits reach into the parsed JSON of a sample
type Loose = any;

export interface Mutation {
    readonly rule: number;
    readonly name: string;
    /** Where the problem is told. */
    readonly at: string;
    readonly edit: Edit;
    /** Refused by readers too, and so by Harbor's validator. */
    readonly refused: boolean;
}

const of = (rule: number, refused: boolean, name: string, at: string, edit: (t: Loose) => void): Mutation => ({
    rule,
    refused,
    name,
    at,
    edit: edit as Edit,
});
const no = (rule: number, name: string, at: string, edit: (t: Loose) => void): Mutation => of(rule, true, name, at, edit);
const lax = (rule: number, name: string, at: string, edit: (t: Loose) => void): Mutation => of(rule, false, name, at, edit);

/** Each made from `thirdparty-v1.7--fastagent-multiagent.json`: a user's step, two steps of the agent, an embedded trajectory. */
export const MUTATIONS: readonly Mutation[] = [
    no(1, "unknown field of the root", "/more", (t) => (t.more = 1)),
    no(1, "unknown field of the agent", "/agent/id", (t) => (t.agent.id = "x")),
    no(1, "unknown field of a step", "/steps/0/role", (t) => (t.steps[0].role = "user")),
    no(1, "unknown field of a call", "/steps/1/tool_calls/0/id", (t) => (t.steps[1].tool_calls[0].id = "x")),
    no(1, "unknown field of an observation", "/steps/1/observation/ok", (t) => (t.steps[1].observation.ok = true)),
    no(
        1,
        "unknown field of a result",
        "/steps/1/observation/results/0/is_error",
        (t) => (t.steps[1].observation.results[0].is_error = true),
    ),
    no(1, "unknown field of metrics", "/steps/1/metrics/a~1b~0", (t) => (t.steps[1].metrics["a/b~"] = 1)),
    no(1, "unknown field of totals", "/final_metrics/total", (t) => (t.final_metrics.total = 1)),
    no(1, "unknown field of an embedded step", "/subagent_trajectories/0/steps/0/x", (t) => (t.subagent_trajectories[0].steps[0].x = 1)),
    no(1, "a picture with a duration", "/steps/0/message/0/source/duration_sec", (t) => {
        t.steps[0].message = [{ type: "image", source: { media_type: "image/png", path: "http://a/b.png", duration_sec: 1 } }];
    }),
    no(2, "steps from 0", "/steps/0/step_id", (t) => (t.steps[0].step_id = 3)),
    no(2, "a gap", "/steps/2/step_id", (t) => (t.steps[2].step_id = 4)),
    no(2, "a gap inside", "/subagent_trajectories/0/steps/1/step_id", (t) => (t.subagent_trajectories[0].steps[1].step_id = 1)),
    no(3, "a model on a user's step", "/steps/0/model_name", (t) => (t.steps[0].model_name = "m")),
    no(3, "an effort on a user's step", "/steps/0/reasoning_effort", (t) => (t.steps[0].reasoning_effort = 0.5)),
    no(3, "reasoning on a system step", "/steps/0/reasoning_content", (t) =>
        Object.assign(t.steps[0], { source: "system", reasoning_content: "" }),
    ),
    no(3, "calls on a user's step, even none", "/steps/0/tool_calls", (t) => (t.steps[0].tool_calls = [])),
    no(3, "metrics on a user's step, even none", "/steps/0/metrics", (t) => (t.steps[0].metrics = {})),
    no(4, "metrics without a model", "/steps/2/metrics", (t) => (t.steps[2].llm_call_count = 0)),
    no(4, "reasoning without a model", "/steps/1/reasoning_content", (t) => {
        t.steps[1].llm_call_count = 0;
        delete t.steps[1].metrics;
    }),
    no(5, "a lower-case z", "/steps/0/timestamp", (t) => (t.steps[0].timestamp = "2026-07-12T12:00:00z")),
    no(5, "RFC 2822", "/steps/0/timestamp", (t) => (t.steps[0].timestamp = "Sun, 12 Jul 2026 12:00:00 GMT")),
    no(5, "an epoch", "/steps/0/timestamp", (t) => (t.steps[0].timestamp = "1783857600")),
    no(5, "nothing", "/steps/0/timestamp", (t) => (t.steps[0].timestamp = "")),
    no(5, "a day that is none", "/steps/0/timestamp", (t) => (t.steps[0].timestamp = "2026-02-29")),
    no(6, "a call of another step", "/steps/2/observation/results/0/source_call_id", (t) => {
        t.steps[2].observation = { results: [{ source_call_id: "call_shell", content: "late" }] };
    }),
    no(6, "a result on a user's step", "/steps/0/observation/results/0/source_call_id", (t) => {
        t.steps[0].observation = { results: [{ source_call_id: "x" }] };
    }),
    no(
        7,
        "an embedded one without an id",
        "/subagent_trajectories/0/trajectory_id",
        (t) => delete t.subagent_trajectories[0].trajectory_id,
    ),
    no(7, "two of one id", "/subagent_trajectories/1/trajectory_id", (t) => t.subagent_trajectories.push(t.subagent_trajectories[0])),
    no(8, "a reference with a session alone", "/steps/1/observation/results/1/subagent_trajectory_ref/0", (t) => {
        delete t.steps[1].observation.results[1].subagent_trajectory_ref[0].trajectory_id;
    }),
    no(9, "no steps", "/steps", (t) => (t.steps = [])),
    no(9, "steps missing", "/steps", (t) => delete t.steps),
    no(9, "an observation without results", "/steps/1/observation/results", (t) => (t.steps[1].observation = {})),
    no(9, "a message missing", "/steps/0/message", (t) => delete t.steps[0].message),
    no(9, "a message of null", "/steps/0/message", (t) => (t.steps[0].message = null)),
    no(9, "arguments in a list", "/steps/1/tool_calls/0/arguments", (t) => (t.steps[1].tool_calls[0].arguments = ["a"])),
    no(9, "arguments as text", "/steps/1/tool_calls/0/arguments", (t) => (t.steps[1].tool_calls[0].arguments = "{}")),
    no(9, "an agent without a version", "/agent/version", (t) => delete t.agent.version),
    no(9, "a name that is a number", "/agent/name", (t) => (t.agent.name = 1)),
    no(9, "a version of the future", "/schema_version", (t) => (t.schema_version = "ATIF-v1.9")),
    no(9, "a version in other letters", "/schema_version", (t) => (t.schema_version = "atif-v1.7")),
    no(9, "a version of null", "/schema_version", (t) => (t.schema_version = null)),
    no(9, "another source", "/steps/0/source", (t) => (t.steps[0].source = "assistant")),
    no(9, "a timestamp that is a number", "/steps/0/timestamp", (t) => (t.steps[0].timestamp = 1783857600)),
    no(9, "a step of 0", "/steps/0/step_id", (t) => (t.steps[0].step_id = 0)),
    no(9, "fewer calls than none", "/steps/1/llm_call_count", (t) => (t.steps[1].llm_call_count = -1)),
    lax(9, "half a character", "/agent/name", (t) => (t.agent.name = "\ud800")),
    lax(9, "half a character in a name", "/extra", (t) => (t.extra = { "\udc00": 1 })),
    no(9, "a text part without text", "/steps/0/message/0/text", (t) => (t.steps[0].message = [{ type: "text" }])),
    no(9, "a text part with a source", "/steps/0/message/0/source", (t) => {
        t.steps[0].message = [{ type: "text", text: "", source: { media_type: "image/png", path: "http://a/b" } }];
    }),
    no(9, "a picture without a source", "/steps/0/message/0/source", (t) => (t.steps[0].message = [{ type: "image" }])),
    no(9, "a picture with text", "/steps/0/message/0/text", (t) => {
        t.steps[0].message = [{ type: "image", text: "", source: { media_type: "image/png", path: "http://a/b" } }];
    }),
    no(9, "a sound as a picture", "/steps/0/message/0/source/media_type", (t) => {
        t.steps[0].message = [{ type: "image", source: { media_type: "audio/wav", path: "http://a/b" } }];
    }),
    no(9, "a picture as a sound", "/steps/0/message/0/source/media_type", (t) => {
        t.steps[0].message = [{ type: "audio", source: { media_type: "image/png", path: "http://a/b" } }];
    }),
    no(9, "another type of picture", "/steps/0/message/0/source/media_type", (t) => {
        t.steps[0].message = [{ type: "image", source: { media_type: "image/svg+xml", path: "http://a/b" } }];
    }),
    no(9, "a video", "/steps/0/message/0/type", (t) => (t.steps[0].message = [{ type: "video" }])),
    no(12, "half a token", "/steps/1/metrics/prompt_tokens", (t) => (t.steps[1].metrics.prompt_tokens = 5.5)),
    lax(10, "two calls of one id", "/steps/1/tool_calls/1/tool_call_id", (t) => {
        t.steps[1].tool_calls[1].tool_call_id = "call_worker";
        t.steps[1].observation.results[0].source_call_id = "call_worker";
    }),
    lax(10, "a reference to nowhere", "/steps/1/observation/results/1/subagent_trajectory_ref/0/trajectory_id", (t) => {
        t.steps[1].observation.results[1].subagent_trajectory_ref[0].trajectory_id = "elsewhere";
    }),
    lax(11, "fewer tokens than none", "/steps/1/metrics/completion_tokens", (t) => (t.steps[1].metrics.completion_tokens = -1)),
    lax(11, "more cached than sent", "/steps/1/metrics/cached_tokens", (t) => (t.steps[1].metrics.cached_tokens = 101)),
    lax(11, "more cached than sent, in all", "/final_metrics/total_cached_tokens", (t) => (t.final_metrics.total_cached_tokens = 251)),
    lax(11, "another number of steps", "/final_metrics/total_steps", (t) => (t.final_metrics.total_steps = 4)),
    lax(11, "a field newer than the version", "/subagent_trajectories", (t) => (t.schema_version = "ATIF-v1.6")),
    lax(11, "sound before 1.8", "/steps/0/message/0/type", (t) => {
        t.steps[0].message = [{ type: "audio", source: { media_type: "audio/wav", path: "http://a/b", duration_sec: 1.5 } }];
    }),
    lax(11, "no version", "/schema_version", (t) => delete t.schema_version),
    lax(12, "a number in a text", "/steps/1/metrics/prompt_tokens", (t) => (t.steps[1].metrics.prompt_tokens = "100")),
    lax(12, "true for 1", "/steps/1/llm_call_count", (t) => (t.steps[1].llm_call_count = true)),
    lax(12, "yes for true", "/steps/1/is_copied_context", (t) => (t.steps[1].is_copied_context = "yes")),
];

export const BASE = "thirdparty-v1.7--fastagent-multiagent.json";

export function mutated(mutation: Mutation): Json {
    const base = sample(BASE) as { [key: string]: Json };
    mutation.edit(base);
    return base;
}

// ---- what agents may send ----------------------------------------------------------------------------------------------

const text = fc.oneof(fc.string(), fc.string({ unit: "binary", maxLength: 6 }), fc.constantFrom("", "ok", "a\nb", "\ud83d"));
const json = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>;
const time = fc.option(fc.oneof(fc.constantFrom("2026-11-21T12:00:00.000Z", "yesterday", ""), text), { nil: undefined });
const round = fc.nat({ max: 2 });
const media = fc.record({
    mediaType: fc.constantFrom("image/png", "image/JPEG", "audio/wav", "audio/mp3", "video/mp4", "image/svg+xml", "../../x", ""),
    data: fc.constantFrom("AA==", "AQ==", ""),
});
const blocks = fc.array(
    fc.oneof(
        fc.record({ type: fc.constant("text"), text }),
        fc.record({
            type: fc.constantFrom("image", "audio"),
            mimeType: fc.constantFrom("image/png", "audio/x-wav"),
            data: fc.constant("AA=="),
        }),
        fc.record({ type: fc.constant("content"), content: fc.record({ type: fc.constant("text"), text }) }),
        json,
    ),
    { maxLength: 3 },
) as unknown as fc.Arbitrary<Json>;

const call = fc.record(
    {
        kind: fc.constant("call" as const),
        id: fc.constantFrom("1", "2", "", "1~2", "__proto__"),
        name: fc.oneof(fc.constantFrom("", "read", "bash"), text),
        status: fc.constantFrom("pending" as const, "in_progress" as const, "completed" as const, "failed" as const),
        title: text,
        toolKind: fc.constantFrom("read", "execute"),
        input: json,
        output: fc.oneof(json, blocks, fc.record({ content: blocks }) as unknown as fc.Arbitrary<Json>),
        raw: json,
        diffs: fc.array(fc.record({ path: text, old: text, new: text }, { requiredKeys: ["path", "new"] }), { maxLength: 2 }),
        round,
        locations: fc.array(text, { maxLength: 2 }),
        permission: fc.record({ allowed: fc.boolean(), by: fc.constantFrom("remit", "person", "nobody") }),
        time,
    },
    { requiredKeys: ["kind", "id", "name", "status"] },
);

const entry = fc.oneof(
    fc.record({ kind: fc.constant("thought" as const), text, time, round }, { requiredKeys: ["kind", "text"] }),
    fc.record(
        { kind: fc.constant("message" as const), text, media: fc.array(media, { maxLength: 2 }), time, round },
        { requiredKeys: ["kind", "text"] },
    ),
    call,
    call,
    fc.record({ kind: fc.constant("plan" as const), items: fc.array(fc.record({ content: text, status: text }), { maxLength: 2 }) }),
    fc.record({ kind: fc.constant("compaction" as const), id: text, status: text, error: text, summary: text }, { requiredKeys: ["kind"] }),
    fc.record({ kind: fc.constant("usage" as const), usage: fc.record({ input: fc.nat(), output: fc.nat() }), round }),
) as fc.Arbitrary<AgentEntry>;

export const reply = fc.record(
    {
        text,
        stop: fc.constantFrom("end_turn" as const, "max_tokens" as const, "refusal" as const, "cancelled" as const),
        entries: fc.array(entry, { maxLength: 8 }),
        confinement: fc.constantFrom("sandbox" as const, "remote" as const),
        spent: fc.record({ steps: fc.nat(), calls: fc.nat(), ms: fc.nat() }),
        agent: fc.record({ name: text, version: text, model: text }, { requiredKeys: ["name", "version"] }),
        resources: fc.array(fc.record({ uri: text, mediaType: text, text }), { maxLength: 2 }),
    },
    { requiredKeys: ["text", "stop", "entries", "confinement", "spent"] },
) as fc.Arbitrary<AgentReply>;

const count = fc.oneof(fc.nat(1000), fc.constantFrom(-1, 0.5, Number.NaN, 1e300));
export const usage = fc.record(
    { input: count, cached: count, output: count, reasoning: count, usd: count },
    { requiredKeys: [] },
) as fc.Arbitrary<Usage>;

const part = fc.oneof(
    fc.record({ type: fc.constant("text" as const), text }),
    fc.record({ type: fc.constant("resource" as const), uri: text, mediaType: text, text }),
) as fc.Arbitrary<AgentPart>;

export const turns = fc.array(
    fc.record(
        {
            prompt: fc.array(part, { maxLength: 3 }),
            reply,
            usage,
            failure: fc.record({ kind: fc.constant("timeout" as const), message: text }),
        },
        { requiredKeys: ["prompt"] },
    ),
    { maxLength: 3 },
) as fc.Arbitrary<SessionTurn[]>;
