/**
 * Which clause buys which questions: each clause of the recommended policy that lets others' words stand somewhere or decide something is closed by itself
 * (`trusted or ask`), and the tasks that ask because of it are counted. What it opens is counted in the attacked runs.
 *
 * Boundary: clean runs alone.
 */
import { remitProgram } from "../contenders.ts";
import type { Policy } from "../policy.ts";
import type { AnyWorld } from "../worlds/all.ts";

export interface Closed {
    readonly tool: string;
    /** As it stands: `arg amount: from("trusted", "user", "tool:Files") or ask`. */
    readonly clause: string;
    /** Tasks that ask when it is closed and do not ask while it stands. */
    readonly tasks: readonly string[];
}

export async function questionsOf(world: AnyWorld, policy: Policy | null, base: string): Promise<Closed[]> {
    if (policy === null) return [];
    const before = await asking(world, policy, base);
    const closed: Closed[] = [];
    for (const [tool, words] of Object.entries(policy.imports ?? {}))
        for (const clause of clausesIn(words).filter(opens)) {
            const shut = words.replace(clause, clause.replace(/: .*$/, ": trusted or ask"));
            const after = await asking(world, { ...policy, imports: { ...policy.imports, [tool]: shut } }, base);
            closed.push({ tool, clause, tasks: [...after].filter((id) => !before.has(id)) });
        }
    return closed;
}

/** The clauses of a text, at the commas outside of brackets. */
function clausesIn(words: string): string[] {
    return words.split(/, (?![^(]*\))/);
}

const opens = (clause: string): boolean => /^(?:arg|choice)\b/.test(clause) && /tool:|plain|addresses|\b[A-Z]\w*\.\w+\.\w+/.test(clause);

async function asking(world: AnyWorld, policy: Policy, base: string): Promise<Set<string>> {
    const found = new Set<string>();
    for (const task of world.tasks) {
        const { asked } = await remitProgram({ world, task, planted: "", base, policy, untrusted: "ask", person: "yes" });
        if (asked.length > 0) found.add(task.id);
    }
    return found;
}
