// What a run of a program that is in the cache does without: it stands in a script of its own, which the first use of any of it loads. No file that is
// used while others are evaluated can be among these. Folder of a package → names of files, blanks between.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { root } from "./setup.mjs";

const LATER = {
    cli: "auditing examples input-example picture plan-labels screen",
    "host/audit": "audit monitor",
    "host/channel": "channel message",
    "host/config": "trust",
    "host/ledger": "address follow intact memory programs prune schema shown store verify",
    "host/model": "replies uri",
    "host/run": "going-on parts performing rehearse remedies replay resume retell way",
    "host/secret": "forms ref",
    "host/telemetry": "otlp",
    "host/tool": "glob",
    "host/verb": "registry",
    "language/answer": "answer fences reread validate",
    "language/authority": "range reading show",
    "language/check":
        "authority block-code blocks bounds calls check context contracts effects entry expressions flows folders functions generate handover methods names origins outside remits resources results sites stage-targets stage-values stages statements things tool-results tools unlooked",
    "language/check/flow": "aliases calls classes known rules walk ways",
    "language/contract": "check coerce fits from-tree infer problem schema show signature",
    "language/diagnostics": "nearest render",
    "language/form": "errors failing measure nodes policy raise schema stages",
    "language/load": "program schemes",
    "language/protocol": "skill",
    "language/scope": "elsewhere model uses",
    "language/syntax": "foreign nodes strings templates",
    "language/syntax/parse":
        "authority brackets clauses contracts declarations expressions foreign foreign-parts forms joins literals parse ranges stages statements templates unsupported use",
    "language/syntax/print": "authority blocks layout literals print stages writer",
    "language/text": "pattern source",
    "language/verbs": "binding prelude",
    "machine/agent": "answers handshake reply",
    "machine/audit": "drift grants invariant reached reads report rules targets",
    "machine/authority":
        "acting addresses asked bound counts decide evidence flows given match methods named policy reach readers remedy tld-data within",
    "machine/builtin": "calendar canonical growing json-writer json match search zone-data zones",
    "machine/compile":
        "calls changes containers control delegation failure handover lambdas literals loose-calls loose plans reached strict variants",
    "machine/conduct": "approvals by-hand recover requests retelling",
    "machine/effect": "told",
    "machine/ledger": "canonical cost diff explain-text explain known notes otel otlp-json ras read told",
    "machine/ledger/atif": "build check read run session show time types",
    "machine/native": "act agent-call agent-config denial hands reason sessions target turns",
    "machine/plan": "finalise fragment plan tree validate",
    "machine/prompt": "budget calls clip feedback generate hidden image layers narration offers reader render report schema shown state",
    "machine/run": "calls inspector load look memory outcomes snapshot stretches",
    "machine/state":
        "activity agent-code effects events frames handover ops parts refusal result-readers show spending stage steps tracer verdicts",
    "machine/value": "access text",
};

const FILES = new Set(
    Object.entries(LATER).flatMap(([folder, names]) => {
        const [name, ...rest] = folder.split("/");
        return names.split(" ").map((one) => ["packages", name, "src", ...rest, `${one}.ts`].join("/"));
    }),
);

/** Entries of the bundle, so that each of these files gets a piece without what is loaded at once. */
export function laterEntries() {
    for (const one of FILES) if (!existsSync(join(root, one))) throw new Error(`scripts/lib/later.mjs names ${one}, which is not there`);
    return Object.fromEntries([...FILES].map((one) => [`later-${one.replaceAll("/", "-").replace(/\.ts$/, "")}`, one]));
}

/** `files`: sources of a piece, from the root. */
export function isLater(files) {
    return files.length > 0 && files.every((one) => FILES.has(one));
}
