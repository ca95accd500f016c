/**
 * Handing over control in a program's text: which calls do, and what each is made of.
 *
 * Boundary: from a call's form to `HandoverDetail`. What happens then is `../run/yield.ts`.
 *
 * HO2: a call of a member `yield` with named arguments, options, a contract, or nothing at all hands over control, whatever its receiver turns
 *     out to be; `send` does where the receiver is an agent. The functions `agent`, `reason` and `act` do where nothing else has their name.
 */
import { type ArgForm, type CallForm, type ExprForm, HANDOVERS } from "@remit/language";
import type { Compiled, Fn, Meaning } from "./program.ts";

export type HandoverKind = "yield" | "send" | "agent" | "reason" | "act";

/** What a call hands over by; null where it does not. `isLocal`: the name is a variable at this place. */
export function handoverOf(
    program: Compiled,
    fn: { readonly file: number; readonly agent: string | null },
    isLocal: (name: string) => boolean,
    e: CallForm,
): HandoverKind | null {
    const { callee } = e;
    const look = (name: string): Meaning | undefined => (isLocal(name) ? undefined : program.lookup(fn.file, fn.agent, name));
    if (callee.kind === "name")
        return HANDOVERS.has(callee.name) && !isLocal(callee.name) && look(callee.name) === undefined
            ? (callee.name as HandoverKind)
            : null;
    if (callee.kind !== "member" || (callee.name !== "yield" && callee.name !== "send")) return null;
    const meaning = callee.object.kind === "name" ? look(callee.object.name) : undefined;
    if (meaning?.kind === "agent") return meaning.agent.funcs.has(callee.name) ? null : callee.name;
    if (meaning !== undefined || callee.name === "send") return null;
    const named = e.args.some((arg) => arg.name !== undefined) || e.with !== undefined || e.contract !== undefined;
    return named || e.args.length === 0 ? "yield" : null;
}

/** Options of `agent(prompt, { … })` that name what is no value, and the rest of them. */
export function agentOptions(
    fn: Fn,
    isLocal: (name: string) => boolean,
    e: CallForm,
): { readonly policy: string | null; readonly skills: readonly string[]; readonly args: readonly ArgForm[] } {
    const config = e.args[1]?.value;
    if (config?.kind !== "object") return { policy: null, skills: [], args: e.args };
    const remits = fn.program.program.files[fn.file]?.remits ?? [];
    let policy: string | null = null;
    let skills: readonly string[] = [];
    const entries = config.entries.filter((entry) => {
        if (entry.kind !== "entry") return true;
        const { value } = entry;
        if (entry.key === "policy" && value.kind === "name" && !isLocal(value.name) && remits.some((one) => one.name === value.name)) {
            policy = value.name;
            return false;
        }
        if (entry.key === "skills" && value.kind === "list") {
            skills = value.items.flatMap((item) => (item.kind === "name" ? [item.name] : []));
            return false;
        }
        return true;
    });
    return { policy, skills, args: [e.args[0] as ArgForm, { value: { ...config, entries } as ExprForm }] };
}
