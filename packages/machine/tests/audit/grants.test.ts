/** `unused-grant` and `broad-grant`: what a remit gives against what was done, and asked for. */
import { expect, test } from "vitest";
import { auditEvents, type LedgerEvent } from "../../src/index.ts";
import { formOf, once, said } from "../authority/running.ts";

/** What is found of grants, where whoever is asked says `answer`. */
function found(remit: string, answer: string): string[] {
    const form = formOf(`import tool Repo from "file://workspace"
main agent { remit { ${remit} } main func() { try { Repo.write({ path: "a", content: "b" }) } catch e { 1 } } }`);
    const ran = once(form, { answer: (e) => said(e.kind === "ask" ? answer : { ok: true }, [e.kind === "ask" ? "user" : "tool:Repo"]) });
    const events = ran.events.map((event, seq) => ({ ...event, seq, run: "run", hash: `h${seq}` }) as unknown as LedgerEvent);
    return auditEvents(events, form).map(({ rule, message }) => `${rule}: ${message}`);
}

test.each([
    ["ask Repo.write", "once", []],
    ["ask Repo.write", "deny", []],
    ["ask Repo", "deny", []],
    ["ask Repo", "once", ["broad-grant: main has all of Repo and used write"]],
    ["ask Repo.write may Repo.read", "deny", ["unused-grant: main has Repo.read and did not use it"]],
])("%s, answered %s", (remit, answer, findings) => {
    expect(found(remit, answer)).toEqual(findings);
});
