/** RF1, A10: one record of a refusal, which the failure, the event, the model, the trace, the audit and the question say in the same words. */
import { isObject, type Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import { type Outcome, flowIn, flowText, type Refusal, refusalIn, refusalText } from "../../src/index.ts";
import { formOf } from "../run/text.ts";
import { runAll } from "../run/forms.ts";

const IMPORTS = `import tool Web from "https://api.example.com/v1/"
import tool Mail from "mcp://mail" {
    arg to: trusted
    arg body: trusted or ask
    erase: never
}
`;
const HELPER = `
agent Helper {
    remit {
        may Web.get
        never Mail.send
    }
    main func(x) { Mail.send({ to: "a" }) }
}
agent Reader {
    remit {}
    main func(web) { web.get({ url: "x" }) }
}
agent Keeper {
    remit { may Reader }
    main func(x) { Reader(Web) }
}
agent Narrow {
    remit { may Repo.list in "src/**" }
    main func(x) { Repo.list({ path: "docs" }) }
}
agent Spared {
    remit {
        never Repo.list in "src/**"
        may Repo
    }
    main func(x) { Repo.list({ path: "src/a" }) }
}
import tool Repo from "file://workspace"
agent Misspelt {
    remit { may Web.get }
    main func(x) { Repo.wirte({ path: "a" }) }
}
`;
const MAIL: Json = { methods: ["send", "erase"].map((name) => ({ name, input: { properties: { to: {}, body: {}, id: {} } } })) };
const ran = (body: string) =>
    runAll(formOf(`${IMPORTS}${HELPER}main agent A {\n main func(input) {\n${body}\n }\n}`, true), {
        answer: (e): Outcome => {
            const value = (e.request as { op?: string }).op === "describe" ? MAIL : "deny";
            return { ok: true, value, origins: [e.kind === "ask" ? "user" : "tool:Web"] };
        },
    });

describe("a refusal", () => {
    test.each([
        [
            'Mail.send({ to: Web.get({ url: "x" }), body: "b" })',
            "argument to of Mail.send carries tool:Web, which its clause does not allow (arg to: trusted, main.remit:3)",
        ],
        ["Mail.erase({ id: 1 })", "user uses Mail.erase, which a clause of its import forbids (main.remit:5)"],
        ["Helper(1)", "Helper uses Mail.send, which its remit forbids (main.remit:11)"],
        ["Narrow(1)", 'Narrow uses Repo.list with path "docs", which its remit allows only in "src/**" (main.remit:24)'],
        ["Spared(1)", 'Spared uses Repo.list with path "src/a", which its remit forbids in "src/**" (main.remit:29)'],
        ["Misspelt(1)", "Misspelt uses Repo.wirte, which Repo does not have"],
    ])("%s names the rule, its line, the argument and what of it breaks the rule", (body, text) => {
        const { events, result } = ran(body);
        const denied = events.find(({ kind }) => kind === "policy.denied");
        const record = refusalIn(denied?.data as Json);
        expect(record === null ? null : refusalText(record)).toBe(text);
        const detail = { capability: record?.capability, why: record?.why, clause: { file: "main.remit" } };
        expect(result).toMatchObject({ ok: false, failure: { message: text, detail, hint: expect.any(String) } });
    });

    test("of what is handed on is told like one of what is used", () => {
        const { events, result } = ran("x = 0\ndelegate Web.get to Keeper { x = Keeper(1) }\nx");
        const text = "Keeper hands on Web, which was delegated to it alone (main.remit:42)";
        expect(result).toMatchObject({
            failure: {
                kind: "violation.remit",
                message: text,
                hint: "write `to Keeper onward` in place of `to Keeper`: Keeper may then hand on all that this line gives it",
            },
        });
        const denied = events.filter(({ kind }) => kind === "policy.denied");
        expect(denied).toMatchObject([{ data: { capability: "Web", why: "hand onward" } }]);
        expect(refusalText(refusalIn(denied[0]?.data as Json) as Refusal)).toBe(text);
    });

    test("that a person may lift is asked in the same words", () => {
        const { events } = ran('Mail.send({ to: "a", body: Web.get({ url: "x" }) })');
        const asked = events.find(({ kind }) => kind === "ask.requested")?.data as { readonly detail: Json };
        const record = refusalIn(asked.detail);
        const text =
            "argument body of Mail.send carries tool:Web, which its clause does not allow (arg body: trusted or ask, main.remit:4)";
        expect(record === null ? null : refusalText(record)).toBe(text.replace(" or ask", ""));
        const flow = isObject(asked.detail) ? flowIn(asked.detail.flow) : null;
        expect(flow === null ? null : flowText("Mail.send", flow, record?.clause ?? null)).toBe(text.replace(" or ask", ""));
    });

    test("of an earlier version, or with anything else in it, is no record", () => {
        for (const data of [null, 1, {}, { principal: "user", capability: "X", why: "toString" }, { capability: "X", why: "remit" }])
            expect(refusalIn(data as Json)).toBe(null);
    });
});
