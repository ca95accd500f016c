/**
 * The places of a program where a run may choose among candidates (`use one of`), by the names they are chosen by.
 *
 * Boundary: forms only.
 */
import { type Json, type Program, shownName } from "@remit/language";

/** Of a file as its program imports it: from the folder of the program's own file, wherever the tree of both begins (D18). */
export function importName({ files }: Program, file: number): string {
    const own = files[files.length - 1]?.file ?? "";
    const name = files[file]?.file ?? "";
    const [from, to] = [own.split("/").slice(0, -1), name.split("/")];
    let same = 0;
    while (same < from.length && same < to.length - 1 && from[same] === to[same]) same++;
    return [...from.slice(same).map(() => ".."), ...to.slice(same)].join("/");
}

/** `FILE#AGENT.FUNC[LABEL]`; the second place of that label in a function ends with `#2`. */
export function variantSite(file: string, agent: string | null, func: string | null, label: string, nth: number): string {
    const place = [agent === null ? null : shownName(agent), func].filter((part) => part !== null).join(".");
    return `${file}#${place}[${label}${nth === 1 ? "" : `#${nth}`}]`;
}

export interface VariantSite {
    readonly candidates: readonly string[];
    /** Its name by the file's place in the tree, as earlier versions said it. */
    readonly inTree: string;
}

/** Every such place. */
export function variantSites(program: Program): ReadonlyMap<string, VariantSite> {
    const sites = new Map<string, VariantSite>();
    for (const [at, { file, agents, funcs }] of program.files.entries()) {
        const own = importName(program, at);
        const look = (agent: string | null, func: string | null, body: unknown): void => {
            const seen = new Map<string, number>();
            for (const { label, candidates } of usesIn(body as Json)) {
                const nth = (seen.get(label) ?? 0) + 1;
                seen.set(label, nth);
                const inTree = variantSite(file, agent, func, label, nth);
                sites.set(variantSite(own, agent, func, label, nth), { candidates, inTree });
            }
        };
        for (const func of funcs) look(null, shownName(func.name), func.body);
        for (const agent of agents) {
            look(agent.name, null, agent.config);
            for (const func of agent.funcs) look(agent.name, shownName(func.name), func.body);
        }
    }
    return sites;
}

function* usesIn(json: Json): Generator<{ label: string; candidates: string[] }> {
    if (json === null || typeof json !== "object") return;
    if (!Array.isArray(json) && json.kind === "use.one") {
        const { label, candidates } = json as unknown as { label: string; candidates: { name: string }[] };
        yield { label, candidates: candidates.map(({ name }) => name) };
        return;
    }
    for (const inner of Object.values(json)) yield* usesIn(inner);
}
