/**
 * The program that answers a RAS program: it starts the process, and for each batch of calls asks the language's own `reason`, `act` and `agent`.
 *
 * Boundary: text of a Remit program. Since it is one, a RAS program has a ledger, budgets, questions and a replay as any other.
 *
 * BG3: what a RAS program may do is what this program imports, and no more.
 * BG4: what the process was answered so far is part of this program's state. A process that is gone (its host was killed) is run again from its
 *     beginning with those answers, and goes on with its next call: nothing that was performed is performed again.
 * BG7: a method that its tool says only reads is called without a question, by an agent that may do nothing else; what a tool says is asked before.
 * BG9: a method that `--may` names is called by an agent that may do only this, so that everything else of its tool is still asked about.
 * BG8: what `agent()` is told wrongly is its own error alone. A policy is a remit of the tools' file: the agent then has what that remit
 *     gives, and it alone; without one it has no tools.
 */
import type { CallKind } from "./frames.ts";
import { RAS_LIMITS } from "./process.ts";

export interface BridgeImport {
    readonly name: string;
    readonly uri: string;
    /** The import as source, clauses included. */
    readonly source: string;
    /** What the bridge may do with it; clauses of the import bind it further. */
    readonly gate: "may" | "ask";
    /** Methods that are called without a question where the gate is `ask` (BG9). */
    readonly free?: readonly string[];
    /** Nothing that it has is bounded or asked about where it only reads. */
    readonly isFree?: boolean;
}

/** A remit that `policy` may name. */
export interface BridgePolicy {
    readonly name: string;
    /** `remit NAME { … }` */
    readonly source: string;
}

export interface BridgeOptions {
    /** URI of the model. */
    readonly model: string;
    /** URI of the RAS program. */
    readonly program: string;
    readonly tools: readonly BridgeImport[];
    readonly policies: readonly BridgePolicy[];
    /** URI of the agent that `agent()` asks; absent: there is none. */
    readonly agent?: string;
}

/** Names of the bridge's own. */
export const BRIDGE_NAMES: ReadonlySet<string> = new Set([
    "Model",
    "Ras",
    "Worker",
    "Bridge",
    "BridgeReader",
    "BridgeFree",
    "answer",
    "drive",
    "worked",
    "used",
    "known",
]);

/** A text as a literal of the language. */
export function literal(text: string): string {
    return JSON.stringify(text);
}

export function bridgeSource({ model, program, tools, policies, agent }: BridgeOptions): string {
    return `import llm   Model from ${literal(model)}
import tool  Ras   from ${literal(program)}
${workersSource(agent, policies, tools)}${readerSource(tools)}
main agent Bridge {
    model Model
    remit {
        ${grants(tools, ["Ras.start", "Ras.step", "Ras.again", "Ras.ready", ...workersOf(agent, policies)])}
    }

    func answer(call, given, depth) {
        if call.kind == "reason" { return reason(call.args.prompt, call.args.example, { attempts: call.args.attempts }) }
        if call.kind == "agent" { return worked(call.args.prompt, call.args.config, call.args.policy) }
        if call.kind == "act" {
            try { return used(call.args.name, call.args.args, call.args.flags) } catch failure { return { content: [{ type: "text", text: failure.message }], isError: true } }
        }
        if call.kind == "manual" { return act("__manual__", call.args) }
        if call.kind == "riff" {
            try { return drive(given.merge({ riff: call.args.name, inputs: call.args.inputs }), depth + 1) } catch failure { return { error: failure.message } }
        }
        return none
    }

${usedSource(tools)}
${workedSource(agent, policies)}
    func drive(given, depth) {
        asked = given.merge({ depth: depth })
        begun = Ras.start(asked)
        id = begun.id
        history = []
        at = Ras.step({ id: id, answers: [] })
        loop until at.done max ${RAS_LIMITS.calls * 2} {
            if at.gone {
                begun = Ras.again(asked.merge({ history: history }))
                id = begun.id
                at = begun
            } else {
                answers = parallel for call in at.calls max ${RAS_LIMITS.calls} { { id: call.id, value: answer(call, given, depth) } }
                history.add({ calls: at.calls, answers: answers })
                at = Ras.step({ id: id, answers: answers })
            }
        }
        return at.without("id", "calls", "done", "gone")
    }

    main func(given) {
${knownCalls(tools)}        return drive(given, 1)
    }
}
`;
}

/** Tools that are asked about unless they say that they only read. Commands and the web never say so. */
function looked(tools: readonly BridgeImport[]): string[] {
    return tools.filter(({ gate, uri }) => gate === "ask" && !/^(shell|webfetch|https?):/i.test(uri)).map((one) => one.name);
}

function grants(tools: readonly BridgeImport[], more: readonly string[]): string {
    const named = (gate: BridgeImport["gate"]): string[] => tools.filter((one) => one.gate === gate).map((one) => one.name);
    const agents = [...(looked(tools).length === 0 ? [] : ["BridgeReader"]), ...(freed(tools).length === 0 ? [] : ["BridgeFree"])];
    const may = [...more, ...agents, ...named("may")];
    return [
        ...(may.length === 0 ? [] : [`may ${may.join(", ")}`]),
        ...(named("ask").length === 0 ? [] : [`ask ${named("ask").join(", ")}`]),
    ].join("\n        ");
}

/** Methods by their full names that are called without a question, each under a tool that is asked about. */
function freed(tools: readonly BridgeImport[]): string[] {
    return tools.flatMap(({ name, gate, free = [] }) => (gate === "ask" ? free.map((method) => `${name}.${method}`) : []));
}

function readerSource(tools: readonly BridgeImport[]): string {
    return `${callerSource("BridgeReader", looked(tools))}${callerSource("BridgeFree", freed(tools))}`;
}

/** An agent that calls what it may, and may nothing else. */
function callerSource(agent: string, may: readonly string[]): string {
    if (may.length === 0) return "";
    return `agent ${agent} {
    remit { may ${may.join(", ")} }
    func used(name, args) { return act(name, args) }
}
`;
}

/** Servers whose methods `--may` names. Those of other tools the checker knows. */
function served(tools: readonly BridgeImport[]): readonly (BridgeImport & { readonly free: readonly string[] })[] {
    return tools.flatMap((one) => (/^mcp:/i.test(one.uri) && one.free !== undefined ? [{ ...one, free: one.free }] : []));
}

function knownCalls(tools: readonly BridgeImport[]): string {
    return served(tools)
        .map(({ name, free }) => `        known(${literal(name)}, ${JSON.stringify(free)})\n`)
        .join("");
}

/** A method that no server has is refused. A server that does not answer says so where it is called. */
function knownSource(tools: readonly BridgeImport[]): string {
    if (served(tools).length === 0) return "";
    return `    func known(tool, methods) {
        said = act("__manual__", { name: tool })
        if said.has("isError") { return none }
        names = said.structuredContent.tools.map((one) => one.name)
        if names.length == 0 { return none }
        for method in methods max ${RAS_LIMITS.calls} {
            if names.any((one) => one == tool + "." + method) == false {
                raise "--may " + tool + "." + method + ": the tool '" + tool + "' has no method '" + method + "'; there are " + names.join(", ")
            }
        }
    }

`;
}

/** A call by name: with arguments as the tool's schema has them, where they came by name; by the reader, where the tool says that it only reads (BG7). */
function usedSource(tools: readonly BridgeImport[]): string {
    const free = freed(tools);
    const all = looked(tools);
    const isPlain = (name: string): boolean => !all.includes(name) && !free.some((one) => one.startsWith(`${name}.`));
    const plain = tools.filter((one) => isPlain(one.name)).map((one) => `${one.name}: true`);
    const without = (agent: string, when: string): string => `if ${when} { return ${agent}.used(name, said.args) }\n        `;
    const names = free.map((one) => `${literal(one)}: true`).join(", ");
    const frees = free.length === 0 ? "" : without("BridgeFree", `{ ${names} }.has(said.name)`);
    const reads = all.length === 0 ? "" : without("BridgeReader", "said.reads");
    return `${knownSource(tools)}    func used(name, args, flags) {
        if name == "__manual__" { return act(name, args) }
        plain = { ${plain.join(", ")} }
        if flags != true { if plain.has(name.split(".")[0]) { return act(name, args) } }
        said = Ras.ready({ name: name, args: args, flags: flags, manual: act("__manual__", { name: name }) })
        ${frees}${reads}return act(name, if flags == true { said.args } else { args })
    }
`;
}

/** The agent under a policy, which is its remit: the same agent under a name of its own. */
function actor(policy: string): string {
    return `Worker${policy}`;
}

function workersOf(agent: string | undefined, policies: readonly BridgePolicy[]): string[] {
    return agent === undefined ? [] : ["Worker", ...policies.map((one) => actor(one.name))];
}

/** The agent, the tools, and the agent under each policy. */
function workersSource(agent: string | undefined, policies: readonly BridgePolicy[], tools: readonly BridgeImport[]): string {
    const own = tools.map((one) => `${one.source}\n`).join("");
    if (agent === undefined) return own;
    const under = policies.map((one) => `${one.source}\nimport agent ${actor(one.name)} from ${literal(agent)} { remit ${one.name} }\n`);
    return `import agent Worker from ${literal(agent)}\n${own}${under.join("")}`;
}

/** BG8. */
function workedSource(agent: string | undefined, policies: readonly BridgePolicy[]): string {
    if (agent === undefined)
        return `    func worked(prompt, config, policy) { return { error: "this run has no agent: name one with --agent" } }\n`;
    const under = policies.map(
        ({ name }) => `if policy == ${literal(name)} { return agent(prompt, { ...config, agent: ${actor(name)} }) }\n            `,
    );
    const known =
        policies.length === 0
            ? "this run has none: they are the remits of --tools FILE"
            : `there are ${policies.map((one) => one.name).join(", ")}`;
    return `    func worked(prompt, config, policy) {
        try {
            if policy == none { return agent(prompt, { ...config, agent: Worker }) }
            ${under.join("")}raise "there is no policy '" + policy + "'; " + ${literal(known)}
        } catch failure {
            if config.on_error == "fail" { return { failed: failure.message } }
            return { error: { kind: failure.kind, message: failure.message, reason: failure.kind, tries: 0, trajectory: none } }
        }
    }
`;
}

/** A program that makes one call: what the commands `reason`, `act` and `agent` of a shell run. */
export function callSource(options: Omit<BridgeOptions, "program">, kind: CallKind): string {
    const { model, tools, policies, agent } = options;
    if (kind === "agent")
        return `${workersSource(agent, policies, tools)}main agent Bridge {
    remit {
        ${grants([], workersOf(agent, policies))}
    }

${workedSource(agent, policies)}
    main func(given) { worked(given.prompt, given.config, given.policy) }
}
`;
    if (kind === "reason")
        return `import llm Model from ${literal(model)}
main agent Bridge {
    model Model
    remit { }
    main func(given) { reason(given.prompt, given.example, { attempts: given.attempts }) }
}
`;
    return `import tool Ras from "ras:"
${tools.map((one) => `${one.source}\n`).join("")}
${readerSource(tools)}
main agent Bridge {
    remit {
        ${grants(tools, ["Ras.ready"])}
    }

${usedSource(tools)}
    main func(given) {
${knownCalls(tools)}        return used(given.name, given.args, given.flags)
    }
}
`;
}
