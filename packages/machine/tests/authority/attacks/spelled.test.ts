/** Methods that are spelled otherwise than the clause or the remit spells them, and are the same to whoever performs them. */
import { expect, test } from "vitest";
import { did, outcome, run } from "../running.ts";

test.each(["POST", "Post", "po\u017ft", "PO\u017fT"])("the verb %s is post", (verb) => {
    const call = `act("Web.${verb}", { url: "/x" })`;
    for (const text of [
        `import tool Web from "https://api.example.com/"\nagent A { remit { may Web  never Web.post } func go() { ${call} } }\nmain agent { main func() { A.go() } }`,
        `import tool Web from "https://api.example.com/" { post: never }\nmain agent { main func() { ${call} } }`,
    ]) {
        const ran = run(text);
        expect(did(ran)).toEqual([]);
        expect(outcome(ran)).toBe("violation.remit");
    }
});
