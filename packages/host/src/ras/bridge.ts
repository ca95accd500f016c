/**
 * The program that answers a RAS program: it starts the process, and for each batch of calls asks the language's own `reason`, `act` and `agent`.
 *
 * Boundary: text of a Remit program. Since it is one, a RAS program has a ledger, budgets, questions and a replay as any other.
 *
 * V3: what a RAS program may do is what this program imports, and no more.
 * V4: what the process was answered so far is part of this program's state. A process that is gone (its host was killed) is run again from its
 *     beginning with those answers, and goes on with its next call: nothing that was performed is performed again.
 */
import { RAS_LIMITS } from "./process.ts";

export interface BridgeImport {
    readonly name: string;
    readonly uri: string;
    /** The import as source, clauses included. */
    readonly source: string;
    /** What the bridge may do with it; clauses of the import bind it further. */
    readonly gate: "may" | "ask";
}

export interface BridgeOptions {
    /** URI of the model. */
    readonly model: string;
    /** URI of the RAS program. */
    readonly program: string;
    readonly tools: readonly BridgeImport[];
    /** URI of the agent that `agent()` asks; absent: there is none. */
    readonly agent?: string;
}

/** Names of the bridge's own. */
export const BRIDGE_NAMES: ReadonlySet<string> = new Set(["Model", "Ras", "Worker", "Bridge", "answer", "drive"]);

/** A text as a literal of the language. */
export function literal(text: string): string {
    return JSON.stringify(text);
}

export function bridgeSource({ model, program, tools, agent }: BridgeOptions): string {
    const asked =
        agent === undefined
            ? `return { error: "this run has no agent: name one with --agent" }`
            : "return agent(call.args.prompt, call.args.config)";
    const named = (gate: BridgeImport["gate"]): string[] => tools.filter((one) => one.gate === gate).map((one) => one.name);
    return `import llm   Model from ${literal(model)}
import tool  Ras   from ${literal(program)}
${agent === undefined ? "" : `import agent Worker from ${literal(agent)}\n`}${tools.map((one) => `${one.source}\n`).join("")}
main agent Bridge {
    model Model
    remit {
        may Ras.start, Ras.step, Ras.again${[...(agent === undefined ? [] : ["Worker"]), ...named("may")].map((one) => `, ${one}`).join("")}
        ${named("ask").length === 0 ? "" : `ask ${named("ask").join(", ")}`}
    }

    func answer(call, given, depth) {
        if call.kind == "reason" { return reason(call.args.prompt, call.args.example, { attempts: call.args.attempts }) }
        if call.kind == "agent" { ${asked} }
        if call.kind == "act" {
            try { return act(call.args.name, call.args.args) } catch failure { return { content: [{ type: "text", text: failure.message }], isError: true } }
        }
        if call.kind == "manual" { return act("__manual__", call.args) }
        if call.kind == "riff" {
            try { return drive(given.merge({ riff: call.args.name, inputs: call.args.inputs }), depth + 1) } catch failure { return { error: failure.message } }
        }
        return none
    }

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

    main func(given) { return drive(given, 1) }
}
`;
}

/** A program that makes one call: what the commands `reason` and `act` of a shell run. */
export function callSource(options: Omit<BridgeOptions, "program">, kind: "reason" | "act"): string {
    const { model, tools } = options;
    const named = (gate: BridgeImport["gate"]): string =>
        tools
            .filter((one) => one.gate === gate)
            .map((one) => one.name)
            .join(", ");
    const grants = (["may", "ask"] as const).map((gate) => (named(gate) === "" ? "" : `${gate} ${named(gate)}`)).join("\n        ");
    const lines = kind === "reason" ? [`import llm Model from ${literal(model)}`] : tools.map((one) => one.source);
    return `${lines.join("\n")}
main agent Bridge {
    ${kind === "reason" ? "model Model" : ""}
    remit {
        ${kind === "reason" ? "" : grants}
    }
    main func(given) { ${kind === "reason" ? "reason(given.prompt, given.example, { attempts: given.attempts })" : "act(given.name, given.args)"} }
}
`;
}
