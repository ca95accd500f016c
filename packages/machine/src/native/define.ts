/**
 * `define name = func …` in what an agent answered: a function of the running program, for the rest of the run (LANGUAGE 6).
 *
 * Boundary: who may, what it replaces, and how it is called from then on.
 *
 * DN1: only inside `delegate all to` the agent. The change is in the ledger with its author and its source.
 * DN2: it runs as its author, strictly, whichever principal calls it; what it gives carries its author's origin.
 *      Who decided that it was written, and what it says, decides what it does, whenever it is called.
 * DN3: what it replaces keeps its parameters in number and its contracts, so that calls of it stay calls of it, and give what they gave.
 */
import {
    type FileForm,
    FORM,
    type FuncForm,
    type Json,
    type ParamForm,
    printForm,
    type Site,
    shownName,
    canonicalJson,
} from "@remit/language";
import type { DefineDetail } from "../compile/instructions.ts";
import type { Fn } from "../compile/program.ts";
import { Fail } from "../effect/failure.ts";
import { programFn, settle } from "../state/definitions.ts";
import type { Ops, Begins } from "../state/ops.ts";
import { refuse } from "../state/refusal.ts";
import { delegations } from "../state/delegations.ts";
import { isStrictlyOwn, isWritten, runsStrictly } from "../state/agent-code.ts";
import { mayLetDefine } from "./let-define.ts";

/** The contracts of what is replaced hold on: of parameters where the new function says nothing, of the result always. */
function withContracts(func: FuncForm, before: Fn, site: Site | null): FuncForm {
    const { params, result } = before.form;
    if (result !== undefined && func.result !== undefined && canonicalJson(result as Json) !== canonicalJson(func.result as Json))
        throw new Fail("value", `${func.name} gives something else in the program: leave out its contract, or keep it`, { site });
    const kept = func.params.map((p, i): ParamForm => {
        const { contract, default: given } = params[i] as ParamForm;
        return {
            ...p,
            ...(p.contract === undefined && contract !== undefined ? { contract } : {}),
            ...(p.default === undefined && given !== undefined ? { default: given } : {}),
        };
    });
    return { ...func, params: kept, ...(result === undefined ? {} : { result }) };
}

/** Shapes that these contracts may name: those of the answer, and of the file of what is replaced. */
function shapesFor(m: Ops, answer: Fn, before: Fn | undefined, site: Site | null): FileForm["shapes"] {
    const own = m.compiled.program.files[answer.file]?.shapes ?? [];
    const theirs = before === undefined ? [] : (m.compiled.program.files[before.file]?.shapes ?? []);
    const clash = own.find((one) =>
        theirs.some((o) => o.name === one.name && canonicalJson(o.contract as Json) !== canonicalJson(one.contract as Json)),
    );
    if (clash !== undefined) throw new Fail("value", `the program has another shape ${clash.name}: give yours another name`, { site });
    return [...theirs, ...own.filter((one) => !theirs.some((o) => o.name === one.name))];
}

export const define: Begins<DefineDetail> = {
    begin(m, { fiber, frame, I, path }, d) {
        const { func } = d;
        const { site } = I;
        const author = frame.agent;
        if (author === null || !isWritten(m, frame.fn)) throw new Fail("value", "only what an agent answers defines functions", { site });
        const lets = delegations(m, fiber, frame.principal).filter(({ d }) => d.all === true);
        if (lets.length === 0)
            throw refuse(m, { frame, I, path }, { principal: frame.principal, capability: func.name, why: "define", clause: null });
        const strict = runsStrictly(m, fiber) || lets.some((one) => isStrictlyOwn(m, one.frame));
        mayLetDefine(m, { fiber, frame, I, path }, author, { strict, own: `agent:${author.name}` });
        const before = programFn(m, func.name);
        if (before !== undefined && before.form.params.length !== func.params.length)
            throw new Fail(
                "value",
                `${func.name} has ${before.form.params.length} parameters in the program, and ${func.params.length} here`,
                {
                    site,
                },
            );
        const made = before === undefined ? func : withContracts(func, before, site);
        const shapes = shapesFor(m, frame.fn, before, site);
        const form: FileForm = { file: `${shownName(author.name)}'s ${func.name}`, imports: [], shapes, funcs: [made], agents: [] };
        const file = m.takeIn({ form, path: `define:${func.name}`, agent: [author.file, author.name], live: true });
        const fn = m.compiled.files[file]?.funcs.get(func.name) as Fn;
        const by = m.run.labels.origins(frame.placeLabel);
        m.defined.set(func.name, { name: func.name, fn: fn.id, agent: [author.file, author.name], ...(by.length === 0 ? {} : { by }) });
        settle(m);
        const source = printForm({ format: FORM, files: [form] })[0] ?? "";
        const origin = `agent:${author.name}`;
        m.emit("program.changed", path, frame.parent, site, by, {
            function: func.name,
            author: shownName(author.name),
            replaces: before !== undefined,
            keep: d.keep,
            source,
        });
        if (!d.keep) {
            frame.pc++;
            return true;
        }
        const request = { op: "keep", name: func.name, author: shownName(author.name), source };
        m.raise(fiber, { kind: "author", path, site, request, labels: by, origin });
        frame.native = { kind: "effect", path };
        return false;
    },
};

export { settle };
