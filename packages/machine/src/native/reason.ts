/**
 * `reason(prompt | [prompts], example, { attempts })`: one model, no tools, no memory, a fresh context, a value of the example's shape (Re in Act 1.3).
 *
 * Boundary: a `generate` like any other, set up from the arguments alone; what differs is that it gives `{data}`, or `{error}` where it failed.
 */
import { inferContract, type Site } from "@remit/language";
import type { HandoverDetail } from "../compile/instructions.ts";
import { Fail } from "../effect/failure.ts";
import { toJson } from "../value/json.ts";
import { join, rawOf } from "../value/operators.ts";
import { List, type Value } from "../value/value.ts";
import type { GenerateWait } from "../state/fiber.ts";
import { beginGenerating, importNamed, mayAsk } from "./generate.ts";
import type { Call, Ops } from "../state/ops.ts";

/** Turns of the model, each after the first with the validator's words: where nothing is said, and at most. */
const ATTEMPTS = 3;
const MAX_ATTEMPTS = 10;
const ROLE = "a careful reasoner inside a larger program";
const DESCRIPTION = "Answers one question from what is given with it, and from nothing else.";

export function beginReason(m: Ops, call: Call, d: HandoverDetail): boolean {
    const { frame, path } = call;
    const { site } = call.I;
    const [prompts, example, options] = d.args.map((arg) => arg.code(frame.locals)) as [Value, Value, Value | undefined];
    const { attempts, labels } = optionsOf(m, options ?? null, site);
    if (d.model === null)
        throw new Fail("value", "reason needs a model", { site, hint: "declare one with 'model NAME' in the agent or function" });
    const model = importNamed(m, d.model, frame.locals, "llm", site);
    if (!mayAsk(m, call, model)) return false;
    const raw = rawOf(prompts);
    const parts =
        raw instanceof List ? raw.items.map((item) => join(m.run, item, prompts === raw ? 0 : (prompts as { l: number }).l)) : [prompts];
    const [head, ...rest] = parts;
    if (head === undefined) throw new Fail("value", "reason needs a prompt", { site });
    const shape = toJson(example, m.run);
    const place = frame.placeLabel;
    // The shape is in the prompt. How often the model is asked, and whether, says something of what chose it.
    const first = join(
        m.run,
        head,
        [shape.labels, labels, place].reduce((a, b) => m.run.labels.union(a, b)),
    );
    m.countCall();
    m.tracer?.saw(path, parts);
    const native: GenerateWait = { kind: "generate", path, state: null, waiting: [], outcomes: [], envelope: true };
    return beginGenerating(m, call, native, {
        label: d.label,
        agent: d.agent,
        model: { name: model.name, uri: model.uri },
        identity: { role: ROLE, description: DESCRIPTION },
        items: rest.map((value, i) => ({ source: `prompt[${i + 1}]`, label: null, value, site })),
        instruction: first,
        options: { attempts, strict: false, debug: false, stream: false },
        contract: inferContract(shape.json),
        shapes: {},
        scope: [],
    });
}

function optionsOf(m: Ops, value: Value, site: Site | null): { readonly attempts: number; readonly labels: number } {
    const { json, labels } = toJson(value, m.run);
    const wrong = (message: string): Fail => new Fail("value", message, { site, labels });
    if (json === null) return { attempts: ATTEMPTS, labels };
    if (typeof json !== "object" || Array.isArray(json)) throw wrong("the options of reason() are an object");
    for (const key of Object.keys(json)) if (key !== "attempts") throw wrong(`reason() has no option '${key}'`);
    const attempts = json.attempts ?? ATTEMPTS;
    if (typeof attempts !== "number" || !Number.isInteger(attempts) || attempts < 1 || attempts > MAX_ATTEMPTS)
        throw wrong(`'attempts' is a whole number from 1 to ${MAX_ATTEMPTS}`);
    return { attempts, labels };
}
