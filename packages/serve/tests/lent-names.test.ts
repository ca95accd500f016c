/** People see a lent tool under its own name and its lender's; the ledger keeps the name that was used. */
import { explainRun, explainText, traceText, watching } from "@remit/machine";
import { expect, test } from "vitest";
import { calls, ended, room, watch } from "./room.ts";

const GO = {
    description: "Goes",
    input: { type: "object", properties: { url: { type: "string", format: "uri" } } },
    readOnly: true as const,
};

test("a trace, an explanation and a refusal by a rule name a lent tool as people know it", async () => {
    const evil = "https://evil.example/";
    await using at = await room([calls("owner", "go", { url: evil }), calls("owner", "click"), { text: "over" }]);
    const { id } = await at.owner.open({ reach: ["https://shop.example"] });
    await at.owner.lend(id, "go", GO);
    await at.owner.lend(id, "click", { description: "Clicks", readOnly: true });
    const turn = await at.owner.submit(id, { text: "go" });
    await watch(at.owner, id, ended(turn.id), (event, data) => {
        if (event === "call") return at.owner.result(id, String(data["id"]), { ok: false, error: "no such button" });
    });
    const events = await Array.fromAsync(at.server.ledger.events(`${id}.${turn.id}`, 0));
    expect(events.find(({ kind }) => kind === "policy.denied")?.data).toMatchObject({ capability: "Lent.owner__go" });
    const heard = watching();
    for (const text of [traceText(events), events.flatMap(heard).join("\n")]) {
        // What the tools say of themselves is a value.
        const lines = text.split("\n").filter((line) => !line.includes("describe["));
        const said = lines.join("\n");
        expect(said).not.toContain("owner__");
        expect(said).toMatch(/denied: .*go \(lent by owner\) would reach/);
        expect(said).toContain("calls click (lent by owner)");
        expect(said).toContain("Tool click (lent by owner) failed: no such button");
    }
    const explained = explainText(explainRun(events));
    expect(explained).not.toContain("Lent.owner__");
    expect(explained).toContain("tool Lent_owner__go, which is go (lent by owner), as it describes itself");
});
