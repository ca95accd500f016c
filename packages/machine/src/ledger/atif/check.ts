/**
 * ATIF: what is wrong with a trajectory, each thing with its place and the rule that it breaks.
 *
 * Boundary: pure; whether a file that is named exists is asked through `exists`. The verdict of a reader (no `error` at all) is the one of
 * Harbor's own validator; its words are ours.
 *
 * | rule | what it asks |
 * | --- | --- |
 * | 1 | no unknown field |
 * | 2 | `step_id` counts from 1 |
 * | 3 | fields of an agent's step on those alone |
 * | 4 | no metrics and no reasoning where no model was asked |
 * | 5 | a time in ISO 8601 |
 * | 6 | a result names a call of its own step |
 * | 7 | embedded trajectories have ids of their own |
 * | 8 | a reference to a sub-agent can be followed |
 * | 9 | required fields, and each of its type |
 * | 10 | ids of calls differ within a step; a reference without a path names an embedded trajectory |
 * | 11 | counts that can be true; no field newer than the version |
 * | 12 | a number is a number |
 * | 13 | files that are named exist |
 *
 * CE1: all problems come at once, in the order of the document.
 * CE2: a writer's trajectory has no problem of any rule; a reader tolerates 10, 11, what is only written laxly of 12, and
 *     half a character, and tells them as notes.
 */
import { isObject, type Json } from "@remit/language";
import { isTimestamp } from "./time.ts";
import { ATIF_VERSIONS, audioType, type Field, IMAGE_TYPES, type JsonObject, type Kind, SHAPES, type ShapeName } from "./types.ts";

export interface AtifProblem {
    readonly rule: number;
    /** JSON Pointer (RFC 6901). */
    readonly path: string;
    readonly message: string;
    /** `note`: readers accept it. */
    readonly severity: "error" | "note";
}

export interface AtifCheckOptions {
    /** For what is about to be written: nothing is tolerated. */
    readonly writing?: boolean;
    /** Whether there is a file of this path, which is no URL. Absent: not looked at. */
    readonly exists?: (path: string) => boolean;
}

/** Trajectories within trajectories; Harbor's own validator ends at about as many. */
const MAX_DEPTH = 100;

/** What is wrong with the JSON of a trajectory. A reader takes it where nothing is an `error`. */
export function checkTrajectory(given: Json, options: AtifCheckOptions = {}): AtifProblem[] {
    const problems: AtifProblem[] = [];
    const c: Checking = {
        options,
        tell: (rule, path, message, lax = rule >= 10 && rule <= 12) => {
            const tolerated = options.writing !== true && lax;
            problems.push({ rule, path, message, severity: tolerated ? "note" : "error" });
        },
    };
    trajectory(given, "", 0, c);
    return problems;
}

interface Checking {
    readonly options: AtifCheckOptions;
    /** `lax`: readers accept it. */
    readonly tell: (rule: number, path: string, message: string, lax?: boolean) => void;
}

const list = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
const given = (of: JsonObject, name: string): Json | undefined => (Object.hasOwn(of, name) && of[name] !== null ? of[name] : undefined);
const pointer = (at: string, key: string | number): string => `${at}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;
const quoted = (value: Json): string => {
    const text = JSON.stringify(value);
    return text.length > 60 ? `${text.slice(0, 60).toWellFormed()}…` : text;
};

function named(value: Json): string {
    if (value === null) return "null";
    if (Array.isArray(value)) return "a list";
    if (typeof value === "object") return "an object";
    return typeof value === "string" ? "a text" : typeof value === "number" ? `the number ${value}` : String(value);
}

// ---- shapes ------------------------------------------------------------------------------------------------------------

/** In one trajectory, `depth` deep in others. `version`: index of the version whose features may be used. */
interface Versioned extends Checking {
    readonly version: number;
    readonly depth: number;
}

function shape(value: Json, name: ShapeName, at: string, c: Versioned): void {
    if (!isObject(value)) {
        c.tell(9, at, `expected an object, found ${named(value)}`);
        return;
    }
    const fields = SHAPES[name];
    for (const key of Object.keys(value)) if (!Object.hasOwn(fields, key)) c.tell(1, pointer(at, key), `${name} has no field of this name`);
    for (const [key, field] of Object.entries(fields)) {
        const path = pointer(at, key);
        if (!Object.hasOwn(value, key)) {
            if (field.required) c.tell(9, path, "a required field is missing");
            continue;
        }
        const held = value[key] as Json;
        if (held === null) {
            // the version is the one field with a default that is no null
            if (field.required || (name === "Trajectory" && key === "schema_version")) c.tell(9, path, "this field cannot be null");
            continue;
        }
        if (field.since !== undefined && field.since > c.version)
            c.tell(11, path, `this field came with ${ATIF_VERSIONS[field.since]}, and this is ${ATIF_VERSIONS[c.version]}`);
        if (field.counts && typeof held === "number" && held < 0) c.tell(11, path, `${held} tokens cannot be`);
        kind(held, field, field.kind, path, c);
    }
}

function kind(value: Json, field: Field, as: Kind, at: string, c: Versioned): void {
    if (typeof as === "object") {
        if ("of" in as) {
            if (typeof value !== "string" || !as.of.includes(value))
                c.tell(9, at, `expected one of ${as.of.join(", ")}, found ${quoted(value)}`);
        } else if ("shape" in as) {
            if (as.shape === "Trajectory") trajectory(value, at, c.depth + 1, c);
            else shape(value, as.shape as ShapeName, at, c);
        } else if (!Array.isArray(value)) c.tell(9, at, `expected a list, found ${named(value)}`);
        else for (const [i, item] of value.entries()) kind(item, {} as Field, as.list, pointer(at, i), c);
        return;
    }
    switch (as) {
        case "string":
            text(value, at, c);
            return;
        case "object":
            if (!isObject(value)) c.tell(9, at, `expected an object, found ${named(value)}`);
            else
                for (const key of Object.keys(value))
                    if (!key.isWellFormed()) c.tell(9, at, "a name in this object is not valid Unicode", true);
            return;
        case "boolean":
            if (typeof value === "boolean") return;
            if (asBoolean(value) === null) c.tell(9, at, `expected true or false, found ${quoted(value)}`);
            else c.tell(12, at, `expected true or false, found ${quoted(value)}`);
            return;
        case "effort":
            if (typeof value === "string") text(value, at, c);
            else if (typeof value === "boolean") c.tell(12, at, `expected a text or a number, found ${quoted(value)}`);
            else if (typeof value !== "number") c.tell(9, at, `expected a text or a number, found ${named(value)}`);
            return;
        case "content":
            if (typeof value === "string") text(value, at, c);
            else if (!Array.isArray(value)) c.tell(9, at, `expected a text or a list of parts, found ${named(value)}`);
            else {
                if (c.version < 6) c.tell(11, at, `parts came with ${ATIF_VERSIONS[6]}, and this is ${ATIF_VERSIONS[c.version]}`);
                for (const [i, part] of value.entries()) contentPart(part, pointer(at, i), c);
            }
            return;
        default:
            number(value, field, as, at, c);
    }
}

function text(value: Json, at: string, c: Checking): void {
    if (typeof value !== "string") c.tell(9, at, `expected a text, found ${named(value)}`);
    else if (!value.isWellFormed()) c.tell(9, at, "this text is not valid Unicode: half of a surrogate pair is missing", true);
}

function number(value: Json, field: Field, as: "integer" | "number", at: string, c: Checking): void {
    const read = as === "integer" ? asInteger(value) : asNumber(value);
    const wanted = as === "integer" ? "a whole number" : "a number";
    if (read === null) {
        c.tell(typeof value === "number" ? 12 : 9, at, `expected ${wanted}, found ${quoted(value)}`, false);
        return;
    }
    if (typeof value !== "number") c.tell(12, at, `expected ${wanted}, found ${quoted(value)}`);
    if (field.least !== undefined && read < field.least) c.tell(9, at, `expected at least ${field.least}, found ${read}`);
}

/** What a lax reader takes for a whole number; null where even it does not. */
export function asInteger(value: Json): number | null {
    if (typeof value === "number") return Number.isInteger(value) ? value : null;
    if (typeof value === "boolean") return value ? 1 : 0;
    if (typeof value !== "string" || !/^\s*[+-]?\d+(_\d+)*(\.0*)?\s*$/.test(value)) return null;
    return Number(value.replaceAll("_", ""));
}

export function asNumber(value: Json): number | null {
    if (typeof value === "number") return value;
    if (typeof value === "boolean") return value ? 1 : 0;
    if (typeof value !== "string" || !/^\s*[+-]?(\d+(_\d+)*\.?(\d+(_\d+)*)?|\.\d+(_\d+)*)(e[+-]?\d+)?\s*$/i.test(value)) return null;
    return Number(value.replaceAll("_", ""));
}

const YES = new Set(["1", "on", "t", "true", "y", "yes"]);
const NO = new Set(["0", "off", "f", "false", "n", "no"]);

export function asBoolean(value: Json): boolean | null {
    if (typeof value === "boolean") return value;
    if (value === 1 || value === 0) return value === 1;
    if (typeof value !== "string") return null;
    const word = value.toLowerCase();
    return YES.has(word) ? true : NO.has(word) ? false : null;
}

function contentPart(part: Json, at: string, c: Versioned): void {
    shape(part, "ContentPart", at, c);
    if (!isObject(part)) return;
    const source = given(part, "source");
    const said = given(part, "text");
    if (part.type === "text") {
        if (said === undefined) c.tell(9, pointer(at, "text"), "a part of the type text has a text");
        if (source !== undefined) c.tell(9, pointer(at, "source"), "a part of the type text has no source");
        return;
    }
    if (part.type !== "image" && part.type !== "audio") return;
    if (part.type === "audio" && c.version < 8)
        c.tell(11, pointer(at, "type"), `sound came with ${ATIF_VERSIONS[8]}, and this is ${ATIF_VERSIONS[c.version]}`);
    if (said !== undefined) c.tell(9, pointer(at, "text"), `a part of the type ${part.type} has no text`);
    if (source === undefined) c.tell(9, pointer(at, "source"), `a part of the type ${part.type} has a source`);
    if (!isObject(source)) return;
    media(source, part.type, pointer(at, "source"), c);
}

function media(source: JsonObject, type: "image" | "audio", at: string, c: Checking): void {
    const said = source.media_type;
    if (typeof said === "string") {
        const image = IMAGE_TYPES.some((one) => one === said);
        const audio = audioType(said);
        const path = pointer(at, "media_type");
        if (type === "image" && !image) c.tell(9, path, `expected one of ${IMAGE_TYPES.join(", ")}, found ${quoted(said)}`);
        if (type === "audio" && audio === null) c.tell(9, path, `expected a type of sound such as audio/wav, found ${quoted(said)}`);
        if (type === "audio" && audio !== null && audio !== said && c.options.writing === true)
            c.tell(9, path, `the registered name of ${quoted(said)} is ${audio}`);
    }
    if (type === "image" && Object.hasOwn(source, "duration_sec")) c.tell(1, pointer(at, "duration_sec"), "a picture has no duration");
    const { path } = source;
    if (typeof path === "string" && path !== "" && !path.includes("://") && c.options.exists?.(path) === false)
        c.tell(13, pointer(at, "path"), `there is no file ${quoted(path)}`);
}

// ---- rules about more than one field -----------------------------------------------------------------------------------

function trajectory(value: Json, at: string, depth: number, c: Checking): void {
    if (depth > MAX_DEPTH) {
        c.tell(9, at, `trajectories are nested more than ${MAX_DEPTH} deep`);
        return;
    }
    const named = isObject(value) ? ATIF_VERSIONS.indexOf(value.schema_version as never) : -1;
    const version = named < 0 ? ATIF_VERSIONS.length - 1 : named;
    shape(value, "Trajectory", at, { ...c, version, depth });
    if (!isObject(value)) return;
    if (!Object.hasOwn(value, "schema_version"))
        c.tell(11, pointer(at, "schema_version"), "the version is missing; readers take the newest");
    if (named >= 0 && named < 7 && given(value, "session_id") === undefined)
        c.tell(11, pointer(at, "session_id"), `${ATIF_VERSIONS[named]} requires this field`);
    const ids = embedded(value, at, c);
    const steps = value.steps;
    if (Array.isArray(steps)) {
        if (steps.length === 0) c.tell(9, pointer(at, "steps"), "a trajectory has at least one step");
        for (const [i, one] of steps.entries()) if (isObject(one)) step(one, i, pointer(pointer(at, "steps"), i), ids, c);
    }
    const totals = given(value, "final_metrics");
    if (isObject(totals)) {
        exceeds(totals, "total_cached_tokens", "total_prompt_tokens", pointer(at, "final_metrics"), c);
        const total = given(totals, "total_steps");
        if (typeof total === "number" && Array.isArray(steps) && total !== steps.length && given(value, "notes") === undefined)
            c.tell(
                11,
                `${at}/final_metrics/total_steps`,
                `there are ${steps.length} steps here; \`notes\` says why another number is given`,
            );
    }
}

/** Ids of the embedded trajectories. */
function embedded(value: JsonObject, at: string, c: Checking): ReadonlySet<string> {
    const ids = new Set<string>();
    for (const [i, one] of list(value.subagent_trajectories).entries()) {
        if (!isObject(one)) continue;
        const path = `${at}/subagent_trajectories/${i}/trajectory_id`;
        const id = given(one, "trajectory_id");
        if (id === undefined) c.tell(7, path, "an embedded trajectory has an id");
        else if (typeof id === "string") {
            if (ids.has(id)) c.tell(7, path, `another trajectory beside it has the id ${quoted(id)} too`);
            ids.add(id);
        }
    }
    return ids;
}

function step(one: JsonObject, index: number, at: string, ids: ReadonlySet<string>, c: Checking): void {
    const id = asInteger(one.step_id ?? null);
    if (id !== null && id !== index + 1) c.tell(2, pointer(at, "step_id"), `expected ${index + 1}, found ${id}`);
    const when = given(one, "timestamp");
    if (typeof when === "string" && !isTimestamp(when)) c.tell(5, pointer(at, "timestamp"), `${quoted(when)} is no time in ISO 8601`);
    if (one.source === "system" || one.source === "user")
        for (const [key, field] of Object.entries(SHAPES.Step))
            if (field.agentOnly && given(one, key) !== undefined)
                c.tell(3, pointer(at, key), `only a step of an agent has this, not one of ${one.source}`);
    const count = given(one, "llm_call_count");
    if (one.source === "agent" && count !== undefined && asInteger(count) === 0)
        for (const key of ["metrics", "reasoning_content"])
            if (given(one, key) !== undefined)
                c.tell(4, pointer(at, key), "no model was asked here (llm_call_count is 0), so there is none of it");
    const metrics = given(one, "metrics");
    if (isObject(metrics)) exceeds(metrics, "cached_tokens", "prompt_tokens", pointer(at, "metrics"), c);
    results(one, at, ids, c);
}

function results(one: JsonObject, at: string, ids: ReadonlySet<string>, c: Checking): void {
    const calls = new Set<string>();
    for (const [i, call] of list(one.tool_calls).entries()) {
        if (!isObject(call) || typeof call.tool_call_id !== "string") continue;
        if (calls.has(call.tool_call_id))
            c.tell(10, `${at}/tool_calls/${i}/tool_call_id`, `another call of this step has the id ${quoted(call.tool_call_id)} too`);
        calls.add(call.tool_call_id);
    }
    const observation = given(one, "observation");
    if (!isObject(observation)) return;
    for (const [i, result] of list(observation.results).entries()) {
        if (!isObject(result)) continue;
        const path = `${at}/observation/results/${i}`;
        const from = given(result, "source_call_id");
        if (typeof from === "string" && !calls.has(from))
            c.tell(6, `${path}/source_call_id`, `no call of this step has the id ${quoted(from)}`);
        for (const [j, ref] of list(result.subagent_trajectory_ref).entries())
            if (isObject(ref)) reference(ref, `${path}/subagent_trajectory_ref/${j}`, ids, c);
    }
}

function reference(ref: JsonObject, at: string, ids: ReadonlySet<string>, c: Checking): void {
    const id = given(ref, "trajectory_id");
    const path = given(ref, "trajectory_path");
    if (id === undefined && path === undefined) c.tell(8, at, "a reference names a trajectory_id or a trajectory_path");
    else if (path === undefined && typeof id === "string" && !ids.has(id))
        c.tell(10, pointer(at, "trajectory_id"), `no embedded trajectory has the id ${quoted(id)}`);
}

function exceeds(of: JsonObject, part: string, whole: string, at: string, c: Checking): void {
    const [less, more] = [given(of, part), given(of, whole)];
    if (typeof less === "number" && typeof more === "number" && less > more)
        c.tell(11, pointer(at, part), `${less} are more than the ${more} of ${whole}, which they are part of`);
}
