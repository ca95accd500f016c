/**
 * `endorse`: the one way in which a value comes to be trusted.
 *
 * Boundary: who may, what is told of it, and the value with its new origins.
 */

import { readersLabel } from "../authority/readers.ts";
import type { Refusal } from "../authority/refusal.ts";
import type { Code } from "../compile/code.ts";
import { born } from "../compile/containers.ts";
import type { EndorseDetail } from "../compile/instructions.ts";
import { toJson } from "../value/json.ts";
import { join, rawOf } from "../value/operators.ts";
import type { Value } from "../value/value.ts";
import type { Begins, Ops, Call } from "../state/ops.ts";
import { refuse } from "../state/refusal.ts";
import { show } from "../state/show.ts";
import { policiesOn } from "../state/delegations.ts";

export const endorse: Begins<EndorseDetail> = {
    begin(m, call, d) {
        const { frame, I } = call;
        const L = frame.locals;
        const made = endorsed(m, call, (I.code as Code)(L), d.because(L), d.readers);
        L[I.slot] = frame.isStrict ? born(m.run, made, 0, Number.POSITIVE_INFINITY) : made;
        frame.pc++;
        return true;
    },
};

function endorsed(m: Ops, { fiber, frame, I, path }: Call, value: Value, because: Value, readers: EndorseDetail["readers"]): Value {
    const { site } = I;
    const { labels } = m.run;
    const shown = show(value, labels);
    const reason = show(because, labels);
    const before = labels.origins(shown.labels);
    const about = { principal: frame.principal, because: reason.json, before: [...before], value: shown.json };
    if (!m.authority.mayEndorse(frame.principal) || !policiesOn(m, fiber, frame.principal).every((remit) => remit.endorse)) {
        const refusal: Refusal = { principal: frame.principal, capability: "endorse", why: "endorse", clause: null };
        throw refuse(m, { frame, I, path }, refusal, { labels: before, about });
    }
    const only = before.filter((origin) => origin.startsWith("only:"));
    const rest = before.filter((origin) => !origin.startsWith("only:"));
    const mark = `endorsed:${site === null ? path : `${site.file}:${site.line}`}`;
    const after = readers === null ? [...only, mark] : [...rest, readersLabel(readers)];
    m.emit("policy.endorsed", path, frame.parent, site, before, {
        ...about,
        after: [...after].sort(),
        readers: readers === null ? null : [...readers],
    });
    // A list or object is made anew, so that labels inside it go too and what others hold stays as it is.
    const raw = m.fromJson(toJson(value, m.run).json);
    m.tracer?.at(site, frame.path, "endorsed");
    const made = join(m.run, rawOf(raw), labels.of(after));
    m.tracer?.at(site, frame.path);
    return made;
}
